//! Options and commands for external MCP servers.

use super::commands::json;
use clap::Command;
use std::path::PathBuf;
use std::time::Duration;
use tool_runtime_command::{CommandArguments, CommandForm};

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
    /// # Errors
    /// The option that has a wrong value, and why.
    pub(super) fn from_arguments(
        arguments: &CommandArguments,
    ) -> Result<Self, (&'static str, String)> {
        let wait = arguments.value("mcp-wait").map(|value| {
            let seconds = value.parse().map(Duration::from_secs);
            seconds.map_err(|_| ("mcp-wait", format!("'{value}' is not a number of seconds")))
        });
        Ok(Self {
            files: arguments.values("mcp-config").map(PathBuf::from).collect(),
            variables: arguments.values("var").map(variable).collect::<Result<_, _>>()?,
            ask: arguments.has("ask"),
            wait: wait.transpose()?,
            pins: arguments.value("pins").map(PathBuf::from),
        })
    }
}

/// Parses `NAME=VALUE`. Errors do not show the text, which may be a secret.
fn variable(text: &str) -> Result<(String, String), (&'static str, String)> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) => Err(("var", "the name before `=` is missing".to_owned())),
        None => Err(("var", "`=` is missing".to_owned())),
    }
}

/// Options of all commands.
pub(super) fn options(form: CommandForm) -> CommandForm {
    form.repeated_option(
        "mcp-config",
        "FILE",
        "Add the tools of the MCP servers in this file; repeatable",
    )
    .repeated_option(
        "var",
        "NAME=VALUE",
        "Set the variable `${NAME}` of that file, such as `input:key=..`; repeatable",
    )
    .flag(
        "ask",
        "Pass requests of these servers (forms, pages, sampling, roots) to the client that calls",
    )
    .option(
        "mcp-wait",
        "SECONDS",
        "Time from the start during which `tools/list` waits for pending connections [default: 5]",
    )
    .option(
        "pins",
        "FILE",
        "Hold back the tools of these servers that are not as in this file; `pin` approves them",
    )
}

pub(super) fn status() -> Command {
    Command::new("status")
        .about("Connect to the MCP servers and show their status")
        .arg(json())
        .after_help(STATUS_HELP)
}

const STATUS_HELP: &str = "\
Exit codes: 0 every server is ready or disabled, 1 a server is not, or its entry is invalid,
2 wrong usage, 3 the configuration is invalid.

`--json` prints an array with an object for each server: `name`, `state` (`ready`, `failed`,
`connecting`, `needs_auth`, `disabled`), `reason` unless it is ready, `tools` (a number), `problems` if
there are any, `protocol` and `server` (`name`, `version`) if it is connected.";
