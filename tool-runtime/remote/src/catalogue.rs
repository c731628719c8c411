//! The tools of a runner, as it announces them.

use crate::message::millis;
use crate::payload::Digest;
use crate::version::Version;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::HashMap;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::canonical;
use tool_runtime_core::tool::{Source, Tool, ToolDefinition};
use tool_runtime_core::vocabulary::RetryMode;

/// The largest catalogue, in bytes.
pub(crate) const MAX_CATALOGUE: u64 = 4 * 1024 * 1024;

/// The tools of a runner.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Catalogue {
    v: Version,
    pub(crate) tools: Vec<Announced>,
}

/// A tool of a runner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Announced {
    /// MCP's `Tool`.
    pub(crate) definition: ToolDefinition,
    /// Whether a call may run again if its outcome is unknown, where the tool states it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) retry_mode: Option<RetryMode>,
    /// The scopes that a caller needs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scopes: Vec<String>,
    /// The time limit of a call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<u64>,
    /// Where the runner has it from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) source: String,
    /// The digest of all that decisions about calls rely on.
    pub(crate) contract: Digest,
}

impl Catalogue {
    /// The tools of a pool. Those that it has from other runners are left out: each queue announces its own.
    pub(crate) fn from_pool(pool: &ToolPool) -> Self {
        let report = pool.report();
        let sources: HashMap<&str, &Source> =
            report.tools.iter().map(|tool| (&*tool.name, &tool.source)).collect();
        let announced = |tool: &Tool| {
            let source = sources.get(tool.name()).copied();
            let is_remote = matches!(source, Some(Source::Runner(_)));
            (!is_remote).then(|| Announced::from_tool(tool, source))
        };
        Self { v: Version, tools: pool.tools().iter().filter_map(announced).collect() }
    }
}

impl Announced {
    fn from_tool(tool: &Tool, source: Option<&Source>) -> Self {
        let definition = tool.definition().clone();
        Self {
            retry_mode: definition.retry_mode,
            scopes: definition.scopes.clone(),
            timeout: tool.timeout().map(millis),
            source: source.map(ToString::to_string).unwrap_or_default(),
            contract: contract(&definition),
            definition,
        }
    }

    /// The definition with all that MCP's JSON lacks.
    pub(crate) fn full_definition(&self) -> ToolDefinition {
        let mut definition = self.definition.clone();
        definition.take_marks();
        definition.retry_mode = self.retry_mode;
        definition.scopes.clone_from(&self.scopes);
        definition
    }
}

/// The digest of what decisions about calls of a tool rely on: its name, schemas, hints, retry mode and scopes. Strings for
/// models do not count.
pub(crate) fn contract(definition: &ToolDefinition) -> Digest {
    Digest::from_bytes(contract_text(definition).as_bytes())
}

/// The canonical JSON whose digest is the contract.
pub(crate) fn contract_text(definition: &ToolDefinition) -> String {
    let parts = json!({
        "name": definition.name,
        "inputSchema": definition.input_schema,
        "outputSchema": definition.output_schema,
        "annotations": without_title(serde_json::to_value(&definition.annotations)),
        "untrusted": definition.untrusted_annotations,
        "retry_mode": definition.retry_mode,
        "scopes": definition.scopes,
    });
    canonical(&parts)
}

fn without_title(annotations: serde_json::Result<Value>) -> Value {
    let mut annotations = annotations.unwrap_or_default();
    if let Some(members) = annotations.as_object_mut() {
        members.shift_remove("title");
    }
    annotations
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message;

    fn definition() -> ToolDefinition {
        let mut definition = ToolDefinition::new("search", "Search the web.");
        definition.scopes = vec!["web".to_owned()];
        definition.retry_mode = Some(RetryMode::SafeToRetry);
        definition
    }

    #[test]
    fn the_contract_is_about_decisions_and_not_about_texts() {
        let same = contract(&definition());
        let mut other = definition();
        other.description = "Search.".to_owned();
        other.title = Some("Search".to_owned());
        other.annotations = other.annotations.with_title("Search");
        assert_eq!(contract(&other), same);
        let changes: [fn(&mut ToolDefinition); 5] = [
            |it| it.name = "find".to_owned(),
            |it| it.scopes.clear(),
            |it| it.retry_mode = None,
            |it| drop(it.input_schema.insert("maxProperties".to_owned(), 1.into())),
            |it| it.annotations = it.annotations.clone().with_read_only(true),
        ];
        for change in changes {
            let mut other = definition();
            change(&mut other);
            assert_ne!(contract(&other), same);
        }
    }

    #[test]
    fn a_catalogue_keeps_what_mcp_has_no_member_for() {
        let tool = Tool::new(definition(), NoExecutor);
        let announced = Announced::from_tool(&tool, Some(&Source::Custom));
        let catalogue = Catalogue { v: Version, tools: vec![announced] };
        let back: Catalogue = message::read("a catalogue", &message::write(&catalogue)).unwrap();
        let definition = back.tools[0].full_definition();
        assert_eq!(definition, *tool.definition());
        assert_eq!(contract(&definition), back.tools[0].contract);
    }

    struct NoExecutor;

    impl tool_runtime_core::tool::Executor for NoExecutor {
        fn call<'a>(
            &'a self,
            _: tool_runtime_core::tool::Arguments<'a>,
            _: &'a tool_runtime_core::tool::ToolContext,
        ) -> tool_runtime_core::vocabulary::BoxFuture<
            'a,
            Result<
                tool_runtime_core::tool::Observation,
                tool_runtime_core::vocabulary::error::CallError,
            >,
        > {
            unreachable!("it is not called")
        }
    }
}
