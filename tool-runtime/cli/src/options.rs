//! Parses the command line to a command.

mod commands;
mod help;
#[cfg(feature = "http")]
mod http;
mod mistake;
mod read;
#[cfg(feature = "mcp-client")]
mod servers;
mod syntax;

use super::{About, exit, print};
use commands::{ALLOW, CALL, DENY, LIST, REPORT, ROOT, SCHEMA, SERVE, commands};
#[cfg(feature = "http")]
pub(super) use http::ServeHttp;
use mistake::Mistake;
use read::{Given, Reading};
#[cfg(feature = "mcp-client")]
pub(super) use servers::Servers;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use syntax::{CommandSpec, Commands, Opt};
use tool_runtime_core::{Filter, Selector, SelectorError};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;

/// Everything that was typed.
pub(super) struct Options {
    pub(super) command: Command,
    pub(super) offer: Offer,
}

/// Which tools there are, as far as the command line says it.
#[derive(Default)]
pub(super) struct Offer {
    /// The file that names them.
    pub(super) tools: Option<PathBuf>,
    /// What the patterns leave of all tools.
    pub(super) filter: Option<Filter>,
    #[cfg(feature = "mcp-client")]
    pub(super) servers: Servers,
}

impl Offer {
    fn of(given: &Given) -> Result<Self, Mistake> {
        Ok(Self {
            tools: given.value("tools").map(PathBuf::from),
            filter: filter(given)?,
            #[cfg(feature = "mcp-client")]
            servers: Servers::of(given)?,
        })
    }
}

/// What `--allow` and `--deny` say, if they are there.
fn filter(given: &Given) -> Result<Option<Filter>, Mistake> {
    let allow = Some(selectors(given, &ALLOW)?).filter(|allow| !allow.is_empty());
    let deny = selectors(given, &DENY)?;
    if allow.is_none() && deny.is_empty() {
        return Ok(None);
    }
    let filter = Filter::default().deny(deny);
    Ok(Some(match allow {
        Some(allow) => filter.allow(allow),
        None => filter,
    }))
}

fn selectors(given: &Given, option: &Opt) -> Result<Vec<Selector>, Mistake> {
    let parse = |text: &String| {
        text.parse().map_err(|error: SelectorError| Mistake::bad(option, &error.to_string()))
    };
    given.values(option.long).iter().map(parse).collect()
}

/// A command, ready to run.
pub(super) enum Command {
    Serve,
    #[cfg(feature = "http")]
    ServeHttp(ServeHttp),
    List {
        json: bool,
    },
    Report,
    Schema {
        name: String,
    },
    Call(Call),
    /// How the external MCP servers are.
    #[cfg(feature = "mcp-client")]
    Status {
        json: bool,
    },
    /// What is wrong with them, and how to mend it.
    #[cfg(feature = "mcp-client")]
    Doctor {
        json: bool,
    },
}

impl Command {
    /// Whether it runs until a client or a signal ends it.
    pub(super) fn is_server(&self) -> bool {
        match self {
            Self::Serve => true,
            #[cfg(feature = "http")]
            Self::ServeHttp(_) => true,
            _ => false,
        }
    }

    /// What is logged unless `RUST_LOG` says otherwise. A person sees the failure of the one call,
    /// and the report says what there is to warn of.
    pub(super) fn log(&self) -> Targets {
        Targets::new().with_default(match self {
            Self::Call(_) | Self::Report => LevelFilter::OFF,
            #[cfg(feature = "mcp-client")]
            Self::Status { .. } | Self::Doctor { .. } => LevelFilter::OFF,
            _ => LevelFilter::WARN,
        })
    }
}

/// `call NAME ...`
pub(super) struct Call {
    pub(super) name: String,
    pub(super) input: Input,
    /// Whether to print MCP's result instead of its text.
    pub(super) as_json: bool,
}

