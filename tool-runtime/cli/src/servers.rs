//! The external MCP servers of a program: connected while a command runs.

mod absent;
mod doctor;
mod start;
mod state;
mod status;
mod tell;

use super::About;
use super::BoxError;
use super::options::{Command, Servers};
use absent::Absent;
use std::convert::Infallible;
use std::future::pending;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime_client::McpManager;
use tool_runtime_config::{McpConfig, McpConfigLoader};
use tool_runtime_core::ToolPool;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// What to do without a file.
const NAME_A_FILE: &str = "name a file of MCP servers by `--mcp-config FILE`";
/// What to do without servers in it.
const NAME_A_SERVER: &str =
    r#"write `{ "mcpServers": { "NAME": { "command": ".." } } }` into the file"#;

/// How long lists wait for servers unless the command line says otherwise.
const WAIT: Duration = Duration::from_secs(5);

/// The files that name servers, and what variables in them stand for.
pub(super) struct Files {
    paths: Vec<PathBuf>,
    variables: Vec<(String, String)>,
    /// Whether what servers ask is handed on.
    ask: bool,
    /// How long lists wait for servers.
    wait: Duration,
}

impl Files {
    /// Those of the command line, or else the program's own, if it is there.
    pub(super) fn of(typed: Servers, own: Option<PathBuf>) -> Self {
        let Servers { files: mut paths, variables, ask, wait } = typed;
        if paths.is_empty() {
            paths.extend(own.filter(|file| file.exists()));
        }
        Self { paths, variables, ask, wait: wait.unwrap_or(WAIT) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Variables of the command line come first; a folder that an editor works in is this one.
    fn loader(&self) -> McpConfigLoader {
        let here =
            std::env::current_dir().ok().and_then(|here| here.into_os_string().into_string().ok());
        let here = here.map(|here| ("workspaceFolder".to_owned(), here));
        let variables = here.into_iter().chain(self.variables.iter().cloned());
        let loader = McpConfig::loader().variables(variables).environment().option("--var");
        self.paths.iter().fold(loader, |loader, file| loader.file(file))
    }
}

/// What a command logs unless `RUST_LOG` says otherwise. What becomes of servers is told to people
/// in other ways, see `tell`.
pub(super) fn log(command: &Command) -> Targets {
    // Our client logs a lost connection itself; rmcp would log it once more, as an error.
    let log = [
        "rmcp::transport::worker",
        "rmcp::transport::streamable_http_client",
        "rmcp::transport::common::client_side_sse",
    ];
    let log = log.iter().fold(command.log(), |log, rmcp| log.with_target(*rmcp, LevelFilter::OFF));
    if command.is_server() {
        // A server could fill the log with what rmcp says of its messages.
        return log.with_target("rmcp::service", LevelFilter::ERROR);
    }
    log.with_target("tool_runtime_client", LevelFilter::OFF)
}

/// Runs a command with the servers' tools in the pool.
///
/// # Errors
/// A file cannot be used, a server cannot be what its entry says, or one is not there that is
/// required.
pub(super) async fn run(
    about: About,
    pool: &ToolPool,
    command: Command,
    files: &Files,
) -> Result<ExitCode, BoxError> {
    match command {
        Command::Doctor { json } => Ok(doctor::doctor(&about, files, json).await),
        Command::Status { json } => status::status(&about, pool, files, json).await,
        command if files.is_empty() => Ok(about.run(pool, command).await),
        command => connected(about, pool, command, files).await,
    }
}

/// Connects, and goes on without what is not there, unless it is required.
async fn connected(
    about: About,
    pool: &ToolPool,
    command: Command,
    files: &Files,
) -> Result<ExitCode, BoxError> {
    let config = files.loader().load_usable()?;
    // A server goes on being tried.
    let absent = (!command.is_server()).then(|| Absent::among(pool, &config));
    let builder = if command.is_server() { start::builder(&about) } else { start::once(&about) };
    let mut builder = builder.config(config.clone()).list_wait(files.wait);
    if files.ask {
        builder = builder.ask_callers();
    }
    let manager = builder.start(pool)?;
    if command.is_server() {
        start::required(&manager, &config).await;
    } else {
        start::all(&manager, &config).await;
    }
    let statuses = manager.status();
    if let Some(error) = start::failure(&config, &statuses) {
        manager.close().await;
        return Err(error.into());
    }
    if let Some(absent) = &absent {
        absent.know(&statuses);
    }
    let code = if command.is_server() {
        // The problems are known later: a client waits for its first answer.
        tokio::select! {
            code = about.run(pool, command) => code,
            never = tell_later(pool, &config, &manager, files.wait) => match never {},
        }
    } else {
        tell::before(&command, pool, &config, &statuses);
        about.run(pool, command).await
    };
    manager.close().await;
    Ok(code)
}

/// Logs what there is to tell once all servers were tried, or are late.
async fn tell_later(
    pool: &ToolPool,
    config: &McpConfig,
    manager: &McpManager,
    wait: Duration,
) -> Infallible {
    drop(timeout(wait, manager.settled()).await);
    tell::before(&Command::Serve, pool, config, &manager.status());
    pending().await
}
