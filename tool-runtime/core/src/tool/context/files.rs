//! The files that a call may read.

use super::ToolContext;
use std::path::Path;
use std::sync::Arc;

/// Decides which files a call may read. `is_resolved` says that the path is absolute and has no links.
pub(crate) trait FileRules: Send + Sync {
    fn allow(&self, path: &Path, is_resolved: bool) -> bool;
}

impl ToolContext {
    /// Whether the policies of the pool let this call read a file: they decide about the call as one that reads this file
    /// alone. A rule that asks does not let it, unless it asked about the whole call. Hooks have no part in it, nor has what
    /// a workspace of the built-in tools protects.
    ///
    /// It is for tools that read many files and leave out some, which say so by
    /// [`Tool::checks_files`](crate::tool::Tool::checks_files); in calls of other tools, and without policies, the answer is
    /// yes. A relative path begins where those in the keys of the tool do.
    pub fn may_read(&self, path: impl AsRef<Path>) -> bool {
        self.0.file_rules.as_ref().is_none_or(|rules| rules.allow(path.as_ref(), false))
    }

    /// As [`Self::may_read`], of an absolute path without links, which saves looking for them.
    #[doc(hidden)]
    pub fn may_read_resolved(&self, path: &Path) -> bool {
        self.0.file_rules.as_ref().is_none_or(|rules| rules.allow(path, true))
    }

    /// Sets what [`Self::may_read`] asks.
    #[must_use]
    pub(crate) fn with_file_rules(mut self, rules: Arc<dyn FileRules>) -> Self {
        self.parts().file_rules = Some(rules);
        self
    }
}
