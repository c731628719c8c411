//! All hooks of a pool, in the order they were registered.

use super::watch::Failure;
use super::{Hook, HookCall};
use crate::mask;
use crate::pattern::PatternError;
use std::fmt;
use std::sync::Arc;

/// All hooks of a pool, in the order they were registered.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hooks {
    pub(super) list: Vec<Arc<Hook>>,
    /// Whether policies, limits or records apply to every call. They take the way of hooks, also where
    /// no hook does.
    pub(crate) is_governed: bool,
}

/// The hooks of one tool, in the order they were registered.
#[derive(Debug, Default)]
pub(crate) struct ToolHooks {
    pub(super) before: Vec<Arc<Hook>>,
    pub(super) after: Vec<Arc<Hook>>,
}

impl Hooks {
    pub(crate) fn push(&mut self, hook: Hook) {
        self.list.push(Arc::new(hook));
    }

    /// The hooks that run for a tool, if there are any.
    pub(super) fn of(&self, tool: &str) -> Option<ToolHooks> {
        let own = self.list.iter().filter(|hook| hook.concerns(tool)).cloned();
        let (before, after): (Vec<_>, Vec<_>) = own.partition(|hook| hook.is_before());
        let is_idle = before.is_empty() && after.is_empty();
        (!is_idle || self.is_governed).then_some(ToolHooks { before, after })
    }

    /// The problems of the hooks' patterns.
    pub(crate) fn problems(&self) -> impl Iterator<Item = &PatternError> {
        self.list.iter().filter_map(|hook| hook.problem())
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
    pub(super) fn tolerate(&self, failure: &Failure, call: &HookCall) -> Result<(), String> {
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
