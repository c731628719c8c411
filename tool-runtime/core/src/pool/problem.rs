//! Errors of building or changing a pool.

use super::selector::{Selector, SelectorError};
use crate::govern::approval::Approvers;
use crate::tool::tool::source::Source;
use crate::vocabulary::error::list;

/// One thing that keeps a pool from being built.
///
/// ```
/// use tool_runtime::pool::PoolProblem;
///
/// let problem = PoolProblem::NoLinkedTools;
/// assert!(problem.to_string().contains("use my_tools as _;"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PoolProblem {
    /// Two different tools have one name.
    #[error(
        "two tools are named `{name}`: one {first}, one {second}; rename one, or leave one out"
    )]
    Duplicate {
        /// The name.
        name: String,
        /// The location of the first in the source code, or the way it was added.
        first: String,
        /// The location of the second in the source code, or the way it was added.
        second: String,
    },
    /// Two values of one toolset give their tools the same names.
    #[error(
        "two values of one toolset have a tool `{name}`; give one of them another prefix, by `.toolset_as::<T>(\"prefix\", params)` or by `prefix` in its specification"
    )]
    DuplicateToolset {
        /// The name of a tool of both.
        name: String,
    },
    /// A tool borrows state that the pool does not have.
    #[error("tool `{tool}` borrows a `{type_name}` that the pool does not have; {remedy}")]
    MissingState {
        /// The tool.
        tool: String,
        /// The type's path.
        type_name: &'static str,
        /// What to write.
        remedy: String,
    },
    /// A tool name is not valid by the MCP specification.
    #[error("bad tool name {name:?}: {reason}; rename it")]
    InvalidName {
        /// The name.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A tool's definition contradicts itself.
    #[error("tool `{tool}`: {reason}")]
    InvalidDefinition {
        /// The tool.
        tool: String,
        /// The reason.
        reason: String,
    },
    /// State of one type was given twice.
    #[error(
        "two values of type `{type_name}` were given as state; wrap one of them in a type of its own"
    )]
    DuplicateState {
        /// The type's path.
        type_name: &'static str,
    },
    /// State was given as a `T` and as an `Arc<T>`: a parameter `&T` could borrow either.
    #[error(
        "state was given as a `{type_name}` and as an `Arc` of it, and a parameter `&T` can borrow either; give only the `Arc`"
    )]
    AmbiguousState {
        /// The path of `T`.
        type_name: &'static str,
    },
    /// Linked tools were requested, and the binary has none.
    #[error(
        "no tool is linked in; put `#[tool]` on a function, and for the tools of a library write `use my_tools as _;` so that it is linked at all"
    )]
    NoLinkedTools,
    /// The names of two tools differ only in case, and models confuse them.
    #[error(
        "the names of the tools `{first}` and `{second}` differ only in case, and models confuse them; rename one"
    )]
    CaseCollision {
        /// One name.
        first: String,
        /// The other.
        second: String,
    },
    /// A pattern or a selector is invalid.
    #[error("{0}")]
    InvalidPattern(SelectorError),
    /// A transform picks no tool.
    #[error("the transform of `{selector}` picks no tool; {help}")]
    IdleTransform {
        /// The selector.
        selector: Selector,
        /// The suggestion.
        help: String,
    },
    /// A toolset, or a tool of a specification, could not be created.
    #[error("`{name}`: {reason}")]
    CreationFailed {
        /// The toolset or the specification.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A source has no tool that a pattern matches.
    #[error(
        "{source} has no tool that `{pattern}` matches; only the source of a tool can remove it"
    )]
    NotOwned {
        /// The source.
        r#source: Source,
        /// The pattern.
        pattern: String,
    },
    /// A source has no prompt of that name, or no resource of that URI.
    #[error("{source} has no prompt or resource `{name}`")]
    UnknownOffering {
        /// The source.
        r#source: Source,
        /// The name, or the URI.
        name: String,
    },
    /// A prompt cannot be offered.
    #[error("prompt `{prompt}`: {reason}")]
    InvalidPrompt {
        /// The prompt.
        prompt: String,
        /// The reason.
        reason: String,
    },
    /// A resource cannot be offered.
    #[error("resource `{uri}`: {reason}")]
    InvalidResource {
        /// The URI or URI template of the resource.
        uri: String,
        /// The reason.
        reason: String,
    },
    /// A policy asks people whom the approver of the pool never asks.
    #[error(
        "the question of `{rule}` may be answered by {approvers}, whom the pool's approver never asks; name other people in the rule, or add an approver that asks them, such as `approvals::Inbox`"
    )]
    Unanswerable {
        /// The rule that asks.
        rule: String,
        /// The people who may answer.
        approvers: Approvers,
    },
    /// A part that a pool has once was given twice.
    #[error("two values were given to `{method}`, and a pool has one; combine them into one")]
    Repeated {
        /// The method of the builder.
        method: &'static str,
    },
    /// An extension cannot be installed.
    #[error("extension `{name}`: {reason}")]
    Extension {
        /// The extension.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A recorder cannot record calls, or a step store cannot look up steps.
    #[error("the recorder of calls: {reason}")]
    Recorder {
        /// The reason.
        reason: String,
    },
    /// The pool has been closed.
    #[error("the pool has been closed")]
    Closed,
}

/// The error of building a pool, with all problems.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::PoolProblem;
///
/// let twice = || Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let error = ToolPool::builder().add(twice()).add(twice()).build().unwrap_err();
/// assert!(matches!(error.problems(), [PoolProblem::Duplicate { .. }]));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{}", heading(*.is_change), list(.problems))]
pub struct PoolError {
    problems: Vec<PoolProblem>,
    /// Whether a running pool was being changed.
    is_change: bool,
}

crate::debug_as_message!(PoolError);

impl PoolError {
    pub(super) fn new(problems: Vec<PoolProblem>) -> Self {
        Self { problems, is_change: false }
    }

    /// Marks the failure of a change to a running pool.
    pub(super) fn of_change(self) -> Self {
        Self { is_change: true, ..self }
    }

    /// All problems.
    pub fn problems(&self) -> &[PoolProblem] {
        &self.problems
    }
}

fn heading(is_change: bool) -> &'static str {
    match is_change {
        true => "the tools of the pool cannot be changed:",
        false => "the pool of tools cannot be built:",
    }
}

#[cfg(test)]
mod tests {
    use crate::pool::ToolPool;

    #[test]
    fn an_error_is_printed_as_its_message() {
        let error = ToolPool::builder().deny(["["]).build().unwrap_err();
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}
