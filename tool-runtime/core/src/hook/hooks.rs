//! All hooks of a pool, in the order they were registered.

use super::Hook;
use super::watch::Failure;
use crate::pattern::PatternError;
use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

/// All hooks of a pool, in the order they were registered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks(Vec<Arc<Hook>>);

/// The hooks of one tool, in the order they were registered.
#[derive(Debug, Default)]
pub(crate) struct ToolHooks {
    pub(super) before: Vec<Arc<Hook>>,
    pub(super) after: Vec<Arc<Hook>>,
}

impl Hooks {
    pub(crate) fn push(&mut self, hook: Hook) {
        self.0.push(Arc::new(hook));
    }

    /// The hooks that run for this tool, if any does.
    pub(crate) fn of_tool(&self, tool: &str) -> Option<ToolHooks> {
        let own = self.0.iter().filter(|hook| hook.concerns(tool)).cloned();
        let (before, after): (Vec<_>, Vec<_>) = own.partition(|hook| hook.is_before());
        let is_idle = before.is_empty() && after.is_empty();
        (!is_idle).then_some(ToolHooks { before, after })
    }

    /// Whether a hook that runs before this tool's calls said to provide the type.
    pub(crate) fn provides(&self, tool: &str, id: TypeId) -> bool {
        self.0.iter().any(|hook| hook.concerns(tool) && hook.promises(id))
    }

    /// The hooks that run for none of these tools: most likely a slip.
    pub(crate) fn idle(&self, tools: &[&str]) -> Vec<String> {
        let is_idle = |hook: &&Arc<Hook>| !tools.iter().any(|tool| hook.concerns(tool));
        self.0.iter().filter(is_idle).map(|hook| hook.to_string()).collect()
    }

    /// The problems of the hooks' patterns.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &PatternError> {
        self.0.iter().filter_map(|hook| hook.problem())
    }
}

impl Hook {
    /// The name under which it runs.
    pub(super) fn title(&self) -> String {
        let when = if self.is_before() { "before" } else { "after" };
        let pattern = self.pattern.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("hook {when} {pattern}")
    }

    /// Judges the failure of a hook.
    ///
    /// # Errors
    /// The operator's detail, if the hook fails closed.
    pub(super) fn tolerate(&self, failure: &Failure, tool: &str) -> Result<(), String> {
        if !self.fails_open {
            return Err(format!("{self} {failure}"));
        }
        tracing::warn!(tool, "{self} {failure}; it fails open, so the call goes on");
        Ok(())
    }
}

/// Identifies the hook for the operator.
impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.is_before() { "before" } else { "after" };
        match &self.pattern {
            Ok(pattern) => write!(f, "the hook {when} `{pattern}`"),
            Err(problem) => write!(f, "a hook {when} nothing ({problem})"),
        }
    }
}
