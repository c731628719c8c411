//! Parses the command line to a command.

mod commands;
mod features;
mod forms;
mod help;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "mcp-client")]
mod servers;

use super::about::About;
use super::log::{LogOptions, Serves};
use super::{exit, print, program_options};
use clap::ArgMatches;
use clap::error::ErrorKind;
pub(super) use commands::{Scope, call_options, pool_options, prompt_options};
pub(super) use forms::{candidates, given, option};
#[cfg(feature = "jwt")]
pub(super) use http::Jwt;
#[cfg(feature = "http")]
pub(super) use http::ServeHttp;
#[cfg(feature = "mcp-client")]
pub(super) use servers::ServerOptions;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
#[cfg(feature = "http")]
use std::time::Duration;
use tool_runtime_command::{ArgumentCount, CliCommand, CommandArguments, CommandOption};
use tool_runtime_core::pool::{Filter, Selector, SelectorError};
#[cfg(feature = "export")]
use tool_runtime_export::Api;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// The parsed command line.
pub(super) struct Options {
    pub(super) command: Command,
    pub(super) pool: PoolOptions,
    /// `--ignore-argument`.
    pub(super) ignored_arguments: Vec<String>,
    /// `--log-level` and `--log-format`.
    pub(super) log: LogOptions,
}

/// The options that assemble the pool.
#[derive(Default)]
pub(super) struct PoolOptions {
    /// `--tools FILE`.
    pub(super) tools: Option<PathBuf>,
    /// `--allow` and `--deny`.
    pub(super) filter: Option<Filter>,
    /// The patterns of the filter.
    pub(super) selectors: Vec<Selector>,
    #[cfg(feature = "mcp-client")]
    pub(super) servers: ServerOptions,
}

impl PoolOptions {
    /// # Errors
    /// The option that has a wrong value, and why.
    fn from_arguments(arguments: &CommandArguments) -> Result<Self, (&'static str, String)> {
        let (allow, deny) = (selectors(arguments, "allow")?, selectors(arguments, "deny")?);
        Ok(Self {
            tools: arguments.value("tools").map(PathBuf::from),
            selectors: [&*allow, &deny].concat(),
            filter: Filter::from_lists(allow, deny),
            #[cfg(feature = "mcp-client")]
            servers: ServerOptions::from_arguments(arguments)?,
        })
    }
}

fn selectors(
    arguments: &CommandArguments,
    option: &'static str,
) -> Result<Vec<Selector>, (&'static str, String)> {
    let parse =
        |text: &str| text.parse().map_err(|error: SelectorError| (option, error.to_string()));
    arguments.values(option).map(parse).collect()
}

/// A command, ready to run.
pub(super) enum Command {
    Serve(Serve),
    #[cfg(feature = "http")]
    ServeHttp(Box<ServeHttp>),
    List(List),
    Prompt(Call),
    Read(Read),
    /// Prints the script for completions in a shell.
    Completions {
        name: String,
        shell: String,
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
    /// Checks the program, its registrations and external MCP servers.
    Doctor {
        json: bool,
    },
}

impl Command {
    /// Whether it reports servers that are missing itself, also required ones.
    #[cfg(feature = "mcp-client")]
    pub(super) fn reports_warnings(&self) -> bool {
        matches!(self, Self::Added(command, _) if command.reports_warnings())
    }

    /// Whether the command runs until a client or a signal ends it.
    pub(super) fn is_server(&self) -> bool {
        match self {
            Self::Serve(_) => true,
            #[cfg(feature = "http")]
            Self::ServeHttp(_) => true,
            Self::Added(command, _) => command.serves(),
            _ => false,
        }
    }

    /// Whether its server has `/metrics`.
    #[cfg(feature = "otel")]
    pub(super) fn is_scraped(&self) -> bool {
        match self {
            #[cfg(feature = "http")]
            Self::ServeHttp(serve) => serve.has_metrics,
            _ => false,
        }
    }

    /// The transport, if the command serves. `has_address`: the configuration may have an address.
    pub(super) fn serves(&self, has_address: bool) -> Serves {
        match self {
            #[cfg(feature = "http")]
            Self::ServeHttp(_) => Serves::Http,
            Self::Serve(serve) if has_address && !serve.is_stdio => Serves::Http,
            other if other.is_server() => Serves::Stdio,
            _ => Serves::Nothing,
        }
    }

