//! The external MCP servers of a program: connected while a command runs.

mod doctor;
mod status;

use super::About;
use super::main_macro::BoxError;
use super::options::Command;
use crate::mcp::{McpConfig, McpConfigError, McpManager};
use crate::pool::ToolPool;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::timeout;

/// How long a command waits for servers that neither answer nor fail.
const PATIENCE: Duration = Duration::from_secs(30);
/// A client of ours waits for its first answer.
const PATIENCE_OF_CLIENTS: Duration = Duration::from_secs(10);

/// The files that name servers.
pub(super) struct Files(Vec<PathBuf>);

impl Files {
    /// Those of the command line, or else the program's own, if it is there.
    pub(super) fn of(typed: Vec<PathBuf>, own: Option<PathBuf>) -> Self {
        if typed.is_empty() {
            Self(own.into_iter().filter(|file| file.exists()).collect())
        } else {
            Self(typed)
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn load(&self) -> Result<McpConfig, McpConfigError> {
        let loader = McpConfig::loader().environment();
        self.0.iter().fold(loader, |loader, file| loader.file(file)).load()
    }
}

/// Runs a command with the servers' tools in the pool.
///
/// # Errors
/// A file cannot be used, or a server cannot be what its entry says.
pub(super) async fn run(
    about: About,
    pool: &ToolPool,
    command: Command,
    files: Files,
) -> Result<ExitCode, BoxError> {
    match command {
        Command::Doctor => Ok(doctor::doctor(&about, &files).await),
        Command::Status => {
            let manager = connect(&about, pool, &files, PATIENCE).await?;
            let code = status::show(&manager);
            manager.close().await;
            Ok(code)
        }
        command if files.is_empty() => Ok(about.run(pool, command).await),
        command => {
            let patience = if command.is_server() { PATIENCE_OF_CLIENTS } else { PATIENCE };
            let manager = connect(&about, pool, &files, patience).await?;
            let code = about.run(pool, command).await;
            manager.close().await;
            Ok(code)
        }
    }
}

/// Connects, and goes on without what is not there: that is logged, and tried again.
async fn connect(
    about: &About,
    pool: &ToolPool,
    files: &Files,
    patience: Duration,
) -> Result<McpManager, BoxError> {
    let builder = McpManager::builder().client(&about.name, &about.version);
    let manager = builder.config(files.load()?).start(pool)?;
    drop(timeout(patience, manager.settled()).await);
    Ok(manager)
}
