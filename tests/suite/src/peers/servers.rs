//! Third-party servers whose tools a pool uses.

use super::install::{self, installed};

/// A third-party server. It runs over standard input and output, and needs no network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// npm `@modelcontextprotocol/server-everything`: every kind of content and of question.
    Everything,
    /// npm `@modelcontextprotocol/server-filesystem`.
    Filesystem,
    /// npm `@modelcontextprotocol/server-memory`.
    Memory,
    /// PyPI `mcp-server-time`.
    Time,
    /// PyPI `mcp-server-git`.
    Git,
    /// PyPI `mcp-server-sqlite`, which speaks 2025-11-25.
    Sqlite,
}

impl Server {
    /// The command that starts the server: a program and its first arguments.
    ///
    /// # Panics
    /// The server cannot be installed.
    pub fn command(self) -> Vec<String> {
        let dir = installed();
        let path = |path: String| dir.join(path).to_str().expect("a path in UTF-8").to_owned();
        let node = |name: &str| {
            let script = format!("node_modules/@modelcontextprotocol/{name}/dist/index.js");
            vec![install::node(dir).to_str().expect("a path in UTF-8").to_owned(), path(script)]
        };
        match self {
            Self::Everything => node("server-everything"),
            Self::Filesystem => node("server-filesystem"),
            Self::Memory => node("server-memory"),
            Self::Time => vec![path("venv/bin/mcp-server-time".to_owned())],
            Self::Git => vec![path("venv/bin/mcp-server-git".to_owned())],
            Self::Sqlite => vec![path("venv-mcp1/bin/mcp-server-sqlite".to_owned())],
        }
    }
}
