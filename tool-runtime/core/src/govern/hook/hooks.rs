//! All hooks of a pool, in the order they were registered.

use super::watch::Failure;
use super::{Hook, HookCall};
use crate::vocabulary::mask;
use crate::vocabulary::matching::pattern::PatternError;
use std::any::TypeId;
use std::fmt;
use std::sync::Arc;

/// All hooks of a pool, in the order they were registered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks(Vec<Arc<Hook>>);

/// The hooks of one tool, in the order they were registered.
#[derive(Debug, Default)]
pub(crate) struct ToolHooks {
    pub(crate) before: Vec<Arc<Hook>>,
    pub(crate) after: Vec<Arc<Hook>>,
}

impl Hooks {
    pub(crate) fn push(&mut self, hook: Hook) {
        self.0.push(Arc::new(hook));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The hooks that run for a tool, if there are any.
    pub(crate) fn for_tool(&self, tool: &str) -> Option<Arc<ToolHooks>> {
        let own = self.0.iter().filter(|hook| hook.concerns(tool)).cloned();
        let (before, after): (Vec<_>, Vec<_>) = own.partition(|hook| hook.is_before());
        let is_idle = before.is_empty() && after.is_empty();
        (!is_idle).then(|| Arc::new(ToolHooks { before, after }))
    }

    /// Whether a hook that runs before this tool's calls declares that it provides the type.
    pub(crate) fn provides(&self, tool: &str, id: TypeId) -> bool {
        self.0.iter().any(|hook| hook.concerns(tool) && hook.declares_type(id))
    }

    /// The hooks that run for none of these tools, which is most likely a mistake.
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
    /// The name in the log.
    pub(super) fn title(&self) -> String {
        let when = if self.is_before() { "before" } else { "after" };
        let pattern = self.pattern.as_ref().map(ToString::to_string).unwrap_or_default();
        format!("hook {when} {pattern}")
    }

    /// Logs the failure of a hook that fails open.
    ///
    /// # Errors
    /// The operator's detail, if the hook fails closed.
    pub(crate) fn tolerate(&self, failure: &Failure, call: &HookCall) -> Result<(), String> {
        let mut text = format!("{self} {failure}");
        if let Some(mask) = call.context().mask() {
            mask::in_place(mask, &mut text);
        }
        if !self.fails_open {
            return Err(text);
        }
        tracing::warn!(tool = call.name(), "{text}; it fails open, so the call continues");
        Ok(())
    }
}

/// The hook by its pattern, for the operator.
impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = if self.is_before() { "before" } else { "after" };
        match &self.pattern {
            Ok(pattern) => write!(f, "the hook {when} `{pattern}`"),
            Err(problem) => write!(f, "a hook {when} nothing ({problem})"),
        }
    }
}
