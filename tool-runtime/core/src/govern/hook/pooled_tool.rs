//! A tool as calls find it, with the rules around its calls.

use super::{Hooks, ToolHooks};
use crate::tool::tool::Tool;
use crate::tool::tool::source::Source;
use crate::vocabulary::matching::CallRule;
use std::sync::{Arc, OnceLock};

/// A tool of a pool, with its source, its hooks and its rule. A clone is one reference count: every call makes one, and
/// keeps the tool alive by it.
#[derive(Clone)]
pub struct PooledTool(Arc<Parts>);

#[derive(Clone)]
struct Parts {
    tool: Tool,
    source: Source,
    /// Whether the tool stands for a prompt or a resource.
    is_offering: bool,
    /// The rule of restrictions about its arguments.
    rule: Option<Arc<dyn CallRule>>,
    /// The hooks of the tool, once it was called in a pool that has hooks.
    hooks: OnceLock<Option<Arc<ToolHooks>>>,
}

impl PooledTool {
    pub(crate) fn new(tool: Tool, source: Source) -> Self {
        Self::with_kind(tool, source, false)
    }

    /// A tool that stands for a prompt or a resource in one call.
    pub(crate) fn offering(tool: Tool, source: Source) -> Self {
        Self::with_kind(tool, source, true)
    }

    fn with_kind(tool: Tool, source: Source, is_offering: bool) -> Self {
        Self(Arc::new(Parts { tool, source, is_offering, rule: None, hooks: OnceLock::new() }))
    }

    pub(crate) fn is_offering(&self) -> bool {
        self.0.is_offering
    }

    /// The tool under another rule.
    pub(crate) fn with_rule(mut self, rule: Arc<dyn CallRule>) -> Self {
        Arc::make_mut(&mut self.0).rule = Some(rule);
        self
    }

    /// The tool.
    pub fn tool(&self) -> &Tool {
        &self.0.tool
    }

    pub(crate) fn source(&self) -> &Source {
        &self.0.source
    }

    pub(crate) fn rule(&self) -> Option<&Arc<dyn CallRule>> {
        self.0.rule.as_ref()
    }

    pub(crate) fn hooks(&self) -> Option<&Arc<ToolHooks>> {
        self.0.hooks.get()?.as_ref()
    }

    /// Finds the hooks of the tool before its first call.
    pub(crate) fn init_hooks(&self, hooks: &Hooks) {
        self.0.hooks.get_or_init(|| hooks.for_tool(self.0.tool.name()));
    }

    /// Whether its calls take the governed path, whatever the pool adds: hooks, a rule or the tool itself need more
    /// stages.
    pub(crate) fn is_governed(&self) -> bool {
        self.hooks().is_some() || self.0.rule.is_some() || self.0.tool.is_governed()
    }
}
