//! What concerns external MCP servers.

use super::forms::{Form, Opt};

/// The files that name the servers.
pub(super) const MCP_CONFIG: Opt = Opt {
    value: Some("FILE"),
    is_repeated: true,
    ..Opt::new(
        "mcp-config",
        "Have the tools of the MCP servers that this file names, too; may be repeated",
    )
};

pub(super) static STATUS: Form = Form {
    name: "status",
    about: "Connect to the MCP servers and say how they are",
    positional: &[],
    options: &[],
    more: "",
};

pub(super) static DOCTOR: Form = Form {
    name: "doctor",
    about: "Check the configuration of MCP servers, and say what is wrong and how to mend it",
    positional: &[],
    options: &[],
    more: "Exit codes: 0 all is well, 1 something is wrong.",
};
