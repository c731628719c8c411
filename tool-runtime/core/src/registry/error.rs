//! Why specifications cannot be resolved.

use std::fmt;

/// Why a name could not be registered, or specifications have no tools: everything that is
/// wrong with them at once.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::{Registry, RegistryError};
///
/// let ping = || Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let mut registry = Registry::new();
/// registry.tool(ping())?;
/// assert!(matches!(registry.tool(ping()), Err(RegistryError::Taken { .. })));
/// # Ok::<(), RegistryError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is registered already.
    Taken {
        /// The name.
        name: String,
    },
    /// What is wrong with specifications.
    Specs(Vec<SpecProblem>),
}

/// What is wrong with one specification.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpecProblem {
    /// Its place in the list, from 0.
    pub index: usize,
    /// The name that it says.
    pub name: String,
    /// What is wrong, and what to do.
    pub reason: String,
}

impl fmt::Display for SpecProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "spec {} (`{}`): {}", self.index + 1, self.name, self.reason)
    }
}

impl fmt::Display for RegistryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Taken { name } => {
                write!(f, "`{name}` is registered already; give one of the two another name")
            }
            Self::Specs(problems) => {
                f.write_str("the tools could not be made:")?;
                problems.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
            }
        }
    }
}

impl std::error::Error for RegistryError {}
