//! A NATS server for tests; who may do what there, and what it loses when it ends.

mod attacks;
mod connect;
mod process;
mod restart;
mod waiting;

use super::board::queue;
use crate::{NatsBoard, NatsKey, NatsOptions, NatsServerConfig};
use process::start;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Child;

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
        let server = Self { folder, address: format!("nats://{address}"), lease, child };
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
        let port = self.address.rsplit(':').next();
        (self.child, _) = start(self.folder.path(), port).await;
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