    /// Default log levels. Commands without a log print their warnings themselves.
    pub(super) fn log(&self) -> Targets {
        Targets::new().with_default(match self {
            Self::Call(_)
            | Self::Prompt(_)
            | Self::Read(_)
            | Self::Report { .. }
            | Self::Doctor { .. } => LevelFilter::OFF,
            #[cfg(feature = "mcp-client")]
            Self::Status { .. } => LevelFilter::OFF,
            _ => LevelFilter::WARN,
        })
    }
}

/// `serve`, on standard input and output unless the configuration of the program has an address.
#[derive(Clone, Copy, Default)]
pub(super) struct Serve {
    /// `--stdio`.
    pub(super) is_stdio: bool,
    /// Whether SIGHUP reads the configuration again.
    pub(super) reloads: bool,
}

/// `list [WHAT] ...`
#[derive(Default)]
pub(super) struct List {
    /// `None`: all of them, and tools in JSON.
    pub(super) listed: Option<Listed>,
    pub(super) long: bool,
    pub(super) json: bool,
    #[cfg(feature = "export")]
    pub(super) tokens: bool,
}

/// What a list has.
#[derive(Clone, Copy)]
pub(super) enum Listed {
    Tools,
    Prompts,
    Resources,
}

/// `read URI ...`
pub(super) struct Read {
    pub(super) uri: String,
    pub(super) output: Option<String>,
    pub(super) json: bool,
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

/// `call TOOL ...`
pub(super) struct Call {
    /// The program and its command, as usage lines name them.
    pub(super) program: String,
    pub(super) tool: String,
    /// Options of the program, which are no options of the tool.
    pub(super) reserved: Vec<String>,
    pub(super) options: CallOptions,
    /// What follows the name of the tool.
    pub(super) rest: Vec<String>,
}

/// The options of `call`.
#[derive(Default)]
pub(super) struct CallOptions {
    /// The arguments as a JSON object, a file, or standard input.
    pub(super) args: Option<String>,
    /// The file or directory in which the result is saved.
    pub(super) output: Option<String>,
    /// Whether a destructive tool is called without a question.
    pub(super) yes: bool,
    /// Whether to print the whole result as JSON.
    pub(super) json: bool,
}

impl CallOptions {
    /// Reads the options that `matches` knows: those before the name of the tool, then those after it.
    pub(super) fn read(&mut self, matches: &ArgMatches) {
        self.args = text(matches, "args").or(self.args.take());
        self.output = text(matches, "output").or(self.output.take());
        self.yes |= has(matches, "yes");
        self.json |= has(matches, "json");
    }
}

/// The command line that a program understands.
pub(super) struct CommandLine<'a> {
    pub(super) about: &'a About,
    /// The commands and options that are not of the pool.
    pub(super) scope: Scope<'a>,
    /// Commands of every program, whose options may have the names of options of the program.
    pub(super) setup: Vec<Arc<dyn CliCommand>>,
    /// The commands of the pool.
    pub(super) added: Vec<Arc<dyn CliCommand>>,
    /// Options of the program that were taken out of the command line before.
    pub(super) given: CommandArguments,
}

/// The program as clap has it.
///
/// # Errors
/// An option or a command of the program has a form that cannot be used.
pub(super) fn program(line: &CommandLine<'_>) -> Result<clap::Command, String> {
    commands::program(line, &bin_name(None, line.about))
}

/// Parses the command line. Help, versions and errors are printed here and end with an exit code.
pub(super) fn parse(line: &CommandLine<'_>, arguments: Vec<OsString>) -> Result<Options, ExitCode> {
    let CommandLine { about, scope, setup, added, given } = line;
    let bin_name = bin_name(arguments.first(), about);
    let mut program = commands::program(line, &bin_name).map_err(|problem| {
        print::error(&problem);
        ExitCode::from(exit::SETUP)
    })?;
    let global = [scope.global, &commands::common_options()].concat();
    let (of_program, rest) = program_options::take(&global, arguments)?;
    let invalid = |(option, reason): (&str, String)| {
        // Only the reason may have the value: it may be a secret.
        let value = global.iter().find(|it| it.name == option).and_then(|it| it.value);
        let value = value.map(|value| format!(" <{value}>")).unwrap_or_default();
        let text = format!("invalid value for '--{option}{value}': {reason}");
        usage(&program.clone().error(ErrorKind::ValueValidation, text))
    };
    let pool = PoolOptions::from_arguments(&of_program).map_err(invalid)?;
    let log = log_options(&of_program).map_err(invalid)?;
    let matches = program.try_get_matches_from_mut(rest).map_err(|error| usage(&error))?;
    let (name, matches) = match matches.subcommand() {
        Some((name, matches)) => (name, matches),
        // A user at a terminal needs help; an MCP client needs a server.
        None if std::io::stdin().is_terminal() => {
            let _ = program.print_help();
            return Err(ExitCode::SUCCESS);
        }
        None => {
            return Ok(Options {
                command: Command::Serve(Serve::default()),
                pool,
                ignored_arguments: Vec::new(),
                log,
            });
        }
    };
    let ignored_arguments = texts(matches, "ignore-argument");
    let added = [&setup[..], added].concat();
    let command = match added_command(&added, name, matches) {
        Some(command) => command,
        None => command(&mut program, &bin_name, name, matches).map_err(|error| usage(&error))?,
    };
    let lost = [given, &of_program];
    let lost = lost.into_iter().find_map(|given| lost_option(setup, scope.global, given, &command));
    if let Some(problem) = lost {
        print::error(&problem);
        return Err(ExitCode::from(exit::USAGE));
    }
    if let Some(problem) = missing_feature(&command) {
        print::error(&problem);
        return Err(ExitCode::from(exit::USAGE));
    }
    let server = server_arguments(setup, &command);
    if !server.is_empty() {
        let words =
            [bin_name.as_str(), "serve"].into_iter().chain(server.iter().map(String::as_str));
        if parse(line, words.map(OsString::from).collect()).is_err() {
            print::error("`serve` does not take the arguments after `--`, so nothing was written");
            return Err(ExitCode::from(exit::USAGE));
        }
    }
    Ok(Options { command, pool, ignored_arguments, log })
}

fn log_options(arguments: &CommandArguments) -> Result<LogOptions, (&'static str, String)> {
    let levels = arguments.value("log-level").map(str::parse::<Targets>).transpose();
    let levels = levels.map_err(|error| ("log-level", error.to_string()))?;
    let format = arguments.value("log-format").map(str::parse).transpose();
    let format = format.map_err(|error| ("log-format", error))?.unwrap_or_default();
    Ok(LogOptions { levels, format })
}

/// Prints a help or an error, and gives the exit code.
pub(super) fn usage(error: &clap::Error) -> ExitCode {
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::USAGE))
}

