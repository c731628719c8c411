//! Data of real servers: a folder with files, a repository, a database and a memory.

use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use suite::peers::Server;
use tokio::sync::Notify;
use tool_runtime::mcp::{McpConfig, McpManager, McpManagerBuilder, McpServerConfig};
use tool_runtime::peer::{Peer, Progress};

/// All servers by their names in the tests, with the number of their tools.
pub(super) const ALL: [(&str, Server, usize); 6] = [
    ("everything", Server::Everything, 13),
    ("files", Server::Filesystem, 14),
    ("git", Server::Git, 12),
    ("memory", Server::Memory, 9),
    ("sqlite", Server::Sqlite, 6),
    ("time", Server::Time, 2),
];

/// A temporary directory. All servers run in it, which identifies their processes.
pub(super) struct Fixture(PathBuf);

impl Fixture {
    pub(super) fn new(test: &str) -> Self {
        let name = format!("real-{test}-{}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(folder.join("files")).expect("a folder");
        let fixture = Self(folder.canonicalize().expect("it is there"));
        fs::write(fixture.path("files/note.txt"), "Buy a map.\n").expect("room for a line");
        fixture
    }

    pub(super) fn folder(&self) -> &Path {
        &self.0
    }

    /// A path in the directory.
    pub(super) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("a path in UTF-8").to_owned()
    }

    /// Creates a repository with one commit.
    pub(super) fn repository(&self) -> String {
        let repository = self.path("repository");
        fs::create_dir_all(&repository).expect("a folder");
        fs::write(self.0.join("repository/map.txt"), "here").expect("room for a line");
        for words in [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "Draw a map"]] {
            let mut git = Command::new("git");
            git.args(["-C", &repository, "-c", "user.name=Ada", "-c", "user.email=ada@localhost"]);
            // The git configuration of this machine must not apply.
            git.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
            assert!(git.args(words).status().expect("git is installed").success(), "{words:?}");
        }
        repository
    }

    /// A server's entry in a configuration.
    pub(super) fn entry(&self, server: Server) -> Value {
        let mut command = server.command();
        command.extend(match server {
            Server::Filesystem => vec![self.path("files")],
            Server::Sqlite => vec!["--db-path".to_owned(), self.path("x.db")],
            _ => Vec::new(),
        });
        json!({
            "command": command[0],
            "args": command[1..],
            "cwd": self.0,
            "env": { "MEMORY_FILE_PATH": self.path("memory.jsonl") },
            // A busy machine starts servers slowly.
            "connect_timeout": "300s",
        })
    }

    pub(super) fn server(&self, server: Server) -> McpServerConfig {
        let file = json!({ "mcpServers": { "it": self.entry(server) } });
        let config = McpConfig::from_json(&file.to_string()).expect("a configuration");
        config.servers.into_values().next().expect("one server")
    }

    /// All six, as in a configuration file.
    pub(super) fn all(&self) -> Value {
        let entries = ALL.map(|(name, server, _)| (name.to_owned(), self.entry(server)));
        json!({ "mcpServers": Map::from_iter(entries) })
    }

    pub(super) fn config(&self) -> McpConfig {
        McpConfig::from_json(&self.all().to_string()).expect("a configuration")
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A manager that waits for servers on a busy machine.
pub(super) fn manager_builder() -> McpManagerBuilder {
    McpManager::builder().start_timeout(Duration::from_secs(300))
}

/// Wakes a test at the first progress.
#[derive(Default)]
pub(super) struct Started(pub(super) Notify);

impl Peer for Started {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, _: Progress) {
        self.0.notify_one();
    }
}
