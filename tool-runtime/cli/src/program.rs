//! A program whose pool is made when a command needs it: what `main!` writes, and what a program with a configuration
//! of its own uses.

mod assembly;
mod beside;
mod reload;

pub use assembly::Assembly;
#[cfg(feature = "mcp-client")]
pub(crate) use assembly::ServerInputs;
use assembly::WhileServing;
pub(crate) use beside::Beside;
pub use reload::Reload;

use super::about::About;
use super::options::{self, Command, CommandLine, Options};
#[cfg(feature = "remote")]
use super::remote;
use super::run::in_runtime;
#[cfg(feature = "mcp-client")]
use super::servers::{self, Files};
#[cfg(feature = "otel")]
use super::telemetry;
use super::{BoxError, completions, doctor, exit, finish, log, print, setup};
use crate::TerminalApprover;
use crate::program_options::ProgramArguments;
use std::pin::Pin;
use std::process::ExitCode;
use std::time::SystemTime;
#[cfg(any(feature = "mcp-client", feature = "remote"))]
use tool_runtime_command::PoolCommands as _;
use tool_runtime_command::seam::Commands as _;
use tool_runtime_core::govern::AskCaller;
use tool_runtime_core::pool::ToolPoolBuilder;
use tracing::level_filters::LevelFilter;

/// Makes the pool of a program.
pub(crate) type Assemble =
    Box<dyn FnOnce(ToolPoolBuilder) -> Pin<Box<dyn Future<Output = Assembled>>>>;

type Assembled = Result<Assembly, BoxError>;

/// A program that assembles its pool from a configuration of its own. It has the command line of
/// [`main!`](crate::main), with options and commands that are added.
///
/// The pool is made when a command needs it. A command that runs
/// [without a pool](tool_runtime_command::CliCommand::run_without_pool) runs also when the configuration is broken.
///
/// ```no_run
/// use std::process::ExitCode;
/// use tool_runtime::cli::{Assembly, Program, ProgramOptions};
/// use tool_runtime::prelude::*;
///
/// fn main() -> ExitCode {
///     let options = ProgramOptions::new().option("greeting", "TEXT", "The greeting");
///     let arguments = match options.parse(std::env::args_os()) {
///         Ok(arguments) => arguments,
///         Err(code) => return code,
///     };
///     let program = Program::new("greeter", env!("CARGO_PKG_VERSION")).options(arguments.clone());
///     program.run(async move |pool| {
///         let greeting = arguments.value("greeting").unwrap_or("Hello!").to_owned();
///         let greet = Tool::builder("greet", "Greet the user.")
///             .handler(move || std::future::ready(greeting.clone()));
///         Ok(Assembly::new(pool.add(greet)))
///     })
/// }
/// ```
#[must_use = "a program does nothing until `run`"]
pub struct Program {
    about: About,
    arguments: Option<ProgramArguments>,
    pool: ToolPoolBuilder,
    has_servers: bool,
    has_address: bool,
    is_scraped: bool,
}