/// The file name of the program.
fn bin_name(path: Option<&OsString>, about: &About) -> String {
    let name = path.and_then(|path| Path::new(path).file_name());
    name.map_or_else(|| about.name.clone(), |name| name.to_string_lossy().into_owned())
}

/// A number of seconds, at least one.
#[cfg(feature = "http")]
fn seconds(text: &str) -> Result<Duration, &'static str> {
    let seconds = text.parse().ok().filter(|seconds| *seconds > 0);
    seconds.map(Duration::from_secs).ok_or("not a number of seconds")
}

/// Whether a flag is given. False if the command has no such flag.
fn has(matches: &ArgMatches, flag: &str) -> bool {
    matches!(matches.try_get_one(flag), Ok(Some(true)))
}

/// The value of an option. `None` also if the command has no such option.
fn text(matches: &ArgMatches, option: &str) -> Option<String> {
    matches.try_get_one::<String>(option).ok().flatten().cloned()
}

/// All values of a repeatable option.
pub(super) fn texts(matches: &ArgMatches, option: &str) -> Vec<String> {
    let values = matches.try_get_many::<String>(option).ok().flatten();
    values.into_iter().flatten().cloned().collect()
}

/// A command of the pool, with its arguments.
fn added_command(
    added: &[Arc<dyn CliCommand>],
    name: &str,
    matches: &ArgMatches,
) -> Option<Command> {
    let (name, matches) = match matches.subcommand() {
        Some((second, matches)) => (format!("{name} {second}"), matches),
        None => (name.to_owned(), matches),
    };
    let command = added.iter().find(|command| command.form().name == name)?;
    let form = command.form();
    let arguments = match form.missing_feature {
        Some(_) => CommandArguments::default(),
        None => given(&form.arguments, &form.options, matches),
    };
    Some(Command::Added(Arc::clone(command), arguments))
}

