//! Connects external MCP servers while a command runs.

mod pin;
pub(crate) mod start;
pub(crate) mod state;
mod status;
mod warnings;

use super::BoxError;
use super::about::About;
use super::log;
use super::options::{Command, Serve, ServerOptions};
use super::program::{Beside, ServerInputs};

pub use pin::PinCommand;
use std::convert::Infallible;
use std::future::pending;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime_client::{McpManager, McpState};
use tool_runtime_config::{McpConfig, McpConfigError, McpConfigLoader};
use tool_runtime_core::pool::{Selector, ToolPool};
use tool_runtime_core::tool::Secrets;

/// Remedy without a configuration file.
const NAME_A_FILE: &str = "name a file of MCP servers by `--mcp-config FILE`";
/// Remedy for a file without servers.
pub(crate) const NAME_A_SERVER: &str =
    r#"write `{ "mcpServers": { "NAME": { "command": ".." } } }` into the file"#;

/// Default time that lists wait for servers.
const LIST_WAIT: Duration = Duration::from_secs(5);

/// The configuration files of servers, with their variables.
pub(crate) struct Files {
    /// Adds the files to a loader. `None` without files.
    inputs: Option<ServerInputs>,
    variables: Vec<(String, String)>,
    /// Whether requests of servers are passed to the caller.
    ask: bool,
    /// Time that lists wait for servers.
    wait: Duration,
    /// The file of approved definitions.
    pub(crate) pins: Option<PathBuf>,
    /// Secrets of entries, masked in the log.
    masked: Arc<Secrets>,
}

impl Files {
    /// The files of the command line; without any, those of the program.
    pub(crate) fn new(options: ServerOptions, of_program: Option<ServerInputs>) -> Self {
        let ServerOptions { files, variables, ask, wait, pins } = options;
        let given: Option<ServerInputs> = match files.is_empty() {
            true => None,
            false => Some(Arc::new(move |loader| files.iter().fold(loader, McpConfigLoader::file))),
        };
        let wait = wait.unwrap_or(LIST_WAIT);
        let masked = Arc::new(Secrets::new());
        log::mask(Arc::clone(&masked) as _);
        Self { inputs: given.or(of_program), variables, ask, wait, pins, masked }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.inputs.is_none()
    }

    /// The usable entries. Their secrets are masked in the log.
    ///
    /// # Errors
    /// A file cannot be read, or a required entry is invalid.
    pub(crate) fn load(&self) -> Result<McpConfig, McpConfigError> {
        self.loader().load_usable().inspect(|config| hide(config, &self.masked))
    }

    /// A loader with the variables of the command line, then those of the environment.
    pub(crate) fn loader(&self) -> McpConfigLoader {
        let variables = self.variables.iter().cloned();
        let loader = McpConfig::loader().variables(variables).environment().option("--var");
        match &self.inputs {
            Some(inputs) => inputs(loader),
            None => loader,
        }
    }
}

/// Libraries log what servers send: rmcp logs the description of a server that connects.
pub(crate) fn mask_in_log(config: &McpConfig) {
    let secrets = Secrets::new();
    hide(config, &secrets);
    log::mask(Arc::new(secrets));
}

fn hide(config: &McpConfig, masked: &Secrets) {
    config.servers.values().for_each(|server| masked.hide(server.result_secrets()));
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
    beside: Beside,
) -> Result<ExitCode, BoxError> {
    match command {
        Command::Status { json } => status::status(&about, pool, files, json).await,
        command if files.is_empty() => {
            let run = about.run_selected(pool, command, selectors);
            Ok(beside.run(pool, None, run).await)
        }
        command => connected(about, pool, command, files, selectors, beside).await,
    }
}

/// Connects, and runs the command even if servers are missing, unless they are required.
async fn connected(
    about: About,
    pool: &ToolPool,
    command: Command,
    files: &Files,
    selectors: &[Selector],
    beside: Beside,
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
    if let Some(error) = start::failure(&config, &statuses).filter(|_| !command.reports_warnings())
    {
        manager.close().await;
        return Err(error.into());
    }
    let code = if command.is_server() {
        // A client waits for its first answer: warnings follow later.
        let run = async {
            tokio::select! {
                code = about.run(pool, command) => code,
                never = warn_later(pool, &config, &manager, files.wait) => match never {},
            }
        };
        beside.run(pool, Some((files, &manager)), run).await
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
    let statuses = manager.status();
    let connected = statuses.iter().filter(|status| status.state == McpState::Ready).count();
    tracing::info!(
        connected,
        servers = statuses.len(),
        "connections to the MCP servers were attempted"
    );
    warnings::report(&Command::Serve(Serve::default()), pool, config, &statuses, &[]);
    pending().await
}
