//! Options and commands for external MCP servers.

use super::commands::JSON;
use super::parser::Arguments;
use super::spec::{CommandSpec, Opt};
use super::usage_error::UsageError;
use std::borrow::Cow;
use std::path::PathBuf;
use std::time::Duration;

/// The options for external MCP servers.
#[derive(Default)]
pub(crate) struct ServerOptions {
    /// Configuration files.
    pub(crate) files: Vec<PathBuf>,
    /// Names and values of variables. The values may be secrets.
    pub(crate) variables: Vec<(String, String)>,
    /// Whether requests of servers are passed to the caller.
    pub(crate) ask: bool,
    /// Time that the first lists wait for servers.
    pub(crate) wait: Option<Duration>,
    /// The file of approved definitions.
    pub(crate) pins: Option<PathBuf>,
}

impl ServerOptions {
    pub(super) fn from_arguments(arguments: &Arguments) -> Result<Self, UsageError> {
        Ok(Self {
            files: arguments.values(&MCP_CONFIG).map(PathBuf::from).collect(),
            variables: arguments.values(&VAR).map(variable).collect::<Result<_, _>>()?,
            ask: arguments.has(&ASK),
            wait: arguments.seconds(&MCP_WAIT, 0)?,
            pins: arguments.value(&PINS).map(PathBuf::from),
        })
    }
}

/// Parses `NAME=VALUE`. Errors do not show the text, which may be a secret.
fn variable(text: &str) -> Result<(String, String), UsageError> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) => Err(UsageError::invalid(&VAR, "the name before `=` is missing")),
        None => Err(UsageError::invalid(&VAR, "`=` is missing")),
    }
}

pub(super) const MCP_CONFIG: Opt = Opt {
    value: Some("FILE"),
    is_repeatable: true,
    ..Opt::new("mcp-config", "Add the tools of the MCP servers in this file; repeatable")
};

pub(super) const VAR: Opt = Opt {
    value: Some("NAME=VALUE"),
    is_repeatable: true,
    ..Opt::new("var", "Set the variable `${NAME}` of that file, such as `input:key=..`; repeatable")
};

pub(super) const ASK: Opt = Opt::new(
    "ask",
    "Pass requests of these servers (forms, pages, sampling, roots) to the client that calls",
);

pub(super) const MCP_WAIT: Opt = Opt {
    value: Some("SECONDS"),
    ..Opt::new(
        "mcp-wait",
        "Time from the start during which `tools/list` waits for pending connections [default: 5]",
    )
};

pub(super) const PINS: Opt = Opt {
    value: Some("FILE"),
    ..Opt::new(
        "pins",
        "Hold back the tools of these servers that are not as in this file; `pin` approves them",
    )
};

pub(super) static STATUS: CommandSpec = CommandSpec {
    name: "status",
    about: "Connect to the MCP servers and show their status",
    positional: Cow::Borrowed(&[]),
    options: Cow::Borrowed(&[JSON]),
    after_help: "\
Exit codes: 0 every server is ready or disabled, 1 a server is not, or its entry is invalid,
2 wrong usage, 3 the configuration is invalid.

`--json` prints an array with an object for each server: `name`, `state` (`ready`, `failed`,
`connecting`, `needs_auth`, `disabled`), `reason` unless it is ready, `tools` (a number), `problems` if
there are any, `protocol` and `server` (`name`, `version`) if it is connected.",
};

pub(super) static DOCTOR: CommandSpec = CommandSpec {
    name: "doctor",
    about: "Check the configuration of MCP servers, and show problems with their remedies",
    positional: Cow::Borrowed(&[]),
    options: Cow::Borrowed(&[JSON]),
    after_help: "\
Exit codes: 0 no errors, perhaps warnings, 1 errors, 2 wrong usage, or nothing to check.

`--json` prints an array with an object for each server: `server`, absent for the configuration as a
whole, and `findings`: objects with `level` (`ok`, `warning`, `error`), `text`, and `help` if there is
a remedy.",
};