/// The error about an option of the program that would be lost: `install` and `bundle` write what the server is given after
/// `--`.
fn lost_option(
    setup: &[Arc<dyn CliCommand>],
    options: &[CommandOption],
    given: &CommandArguments,
    command: &Command,
) -> Option<String> {
    let Command::Added(command, _) = command else { return None };
    let name = command.form().name;
    let is_setup = name != "uninstall" && setup.iter().any(|other| other.form().name == name);
    let option = options.iter().find(|option| is_setup && given.has(option.name))?.name;
    Some(format!(
        "`--{option}` is not passed to the server; write it after `--`, as in `{name} .. -- --{option} ..`"
    ))
}

/// The arguments of the server that `install` or `bundle` writes.
fn server_arguments<'c>(setup: &[Arc<dyn CliCommand>], command: &'c Command) -> &'c [String] {
    let Command::Added(command, arguments) = command else { return &[] };
    let form = command.form();
    let is_setup = setup.iter().any(|other| other.form().name == form.name);
    let own = form.arguments.iter().filter(|argument| argument.count != ArgumentCount::Rest);
    let given = arguments.positional();
    match is_setup && form.arguments.iter().any(|argument| argument.count == ArgumentCount::Rest) {
        true => given.get(own.count()..).unwrap_or_default(),
        false => &[],
    }
}

/// The reason why a command cannot run in this program.
fn missing_feature(command: &Command) -> Option<String> {
    let Command::Added(command, _) = command else { return None };
    let form = command.form();
    form.missing_feature.map(|feature| forms::missing(form.name, feature))
}

fn command(
    program: &mut clap::Command,
    bin_name: &str,
    name: &str,
    matches: &ArgMatches,
) -> Result<Command, clap::Error> {
    if let Some(problem) = features::problem(name, matches) {
        return Err(program.error(ErrorKind::UnknownArgument, problem));
    }
    let has = |flag| has(matches, flag);
    let text = |option| text(matches, option);
    let json = has("json");
    Ok(match name {
        "list" => Command::List(List {
            listed: text("what").map(|what| match what.as_str() {
                "prompts" => Listed::Prompts,
                "resources" => Listed::Resources,
                _ => Listed::Tools,
            }),
            long: has("long"),
            json,
            #[cfg(feature = "export")]
            tokens: has("tokens"),
        }),
        "completions" => Command::Completions {
            name: bin_name.to_owned(),
            shell: text("shell").unwrap_or_default(),
        },
        "prompt" => Command::Prompt(call(program, bin_name, name, matches)?),
        "read" => Command::Read(Read {
            uri: text("uri").unwrap_or_default(),
            output: text("output"),
            json,
        }),
        "report" => Command::Report { json },
        #[cfg(feature = "mcp-client")]
        "status" => Command::Status { json },
        "doctor" => Command::Doctor { json },
        "schema" => Command::Schema(Schema {
            name: text("tool"),
            #[cfg(feature = "export")]
            format: text("format").and_then(|name| name.parse().ok()).unwrap_or(Api::Mcp),
            #[cfg(feature = "export")]
            strict: has("strict"),
        }),
        "call" => Command::Call(call(program, bin_name, name, matches)?),
        _ => {
            #[cfg(feature = "http")]
            if let Some(http) = http::serve_http(matches) {
                return Ok(Command::ServeHttp(Box::new(http)));
            }
            let is_stdio = matches.try_get_one::<bool>("stdio").ok().flatten().copied();
            Command::Serve(Serve { is_stdio: is_stdio.unwrap_or(false), ..Serve::default() })
        }
    })
}

/// The options of a program, which are not those of its tools.
pub(super) fn reserved(program: &clap::Command) -> Vec<String> {
    program.get_arguments().filter_map(clap::Arg::get_long).map(str::to_owned).collect()
}

fn call(
    program: &mut clap::Command,
    bin_name: &str,
    command: &str,
    matches: &ArgMatches,
) -> Result<Call, clap::Error> {
    let mut options = CallOptions::default();
    options.read(matches);
    let Some((tool, rest)) = matches.subcommand().filter(|(tool, _)| !tool.is_empty()) else {
        let what = command.to_uppercase().replace("CALL", "TOOL");
        let text = format!("the following required arguments were not provided:\n  <{what}>");
        let call = program.find_subcommand_mut(command).expect("it was given");
        return Err(call.error(ErrorKind::MissingRequiredArgument, text));
    };
    let reserved = reserved(program);
    let (program, tool) = (format!("{bin_name} {command}"), tool.to_owned());
    Ok(Call { program, tool, reserved, options, rest: texts(rest, "") })
}
