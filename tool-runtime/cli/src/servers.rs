//! Connects external MCP servers while a command runs.

mod pin;
pub(crate) mod start;
pub(crate) mod state;
mod status;
mod warnings;

use super::BoxError;
use super::about::About;
use super::log;
use super::options::{Command, ServerOptions};

pub use pin::PinCommand;
use std::convert::Infallible;
use std::future::pending;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime_client::McpManager;
use tool_runtime_config::{McpConfig, McpConfigError, McpConfigLoader};
use tool_runtime_core::pool::{Selector, ToolPool};
use tool_runtime_core::tool::Secrets;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// Remedy without a configuration file.
const NAME_A_FILE: &str = "name a file of MCP servers by `--mcp-config FILE`";
/// Remedy for a file without servers.
pub(crate) const NAME_A_SERVER: &str =
    r#"write `{ "mcpServers": { "NAME": { "command": ".." } } }` into the file"#;

/// Default time that lists wait for servers.
const LIST_WAIT: Duration = Duration::from_secs(5);

/// The configuration files of servers, with their variables.
pub(crate) struct Files {
    paths: Vec<PathBuf>,
    variables: Vec<(String, String)>,
    /// Whether requests of servers are passed to the caller.
    ask: bool,
    /// Time that lists wait for servers.
    wait: Duration,
    /// The file of approved definitions.
    pub(crate) pins: Option<PathBuf>,
}

impl Files {
    /// The files of the command line; without any, the file of `main!`, if it exists.
    pub(super) fn from_options(options: ServerOptions, default: Option<PathBuf>) -> Self {
        let ServerOptions { files: mut paths, variables, ask, wait, pins } = options;
        if paths.is_empty() {
            paths.extend(default.filter(|file| file.exists()));
        }
        Self { paths, variables, ask, wait: wait.unwrap_or(LIST_WAIT), pins }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The usable entries. Their secrets are masked in the log.
    ///
    /// # Errors
    /// A file cannot be read, or a required entry is invalid.
    fn load(&self) -> Result<McpConfig, McpConfigError> {
        self.loader().load_usable().inspect(mask_in_log)
    }

    /// A loader with the variables of the command line, then those of the environment.
    pub(crate) fn loader(&self) -> McpConfigLoader {
        let variables = self.variables.iter().cloned();
        let loader = McpConfig::loader().variables(variables).environment().option("--var");
        self.paths.iter().fold(loader, |loader, file| loader.file(file))
    }
}

/// Libraries log what servers send: rmcp logs the description of a server that connects.
pub(crate) fn mask_in_log(config: &McpConfig) {
    let secrets = Secrets::new();
    config.servers.values().for_each(|server| secrets.hide(server.result_secrets()));
    log::mask(Arc::new(secrets));
}

/// Default log levels of a command. Commands that print do not log failures of servers: see `warnings`.
pub(super) fn log_levels(command: &Command) -> Targets {
    // Our client logs a lost connection; rmcp would log it again, as an error.
    let log = [
        "rmcp::transport::worker",
        "rmcp::transport::streamable_http_client",
        "rmcp::transport::common::client_side_sse",
    ];
    let log = log.iter().fold(command.log(), |log, rmcp| log.with_target(*rmcp, LevelFilter::OFF));
    if command.is_server() {
        // rmcp logs each unexpected message of a server as a warning.
        return log.with_target("rmcp::service", LevelFilter::ERROR);
    }
    log.with_target("tool_runtime_client", LevelFilter::OFF)
}

/// Runs a command with the servers' tools in the pool.
///
/// # Errors
/// A file or an entry is invalid, or a required server is not connected.
pub(super) async fn run(
    about: About,
    pool: &ToolPool,
    command: Command,
    files: &Files,
    selectors: &[Selector],
) -> Result<ExitCode, BoxError> {
    match command {
        Command::Status { json } => status::status(&about, pool, files, json).await,
        command if files.is_empty() => Ok(about.run_selected(pool, command, selectors).await),
        command => connected(about, pool, command, files, selectors).await,
    }
}

/// Connects, and runs the command even if servers are missing, unless they are required.
async fn connected(
    about: About,
    pool: &ToolPool,
    command: Command,
    files: &Files,
    selectors: &[Selector],
) -> Result<ExitCode, BoxError> {
    let config = files.load()?;
    let pins = files.pins.as_deref();
    let builder = match command.is_server() {
        true => start::builder(&about, pins),
        false => start::once(&about, pins),
    };
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
    let code = if command.is_server() {
        // A client waits for its first answer: warnings follow later.
        tokio::select! {
            code = about.run(pool, command) => code,
            never = warn_later(pool, &config, &manager, files.wait) => match never {},
        }
    } else {
        warnings::report(&command, pool, &config, &statuses, selectors);
        about.run_selected(pool, command, selectors).await
    };
    manager.close().await;
    Ok(code)
}

/// Logs warnings once a connection to every server was attempted, at the latest after `wait`.
async fn warn_later(
    pool: &ToolPool,
    config: &McpConfig,
    manager: &McpManager,
    wait: Duration,
) -> Infallible {
    drop(timeout(wait, manager.settled()).await);
    warnings::report(&Command::Serve, pool, config, &manager.status(), &[]);
    pending().await
}
