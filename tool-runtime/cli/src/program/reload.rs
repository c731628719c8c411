//! The configuration of a running program is read again.

use crate::BoxError;
use std::path::PathBuf;
use tool_runtime_core::vocabulary::BoxFuture;

/// Reads the configuration of a running [`Program`](super::Program) again: when SIGHUP arrives, and when a file of it has
/// changed and stays the same for an interval. The external MCP servers of [`Assembly::servers`](super::Assembly::servers)
/// are read afterwards.
pub trait Reload: Send + Sync + 'static {
    /// The files of the configuration, now.
    fn files(&self) -> Vec<PathBuf>;

    /// Checks the configuration, and applies it as a whole.
    ///
    /// # Errors
    /// All mistakes. Nothing was changed.
    fn reload(&self) -> BoxFuture<'_, Result<(), BoxError>>;
}
