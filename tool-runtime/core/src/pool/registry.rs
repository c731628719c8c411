//! Maps the names of a configuration to tools, toolsets and factories.

mod assemble;
mod config;
mod error;
mod factory;
mod resolve;
mod spec;

pub use config::{ConfigError, PoolConfig};
pub use error::{RegistryError, SpecProblem};
pub use factory::{ToolFactory, Tools};
pub use spec::ToolSpec;

use crate::tool::tool::Tool;
use crate::tool::toolset::{Toolset, ToolsetKind};
use factory::Erased;
use std::fmt;
use std::sync::Arc;

/// A map from the names of a configuration to tools, toolset types and factory functions.
///
/// Registries are independent of each other.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::{Registry, ToolSpec};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Greeting {
///     /// Text of the greeting.
///     text: String,
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let mut registry = Registry::new();
/// registry.factory("greet", |greeting: Greeting| async move {
///     let text = greeting.text;
///     Ok::<_, ToolError>(Tool::builder("greet", "Greet.").handler(move || std::future::ready(text.clone())))
/// })?;
/// let specs: Vec<ToolSpec> = serde_json::from_str(r#"[{ "name": "greet", "params": { "text": "hi" } }]"#)?;
/// let tools = registry.resolve(&specs).await?;
/// assert_eq!(tools[0].name(), "greet");
///
/// let error = registry.resolve(&[ToolSpec::new("great")]).await.unwrap_err();
/// assert!(error.to_string().contains("did you mean `greet`?"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Registry {
    /// Sorted by name.
    entries: Vec<(String, Entry)>,
}

#[derive(Clone)]
enum Entry {
    Tool(Tool),
    Toolset(ToolsetKind),
    Factory(Arc<dyn Erased>),
    /// Two linked items of one name, by their locations.
    #[cfg_attr(not(feature = "linked"), allow(dead_code))]
    Twice([String; 2]),
}

impl Entry {
    /// Records two items of the same name. The order of linking is unspecified, so neither is preferred.
    #[cfg(feature = "linked")]
    fn and(&self, other: &Self) -> Self {
        let origin = |entry: &Self| match entry {
            Self::Tool(tool) => tool.origin().map(|own| own.to_string()),
            Self::Toolset(kind) => Some(kind.origin().to_string()),
            Self::Factory(_) => None,
            Self::Twice([origin, _]) => Some(origin.clone()),
        };
        let mut origins = [self, other].map(|entry| origin(entry).unwrap_or_default());
        origins.sort();
        Self::Twice(origins)
    }
}

impl Registry {
    /// An empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything that `#[tool]` and `#[toolset]` linked into the binary. Two items of one name are
    /// reported when the name is resolved or the pool is built.
    #[cfg(feature = "linked")]
    pub fn linked() -> Self {
        Self::from_tools(
            crate::tool::tool::registration::linked(),
            crate::tool::tool::registration::linked_toolsets(),
        )
    }

    #[cfg(feature = "linked")]
    fn from_tools(
        tools: impl IntoIterator<Item = Tool>,
        toolsets: impl IntoIterator<Item = ToolsetKind>,
    ) -> Self {
        let tools = tools.into_iter().map(|tool| (tool.name().to_owned(), Entry::Tool(tool)));
        let toolsets =
            toolsets.into_iter().map(|kind| (kind.name().to_owned(), Entry::Toolset(kind)));
        let mut registry = Self::new();
        for (name, entry) in tools.chain(toolsets) {
            match registry.position(&name) {
                Ok(position) => {
                    let known = &mut registry.entries[position].1;
                    *known = known.and(&entry);
                }
                Err(position) => registry.entries.insert(position, (name, entry)),
            }
        }
        registry
    }

    /// Registers a tool without parameters.
    ///
    /// # Errors
    /// The name is taken.
    pub fn tool(&mut self, tool: Tool) -> Result<&mut Self, RegistryError> {
        self.insert(tool.name().to_owned(), Entry::Tool(tool))
    }

    /// Registers a type of toolset under its name.
    ///
    /// # Errors
    /// The name is taken.
    pub fn toolset<T: Toolset>(&mut self) -> Result<&mut Self, RegistryError> {
        let kind = ToolsetKind::from_type::<T>(std::any::type_name::<T>(), 0);
        self.insert(kind.name().to_owned(), Entry::Toolset(kind))
    }

    /// Registers a function that creates one or several tools from parameters: `Fn(Params) -> Result<T, E>`,
    /// or `Fn(Params) -> Fut` for an async one.
    ///
    /// # Errors
    /// The name is taken.
    pub fn factory<M: 'static>(
        &mut self,
        name: impl Into<String>,
        factory: impl ToolFactory<M>,
    ) -> Result<&mut Self, RegistryError> {
        self.insert(name.into(), Entry::Factory(factory::erase(factory)))
    }

    fn insert(&mut self, name: String, entry: Entry) -> Result<&mut Self, RegistryError> {
        let Err(position) = self.position(&name) else {
            return Err(RegistryError::Taken { name });
        };
        self.entries.insert(position, (name, entry));
        Ok(self)
    }

    /// The position of the entry with that name, or the position to insert it at.
    fn position(&self, name: &str) -> Result<usize, usize> {
        self.entries.binary_search_by(|(known, _)| known.as_str().cmp(name))
    }

    /// All registered names, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(name, _)| name.as_str())
    }
}

impl fmt::Debug for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(all(test, feature = "linked"))]
mod tests {
    use super::*;
    use crate::tool::tool::Origin;

    fn tool(line: u32) -> Tool {
        let origin = Origin { file: "src/a.rs", line };
        Tool::builder("same", "Answer at once.").handler(|| async { "pong" }).at(origin)
    }

    #[tokio::test]
    async fn a_duplicate_name_is_reported_with_both_source_locations() {
        for tools in [[tool(1), tool(2)], [tool(2), tool(1)]] {
            let error = Registry::from_tools(tools, []).resolve(&[ToolSpec::new("same")]).await;
            let text = error.expect_err("two of one name").to_string();
            assert!(text.contains("at src/a.rs:1 and at src/a.rs:2"), "{text}");
        }
    }
}
