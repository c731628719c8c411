//! The commands and what they take: read by the parser, shown by the help.

/// One command.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) positional: &'static [Positional],
    pub(super) options: &'static [Opt],
    /// Below everything else in its help.
    pub(super) more: &'static str,
}

/// A value without a name.
pub(super) struct Positional {
    /// As usage shows it.
    pub(super) shown: &'static str,
    pub(super) help: &'static str,
    pub(super) is_repeated: bool,
}

/// A `--name`, with or without a value.
pub(super) struct Opt {
    pub(super) short: Option<char>,
    pub(super) long: &'static str,
    /// What its value is called, if it takes one.
    pub(super) value: Option<&'static str>,
    /// The values that there are; empty if anything goes.
    pub(super) possible: &'static [&'static str],
    /// Whether it may be given more than once.
    pub(super) is_repeated: bool,
    pub(super) help: &'static str,
}

impl Form {
    /// Its own options, those that all commands of the program have, and those of every
    /// program.
    pub(super) fn all_options(
        &self,
        common: &'static [Opt],
    ) -> impl Iterator<Item = &'static Opt> + use<> {
        let version = if self.name.is_empty() { &[VERSION][..] } else { &[] };
        self.options.iter().chain(common).chain(&[HELP]).chain(version)
    }
}

impl Opt {
    /// Without a short form, a value or a second time.
    pub(super) const fn new(long: &'static str, help: &'static str) -> Self {
        Self { short: None, long, value: None, possible: &[], is_repeated: false, help }
    }

    /// As usage shows it.
    pub(super) fn shown(&self) -> String {
        match self.value {
            Some(value) => format!("--{} <{value}>", self.long),
            None => format!("--{}", self.long),
        }
    }
}

/// The program itself: its description is the user's.
pub(super) static ROOT: Form = Form {
    name: "",
    about: "",
    positional: &[],
    options: &[],
    more: "Without a command it serves MCP when standard input is not a terminal.",
};

/// All commands, as help lists them.
pub(super) static COMMANDS: &[&Form] = &[
    &SERVE,
    &LIST,
    &CALL,
    &SCHEMA,
    &REPORT,
    #[cfg(feature = "mcp-client")]
    &super::servers::STATUS,
    #[cfg(feature = "mcp-client")]
    &super::servers::DOCTOR,
    &HELP_COMMAND,
];

pub(super) static SERVE: Form = Form {
    name: "serve",
    about: "Serve the tools to an MCP client on standard input and output",
    positional: &[],
    #[cfg(feature = "http")]
    options: super::http::OPTIONS,
    #[cfg(not(feature = "http"))]
    options: &[],
    more: "",
};

pub(super) static LIST: Form = Form {
    name: "list",
    about: "List the tools: name, title, hints, what they do",
    positional: &[],
    options: &[Opt::new("json", "Print the definitions as MCP JSON")],
    more: "",
};

pub(super) static CALL: Form = Form {
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

pub(super) static SCHEMA: Form = Form {
    name: "schema",
    about: "Print the definition of one tool as MCP JSON",
    positional: &[TOOL],
    options: &[],
    more: "",
};

pub(super) static REPORT: Form = Form {
    name: "report",
    about: "Say which tools are visible, and why the others are not",
    positional: &[],
    options: &[],
    more: "",
};

/// Of programs whose tools can be told on the command line.
pub(super) static COMMON: &[Opt] = &[
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

pub(super) static HELP_COMMAND: Form = Form {
    name: "help",
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

const HELP: Opt = Opt { short: Some('h'), ..Opt::new("help", "Print help") };

const VERSION: Opt = Opt { short: Some('V'), ..Opt::new("version", "Print version") };
