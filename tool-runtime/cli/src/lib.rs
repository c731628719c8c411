//! The command line of a tool program.

mod approver;
mod call;
mod completions;
mod doctor;
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
mod program_options;
#[cfg(feature = "remote")]
mod remote;
mod selectors;
#[cfg(feature = "mcp-client")]
mod servers;
mod setup;
mod signals;
mod table;

#[doc(hidden)]
pub mod __private;

pub use approver::TerminalApprover;
use options::{Command, CommandLine, Scope};
use package::Package;
pub use program_options::{ProgramArguments, ProgramOptions};
#[cfg(feature = "mcp-client")]
pub use servers::PinCommand;
use std::ffi::OsString;
use std::pin::Pin;
use std::process::ExitCode;
use tool_runtime_command::seam::Commands as _;
use tool_runtime_core::pool::{Selector, ToolPool};
use tool_runtime_core::seam::program_name;
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_server::McpServer;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Exit codes.
mod exit {
    use super::print;
    use std::io;
    use std::process::ExitCode;

    /// The tool answered with an error, or the server could not serve.
    pub(super) const ERROR: u8 = 1;
    /// Wrong usage: unknown tools and arguments, values of the wrong type.
    pub(super) const USAGE: u8 = 2;
    /// The pool cannot be built, or a required server is not connected.
    pub(super) const SETUP: u8 = 3;

    /// A signal cancelled the call.
    pub(super) const INTERRUPTED: u8 = 130;

    /// The exit code after serving.
    pub(super) fn exit_code(result: io::Result<()>) -> ExitCode {
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                print::error(&format!("the server stopped: {error}"));
                ExitCode::from(ERROR)
            }
        }
    }
}

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

/// The name and description of a program.
#[derive(Clone, Debug, Default)]
struct About {
    name: String,
    version: String,
    about: Option<String>,
    title: Option<String>,
    instructions: Option<String>,
    #[cfg_attr(not(feature = "install"), expect(dead_code, reason = "only bundles name it"))]
    package: Package,
    /// Arguments of hosts, which the server ignores.
    ignored_arguments: Vec<String>,
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
        in_runtime(Box::pin(async {
            let pool = self.pool.clone();
            let code = self.run_async().await;
            // The runtime ends here, and would drop toolsets that still close.
            pool.close().await;
            code
        }))
    }

    /// Runs the command that the process was started with, in the caller's tokio runtime.
    pub async fn run_async(mut self) -> ExitCode {
        let rest = self.options.as_mut().map(|options| std::mem::take(&mut options.rest));
        self.run_from(rest.unwrap_or_else(|| std::env::args_os().collect())).await
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
    pub async fn run_from<T>(mut self, arguments: impl IntoIterator<Item = T>) -> ExitCode
    where
        T: Into<OsString> + Clone,
    {
        let options = self.options.map(|options| (options.options, options.given));
        let (global, given) = options.unwrap_or_default();
        let scope = Scope::of_pool(&global);
        let (setup, added) = (setup::commands(&self.about).to_vec(), self.pool.commands());
        let line = CommandLine { about: &self.about, scope, setup, added, given };
        if let Some(shell) = completions::asking_shell() {
            return completions::complete(&line, &self.pool, &shell);
        }
        let command = options::parse(&line, arguments.into_iter().map(Into::into).collect());
        let code = match command {
            Ok(options) => {
                log::start(options.log, options.command.log());
                log::mask_secrets_of(&self.pool);
                self.about.ignored_arguments = options.ignored_arguments;
                self.about.run(&self.pool, options.command).await
            }
            Err(code) => code,
        };
        log::finish();
        code
    }
}

impl About {
    /// Runs a command, unless a pattern of the command line picks no tool.
    async fn run_selected(
        self,
        pool: &ToolPool,
        command: Command,
        selectors: &[Selector],
    ) -> ExitCode {
        match selectors::unmatched(pool, selectors) {
            Some(code) => code,
            None => self.run(pool, command).await,
        }
    }

    /// Boxed, so that it is compiled once.
    fn run(self, pool: &ToolPool, command: Command) -> BoxFuture<'_, ExitCode> {
        Box::pin(async move {
            match command {
                Command::Serve => self.serve(pool).await,
                #[cfg(feature = "http")]
                Command::ServeHttp(http) => http::serve(self.server(pool), http).await,
                #[cfg(feature = "export")]
                Command::List(list) if list.tokens => export::sizes(pool, list.json),
                Command::List(list) => list::list(pool, &list),
                Command::Report { json } => list::report(pool, json),
                #[cfg(feature = "export")]
                Command::Schema(schema) => export::schema(pool, &schema),
                #[cfg(not(feature = "export"))]
                Command::Schema(schema) => list::schema(pool, schema.name.as_deref()),
                Command::Call(call) => call::call(pool, call).await,
                Command::Prompt(call) => call::prompt(pool, call).await,
                Command::Completions { name, shell } => completions::script(&name, &shell),
                Command::Read(read) => call::read(pool, read).await,
                Command::Added(command, arguments) => match command.run_without_pool(&arguments) {
                    Some(run) => run.await,
                    None => command.run(&arguments, pool).await,
                },
                // `main!` runs this command itself.
                #[cfg(feature = "mcp-client")]
                Command::Status { .. } => ExitCode::from(exit::USAGE),
                Command::Doctor { json } => doctor::examine_program(&self, pool).finish(json),
            }
        })
    }

    async fn serve(self, pool: &ToolPool) -> ExitCode {
        let end = signals::shutdown_token();
        exit::exit_code(self.server(pool).serve_stdio_until(&end).await)
    }

    fn server(self, pool: &ToolPool) -> McpServer {
        let mut server = McpServer::new(pool.clone(), self.name, self.version)
            .with_ignored_arguments(self.ignored_arguments);
        if let Some(title) = self.title {
            server = server.with_title(title);
        }
        if let Some(instructions) = self.instructions {
            server = server.with_instructions(instructions);
        }
        server
    }
}

/// Minimum number of worker threads: one for the server, and two tools that block their thread run concurrently.
const MIN_WORKERS: usize = 3;

/// Runs a future in a new runtime. The process does not wait for blocking functions that still run at the end.
///
/// The future is boxed because tokio compiles it for each of its schedulers.
fn in_runtime(future: Pin<Box<dyn Future<Output = ExitCode> + '_>>) -> ExitCode {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(cores.max(MIN_WORKERS))
        .enable_all()
        .build();
    match runtime {
        Ok(runtime) => {
            let code = runtime.block_on(future);
            runtime.shutdown_background();
            code
        }
        Err(error) => {
            print::error(&format!("cannot start the runtime: {error}"));
            ExitCode::from(exit::ERROR)
        }
    }
}
