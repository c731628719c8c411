//! Options and commands for external MCP servers.

use super::mistake::Mistake;
use super::read::Given;
use super::syntax::{CommandSpec, Opt};
use std::path::PathBuf;
use std::time::Duration;

/// Which servers there are, as far as the command line says it.
#[derive(Default)]
pub(crate) struct Servers {
    /// The files that name them.
    pub(crate) files: Vec<PathBuf>,
    /// Names and values of variables. The values may be secrets.
    pub(crate) variables: Vec<(String, String)>,
    /// Whether what they ask is handed on to whoever called.
    pub(crate) ask: bool,
    /// How long a server's first lists wait for them.
    pub(crate) wait: Option<Duration>,
}

impl Servers {
    pub(super) fn of(given: &Given) -> Result<Self, Mistake> {
        let files = given.values(MCP_CONFIG.long).iter().map(PathBuf::from).collect();
        let variables: Result<_, _> =
            given.values(VAR.long).iter().map(|text| variable(text)).collect();
        let seconds = |value: &str| match value.parse() {
            Ok(seconds) => Ok(Duration::from_secs(seconds)),
            Err(_) => Err(Mistake::bad_value(&WAIT, value)),
        };
        let wait = given.value(WAIT.long).map(seconds).transpose()?;
        Ok(Self { files, variables: variables?, ask: given.has(ASK.long), wait })
    }
}

/// A name and a value. What is neither is not told, it may be a secret.
fn variable(text: &str) -> Result<(String, String), Mistake> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        Some(_) => Err(Mistake::bad(&VAR, "there is no name before the `=`")),
        None => Err(Mistake::bad(&VAR, "there is no `=` in it")),
    }
}

/// The files that name the servers.
pub(super) const MCP_CONFIG: Opt = Opt {
    value: Some("FILE"),
    is_repeated: true,
    ..Opt::new(
        "mcp-config",
        "Have the tools of the MCP servers that this file names, too; may be repeated",
    )
};

/// What variables of the configuration stand for.
pub(super) const VAR: Opt = Opt {
    value: Some("NAME=VALUE"),
    is_repeated: true,
    ..Opt::new(
        "var",
        "Have `${NAME}` in that file stand for VALUE, as `input:key=..`; may be repeated",
    )
};

/// Whether servers may ask.
pub(super) const ASK: Opt = Opt::new(
    "ask",
    "Hand what these servers ask (forms, pages, models, folders) on to the client that calls",
);

/// How long lists wait.
pub(super) const WAIT: Opt = Opt {
    value: Some("SECONDS"),
    ..Opt::new(
        "mcp-wait",
        "Have `tools/list` wait so long from the start for servers that are being connected to; 5 if not given",
    )
};

pub(super) static STATUS: CommandSpec = CommandSpec {
    name: "status",
    about: "Connect to the MCP servers and say how they are",
    positional: &[],
    options: &[Opt::new("json", "Print an array with an object for each server")],
    more: "\
Exit codes: 0 every server is ready or disabled, 1 one is not, or has an entry that cannot be used,
2 wrong usage, 3 the configuration cannot be used.

An object of `--json` has `name`, `state` (`ready`, `failed`, `connecting`, `needs_auth`, `disabled`),
`reason` where it is not ready, `tools` (how many), `problems` where there are any, `protocol` and
`server` (`name`, `version`) where it is connected.",
};

pub(super) static DOCTOR: CommandSpec = CommandSpec {
    name: "doctor",
    about: "Check the configuration of MCP servers, and say what is wrong and how to mend it",
    positional: &[],
    options: &[Opt::new("json", "Print an array with an object for each server")],
    more: "\
Exit codes: 0 it works, perhaps with warnings, 1 something is wrong, 2 wrong usage, or nothing to check.

An object of `--json` has `server`, but for what concerns none of them, and `findings`: objects with
`level` (`ok`, `warning`, `error`), `text`, and `help` where there is any.",
};