impl Program {
    /// A program of this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let about = About { name: name.into(), version: version.into(), ..About::default() };
        let pool = ToolPoolBuilder::default();
        Self {
            about,
            arguments: None,
            pool,
            has_servers: false,
            has_address: false,
            is_scraped: false,
        }
    }

    /// Sets the first sentence of the help.
    pub fn about(mut self, about: impl Into<String>) -> Self {
        self.about.about = Some(about.into());
        self
    }

    /// Sets the options of the program, which every command takes, and the arguments of its command. Default: no options,
    /// and the arguments that the process was started with.
    pub fn options(mut self, arguments: ProgramArguments) -> Self {
        self.arguments = Some(arguments);
        self
    }

    /// Adds commands: `|pool| pool.command(Check)`.
    pub fn commands(mut self, add: impl FnOnce(ToolPoolBuilder) -> ToolPoolBuilder) -> Self {
        self.pool = add(self.pool);
        self
    }

    /// Adds the commands `status` and `pin`, and the options of external MCP servers, which [`Assembly::servers`] names.
    #[cfg(feature = "mcp-client")]
    pub fn servers(mut self) -> Self {
        self.has_servers = true;
        self
    }

    /// Adds the command `remote status`, about the runners of a hub. `url`: that of the configuration.
    #[cfg(feature = "remote")]
    pub fn hub(mut self, url: Option<String>) -> Self {
        self.pool = self.pool.command(remote::Status { hub: url });
        self
    }

    /// Adds the option `--stdio` of `serve`, for a program that may serve over HTTP without an option, see
    /// [`Assembly::http`].
    #[cfg(feature = "http")]
    pub fn address(mut self) -> Self {
        self.has_address = true;
        self
    }

    /// Serves metrics at `/metrics`, as `serve --metrics` does. Default: false.
    #[cfg(feature = "otel")]
    pub fn metrics(mut self, is_scraped: bool) -> Self {
        self.is_scraped = is_scraped;
        self
    }

    /// Runs the command that the process was started with. `assemble` makes the pool, from a builder with the commands.
    ///
    /// # Panics
    /// Inside a tokio runtime.
    pub fn run<F>(self, assemble: F) -> ExitCode
    where
        F: AsyncFnOnce(ToolPoolBuilder) -> Result<Assembly, BoxError> + 'static,
    {
        let assemble: Assemble = Box::new(|pool| Box::pin(async move { assemble(pool).await }));
        let Self { about, arguments, pool, has_servers, has_address, is_scraped } = self;
        let arguments = arguments.unwrap_or_else(ProgramArguments::of_process);
        let plan = Plan {
            about,
            arguments,
            pool,
            assemble,
            has_servers,
            has_address,
            is_scraped,
            is_runner: false,
            hub: None,
        };
        start(async move { Ok(plan) })
    }
}

/// The parts of a program, before a command is known.
pub(crate) struct Plan {
    pub(crate) about: About,
    /// The options of the program, which were taken out of the command line.
    pub(crate) arguments: ProgramArguments,
    /// Has the commands of the program.
    pub(crate) pool: ToolPoolBuilder,
    pub(crate) assemble: Assemble,
    pub(crate) has_servers: bool,
    /// Whether the program may serve over HTTP without an option.
    pub(crate) has_address: bool,
    /// Whether its server has `/metrics`.
    #[cfg_attr(not(feature = "otel"), expect(dead_code, reason = "only with metrics"))]
    pub(crate) is_scraped: bool,
    /// Whether the program runs its tools for the callers of a hub.
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "only runners"))]
    pub(crate) is_runner: bool,
    /// The URL of the hub whose runners have tools.
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "only callers of runners"))]
    pub(crate) hub: Option<String>,
}

/// Runs a program in a new runtime.
pub(crate) fn start(plan: impl Future<Output = Result<Plan, BoxError>>) -> ExitCode {
    // Dropped last, also by a panic: ends the remaining descendants of servers.
    #[cfg(all(feature = "mcp-client", target_os = "linux"))]
    let _subreaper = tool_runtime_client::Subreaper::new();
    log::hide_reported_panics();
    in_runtime(Box::pin(async {
        let run = async { log::during(plan).await.map_err(Failure::Setup)?.run().await };
        let code = run.await.unwrap_or_else(|failure| failure.code());
        finish().await;
        code
    }))
}

/// The reason why no command was run.
enum Failure {
    /// Help, a version, or an error of usage was printed.
    Printed(ExitCode),
    Setup(BoxError),
}

impl Failure {
    fn code(self) -> ExitCode {
        match self {
            Self::Printed(code) => code,
            Self::Setup(error) => {
                print::error(&error.to_string());
                ExitCode::from(exit::SETUP)
            }
        }
    }
}

