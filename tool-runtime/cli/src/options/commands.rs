//! The commands of every program, and the options of all of them: `--allow`, `--deny`, `--tools`.

use super::{CommandLine, features, forms, help};
use crate::completions;
use clap::builder::NonEmptyStringValueParser;
#[cfg(feature = "export")]
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, Command};
use tool_runtime_command::seam::{SERVERS, SETUP};
use tool_runtime_command::{CommandForm, CommandOption};
#[cfg(feature = "export")]
use tool_runtime_export::Api;

/// The commands and options that a program has, besides those of its pool.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// Whether the program connects external MCP servers.
    #[cfg_attr(not(feature = "mcp-client"), expect(dead_code, reason = "it cannot"))]
    pub(super) has_servers: bool,
    /// Whether the program may serve over HTTP without an option.
    pub(super) has_address: bool,
    /// Options of every command.
    pub(super) global: &'a [CommandOption],
}

impl<'a> Scope<'a> {
    /// The commands and options of a program.
    pub(crate) fn of_program(
        global: &'a [CommandOption],
        has_servers: bool,
        has_address: bool,
    ) -> Self {
        Self { has_servers, has_address, global }
    }
}

/// Headings of the help.
pub(super) const HTTP: &str = "HTTP";
const TOOLS: &str = "Tools";
const OTHERS: &str = "Other commands";

/// The command line of a program, without its name and version.
///
/// # Errors
/// An option or a command of the program has a form that cannot be used.
pub(super) fn program(line: &CommandLine<'_>, bin_name: &str) -> Result<Command, String> {
    let CommandLine { about, scope, setup, added, .. } = line;
    let mut headings = Vec::new();
    let mut program = Command::new(about.name.clone())
        .bin_name(bin_name)
        .version(about.version.clone())
        .about(about.about.clone().unwrap_or_else(|| format!("The tools of {}", about.name)))
        .after_help(
            "Without a command the program serves MCP when standard input is not a terminal.",
        );
    for (heading, command) in built_in(scope, bin_name) {
        headings.push((command.get_name().to_owned(), heading));
        program = program.subcommand(features::marked(command));
    }
    if let Some(problem) = forms::option_problem(
        &[scope.global, &common_options()].concat(),
        program.get_subcommands(),
    ) {
        return Err(format!("the program {problem}"));
    }
    for form in setup.iter().map(|command| command.form()) {
        headings.push((form.name.to_owned(), SETUP));
        program = with_form(program, &form);
    }
    let common = common_options();
    let global = scope.global.iter().chain(&common).map(forms::option);
    program =
        program.args(global.map(|arg| arg.global(true).help_heading("Options of all commands")));
    for command in added {
        let form = command.form();
        if let Some(problem) = forms::problem(&form, &program) {
            return Err(problem);
        }
        let name = form.name.split(' ').next().unwrap_or_default();
        if program.find_subcommand(name).is_none() {
            headings.push((name.to_owned(), form.heading.unwrap_or(OTHERS)));
        }
        program = with_form(program, &form);
    }
    Ok(help::grouped(help::paragraphs(program), &headings))
}

/// Adds a command, or one of a group.
fn with_form(program: Command, form: &CommandForm) -> Command {
    let Some((group, name)) = form.name.split_once(' ') else {
        return program.subcommand(forms::command(form, form.name));
    };
    let command = forms::command(form, name);
    if program.find_subcommand(group).is_some() {
        return program.mut_subcommand(group, |group| {
            let about = group.get_about().map(ToString::to_string).unwrap_or_default();
            group.about(format!("{about}, {name}")).subcommand(command)
        });
    }
    let group = Command::new(group)
        .about(format!("Commands: {name}"))
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_subcommand(true);
    program.subcommand(group.subcommand(command))
}

fn built_in(scope: &Scope<'_>, bin_name: &str) -> Vec<(&'static str, Command)> {
    let mut commands = vec![
        (TOOLS, list()),
        (TOOLS, call(bin_name)),
        (TOOLS, prompt(bin_name)),
        (TOOLS, read()),
        (TOOLS, schema()),
        (TOOLS, report()),
        (SERVERS, serve(scope.has_address)),
    ];
    #[cfg(feature = "mcp-client")]
    if scope.has_servers {
        commands.push((SERVERS, super::servers::status()));
    }
    commands.push((SETUP, doctor()));
    commands.push((SETUP, completions()));
    commands
}

