//! Arguments that a host adds to every call, besides those of the tool.
//!
//! Some hosts pass fields of their own in the arguments, and their users cannot remove them. The tools of this server
//! reject unknown arguments, unless the server ignores these names.

use super::client::Subject;
use rmcp::model::{CallToolRequestMethod, ConstString as _};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::sync::Arc;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::{RawMembers, push_member};
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// Names that known hosts add: n8n's MCP client.
const KNOWN: [&str; 2] = ["toolCallId", "sessionId"];

/// Schemas whose alternatives declare arguments of the same object.
const COMBINED: [&str; 3] = ["allOf", "anyOf", "oneOf"];

/// The names that a server ignores.
#[derive(Clone, Debug, Default)]
pub(super) struct IgnoredArguments(Arc<[String]>);

impl IgnoredArguments {
    pub(super) fn new(names: impl IntoIterator<Item = String>) -> Self {
        Self(names.into_iter().collect())
    }

    /// The names to ignore in a call: without those that the tool declares.
    pub(super) fn of_call(&self, pool: &ToolPool, subject: &Subject) -> Vec<String> {
        if self.0.is_empty() || subject.method != CallToolRequestMethod::VALUE {
            return Vec::new();
        }
        let Ok(found) = pool.find(&subject.name) else { return Vec::new() };
        let schema = &found.tool().definition().input_schema;
        self.0.iter().filter(|name| !declares(schema, name)).cloned().collect()
    }
}

/// Whether a schema has an argument of this name.
fn declares(schema: &Map<String, Value>, name: &str) -> bool {
    let alternatives = COMBINED.iter().filter_map(|keyword| schema.get(*keyword)?.as_array());
    schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
        || alternatives.flatten().filter_map(Value::as_object).any(|one| declares(one, name))
}

/// The arguments without these names. Text that is not an object stays as it is.
pub(super) fn without<'a>(arguments: Cow<'a, str>, names: &[String]) -> Cow<'a, str> {
    if !names.iter().any(|name| arguments.contains(name.as_str())) {
        return arguments;
    }
    let Some(RawMembers(members)) = RawMembers::from_text(&arguments) else { return arguments };
    let mut kept = "{".to_owned();
    for (name, value) in members.iter().filter(|(name, _)| !names.contains(name)) {
        push_member(&mut kept, name, value.get());
    }
    Cow::Owned(kept + "}")
}

/// The message of a failed call. If a known host has added arguments, it names the option that ignores them.
pub(super) fn message(error: &CallError) -> Cow<'_, str> {
    let is_unknown = |name: &&str| {
        let mut issues = error.issues().iter();
        issues.any(|issue| issue.path() == *name && issue.rule() == "additionalProperties")
    };
    let added: Vec<&str> = match error.class() {
        ErrorClass::Input => KNOWN.into_iter().filter(is_unknown).collect(),
        _ => Vec::new(),
    };
    if added.is_empty() {
        return Cow::Borrowed(error.message());
    }
    let options: Vec<String> =
        added.iter().map(|name| format!("--ignore-argument {name}")).collect();
    Cow::Owned(format!(
        "{}\nIf the host adds {} to every call, start the server with `serve {}` (in code `McpServer::with_ignored_arguments`).",
        error.message(),
        added.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and "),
        options.join(" "),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(arguments: &str) -> String {
        let names = ["toolCallId".to_owned(), "sessionId".to_owned()];
        without(Cow::Borrowed(arguments), &names).into_owned()
    }

    #[test]
    fn ignored_arguments_are_left_out_and_the_others_stay_as_they_were() {
        for (arguments, expected) in [
            (r#"{"a": 1, "toolCallId": {"x": [1]}, "b": 2}"#, r#"{"a":1,"b":2}"#),
            (r#"{"sessionId": null}"#, "{}"),
            (
                r#"{"a": 123456789012345678901234567890, "sessionId": 1}"#,
                r#"{"a":123456789012345678901234567890}"#,
            ),
            // A repeated argument stays an error.
            (r#"{"a": 1, "a": 2, "sessionId": 1}"#, r#"{"a":1,"a":2}"#),
            (r#"{"a": {"sessionId": 1}}"#, r#"{"a":{"sessionId": 1}}"#),
            (r#"{"\u0061\"": 1, "toolCallId": 1}"#, r#"{"a\"":1}"#),
            (r#""toolCallId""#, r#""toolCallId""#),
            (r#"{"toolCallId": "#, r#"{"toolCallId": "#),
            ("", ""),
        ] {
            assert_eq!(kept(arguments), expected, "{arguments}");
        }
    }
}
