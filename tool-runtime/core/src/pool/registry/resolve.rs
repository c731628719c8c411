//! Resolves specifications to tools.

use super::{Entry, Registry, RegistryError, SpecProblem, ToolSpec};
use crate::schema::nearest;
use crate::tool::context::ToolContext;
use crate::tool::tool::Tool;
use crate::tool::toolset::New;
use crate::vocabulary::error::panic_message;
use crate::vocabulary::matching::pattern::ToolPattern;
use futures_util::FutureExt as _;
use serde_json::Value;
use std::panic::AssertUnwindSafe;

/// Tools created so far. Specifications with the same name, parameters and prefix share them.
///
/// A list is enough, because a configuration has few specifications.
type CreatedTools = Vec<(String, ToolSpec, Vec<Tool>)>;

impl Registry {
    /// Creates the tools of specifications, in order.
    ///
    /// A name is an entry's name, or the id of one tool of a toolset; a glob selects all entries
    /// and toolset tools that it matches. Specifications of one toolset with the same parameters
    /// and prefix share one instance.
    ///
    /// # Errors
    /// All problems: unknown names, with similar ones; parameters for a single tool, which takes none;
    /// invalid parameters, with the field; a failed factory.
    pub async fn resolve(&self, specs: &[ToolSpec]) -> Result<Vec<Tool>, RegistryError> {
        self.resolve_in(specs, &ToolContext::default()).await
    }

    /// Like [`Self::resolve`], for toolsets and factories that use the state of a context.
    ///
    /// # Errors
    /// As [`Self::resolve`].
    pub async fn resolve_in(
        &self,
        specs: &[ToolSpec],
        context: &ToolContext,
    ) -> Result<Vec<Tool>, RegistryError> {
        let (mut tools, mut problems, mut created) = (Vec::new(), Vec::new(), CreatedTools::new());
        for (index, spec) in specs.iter().enumerate() {
            match self.resolve_one(spec, context, &mut created).await {
                Ok(own) => tools.extend(own),
                Err(reason) => {
                    problems.push(SpecProblem { index, name: spec.name.clone(), reason });
                }
            }
        }
        if problems.is_empty() { Ok(tools) } else { Err(RegistryError::Specs(problems)) }
    }

    async fn resolve_one(
        &self,
        spec: &ToolSpec,
        context: &ToolContext,
        created: &mut CreatedTools,
    ) -> Result<Vec<Tool>, String> {
        if let Ok(position) = self.position(&spec.name) {
            return self.make(&spec.name, &self.entries[position].1, spec, context, created).await;
        }
        let pattern = ToolPattern::glob(&*spec.name).map_err(|error| error.to_string())?;
        let mut tools = Vec::new();
        for (name, entry) in &self.entries {
            let is_whole = pattern.matches(name);
            if is_whole || entry.tool_names().any(|tool| pattern.matches(tool)) {
                let entry_tools = self.make(name, entry, spec, context, created).await;
                let entry_tools = entry_tools.map_err(|reason| format!("`{name}`: {reason}"))?;
                // A prefix renames the tools; the pattern matches registered names.
                let mut names = entry.tool_names();
                tools.extend(entry_tools.into_iter().filter(|tool| {
                    let name = names.next().unwrap_or_else(|| tool.name());
                    is_whole || pattern.matches(name)
                }));
            }
        }
        if tools.is_empty() { Err(self.unknown(&spec.name)) } else { Ok(tools) }
    }

    async fn make(
        &self,
        name: &str,
        entry: &Entry,
        spec: &ToolSpec,
        context: &ToolContext,
        created: &mut CreatedTools,
    ) -> Result<Vec<Tool>, String> {
        let is_known = |(known, other, _): &&(String, ToolSpec, _)| {
            *known == name && other.params == spec.params && other.prefix == spec.prefix
        };
        if let Some((_, _, tools)) = created.iter().find(is_known) {
            return Ok(tools.clone());
        }
        // User code: a panic fails only its specification.
        let tools = AssertUnwindSafe(entry.make(spec, context))
            .catch_unwind()
            .await
            .unwrap_or_else(|panic| Err(format!("creation panicked: {}", panic_message(panic))))?;
        created.push((name.to_owned(), spec.clone(), tools.clone()));
        Ok(tools)
    }

    fn unknown(&self, name: &str) -> String {
        let shortened = |name: &'static str| -> &str { name };
        let tools = self.entries.iter().flat_map(|(_, entry)| entry.tool_names()).map(shortened);
        let names = self.names().chain(tools);
        let near = nearest::nearest(name, names, 3);
        if near.is_empty() {
            let known: Vec<String> = self.names().map(|name| format!("`{name}`")).collect();
            return match known.as_slice() {
                [] => "unknown name; nothing is registered".to_owned(),
                known => format!("unknown name; registered names: {}", known.join(", ")),
            };
        }
        let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
        format!("unknown name; did you mean {}?", near.join(" or "))
    }
}

impl Entry {
    /// The ids of the entry's tools, if known before they are created.
    fn tool_names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let names = match self {
            Self::Toolset(kind) => Some(kind.tool_names()),
            Self::Tool(_) | Self::Factory(_) | Self::Twice(_) => None,
        };
        names.into_iter().flatten()
    }

    async fn make(&self, spec: &ToolSpec, context: &ToolContext) -> Result<Vec<Tool>, String> {
        let params = spec.params.clone();
        match self {
            Self::Tool(_) | Self::Factory(_) if spec.prefix.is_some() => {
                Err("it is not a toolset and takes no `prefix`; remove it".to_owned())
            }
            Self::Tool(_) if !params.is_empty() => {
                Err("it is a single tool and takes no `params`; remove them".to_owned())
            }
            Self::Tool(tool) => Ok(vec![tool.clone()]),
            Self::Twice([first, second]) => Err(format!(
                "two linked items have this name, at {first} and at {second}; rename one"
            )),
            Self::Toolset(kind) => {
                let new = New { context: context.clone(), prefix: spec.prefix.clone() };
                kind.create_with(params, new).await.map_err(|error| error.to_string())
            }
            Self::Factory(factory) => {
                let created = factory.make(Value::Object(params), context).await;
                created.map_err(|error| error.to_string())
            }
        }
    }
}
