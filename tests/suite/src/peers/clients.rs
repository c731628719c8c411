//! The clients that drive our servers, and their protocol versions.

use super::{Program, peer};
use crate::http_server::HttpServerProcess;
use crate::process::Ended;
use std::fmt;
use std::path::Path;

/// A third-party client.
#[derive(Clone, Copy, Debug)]
pub struct Client {
    /// Display name.
    pub name: &'static str,
    program: Program,
    /// The supported lifecycles.
    pub lifecycles: &'static [Lifecycle],
}

/// A lifecycle of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lifecycle {
    /// The `initialize` handshake, up to 2025-11-25.
    Stateful,
    /// 2026-07-28, without a handshake.
    Stateless,
}

impl fmt::Display for Lifecycle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stateful => "stateful",
            Self::Stateless => "stateless",
        })
    }
}

/// The connection of a client to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The client starts the server.
    Stdio,
    /// The server is already running.
    Http,
}

const BOTH: &[Lifecycle] = &[Lifecycle::Stateful, Lifecycle::Stateless];

/// All clients.
pub const CLIENTS: [Client; 5] = [
    Client {
        name: "Python SDK 2 (`mcp`)",
        program: Program::Python("python_client.py"),
        lifecycles: BOTH,
    },
    Client { name: "FastMCP 4", program: Program::Python("fastmcp_client.py"), lifecycles: BOTH },
    Client {
        name: "TypeScript SDK 2",
        program: Program::Node("typescript_client.mjs"),
        lifecycles: BOTH,
    },
    Client {
        name: "TypeScript SDK 1",
        program: Program::Node("typescript_sdk.mjs"),
        lifecycles: &[Lifecycle::Stateful],
    },
    Client { name: "Inspector CLI", program: Program::Node("inspector.mjs"), lifecycles: BOTH },
];

impl Client {
    /// Checks the quickstart with this client.
    ///
    /// # Panics
    /// The client cannot be installed, or the server not be started.
    pub fn check(&self, lifecycle: Lifecycle, transport: Transport, server: &Path) -> Ended {
        let lifecycle = lifecycle.to_string();
        match transport {
            Transport::Stdio => {
                let server = server.to_str().expect("a path in UTF-8");
                peer(self.program, &[&lifecycle, "--", server])
            }
            Transport::Http => {
                let served = HttpServerProcess::start(server, &[]);
                let mut ended = peer(self.program, &[&lifecycle, served.url()]);
                ended.output.push_str(&served.log());
                ended
            }
        }
    }
}
