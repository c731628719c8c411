//! Questions to language servers.
//!
//! | Module | Topic |
//! |---|---|
//! | `framing`, `connection`, `host`, `status`, `error` | messages, requests, what a server asks and reports |
//! | `server`, `servers` | processes: start, restart, end |
//! | `documents`, `watch` | files of the disk as the server sees them |
//! | `operation`, `ask`, `query`, `hits`, `source_files`, `rename` | calls: arguments, requests, results |
//! | `text_search` | answers without a server: lines in which a name is declared or used |
//! | `position`, `uri`, `output` | characters and code units, paths, what the tool returns |

mod ask;
mod connection;
mod documents;
mod error;
mod framing;
mod hits;
mod host;
mod operation;
mod output;
mod position;
mod query;
mod rename;
mod server;
mod servers;
mod source_files;
mod status;
#[cfg(test)]
mod tests;
mod text_search;
mod uri;
mod watch;

pub use operation::LspOperation;
pub use output::{LspItem, LspOutput};

use super::params::CodeParams;
use crate::builtins::{Family, Profile};
use crate::tool_output::ToolOutput;
use crate::workspace::Workspace;
use operation::Request;
use servers::Servers;
use tool_runtime::prelude::*;

/// The tool that asks language servers. See [`Builtins::code`](crate::Builtins::code).
///
/// A server is started when a file of its language is first asked about, one for each root and each worktree, and is
/// started again when it crashes. A server that is not installed is replaced by a search of the text. Before each request it gets the files as they are on the disk. It ends with the pool, with all that it
/// started.
pub struct LanguageServers {
    servers: Servers,
}

#[toolset(prefix = "", open_world = false, timeout = "300s", register = false)]
impl LanguageServers {
    /// Ask a language server about code: definitions, references, types, symbols, calls, the effect of a rename, errors.
    ///
    /// Operations about a symbol need `line` and `character` of the symbol, both counted from 1 as `Read` and `Grep` count
    /// lines. `workspaceSymbol` needs `query`, `renamePreview` needs `new_name` and changes nothing. Without a server for
    /// the file, definitions, implementations, references and symbols are found by a search of the text, which the result
    /// says.
    // Not always: `Builtins::code` says so.
    #[tool(
        name = "LSP",
        read_only,
        idempotent,
        destructive = false,
        tags("specialist"),
        reads("file:{file_path}")
    )]
    #[allow(clippy::too_many_arguments, reason = "the arguments of all operations")]
    async fn lsp(
        &self,
        /// The question.
        operation: LspOperation,
        /// Path of the file. For `workspaceSymbol` any file of the language.
        #[arg(match_as = "path", length = 1..=4096)]
        file_path: String,
        /// Line of the symbol, counted from 1.
        #[arg(range = 1..=10_000_000)]
        line: Option<usize>,
        /// Character of the line, counted from 1.
        #[arg(range = 1..=10_000_000)]
        character: Option<usize>,
        /// A part of the name, for `workspaceSymbol`.
        #[arg(length = 0..=1000)]
        query: Option<String>,
        /// The new name, for `renamePreview`.
        #[arg(length = 1..=1000)]
        new_name: Option<String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<LspOutput>, ToolError> {
        let request = Request { operation, file_path, line, character, query, new_name };
        self.servers.ask(&request, context).await.map(ToolOutput::from_display)
    }
}

impl LanguageServers {
    /// The tool over a workspace.
    ///
    /// # Errors
    /// The sandbox is missing.
    pub(crate) fn new(workspace: Workspace, params: CodeParams) -> Result<Self, String> {
        workspace.confinement().check()?;
        Ok(Self { servers: Servers::new(workspace, params) })
    }
}

impl Family for LanguageServers {
    fn tools_of(_: Profile) -> &'static [&'static str] {
        &["LSP"]
    }
}

impl Toolset for LanguageServers {
    type Params = CodeParams;

    /// The workspace is state of the pool.
    async fn create(params: CodeParams, context: &ToolContext) -> Result<Self, ToolError> {
        Self::new(Workspace::from_context(context)?, params).map_err(ToolError::user)
    }

    /// Ends all servers.
    async fn close(&self) {
        self.servers.close().await;
    }
}