/// Where the arguments of a call come from.
pub(super) enum Input {
    Pairs(Vec<String>),
    Json(String),
    Stdin,
}

/// Parses; help, versions and mistakes are printed here and end with an exit code.
///
/// A program whose tools can be told on the command line takes `--tools` and the like everywhere.
pub(super) fn parse<T>(
    about: &About,
    takes_tools: bool,
    arguments: impl IntoIterator<Item = T>,
) -> Result<Options, ExitCode>
where
    T: Into<OsString>,
{
    parse_erased(about, &commands(takes_tools), arguments.into_iter().map(Into::into).collect())
}

fn parse_erased(
    about: &About,
    commands: &Commands,
    arguments: Vec<OsString>,
) -> Result<Options, ExitCode> {
    let mut parser = lexopt::Parser::from_iter(arguments);
    let program = help::program(parser.bin_name()).unwrap_or_else(|| about.name.clone());
    match read::read(&mut parser, commands).and_then(selected) {
        Ok(Selected::Command(options)) => Ok(*options),
        Ok(Selected::Help(form)) => {
            print::line(help::text(about, &program, form, commands).trim_end());
            Err(ExitCode::SUCCESS)
        }
        Ok(Selected::Version) => {
            print::line(&format!("{} {}", about.name, about.version));
            Err(ExitCode::SUCCESS)
        }
        Err(mistake) => {
            print::error(&mistake.text(&program));
            Err(ExitCode::from(exit::USAGE))
        }
    }
}

/// What to do about it.
enum Selected {
    Command(Box<Options>),
    Help(&'static CommandSpec),
    Version,
}

fn selected(reading: Reading) -> Result<Selected, Mistake> {
    let command = match reading {
        Reading::Help(form) => return Ok(Selected::Help(form)),
        Reading::Version => return Ok(Selected::Version),
        // Someone at a terminal wants to know what this is; a client wants to be served.
        Reading::Nothing(_) if std::io::stdin().is_terminal() => return Ok(Selected::Help(&ROOT)),
        Reading::Nothing(given) => Options { offer: Offer::of(&given)?, command: Command::Serve },
        Reading::Command(form, given) => {
            Options { offer: Offer::of(&given)?, command: command(form, given)? }
        }
    };
    Ok(Selected::Command(Box::new(command)))
}

fn command(form: &'static CommandSpec, mut given: Given) -> Result<Command, Mistake> {
    match form.name {
        #[cfg(feature = "http")]
        name if name == SERVE.name => {
            Ok(http::read(form, &given)?.map_or(Command::Serve, Command::ServeHttp))
        }
        #[cfg(not(feature = "http"))]
        name if name == SERVE.name => Ok(Command::Serve),
        name if name == LIST.name => Ok(Command::List { json: given.has("json") }),
        name if name == REPORT.name => Ok(Command::Report),
        #[cfg(feature = "mcp-client")]
        name if name == servers::STATUS.name => Ok(Command::Status { json: given.has("json") }),
        #[cfg(feature = "mcp-client")]
        name if name == servers::DOCTOR.name => Ok(Command::Doctor { json: given.has("json") }),
        name if name == SCHEMA.name => Ok(Command::Schema { name: given.first(&SCHEMA)? }),
        _ => call(given).map(Command::Call),
    }
}

fn call(mut given: Given) -> Result<Call, Mistake> {
    let name = given.first(&CALL)?;
    let as_json = given.value("output").is_some_and(|output| output == "json");
    let pairs = given.positional;
    let json = given.options.into_iter().find(|(option, _)| *option == "json");
    let input = match json.map(|(_, json)| json) {
        Some(_) if !pairs.is_empty() => return Err(Mistake::conflict(&CALL, 1, "json")),
        Some(json) if json == "-" => Input::Stdin,
        Some(json) => Input::Json(json),
        None if pairs == ["-"] => Input::Stdin,
        None => Input::Pairs(pairs),
    };
    Ok(Call { name, input, as_json })
}