fn serve(has_address: bool) -> Command {
    let address =
        "Serve over HTTP at this address instead: `8080` is 127.0.0.1:8080, port 0 any free port";
    let serve = Command::new("serve")
        .about("Serve the tools to an MCP client on standard input and output")
        .arg(repeated("ignore-argument", "NAME", "Ignore this argument in calls of tools that do not declare it, such as n8n's `toolCallId`; repeatable"))
        .arg(value("http", "ADDR", address).help_heading(HTTP));
    let serve = match has_address {
        true => serve.arg(
            flag("stdio", "Serve on standard input and output, whatever the configuration says")
                .conflicts_with("http"),
        ),
        false => serve,
    };
    #[cfg(feature = "http")]
    let serve = serve.args(super::http::options());
    serve
}

fn list() -> Command {
    Command::new("list")
        .about("List the tools, prompts and resources")
        .arg(
            Arg::new("what")
                .value_name("WHAT")
                .value_parser(["tools", "prompts", "resources"])
                .help("Only these"),
        )
        .arg(flag("long", "Print whole cells, titles and all hints"))
        .arg(flag("tokens", "Show the estimated size of each definition for a model, in tokens"))
        .arg(json())
        .after_help(
            "`--json` prints an array of definitions, as in MCP's `tools/list`, `prompts/list` or `resources/list`.",
        )
}

fn call(bin_name: &str) -> Command {
    with_arguments("call", bin_name, "TOOL")
        .about("Call a tool")
        .args(call_options())
        .after_help(CALL_HELP)
}

fn prompt(bin_name: &str) -> Command {
    with_arguments("prompt", bin_name, "PROMPT")
        .about("Print the messages of a prompt")
        .args(prompt_options())
        .after_help("`prompt NAME --help` shows the arguments of a prompt. `--json` prints the result of MCP's `prompts/get`.")
}

/// A command whose arguments are those of a tool or a prompt. They are parsed once that is known, see `call::tool_command`.
fn with_arguments(command: &'static str, bin_name: &str, what: &str) -> Command {
    Command::new(command)
        .allow_external_subcommands(true)
        .external_subcommand_value_parser(clap::value_parser!(String))
        .override_usage(format!("{bin_name} {command} [OPTIONS] <{what}> [ARGUMENTS]..."))
        .disable_help_subcommand(true)
}

fn read() -> Command {
    let output = "Save the contents as this file; several in the directory `PATH/`";
    Command::new("read")
        .about("Print the contents of a resource")
        .arg(Arg::new("uri").value_name("URI").required(true).help("The URI of the resource"))
        .arg(value("output", "PATH", output))
        .arg(json())
        .after_help("`--json` prints the result of MCP's `resources/read`.")
}

/// Options of `prompt`, which may also follow the name of the prompt.
pub(crate) fn prompt_options() -> [Arg; 2] {
    [args(), json()]
}

fn args() -> Arg {
    let help =
        "All arguments as one JSON object; `@FILE` reads it from a file, `-` from standard input";
    value("args", "OBJECT", help)
}

/// Options of `call`, which may also follow the name of the tool.
pub(crate) fn call_options() -> [Arg; 4] {
    let output = "Save images, audio and files of the result, or else its text, as this file; several in the directory `PATH/`";
    [
        args(),
        value("output", "PATH", output),
        flag("yes", "Call a destructive tool without asking; only a person at a terminal is asked"),
        json(),
    ]
}

const CALL_HELP: &str = "\
`call TOOL --help` shows the arguments of a tool, each of which is an option and a pair:
`call search --query rust --limit 5` is `call search query=rust limit=5`.
A list is a repeated option, a repeated pair, or JSON: `--tags a --tags b`, `tags='[\"a\",\"b\"]'`.
Fields of an object have dots: `--book.title Dune`.
The value `@FILE` is the text of a file, `@-` of standard input, `@@text` is `@text`.
An option after the name of the tool is the tool's if it has such an argument. Options of the program are not: such an
argument is given as a pair.