impl Plan {
    async fn run(mut self) -> Result<ExitCode, Failure> {
        let mut about = std::mem::take(&mut self.about);
        self.add_commands(&about);
        let ProgramArguments { given, options: own_options, rest } = self.arguments;
        let global = [own_options, options::pool_options(self.has_servers)].concat();
        let scope = options::Scope::of_program(&global, self.has_servers, self.has_address);
        let (commands, added) = (setup::commands(&about).to_vec(), self.pool.commands());
        let line = CommandLine { about: &about, scope, setup: commands, added, given };
        if let Some(shell) = completions::asking_shell() {
            let assembly = (self.assemble)(self.pool).await.map_err(Failure::Setup)?;
            let pool = assembly.build().await.map_err(Failure::Setup)?;
            let code = completions::complete(&line, &pool, &shell);
            pool.close().await;
            return Ok(code);
        }
        let parsed = options::parse(&line, rest).map_err(Failure::Printed)?;
        let Options { mut command, pool: options, ignored_arguments, log } = parsed;
        about.ignored_arguments = ignored_arguments;
        let mut levels = command.log();
        if self.has_address && command.is_server() {
            levels = levels.with_default(LevelFilter::INFO);
        }
        #[cfg(feature = "mcp-client")]
        if !command.is_server() {
            levels = levels.with_target("tool_runtime_client", LevelFilter::OFF);
        }
        #[cfg(feature = "otel")]
        telemetry::start(&about, &command, self.is_scraped || command.is_scraped());
        log::start(log, command.serves(self.has_address), levels);
        #[cfg(feature = "otel")]
        telemetry::log_start();
        if let Command::Added(own, arguments) = &command
            && let Some(run) = own.run_without_pool(arguments)
        {
            // The command may open a file that a part of the pool has locked.
            drop((self.pool, self.assemble));
            return Ok(run.await);
        }
        if let Command::Completions { name, shell } = &command {
            return Ok(completions::script(name, shell));
        }
        let began = SystemTime::now();
        let assembly = (self.assemble)(self.pool).await;
        let mut assembly = assembly.map_err(Failure::Setup)?;
        let (terminal, caller) = (TerminalApprover::new(), AskCaller::new());
        assembly.pool = match command {
            // The caller is the person at the terminal.
            Command::Call(_) => assembly.pool.default_approver(terminal),
            _ => assembly.pool.default_approver(caller.or(terminal)),
        };
        assembly.change(&mut about);
        command = assembly.serving(command);
        if let Some(filter) = options.filter {
            assembly.pool = assembly.pool.filter(filter);
        }
        assembly.tools = options.tools.or(assembly.tools);
        #[cfg(feature = "mcp-client")]
        let files = Files::new(options.servers, assembly.servers.take());
        #[cfg(feature = "mcp-client")]
        if !files.is_empty() {
            assembly.pool = assembly.pool.allow_empty();
        }
        #[cfg(feature = "remote")]
        let hub = assembly.hub.take();
        #[cfg(feature = "remote")]
        if hub.is_some() {
            assembly.pool = assembly.pool.allow_empty();
        }
        let beside = match command.is_server() {
            true => assembly.beside(began),
            false => Beside::default(),
        };
        let pool = assembly.build().await.map_err(Failure::Setup)?;
        log::mask_secrets_of(&pool);
        if command.is_server() {
            log::panics();
        }
        #[cfg(feature = "remote")]
        let remote = match &hub {
            Some((url, is_trusted)) => {
                let connection = remote::Connection::open(url, *is_trusted, &pool, &command).await;
                Some(connection.map_err(|problem| Failure::Setup(problem.into()))?)
            }
            None => None,
        };
        if let Command::Doctor { json } = command {
            let mut findings = doctor::examine_program(&about, &pool);
            #[cfg(feature = "mcp-client")]
            doctor::examine_servers(&about, &files, &mut findings).await;
            #[cfg(feature = "remote")]
            if let Some(remote) = remote {
                remote.close().await;
            }
            pool.close().await;
            // The server that is started may open a file that a part of the pool has locked.
            drop(pool);
            doctor::examine_start(&mut findings).await;
            return Ok(findings.finish(json));
        }
        #[cfg(feature = "mcp-client")]
        let code = servers::run(about, &pool, command, &files, &options.selectors, beside).await;
        #[cfg(not(feature = "mcp-client"))]
        let run = about.run_selected(&pool, command, &options.selectors);
        #[cfg(not(feature = "mcp-client"))]
        let code = Ok(beside.run(&pool, None, run).await);
        #[cfg(feature = "remote")]
        if let Some(remote) = remote {
            remote.close().await;
        }
        pool.close().await;
        code.map_err(Failure::Setup)
    }

    /// Adds the commands of servers and runners.
    fn add_commands(&mut self, about: &About) {
        #[cfg(any(feature = "mcp-client", feature = "remote"))]
        let mut pool = std::mem::take(&mut self.pool);
        #[cfg(feature = "mcp-client")]
        if self.has_servers {
            pool = pool.command(servers::PinCommand);
        }
        #[cfg(feature = "remote")]
        {
            pool = remote::commands(pool, about, self.is_runner, self.hub.as_ref());
        }
        #[cfg(any(feature = "mcp-client", feature = "remote"))]
        {
            self.pool = pool;
        }
        #[cfg(not(feature = "remote"))]
        let _ = about;
    }
}
