//! The commands of every program, and the options of all of them: `--allow`, `--deny`, `--tools`.

use super::added;
use super::spec::{CommandSpec, Commands, HELP_COMMAND, Opt, Positional};
use std::borrow::Cow;
use std::sync::Arc;
use tool_runtime_command::CliCommand;

/// The program itself. Its description comes from the user.
pub(crate) static ROOT: CommandSpec = CommandSpec {
    name: "",
    about: "",
    positional: Cow::Borrowed(&[]),
    options: Cow::Borrowed(&[]),
    after_help: "Without a command the program serves MCP when standard input is not a terminal.",
};

/// The commands of a program, and the options of all of them.
///
/// # Errors
/// An option or a command of the program has a form that cannot be used.
pub(super) fn commands(
    scope: Scope<'_>,
    added: &[Arc<dyn CliCommand>],
) -> Result<Commands, String> {
    let Scope { built_in, global } = scope;
    let global = global.to_vec();
    let mut commands = Commands { root: &ROOT, built_in, added: Vec::new(), global };
    if let Some(problem) = added::global_problem(&commands) {
        return Err(format!("the program {problem}"));
    }
    for command in added {
        let spec = added::spec(&command.form(), &commands)?;
        commands.added.push(spec);
    }
    Ok(commands)
}

/// The commands and options that a program has, besides those of its pool.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    built_in: &'static [&'static CommandSpec],
    /// Options of every command.
    global: &'a [Opt],
}

impl<'a> Scope<'a> {
    /// A program of `main!`, which assembles the pool by options and connects external MCP servers.
    pub(crate) const MAIN: Self = Self { built_in: OF_MAIN, global: POOL_OPTIONS };

    /// A program with a pool and options of its own.
    pub(crate) fn of_pool(global: &'a [Opt]) -> Self {
        Self { built_in: OF_POOL, global }
    }
}

static OF_POOL: &[&CommandSpec] = &[&SERVE, &LIST, &CALL, &SCHEMA, &REPORT, &HELP];

static OF_MAIN: &[&CommandSpec] = &[
    &SERVE,
    &LIST,
    &CALL,
    &SCHEMA,
    &REPORT,
    #[cfg(feature = "mcp-client")]
    &super::servers::STATUS,
    #[cfg(feature = "mcp-client")]
    &super::servers::DOCTOR,
    &HELP,
];

pub(super) static SERVE: CommandSpec = CommandSpec {
    name: "serve",
    about: "Serve the tools to an MCP client on standard input and output",
    positional: Cow::Borrowed(&[]),
    #[cfg(feature = "http")]
    options: Cow::Borrowed(super::http::OPTIONS),
    #[cfg(not(feature = "http"))]
    options: Cow::Borrowed(&[IGNORE_ARGUMENT]),
    after_help: "",
};

pub(super) static LIST: CommandSpec = CommandSpec {
    name: "list",
    about: "List the tools: name, title, hints, description",
    positional: Cow::Borrowed(&[]),
    options: Cow::Borrowed(&[
        JSON,
        #[cfg(feature = "export")]
        TOKENS,
    ]),
    after_help: "`--json` prints an array of definitions, as in MCP's `tools/list`.",
};

pub(super) static CALL: CommandSpec = CommandSpec {
    name: "call",
    about: "Call a tool",
    positional: Cow::Borrowed(&[
        TOOL,
        Positional {
            name: Cow::Borrowed("[KEY=VALUE]..."),
            help: "Arguments, typed by the tool's schema; `KEY=@FILE` reads a file, a lone `-` a JSON object from standard input",
            is_repeatable: true,
        },
    ]),
    options: Cow::Borrowed(&[ARGS, JSON]),
    after_help: "\
Exit codes: 0 success, 1 the tool returned an error, 2 usage error. A result with a number `exit_code`, as that of a
command, gives its own; one with a number `signal` gives 128 and the signal.

A list is a repeated key or JSON: `tags=a tags=b` or `tags='[\"a\",\"b\"]'`.
`KEY=@FILE` is the text of a file, `KEY=@-` of standard input, `KEY=@@text` the value `@text`.
Keys that begin with a dash follow `--`: `call Grep pattern=x -- -i=true`.
`--json` prints the whole result as MCP's `tools/call` gives it.",
};