Exit codes: 0 success, 1 the tool returned an error, 2 usage error. A result with a number `exit_code`, as that of a
command, gives its own; one with a number `signal` gives 128 and the signal.

`--json` prints the whole result as MCP's `tools/call` gives it.";

fn schema() -> Command {
    let format = value("format", "FORMAT", "The API whose format is printed");
    #[cfg(feature = "export")]
    let format = format
        .value_parser(PossibleValuesParser::new(Api::ALL.map(Api::name)))
        .default_value("mcp");
    Command::new("schema")
        .about("Print the definition of a tool, or of all tools, as JSON")
        .arg(Arg::new("tool").value_name("TOOL").help("The tool's name"))
        .arg(format)
        .arg(flag("strict", "Let the API enforce the schemas, for the tools where it can"))
}

fn completions() -> Command {
    let shell = Arg::new("shell").value_name("SHELL").required(true).help("The shell");
    Command::new("completions")
        .about("Print the script that completes words in a shell")
        .arg(shell.value_parser(completions::shells()))
        .after_help(
            "\
bash:       add `source <(PROGRAM completions bash)` to ~/.bashrc
zsh:        add `source <(PROGRAM completions zsh)` to ~/.zshrc, after `compinit`
fish:       add `PROGRAM completions fish | source` to ~/.config/fish/config.fish
powershell: add `PROGRAM completions powershell | Out-String | Invoke-Expression` to $PROFILE
elvish:     add `eval (PROGRAM completions elvish | slurp)` to ~/.config/elvish/rc.elv
The script asks the program at each completion, so that it knows the tools. It does not connect to external servers.",
        )
}

fn doctor() -> Command {
    Command::new("doctor")
        .about("Check tools, start, registrations and MCP servers, with remedies")
        .arg(json())
        .after_help(DOCTOR_HELP)
}

const DOCTOR_HELP: &str = "\
It checks the tools (what clients and model APIs refuse, descriptions, cost in tokens), the start as a server with the
options of this command line, the registrations with clients and a start as each of them has it, and the external MCP
servers.

Exit codes: 0 no errors, perhaps warnings, 1 errors, 2 wrong usage.

`--json` prints an array with an object for each subject: `about` (`tools`, `start`, `clients`, `configuration`) or
`server`, and `findings`: objects with `level` (`ok`, `note`, `warning`, `error`), `text`, and `help` if there is a remedy.";

fn report() -> Command {
    Command::new("report")
        .about("Report which tools are visible, and why the others are not")
        .arg(json())
}

/// Options of every program.
pub(crate) fn common_options() -> Vec<CommandOption> {
    let levels = "Levels of the log on standard error: `warn` (default), `info`, `debug`, or by module as in `warn,my_crate=debug`; so does the variable RUST_LOG";
    CommandForm::new("program", "")
        .option("log-level", "LEVELS", levels)
        .option("log-format", "FORMAT", "Lines of the log as `text` (default) or `json`")
        .known_values("log-format", ["text", "json"])
        .options
}

/// Options that build the pool. Every command of a `main!` program accepts them.
pub(crate) fn pool_options(has_servers: bool) -> Vec<CommandOption> {
    let form = CommandForm::new("program", "")
        .option("tools", "FILE", "Use only the tools named in this file")
        .repeated_option("allow", "PATTERN", "Use only these tools: a name, `git.*`, `tag:search`, `hint:read_only`, `hint:!destructive`, `source:mcp:github`; repeatable")
        .repeated_option("deny", "PATTERN", "Leave out these tools, in the forms of `--allow`; repeatable");
    #[cfg(feature = "mcp-client")]
    let form = if has_servers { super::servers::options(form) } else { form };
    #[cfg(not(feature = "mcp-client"))]
    let _ = has_servers;
    form.options
}

/// An option without a value.
pub(crate) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
}

/// An option with a value.
pub(crate) fn value(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value)
        .help(help)
        .value_parser(NonEmptyStringValueParser::new())
}

/// An option with a value that may be given more than once.
pub(crate) fn repeated(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    self::value(name, value, help).action(ArgAction::Append)
}

pub(crate) fn json() -> Arg {
    flag("json", "Print JSON")
}
