//! Why a pool could not be built: all problems at once.

use super::{SelectorError, Source};
use std::fmt;

/// One thing that keeps a pool from being built.
///
/// ```
/// use tool_runtime::PoolProblem;
///
/// let problem = PoolProblem::Nothing;
/// assert!(problem.to_string().contains("use my_tools as _;"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PoolProblem {
    /// Two different tools have one name.
    Duplicate {
        /// The name.
        name: String,
        /// Where the first was written, or how it was added.
        first: String,
        /// Where the second was written, or how it was added.
        second: String,
    },
    /// Two values of one toolset give their tools the same names.
    ToolsetTwice {
        /// The name of a tool of both.
        name: String,
    },
    /// A tool borrows state that nobody provides.
    MissingState {
        /// The tool.
        tool: String,
        /// The type's path.
        type_name: &'static str,
    },
    /// A tool's name is not what the MCP specification allows.
    BadName {
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A tool's definition contradicts itself.
    BadDefinition {
        /// The tool.
        tool: String,
        /// What is wrong with it.
        reason: String,
    },
    /// State of one type was given twice.
    DuplicateState {
        /// The type's path.
        type_name: &'static str,
    },
    /// State was given as a `T` and as an `Arc<T>`: a parameter `&T` could borrow either.
    AmbiguousState {
        /// The path of `T`.
        type_name: &'static str,
    },
    /// Linked tools were asked for and there are none.
    Nothing,
    /// The names of two tools differ in case alone, which models confuse.
    CaseCollision {
        /// One name.
        first: String,
        /// The other.
        second: String,
    },
    /// A pattern or a selector is none.
    BadPattern(SelectorError),
    /// A toolset, or a tool of a specification, could not be made.
    Unmade {
        /// The toolset or the specification.
        name: String,
        /// Why.
        reason: String,
    },
    /// A source has no tool that a pattern matches.
    NotOwned {
        /// The source.
        source: Source,
        /// The pattern.
        pattern: String,
    },
    /// A source has no prompt of that name, or no resource of that URI.
    NotOffered {
        /// The source.
        source: Source,
        /// The name, or the URI.
        name: String,
    },
    /// A prompt cannot be offered.
    BadPrompt {
        /// The prompt.
        prompt: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A resource cannot be offered.
    BadResource {
        /// Its URI, or its template of URIs.
        uri: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The pool has been closed.
    Closed,
}

impl fmt::Display for PoolProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Duplicate { name, first, second } => write!(
                f,
                "two tools are named `{name}`: one {first}, one {second}; rename one, or leave one out"
            ),
            Self::ToolsetTwice { name } => write!(
                f,
                "two values of one toolset have a tool `{name}`; give one of them another prefix, by `.toolset_as::<T>(\"prefix\", params)` or by `prefix` in its specification"
            ),
            Self::MissingState { tool, type_name } => write!(
                f,
                "tool `{tool}` borrows a `{type_name}` that the pool does not have; add `.state(value)` to the pool, or `state = value` to `main!`, or `.provides::<T>()` to the hook that provides it"
            ),
            Self::BadName { name, reason } => write!(
                f,
                "bad tool name {name:?}: {reason}; rename it"
            ),
            Self::BadDefinition { tool, reason } => write!(f, "tool `{tool}`: {reason}"),
            Self::DuplicateState { type_name } => write!(
                f,
                "two values of type `{type_name}` were given as state; wrap one of them in a type of its own"
            ),
            Self::AmbiguousState { type_name } => write!(
                f,
                "state was given as a `{type_name}` and as an `Arc` of it, and a parameter `&T` can borrow either; give the `Arc` alone"
            ),
            Self::Nothing => f.write_str(
                "no tool is linked in; put `#[tool]` on a function, and for the tools of a library write `use my_tools as _;` so that it is linked at all",
            ),
            Self::CaseCollision { first, second } => write!(
                f,
                "the tools `{first}` and `{second}` differ in case alone, which models confuse; rename one"
            ),
            Self::BadPattern(error) => write!(f, "{error}"),
            Self::Unmade { name, reason } => write!(f, "`{name}`: {reason}"),
            Self::NotOwned { source, pattern } => write!(
                f,
                "{source} has no tool that `{pattern}` matches; only the source of a tool can remove it"
            ),
            Self::NotOffered { source, name } => write!(f, "{source} offers no `{name}`"),
            Self::BadPrompt { prompt, reason } => write!(f, "prompt `{prompt}`: {reason}"),
            Self::BadResource { uri, reason } => write!(f, "resource `{uri}`: {reason}"),
            Self::Closed => f.write_str("the pool has been closed"),
        }
    }
}

/// Why a pool could not be built.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::PoolProblem;
///
/// let twice = || Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let error = ToolPool::builder().add(twice()).add(twice()).build().unwrap_err();
/// assert!(matches!(error.problems(), [PoolProblem::Duplicate { .. }]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PoolError {
    problems: Vec<PoolProblem>,
    /// Whether a running pool was to be changed.
    is_change: bool,
}

impl PoolError {
    pub(super) fn new(problems: Vec<PoolProblem>) -> Self {
        Self { problems, is_change: false }
    }

    /// A running pool was to be changed.
    pub(super) fn of_change(self) -> Self {
        Self { is_change: true, ..self }
    }

    /// Everything that is wrong.
    pub fn problems(&self) -> &[PoolProblem] {
        &self.problems
    }
}

impl fmt::Display for PoolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_change {
            "the tools of the pool cannot be changed:"
        } else {
            "the pool of tools cannot be built:"
        })?;
        for problem in &self.problems {
            write!(f, "\n- {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for PoolError {}
