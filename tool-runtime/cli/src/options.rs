//! Parses the command line to a command.

mod added;
mod commands;
mod help;
#[cfg(feature = "http")]
mod http;
mod parser;
#[cfg(feature = "mcp-client")]
mod servers;
mod spec;
mod usage_error;

use super::{About, exit, print};
use commands::{
    ALLOW, ARGS, CALL, DENY, IGNORE_ARGUMENT, JSON, LIST, REPORT, SCHEMA, SERVE, TOOLS, commands,
};
#[cfg(feature = "export")]
use commands::{FORMAT, STRICT, TOKENS};
pub(super) use commands::{ROOT, Scope};
#[cfg(feature = "jwt")]
pub(super) use http::Jwt;
#[cfg(feature = "http")]
pub(super) use http::ServeHttp;
use parser::{Arguments, Parsed};
#[cfg(feature = "mcp-client")]
pub(super) use servers::ServerOptions;
pub(super) use spec::Opt;
use spec::{CommandSpec, Commands};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use tool_runtime_command::{CliCommand, CommandArguments};
use tool_runtime_core::pool::{Filter, Selector, SelectorError};
#[cfg(feature = "export")]
use tool_runtime_export::Api;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
pub(super) use usage_error::UsageError;

/// The parsed command line.
pub(super) struct Options {
    pub(super) command: Command,
    pub(super) pool: PoolOptions,
    /// `--ignore-argument`.
    pub(super) ignored_arguments: Vec<String>,
}

/// The options that assemble the pool.
#[derive(Default)]
pub(super) struct PoolOptions {
    /// `--tools FILE`.
    pub(super) tools: Option<PathBuf>,
    /// `--allow` and `--deny`.
    pub(super) filter: Option<Filter>,
    #[cfg(feature = "mcp-client")]
    pub(super) servers: ServerOptions,
}

impl PoolOptions {
    fn from_arguments(arguments: &Arguments) -> Result<Self, UsageError> {
        Ok(Self {
            tools: arguments.value(&TOOLS).map(PathBuf::from),
            filter: filter(arguments)?,
            #[cfg(feature = "mcp-client")]
            servers: ServerOptions::from_arguments(arguments)?,
        })
    }
}

/// The filter of `--allow` and `--deny`, if they are given.
fn filter(arguments: &Arguments) -> Result<Option<Filter>, UsageError> {
    let allow = selectors(arguments, &ALLOW)?;
    let deny = selectors(arguments, &DENY)?;
    if allow.is_empty() && deny.is_empty() {
        return Ok(None);
    }
    let filter = Filter::default().deny(deny);
    Ok(Some(if allow.is_empty() { filter } else { filter.allow(allow) }))
}

fn selectors(arguments: &Arguments, option: &Opt) -> Result<Vec<Selector>, UsageError> {
    let parse = |text: &str| {
        text.parse().map_err(|error: SelectorError| UsageError::invalid(option, &error.to_string()))
    };
    arguments.values(option).map(parse).collect()
}

/// A command, ready to run.
pub(super) enum Command {
    Serve,
    #[cfg(feature = "http")]
    ServeHttp(ServeHttp),
    List {
        json: bool,
        #[cfg(feature = "export")]
        tokens: bool,
    },
    Report {
        json: bool,
    },
    Schema(Schema),
    Call(Call),
    /// A command of the pool.
    Added(Arc<dyn CliCommand>, CommandArguments),
    /// Shows the status of external MCP servers.
    #[cfg(feature = "mcp-client")]
    Status {
        json: bool,
    },
    /// Checks the configuration of external MCP servers.
    #[cfg(feature = "mcp-client")]
    Doctor {
        json: bool,
    },
}

impl Command {
    /// Whether the command runs until a client or a signal ends it.
    pub(super) fn is_server(&self) -> bool {
        match self {
            Self::Serve => true,
            #[cfg(feature = "http")]
            Self::ServeHttp(_) => true,
            Self::Added(command, _) => command.serves(),
            _ => false,
        }
    }

    /// Default log levels. Commands without a log print their warnings themselves.
    pub(super) fn log(&self) -> Targets {
        Targets::new().with_default(match self {
            Self::Call(_) | Self::Report { .. } => LevelFilter::OFF,
            #[cfg(feature = "mcp-client")]
            Self::Status { .. } | Self::Doctor { .. } => LevelFilter::OFF,
            _ => LevelFilter::WARN,
        })
    }
}

/// `schema [NAME] ...`
pub(super) struct Schema {
    /// All tools without a name.
    pub(super) name: Option<String>,
    #[cfg(feature = "export")]
    pub(super) format: Api,
    #[cfg(feature = "export")]
    pub(super) strict: bool,
}

/// `call NAME ...`
pub(super) struct Call {
    pub(super) name: String,
    pub(super) input: Input,
    /// Whether to print the whole result as JSON.
    pub(super) json: bool,
}

