//! The commands and what they take: read by the parser, shown by the help.

use super::syntax::{CommandSpec, Commands, HELP_COMMAND, Opt, Positional};

/// The program itself: its description is the user's.
pub(super) static ROOT: CommandSpec = CommandSpec {
    name: "",
    about: "",
    positional: &[],
    options: &[],
    more: "Without a command it serves MCP when standard input is not a terminal.",
};

/// The commands of a program; one whose tools can be named on the command line takes `--tools` and the
/// like everywhere.
pub(super) fn commands(takes_tools: bool) -> Commands {
    Commands { root: &ROOT, all: ALL, common: if takes_tools { COMMON } else { &[] } }
}

static ALL: &[&CommandSpec] = &[
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
    positional: &[],
    #[cfg(feature = "http")]
    options: super::http::OPTIONS,
    #[cfg(not(feature = "http"))]
    options: &[],
    more: "",
};

pub(super) static LIST: CommandSpec = CommandSpec {
    name: "list",
    about: "List the tools: name, title, hints, what they do",
    positional: &[],
    options: &[Opt::new("json", "Print the definitions as MCP JSON")],
    more: "",
};

pub(super) static CALL: CommandSpec = CommandSpec {
    name: "call",
    about: "Call one tool",
    positional: &[
        TOOL,
        Positional {
            shown: "[KEY=VALUE]...",
            help: "Arguments, typed by the tool's schema; `-` reads a JSON object from standard input",
            is_repeated: true,
        },
    ],
    options: &[
        Opt {
            value: Some("OBJECT"),
            ..Opt::new("json", "All arguments as one JSON object; `-` reads it from standard input")
        },
        Opt {
            value: Some("FORM"),
            possible: &["text", "json"],
            ..Opt::new(
                "output",
                "Print the result's text, or the whole of it as MCP JSON [default: text] [possible values: text, json]",
            )
        },
    ],
    more: "\
Exit codes: 0 success, 1 the tool answered with an error, 2 wrong usage.

A list is a repeated key or JSON: `tags=a tags=b` or `tags='[\"a\",\"b\"]'`.",
};

pub(super) static SCHEMA: CommandSpec = CommandSpec {
    name: "schema",
    about: "Print the definition of one tool as MCP JSON",
    positional: &[TOOL],
    options: &[],
    more: "",
};

pub(super) static REPORT: CommandSpec = CommandSpec {
    name: "report",
    about: "Say which tools are visible, and why the others are not",
    positional: &[],
    options: &[],
    more: "",
};

/// Of programs whose tools can be told on the command line.
static COMMON: &[Opt] = &[
    Opt {
        value: Some("FILE"),
        ..Opt::new("tools", "Have the tools that this file names, instead of all")
    },
    ALLOW,
    DENY,
    #[cfg(feature = "mcp-client")]
    super::servers::MCP_CONFIG,
    #[cfg(feature = "mcp-client")]
    super::servers::VAR,
    #[cfg(feature = "mcp-client")]
    super::servers::ASK,
    #[cfg(feature = "mcp-client")]
    super::servers::WAIT,
];

pub(super) const ALLOW: Opt = Opt {
    value: Some("PATTERN"),
    is_repeated: true,
    ..Opt::new("allow", "Have only tools that a pattern matches, as in `git.*`; may be repeated")
};

pub(super) const DENY: Opt = Opt {
    value: Some("PATTERN"),
    is_repeated: true,
    ..Opt::new("deny", "Leave tools out that a pattern matches; may be repeated")
};

static HELP: CommandSpec = CommandSpec {
    name: HELP_COMMAND,
    about: "Print this message or the help of the given subcommand(s)",
    positional: &[Positional {
        shown: "[COMMAND]",
        help: "Print help for the subcommand",
        is_repeated: false,
    }],
    options: &[],
    more: "",
};

const TOOL: Positional =
    Positional { shown: "<TOOL>", help: "The tool's name", is_repeated: false };
