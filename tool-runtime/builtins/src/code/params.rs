//! Settings of the operator.

use schemars::JsonSchema;
use serde::Deserialize;
use std::path::PathBuf;

/// Settings of the tools for code, chosen by the operator. No argument of a tool changes them.
///
/// ```
/// use tool_runtime_builtins::code::CodeParams;
///
/// let mut params = CodeParams::default();
/// params.worktrees.directory = "trees".into();
/// assert!(!params.worktrees.hooks);
/// ```
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CodeParams {
    /// Worktrees of git.
    pub worktrees: WorktreeParams,
}

/// Settings of the tools for worktrees.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WorktreeParams {
    /// The program git: a path, or a name that is looked up in `PATH`.
    pub git: PathBuf,
    /// Directory of the worktrees, inside of a root. A new one gets a `.gitignore` by which git and searches skip it.
    /// Default: `.worktrees` in the first root.
    pub directory: PathBuf,
    /// Whether programs run that the repository's own configuration names: hooks, filters, file monitors, transports
    /// for missing objects. Whoever can change files in `.git` decides about them.
    pub hooks: bool,
}

impl Default for WorktreeParams {
    fn default() -> Self {
        Self { git: "git".into(), directory: ".worktrees".into(), hooks: false }
    }
}
