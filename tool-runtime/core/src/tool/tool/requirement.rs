//! Requirements of tools outside the pool.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A requirement of a tool outside its pool: a program, a setting, a person. The pool's report lists it, and so does
/// the error of a call of a tool that is hidden for a [missing](Self::missing) one.
///
/// ```
/// use tool_runtime::tool::Requirement;
/// use tool_runtime::prelude::*;
///
/// let push = Tool::builder("push", "Push the branch.").handler(|| async { "pushed" });
/// let push = push.requires([Requirement::missing("git", "install the package git")]);
/// let pool = ToolPool::builder().add(push).allow_empty().build()?;
/// assert!(pool.tools().is_empty());
/// assert!(pool.report().to_string().starts_with(
///     "push  custom  unusable: `git` is missing: install the package git\n"
/// ));
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Requirement {
    /// The name of the program or setting, or a short description.
    pub name: String,
    /// Whether the requirement is met.
    pub state: RequirementState,
    /// The location or value, or the remedy if the requirement is not met.
    pub detail: String,
}

/// Whether a [`Requirement`] is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RequirementState {
    /// Met.
    Met,
    /// Not met. The tool is hidden.
    Missing,
    /// Not met. The tool works with fewer features.
    Absent,
    /// Checked by each call.
    AtCall,
}

impl Requirement {
    /// A requirement that is met, with its location or value.
    pub fn met(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(name, RequirementState::Met, detail)
    }

    /// A requirement that is not met, with the remedy. The tool is unusable.
    pub fn missing(name: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(name, RequirementState::Missing, remedy)
    }

    /// An optional requirement that is not met, with the remedy. The tool works with fewer features.
    pub fn absent(name: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::new(name, RequirementState::Absent, remedy)
    }

    /// A requirement that each call checks, with a note on how to provide it.
    pub fn at_call(name: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(name, RequirementState::AtCall, detail)
    }

    fn new(name: impl Into<String>, state: RequirementState, detail: impl Into<String>) -> Self {
        Self { name: name.into(), state, detail: detail.into() }
    }

    /// The reason why a tool with this requirement is unusable.
    pub(super) fn reason(&self) -> Option<String> {
        let is_missing = self.state == RequirementState::Missing;
        is_missing.then(|| format!("`{}` is missing: {}", self.name, self.detail))
    }
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, state, detail } = self;
        match state {
            RequirementState::Met => write!(f, "needs `{name}`: {detail}"),
            RequirementState::Missing => write!(f, "needs `{name}` (missing): {detail}"),
            RequirementState::Absent => write!(f, "can use `{name}` (absent): {detail}"),
            RequirementState::AtCall => write!(f, "needs `{name}` at each call: {detail}"),
        }
    }
}