/// The source of a call's arguments.
pub(super) enum Input {
    Pairs(Vec<String>),
    Json(String),
    File(String),
    Stdin,
}

/// Parses the command line. Help, versions and errors are printed here and end with an exit code. `scope`
/// has the commands and options that are not of the pool.
pub(super) fn parse<T>(
    about: &About,
    scope: Scope<'_>,
    added: &[Arc<dyn CliCommand>],
    arguments: impl IntoIterator<Item = T>,
) -> Result<Options, ExitCode>
where
    T: Into<OsString>,
{
    let arguments = arguments.into_iter().map(Into::into).collect();
    let commands = commands(scope, added).map_err(|problem| {
        print::error(&problem);
        ExitCode::from(exit::SETUP)
    })?;
    parse_erased(about, &commands, added, arguments)
}

fn parse_erased(
    about: &About,
    commands: &Commands,
    added: &[Arc<dyn CliCommand>],
    arguments: Vec<OsString>,
) -> Result<Options, ExitCode> {
    let mut parser = lexopt::Parser::from_iter(arguments);
    let program = help::program(parser.bin_name()).unwrap_or_else(|| about.name.clone());
    let help = |command: &CommandSpec| {
        print::line(help::text(about, &program, command, commands).trim_end());
        ExitCode::SUCCESS
    };
    let options = match parser::parse(&mut parser, commands) {
        Ok(Parsed::Help(command)) => return Err(help(command)),
        Ok(Parsed::Version) => {
            print::line(&format!("{} {}", about.name, about.version));
            return Err(ExitCode::SUCCESS);
        }
        // A user at a terminal needs help; an MCP client needs a server.
        Ok(Parsed::Command(command, _)) if command.name.is_empty() && is_terminal() => {
            return Err(help(&ROOT));
        }
        Ok(Parsed::Command(command, arguments)) => options(command, added, arguments),
        Err(error) => Err(error),
    };
    options.map_err(|error| {
        print::error(&error.text(&program));
        ExitCode::from(exit::USAGE)
    })
}

fn is_terminal() -> bool {
    std::io::stdin().is_terminal()
}

fn options(
    spec: &CommandSpec,
    added: &[Arc<dyn CliCommand>],
    arguments: Arguments,
) -> Result<Options, UsageError> {
    let pool = PoolOptions::from_arguments(&arguments)?;
    let ignored_arguments = arguments.values(&IGNORE_ARGUMENT).map(str::to_owned).collect();
    let command = match added.iter().find(|command| command.form().name == spec.name) {
        Some(own) => Command::Added(Arc::clone(own), added::arguments(spec, arguments)?),
        None => command(spec, arguments)?,
    };
    Ok(Options { command, pool, ignored_arguments })
}

fn command(spec: &CommandSpec, arguments: Arguments) -> Result<Command, UsageError> {
    let json = arguments.has(&JSON);
    match spec.name {
        #[cfg(feature = "http")]
        name if name == SERVE.name => {
            let http = http::serve_http(spec, &arguments)?;
            Ok(http.map_or(Command::Serve, Command::ServeHttp))
        }
        name if name == ROOT.name || name == SERVE.name => Ok(Command::Serve),
        name if name == LIST.name => Ok(Command::List {
            json,
            #[cfg(feature = "export")]
            tokens: arguments.has(&TOKENS),
        }),
        name if name == REPORT.name => Ok(Command::Report { json }),
        #[cfg(feature = "mcp-client")]
        name if name == servers::STATUS.name => Ok(Command::Status { json }),
        #[cfg(feature = "mcp-client")]
        name if name == servers::DOCTOR.name => Ok(Command::Doctor { json }),
        name if name == SCHEMA.name => schema(arguments).map(Command::Schema),
        _ => call(arguments, json).map(Command::Call),
    }
}

fn schema(arguments: Arguments) -> Result<Schema, UsageError> {
    Ok(Schema {
        #[cfg(feature = "export")]
        format: match arguments.value(&FORMAT) {
            Some(name) => name.parse().map_err(|e: String| UsageError::invalid(&FORMAT, &e))?,
            None => Api::Mcp,
        },
        #[cfg(feature = "export")]
        strict: arguments.has(&STRICT),
        name: arguments.positional.into_iter().next(),
    })
}

fn call(mut arguments: Arguments, json: bool) -> Result<Call, UsageError> {
    let name = arguments.take_first(&CALL)?;
    let input = match arguments.value(&ARGS) {
        Some(_) if !arguments.positional.is_empty() => {
            return Err(UsageError::conflict(&CALL, 1, &ARGS));
        }
        Some("-") => Input::Stdin,
        Some(object) => match object.strip_prefix('@') {
            Some(path) => Input::File(path.to_owned()),
            None => Input::Json(object.to_owned()),
        },
        None if arguments.positional == ["-"] => Input::Stdin,
        None => Input::Pairs(arguments.positional),
    };
    Ok(Call { name, input, json })
}
