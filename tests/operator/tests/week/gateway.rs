//! The gateway as a program.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStderr, Command};
use tokio::sync::Mutex;
use tokio::time::timeout;

/// More than any step takes.
const LIMIT: Duration = Duration::from_secs(120);

/// The program, built once.
pub(crate) fn program() -> String {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let build = || {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = std::process::Command::new(cargo)
            .args(["build", "--quiet", "-p", "tool-gateway"])
            .status()
            .unwrap();
        assert!(built.success());
        let test = std::env::current_exe().unwrap();
        test.ancestors().nth(2).unwrap().join("tool-gateway")
    };
    PROGRAM.get_or_init(build).display().to_string()
}

fn command(folder: &TempDir, words: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(words).current_dir(folder.path()).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs a command that succeeds: all that it printed.
pub(crate) async fn ok(folder: &TempDir, words: &[&str]) -> String {
    let output = timeout(LIMIT, command(folder, words).output()).await.unwrap().unwrap();
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert!(output.status.success(), "{words:?}: {text}");
    text
}

pub(crate) struct Gateway {
    child: Mutex<Child>,
    id: Pid,
    address: String,
    log: Mutex<BufReader<ChildStderr>>,
}

impl Gateway {
    /// Starts it, and waits until it is ready.
    pub(crate) async fn start(folder: &TempDir) -> Self {
        let mut child = command(folder, &["serve"]).stderr(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let id = Pid::from_raw(i32::try_from(child.id().unwrap()).unwrap()).unwrap();
        let mut gateway =
            Self { child: Mutex::new(child), id, address: String::new(), log: Mutex::new(log) };
        let line = gateway.line("listening on http://").await;
        let (_, rest) = line.split_once("http://").unwrap();
        gateway.address = rest.trim_end().trim_end_matches("/mcp").to_owned();
        gateway.line("connections to the MCP servers were attempted").await;
        gateway
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) fn page(&self) -> String {
        format!("http://{}/inbox", self.address)
    }

    /// Waits for a line of the log.
    pub(crate) async fn line(&self, text: &str) -> String {
        let mut log = self.log.lock().await;
        let found = async {
            loop {
                let mut line = String::new();
                assert!(log.read_line(&mut line).await.unwrap() > 0, "`{text}` was not logged");
                if line.contains(text) {
                    return line;
                }
            }
        };
        timeout(LIMIT, found).await.unwrap_or_else(|_| panic!("`{text}` was not logged"))
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(self.id, signal).unwrap();
    }

    pub(crate) async fn end(self) -> i32 {
        timeout(LIMIT, self.child.into_inner().wait()).await.unwrap().unwrap().code().unwrap()
    }

    pub(crate) async fn get(&self, path: &str) -> (u16, String) {
        self.request(&format!("GET {path} HTTP/1.1\r\n"), "").await
    }

    /// Waits until a token is accepted.
    pub(crate) async fn accepts(&self, token: &str) {
        let accepted = async { while self.call(token, "files.Read").await.0 == 401 {} };
        timeout(LIMIT, accepted).await.expect("the token is accepted");
    }

    /// Calls a tool with a path: the status, and the body.
    pub(crate) async fn call(&self, token: &str, tool: &str) -> (u16, String) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let arguments = match tool {
            "files.Delete" => json!({ "path": "new" }),
            _ => json!({ "file_path": "new" }),
        };
        let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let head =
            "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json\r\n";
        let head = format!(
            "{head}mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\nauthorization: Bearer {token}\r\n"
        );
        self.request(&head, &body.to_string()).await
    }

    async fn request(&self, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).await.unwrap();
        let (address, length) = (&self.address, body.len());
        let request = format!(
            "{head}host: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        timeout(LIMIT, stream.read_to_string(&mut answer)).await.unwrap().unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }
}
