//! A folder with a configuration, and the program in it.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;
use tempfile::TempDir;

/// No step of a test takes longer.
const LIMIT: Duration = Duration::from_secs(60);

/// A folder in which the program runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// A folder with a file `tool-gateway.toml`.
    pub(crate) fn new(configuration: &str) -> Self {
        let folder = Self::empty();
        folder.write("tool-gateway.toml", configuration);
        folder
    }

    pub(crate) fn empty() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).expect("a file");
    }

    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tool-gateway"));
        command.args(words).current_dir(self.0.path()).stdin(Stdio::null());
        command
    }

    /// Runs a command to its end: its exit code, and all that it printed.
    pub(crate) fn run(&self, words: &[&str]) -> (i32, String) {
        ended(&mut self.command(words))
    }

    /// Runs a command that succeeds.
    pub(crate) fn ok(&self, words: &[&str]) -> String {
        let (code, text) = self.run(words);
        assert_eq!(code, 0, "{words:?}: {text}");
        text
    }
}

pub(crate) fn ended(command: &mut Command) -> (i32, String) {
    let Output { status, stdout, stderr } = command.output().expect("it starts");
    let text = [stdout, stderr].map(|bytes| String::from_utf8(bytes).expect("UTF-8")).concat();
    (status.code().expect("no signal"), text)
}

/// A program that serves over HTTP.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: SocketAddr,
    lines: Receiver<String>,
}

impl Server {
    pub(crate) fn start(folder: &Folder) -> Self {
        Self::with(&mut folder.command(&["serve"]))
    }

    pub(crate) fn with(command: &mut Command) -> Self {
        let mut child = command.stderr(Stdio::piped()).spawn().expect("it starts");
        let log = BufReader::new(child.stderr.take().expect("piped"));
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            log.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut server = Self { child, address: SocketAddr::from(([0, 0, 0, 0], 0)), lines };
        let line = server.line("listening on ");
        let (_, address) = line.split_once("://").expect("a URL");
        server.address = address.trim_end_matches("/mcp").parse().expect("an address");
        server
    }

    /// Waits for a line of the log with this text.
    pub(crate) fn line(&self, text: &str) -> String {
        let mut seen = Vec::new();
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) if line.contains(text) => return line,
                Ok(line) => seen.push(line),
                Err(_) => panic!("`{text}` is not in the log: {seen:#?}"),
            }
        }
    }

    #[cfg(unix)]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).expect("it runs");
    }

    /// Waits for the end of the program.
    pub(crate) fn end(mut self) -> i32 {
        self.child.wait().expect("it ends").code().expect("no signal")
    }

    /// Calls a tool: the status of the response, and the text of the result.
    pub(crate) fn call(&self, token: &str, tool: &str, arguments: Value) -> (u16, String) {
        call(self.address, token, tool, &arguments)
    }

    /// Calls a tool as a part of a trace.
    pub(crate) fn traced_call(
        &self,
        token: &str,
        trace: &str,
        tool: &str,
        arguments: Value,
    ) -> (u16, String) {
        let head = head(token, tool);
        let head = format!("{head}traceparent: 00-{trace}-00f067aa0ba902b7-01\r\n");
        request(self.address, &head, &call_message(tool, &arguments))
    }

    pub(crate) fn get(&self, path: &str) -> (u16, String) {
        request(self.address, &format!("GET {path} HTTP/1.1\r\n"), "")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls a tool of a server.
pub(crate) fn call(
    address: SocketAddr,
    token: &str,
    tool: &str,
    arguments: &Value,
) -> (u16, String) {
    let (status, body) = request(address, &head(token, tool), &call_message(tool, arguments));
    let text = serde_json::from_str::<Value>(&body)
        .ok()
        .and_then(|answer| Some(answer["result"]["content"][0]["text"].as_str()?.to_owned()));
    (status, text.unwrap_or(body))
}

fn head(token: &str, tool: &str) -> String {
    let head =
        "POST /mcp HTTP/1.1\r\ncontent-type: application/json\r\naccept: application/json\r\n";
    format!(
        "{head}mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {tool}\r\nauthorization: Bearer {token}\r\n"
    )
}

fn call_message(tool: &str, arguments: &Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": tool, "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
}

/// Sends a request on a connection of its own: the status, and the body.
pub(crate) fn request(address: SocketAddr, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("an option");
    exchange(&mut stream, address, head, body)
}

/// Sends a request on a stream, which ends with the response.
pub(crate) fn exchange(
    stream: &mut (impl std::io::Read + std::io::Write),
    address: SocketAddr,
    head: &str,
    body: &str,
) -> (u16, String) {
    let length = body.len();
    write!(
        stream,
        "{head}host: {address}\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .expect("it reads");
    let mut answer = Vec::new();
    // A TLS server may end without a farewell.
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8(answer).expect("UTF-8");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a response");
    let status = head.split(' ').nth(1).expect("a status").parse().expect("a number");
    (status, body.to_owned())
}

/// Replaces a file as editors do, so that it is never half written.
pub(crate) fn replace(file: &Path, text: &str) {
    let new = file.with_extension("new");
    std::fs::write(&new, text).expect("a file");
    std::fs::rename(new, file).expect("the same directory");
}