pub(super) static SCHEMA: CommandSpec = CommandSpec {
    name: "schema",
    about: "Print the definition of a tool, or of all tools, as JSON",
    positional: Cow::Borrowed(&[Positional {
        name: Cow::Borrowed("[TOOL]"),
        help: "The tool's name",
        is_repeatable: false,
    }]),
    #[cfg(feature = "export")]
    options: Cow::Borrowed(&[FORMAT, STRICT]),
    #[cfg(not(feature = "export"))]
    options: Cow::Borrowed(&[]),
    after_help: "",
};

pub(super) static REPORT: CommandSpec = CommandSpec {
    name: "report",
    about: "Report which tools are visible, and why the others are not",
    positional: Cow::Borrowed(&[]),
    options: Cow::Borrowed(&[JSON]),
    after_help: "",
};

/// Options that build the pool. Every command of a `main!` program accepts them.
static POOL_OPTIONS: &[Opt] = &[
    TOOLS,
    ALLOW,
    DENY,
    #[cfg(feature = "mcp-client")]
    super::servers::MCP_CONFIG,
    #[cfg(feature = "mcp-client")]
    super::servers::VAR,
    #[cfg(feature = "mcp-client")]
    super::servers::ASK,
    #[cfg(feature = "mcp-client")]
    super::servers::MCP_WAIT,
    #[cfg(feature = "mcp-client")]
    super::servers::PINS,
];

pub(super) const IGNORE_ARGUMENT: Opt = Opt {
    value: Some("NAME"),
    is_repeatable: true,
    ..Opt::new(
        "ignore-argument",
        "Ignore this argument in calls of tools that do not declare it, such as n8n's `toolCallId`; repeatable",
    )
};

pub(super) const JSON: Opt = Opt::new("json", "Print JSON");

#[cfg(feature = "export")]
pub(super) const TOKENS: Opt =
    Opt::new("tokens", "Show the estimated size of each definition for a model, in tokens");

#[cfg(feature = "export")]
pub(super) const FORMAT: Opt = Opt {
    value: Some("FORMAT"),
    ..Opt::new("format", "mcp (default), anthropic, openai, openai-responses or gemini")
};

#[cfg(feature = "export")]
pub(super) const STRICT: Opt =
    Opt::new("strict", "Let the API enforce the schemas, for the tools where it can");

pub(super) const ARGS: Opt = Opt {
    value: Some("OBJECT"),
    ..Opt::new(
        "args",
        "All arguments as one JSON object; `@FILE` reads it from a file, `-` from standard input",
    )
};

pub(super) const TOOLS: Opt =
    Opt { value: Some("FILE"), ..Opt::new("tools", "Use only the tools named in this file") };

pub(super) const ALLOW: Opt = Opt {
    value: Some("PATTERN"),
    is_repeatable: true,
    ..Opt::new("allow", "Use only tools that match a pattern, such as `git.*`; repeatable")
};

pub(super) const DENY: Opt = Opt {
    value: Some("PATTERN"),
    is_repeatable: true,
    ..Opt::new("deny", "Leave out tools that match a pattern; repeatable")
};

static HELP: CommandSpec = CommandSpec {
    name: HELP_COMMAND,
    about: "Print this message or the help of the given subcommand(s)",
    positional: Cow::Borrowed(&[Positional {
        name: Cow::Borrowed("[COMMAND]"),
        help: "Print help for the subcommand",
        // A name may have two words.
        is_repeatable: true,
    }]),
    options: Cow::Borrowed(&[]),
    after_help: "",
};

const TOOL: Positional =
    Positional { name: Cow::Borrowed("<TOOL>"), help: "The tool's name", is_repeatable: false };
