//! What the user typed, as a command.

use super::{About, exit};
use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgAction, ArgMatches};
use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use tracing::level_filters::LevelFilter;

/// Everything that was typed.
pub(super) struct Options {
    pub(super) command: Command,
    /// The files that say which tools there are.
    pub(super) tools: Option<PathBuf>,
}

/// A command, ready to run.
pub(super) enum Command {
    Serve,
    List { json: bool },
    Report,
    Schema { name: String },
    Call(Call),
}

impl Command {
    /// How much is logged unless `RUST_LOG` says otherwise. A person sees the failure of the
    /// one call, and the report says what there is to warn of.
    pub(super) fn log_level(&self) -> LevelFilter {
        match self {
            Self::Call(_) | Self::Report => LevelFilter::OFF,
            _ => LevelFilter::WARN,
        }
    }
}

/// Whether the program reads which tools there are from a file, and from which unless told.
#[derive(Clone, Debug)]
pub(super) struct ToolsFile {
    pub(super) default: Option<PathBuf>,
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
pub(super) fn parse<T>(
    about: &About,
    tools: Option<&ToolsFile>,
    arguments: impl IntoIterator<Item = T>,
) -> Result<Options, ExitCode>
where
    T: Into<OsString> + Clone,
{
    let mut command = command(about, tools);
    match command.try_get_matches_from_mut(arguments) {
        Ok(matches) => {
            let selected = selected(&matches).ok_or_else(|| shown_help(&mut command))?;
            let given = tools.and_then(|_| matches.get_one::<PathBuf>("tools").cloned());
            let tools = given.or_else(|| tools?.default.clone());
            Ok(Options { command: selected, tools })
        }
        Err(error) => {
            let _ = error.print();
            Err(if error.use_stderr() { ExitCode::from(exit::USAGE) } else { ExitCode::SUCCESS })
        }
    }
}

/// Someone at a terminal wants to know what this is; a client wants to be served.
fn selected(matches: &ArgMatches) -> Option<Command> {
    match matches.subcommand() {
        Some(("serve", _)) => Some(Command::Serve),
        Some(("list", list)) => Some(Command::List { json: list.get_flag("json") }),
        Some(("report", _)) => Some(Command::Report),
        Some(("schema", schema)) => Some(Command::Schema { name: text(schema, "name") }),
        Some(("call", call)) => Some(Command::Call(self::call(call))),
        _ if std::io::stdin().is_terminal() => None,
        _ => Some(Command::Serve),
    }
}

fn shown_help(command: &mut clap::Command) -> ExitCode {
    let _ = command.print_help();
    ExitCode::SUCCESS
}

fn call(matches: &ArgMatches) -> Call {
    let pairs: Vec<String> = matches.get_many("arguments").into_iter().flatten().cloned().collect();
    let input = match matches.get_one::<String>("json") {
        Some(json) if json == "-" => Input::Stdin,
        Some(json) => Input::Json(json.clone()),
        None if pairs == ["-"] => Input::Stdin,
        None => Input::Pairs(pairs),
    };
    Call {
        name: text(matches, "name"),
        input,
        as_json: matches.get_one::<String>("output").is_some_and(|output| output == "json"),
    }
}

fn text(matches: &ArgMatches, name: &str) -> String {
    matches.get_one::<String>(name).cloned().unwrap_or_default()
}

fn command(of: &About, tools: Option<&ToolsFile>) -> clap::Command {
    let about = of.about.clone().unwrap_or_else(|| format!("The tools of {}", of.name));
    clap::Command::new(of.name.clone())
        .version(of.version.clone())
        .about(about)
        .args(tools.map(tools_file))
        .after_help("Without a command it serves MCP when standard input is not a terminal.")
        .subcommand(
            clap::Command::new("serve")
                .about("Serve the tools to an MCP client on standard input and output"),
        )
        .subcommand(list_command())
        .subcommand(call_command())
        .subcommand(schema_command())
        .subcommand(
            clap::Command::new("report")
                .about("Say which tools are visible, and why the others are not"),
        )
}

fn tools_file(_: &ToolsFile) -> Arg {
    Arg::new("tools")
        .long("tools")
        .value_name("FILE")
        .global(true)
        .value_parser(clap::value_parser!(PathBuf))
        .help("Have the tools that this file names, instead of all")
}

fn list_command() -> clap::Command {
    clap::Command::new("list").about("List the tools: name, title, hints, what they do").arg(
        Arg::new("json")
            .long("json")
            .action(ArgAction::SetTrue)
            .help("Print the definitions as MCP JSON"),
    )
}

fn schema_command() -> clap::Command {
    clap::Command::new("schema")
        .about("Print the definition of one tool as MCP JSON")
        .arg(tool_name())
}

fn call_command() -> clap::Command {
    clap::Command::new("call")
        .about("Call one tool")
        .after_help(CALL_HELP)
        .arg(tool_name())
        .arg(Arg::new("arguments").value_name("KEY=VALUE").num_args(0..).help(
            "Arguments, typed by the tool's schema; `-` reads a JSON object from standard input",
        ))
        .arg(
            Arg::new("json")
                .long("json")
                .value_name("OBJECT")
                .conflicts_with("arguments")
                .help("All arguments as one JSON object; `-` reads it from standard input"),
        )
        .arg(
            Arg::new("output")
                .long("output")
                .value_name("FORM")
                .value_parser(["text", "json"])
                .default_value("text")
                .help("Print the result's text, or the whole of it as MCP JSON"),
        )
}

const CALL_HELP: &str = "\
Exit codes: 0 success, 1 the tool answered with an error, 2 wrong usage.

A list is a repeated key or JSON: `tags=a tags=b` or `tags='[\"a\",\"b\"]'`.";

fn tool_name() -> Arg {
    Arg::new("name")
        .value_name("TOOL")
        .required(true)
        .value_parser(NonEmptyStringValueParser::new())
        .help("The tool's name")
}
