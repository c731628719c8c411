//! Tools for code: notebooks, worktrees of git, language servers.
//!
//! | Module | Topic |
//! |---|---|
//! | `params` | settings of the operator |
//! | `notebook` | cells of Jupyter notebooks |
//! | `worktree` | copies of a repository, each on a branch of its own |
//! | `lsp` | questions to language servers |
//! | `installed` | language servers that are installed |
//! | `requirements` | programs that the tools need, and whether they are there |

#[cfg(unix)]
mod installed;
#[cfg(unix)]
mod lsp;
mod notebook;
mod params;
#[cfg(unix)]
mod requirements;
#[cfg(all(test, unix))]
mod tests;
#[cfg(unix)]
mod worktree;

use crate::builtins::Builtins;
#[cfg(unix)]
pub use lsp::{LanguageServers, LspItem, LspOperation, LspOutput};
pub use notebook::{CellType, NotebookCommand, NotebookOutput, Notebooks};
pub use params::{CodeParams, LanguageServer, WorktreeParams};
#[cfg(unix)]
pub use worktree::{ExitAction, ExitOutput, WorktreeOutput, Worktrees};

impl Builtins {
    /// Adds the tools for notebooks, worktrees of git and language servers. Tools whose program is missing are hidden,
    /// and the pool's report says what to install. `LSP` searches the text of files whose server is missing; it is read-only only in a [`Sandbox`](crate::Sandbox): language
    /// servers run programs of the project, which could change files.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::code::CodeParams;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let builtins = Builtins::new(workspace).code(CodeParams::default());
    /// let pool = ToolPool::builder().install(builtins).build()?;
    /// assert!(pool.tools().iter().any(|tool| tool.name() == "NotebookEdit"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn code(self, params: CodeParams) -> Self {
        self.family_of_tools(|builtins| {
            let workspace = || builtins.workspace().clone();
            let mut tools = builtins.tools(Ok(Notebooks::over(workspace())));
            #[cfg(unix)]
            {
                let git = requirements::git(&params, builtins.workspace());
                let servers = requirements::language_servers(&params, builtins.workspace());
                let worktrees = Worktrees::new(workspace(), params.worktrees.clone());
                let worktrees = builtins.tools(worktrees).into_iter();
                let servers_tools = builtins.tools(LanguageServers::new(workspace(), params));
                let is_confined = builtins.workspace().confinement().keeps_roots();
                tools.extend(worktrees.map(|tool| tool.requires(git.clone())));
                tools.extend(
                    servers_tools
                        .into_iter()
                        .map(|tool| tool.with_read_only(is_confined).requires(servers.clone())),
                );
            }
            tools
        })
    }
}
