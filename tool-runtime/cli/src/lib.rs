//! The command line of a tool program.

mod about;
mod approver;
mod call;
mod completions;
mod doctor;
mod exit;
#[cfg(feature = "export")]
mod export;
#[cfg(feature = "http")]
mod http;
mod list;
mod log;
mod main_macro;
#[cfg(any(
    not(feature = "install"),
    all(feature = "remote", not(all(feature = "remote-hub", feature = "remote-nats")))
))]
mod missing;
mod options;
mod package;
mod print;
mod program;
mod program_options;
#[cfg(feature = "remote")]
mod remote;
mod run;
mod selectors;
#[cfg(feature = "mcp-client")]
mod servers;
mod setup;
mod signals;
mod table;
#[cfg(feature = "otel")]
mod telemetry;

#[doc(hidden)]
pub mod __private;

use about::About;
pub use approver::TerminalApprover;
use options::{CommandLine, Scope};
pub use program::{Assembly, Program, Reload};
pub use program_options::{ProgramArguments, ProgramOptions};
#[cfg(feature = "mcp-client")]
pub use servers::PinCommand;
use std::ffi::OsString;
use std::process::ExitCode;
use tool_runtime_command::seam::Commands as _;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::program_name;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The command line of a pool: `serve`, `list`, `call`, `prompt`, `read`, `schema`, `report`, `completions`.
///
/// Without a command it serves when standard input is not a terminal, as under an MCP client,
/// and shows its help when it is. `serve --http ADDR` serves over HTTP, with the feature `http`:
/// it prints one line `listening on http://HOST:PORT/mcp` to standard error. `main!` uses this type.
///
/// `--json` makes `list`, `call`, `report`, `status` and `doctor` print JSON. `call --args OBJECT` takes the arguments as a
/// JSON object.
///
/// SIGTERM, SIGINT, SIGHUP and the end of the input end a server when calls in flight are done: over HTTP after at
/// most 10 seconds, over standard input and output after at most one second. Signals cancel the call of `call`. A
/// second signal ends the process immediately, with exit code 1.
///
/// | Exit code | Meaning |
/// |---|---|
/// | 0 | success |
/// | 1 | the tool answered with an error |
/// | 2 | wrong usage: an unknown tool or argument, a value of the wrong type |
/// | 3 | the pool cannot be built, the configuration of MCP servers is invalid, or a required server is not connected (only `main!`) |
/// | 130 | a signal cancelled the call |
///
/// `call` takes the arguments of a tool as options that are made from its schema, see `call TOOL --help`. It shows progress
/// and log entries on standard error, and asks the questions of tools at a terminal; elsewhere they fail. At a terminal it
/// asks before it calls a tool that declares that it is destructive, unless `--yes` is given or a policy decides about calls.
///
/// A pool may bring more commands, see [`CliCommand`](tool_runtime_command::CliCommand).
///
/// [`Self::run`] and `main!` close the pool at the end.
///
/// Logs go to standard error. `--log-level` or `RUST_LOG` sets their levels. Default: `warn`; `call` logs nothing and prints its
/// error. Warnings of the pool's making are logged by [`ProgramArguments::log_during`], and by `main!`.
///
/// ```no_run
/// use std::process::ExitCode;
/// use tool_runtime::cli::Cli;
/// use tool_runtime::prelude::*;
///
/// fn main() -> ExitCode {
///     let pool = ToolPool::builder().linked().build().expect("a working pool");
///     Cli::new(pool).name(env!("CARGO_PKG_NAME")).version(env!("CARGO_PKG_VERSION")).run()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Cli {
    pool: ToolPool,
    about: About,
    options: Option<ProgramArguments>,
}

impl Cli {
    /// The command line of a pool, named after the program, version 0.0.0.
    pub fn new(pool: ToolPool) -> Self {
        let name = program_name();
        let version = "0.0.0".to_owned();
        let about = About { name, version, ..About::default() };
        Self { pool, about, options: None }
    }

    /// Sets the name that help and MCP clients show.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.about.name = name.into();
        self
    }

    /// Sets the version that `--version` and MCP clients show.
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.about.version = version.into();
        self
    }

    /// Sets the first sentence of the help.
    #[must_use]
    pub fn about(mut self, about: impl Into<String>) -> Self {
        self.about.about = Some(about.into()).filter(|about| !about.is_empty());
        self
    }

    /// Sets the title that MCP clients show to people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.about.title = Some(title.into());
        self
    }

    /// Sets the instructions for models: how to use the tools together.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.about.instructions = Some(instructions.into());
        self
    }

    /// Sets the options of the program, for the help, and the arguments of its command. Default: no options, and the
    /// arguments that the process was started with.
    #[must_use]
    pub fn options(mut self, arguments: ProgramArguments) -> Self {
        self.options = Some(arguments);
        self
    }

    /// Runs the command that the process was started with, on a new runtime.
    ///
    /// # Panics
    /// Inside a tokio runtime: use [`Self::run_async`] there.
    pub fn run(self) -> ExitCode {
        assert!(
            tokio::runtime::Handle::try_current().is_err(),
            "`Cli::run` starts a runtime of its own; inside one write `run_async().await`"
        );
        run::in_runtime(Box::pin(async {
            let pool = self.pool.clone();
            let code = self.started().await;
            // The runtime ends here, and would drop toolsets that still close.
            pool.close().await;
            finish().await;
            code
        }))
    }

    /// Runs the command that the process was started with, in the caller's tokio runtime.
    pub async fn run_async(self) -> ExitCode {
        let code = self.started().await;
        finish().await;
        code
    }

    async fn started(mut self) -> ExitCode {
        let rest = self.options.as_mut().map(|options| std::mem::take(&mut options.rest));
        self.run_command(rest.unwrap_or_else(|| std::env::args_os().collect())).await
    }

    /// Runs the command in `arguments`, the first of which is the program. Options of the program must have been
    /// taken out.
    ///
    /// ```
    /// # use tool_runtime::cli::Cli;
    /// # use tool_runtime::prelude::*;
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .build()?;
    /// let code = Cli::new(pool).run_from(["program", "call", "ping"]).await;
    /// assert_eq!(code, std::process::ExitCode::SUCCESS);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub async fn run_from<T>(self, arguments: impl IntoIterator<Item = T>) -> ExitCode
    where
        T: Into<OsString> + Clone,
    {
        let code = self.run_command(arguments.into_iter().map(Into::into).collect()).await;
        finish().await;
        code
    }

    async fn run_command(mut self, arguments: Vec<OsString>) -> ExitCode {
        let options = self.options.map(|options| (options.options, options.given));
        let (global, given) = options.unwrap_or_default();
        let scope = Scope::of_program(&global, false, false);
        let (setup, added) = (setup::commands(&self.about).to_vec(), self.pool.commands());
        let line = CommandLine { about: &self.about, scope, setup, added, given };
        if let Some(shell) = completions::asking_shell() {
            return completions::complete(&line, &self.pool, &shell);
        }
        let command = options::parse(&line, arguments);
        match command {
            Ok(options) => {
                let command = &options.command;
                #[cfg(feature = "otel")]
                telemetry::start(&self.about, command, command.is_scraped());
                log::start(options.log, command.serves(false), command.log());
                #[cfg(feature = "otel")]
                telemetry::log_start();
                log::mask_secrets_of(&self.pool);
                self.about.ignored_arguments = options.ignored_arguments;
                self.about.run(&self.pool, options.command).await
            }
            Err(code) => code,
        }
    }
}

/// Exports and writes what is left.
async fn finish() {
    #[cfg(feature = "otel")]
    telemetry::finish().await;
    log::finish();
}
