//! Errors of registering and resolving.

use crate::vocabulary::error::list;

/// The reasons why a name could not be registered or specifications could not be resolved: all problems together.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::{Registry, RegistryError};
///
/// let ping = || Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let mut registry = Registry::new();
/// registry.tool(ping())?;
/// assert!(matches!(registry.tool(ping()), Err(RegistryError::Taken { .. })));
/// # Ok::<(), RegistryError>(())
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// The name is registered already.
    #[error("`{name}` is registered already; give one of the two another name")]
    Taken {
        /// The name.
        name: String,
    },
    /// Problems of specifications.
    #[error("the tools could not be created:{}", list(.0))]
    Specs(Vec<SpecProblem>),
}

crate::debug_as_message!(RegistryError);

/// A problem of one specification.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("spec {} (`{name}`): {reason}", .index + 1)]
#[non_exhaustive]
pub struct SpecProblem {
    /// The index of the specification in the list.
    pub index: usize,
    /// The name in the specification.
    pub name: String,
    /// The reason, and what to do.
    pub reason: String,
}
