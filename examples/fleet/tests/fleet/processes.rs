//! Hubs, runners and other programs of the example.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use std::future::Future;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::net::TcpListener;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;
use tool_runtime::ToolPool;
use tool_runtime::remote::{HttpBoard, HttpBoardOptions, Remote};

pub(crate) const FLEET: &str = env!("CARGO_BIN_EXE_fleet");
pub(crate) const GATEWAY: &str = env!("CARGO_BIN_EXE_fleet-gateway");

const TOKENS: &str = "gateway:token-of-gateway scopes=call:*
runner:token-of-runner scopes=run:*
other:token-of-other scopes=run:other";
pub(crate) const CALLER: &str = "token-of-gateway";
pub(crate) const RUNNER: &str = "token-of-runner";
/// The token of a runner of another queue than those of the tests.
pub(crate) const OTHER: &str = "token-of-other";

/// Fails a test that hangs.
pub(crate) async fn in_time<T>(future: impl Future<Output = T>) -> T {
    timeout(Duration::from_secs(40), future).await.expect("it hangs")
}

/// A program that runs until it is dropped.
pub(crate) struct Process {
    child: Child,
    errors: Lines<BufReader<ChildStderr>>,
}

impl Process {
    pub(crate) fn start(mut command: Command) -> Self {
        command.stdin(Stdio::null());
        Self::spawn(command)
    }

    fn spawn(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.kill_on_drop(true).spawn().unwrap();
        let errors = BufReader::new(child.stderr.take().unwrap()).lines();
        Self { child, errors }
    }

    /// The next line of standard error with a string.
    pub(crate) async fn line(&mut self, text: &str) -> String {
        in_time(async {
            loop {
                let line = self.errors.next_line().await.unwrap();
                let line = line.unwrap_or_else(|| panic!("it ended without `{text}`"));
                if line.contains(text) {
                    return line;
                }
            }
        })
        .await
    }

    /// The rest of standard error, when the program has ended.
    pub(crate) async fn rest(mut self) -> String {
        let mut rest = String::new();
        in_time(async {
            while let Some(line) = self.errors.next_line().await.unwrap() {
                rest += &line;
            }
        })
        .await;
        rest
    }

    /// Standard output, once.
    pub(crate) fn stdout(&mut self) -> ChildStdout {
        self.child.stdout.take().unwrap()
    }

    pub(crate) fn terminate(&self) {
        let pid = self.child.id().and_then(|id| Pid::from_raw(id.try_into().unwrap()));
        kill_process(pid.unwrap(), Signal::TERM).unwrap();
    }

    pub(crate) async fn ended(mut self) -> ExitStatus {
        in_time(self.child.wait()).await.unwrap()
    }

    pub(crate) async fn output(self) -> Output {
        in_time(self.child.wait_with_output()).await.unwrap()
    }
}

/// A program that serves MCP over standard input and output.
pub(crate) struct Server {
    process: Process,
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
    sent: u32,
}

impl Server {
    pub(crate) async fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped());
        let mut process = Process::spawn(command);
        let requests = process.child.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout()).lines();
        let mut server = Self { process, requests, answers, sent: 0 };
        let hello = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1.0.0" },
        });
        server.request("initialize", hello).await;
        server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        server
    }

    async fn send(&mut self, message: &Value) {
        self.requests.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    /// The result of a request.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        self.sent += 1;
        let request =
            json!({ "jsonrpc": "2.0", "id": self.sent, "method": method, "params": params });
        self.send(&request).await;
        in_time(async {
            loop {
                let line = self.answers.next_line().await.unwrap().expect("it ended");
                let mut answer: Value = serde_json::from_str(&line).unwrap();
                if answer["id"] == self.sent {
                    assert!(answer.get("error").is_none(), "{answer}");
                    return answer["result"].take();
                }
            }
        })
        .await
    }

    /// Waits until a tool is listed.
    pub(crate) async fn until_listed(&mut self, tool: &str) {
        while !self.request("tools/list", json!({})).await.to_string().contains(tool) {}
    }

    /// The next line of the log with a string.
    pub(crate) async fn line(&mut self, text: &str) -> String {
        self.process.line(text).await
    }
}

/// A command of the example, with a token.
pub(crate) fn command(program: &str, token: &str, words: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(words).env("TOOL_REMOTE_TOKEN", token).env("NO_COLOR", "1");
    command
}

/// Exit code, standard output and standard error of a command.
pub(crate) async fn run(mut command: Command) -> (Option<i32>, String, String) {
    let output = in_time(command.stdin(Stdio::null()).output()).await.unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// An address of this machine that nothing listened at a moment ago.
pub(crate) async fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string()
}

/// A hub, the files of its runners, and its address.
pub(crate) struct Hub {
    folder: TempDir,
    process: Process,
    pub(crate) url: String,
}

impl Hub {
    pub(crate) async fn start() -> Self {
        Self::start_at("127.0.0.1:0").await
    }

    pub(crate) async fn start_at(address: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("tokens"), TOKENS).unwrap();
        let (process, url) = serve(folder.path(), address).await;
        Self { folder, process, url }
    }

    /// Ends the hub, and starts it again with its file, at its address.
    pub(crate) async fn restart(&mut self) {
        self.process.terminate();
        assert!(in_time(self.process.child.wait()).await.unwrap().success());
        let address = self.url.trim_start_matches("http://");
        self.process = serve(self.folder.path(), address).await.0;
    }

    /// The file that the tools of the queue `files` know by this name.
    pub(crate) fn file(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join("files").join(name)
    }

    /// A runner with the tools of one kind.
    pub(crate) fn start_runner(&self, queue: &str, tools: &str) -> Process {
        Process::start(self.runner(queue, tools))
    }

    pub(crate) fn runner(&self, queue: &str, tools: &str) -> Command {
        let words = ["run", "--connect", &self.url, "--queue", queue, "--allow", tools];
        let mut command = command(FLEET, RUNNER, &words);
        command.env("FLEET_FILES", self.folder.path().join("files"));
        command
    }

    /// A runner that has connected to the hub.
    pub(crate) async fn run(&self, queue: &str) -> Process {
        let mut runner = self.start_runner(queue, &format!("{queue}.*"));
        runner.line("runner of queue").await;
        runner
    }

    /// A command of the gateway.
    pub(crate) fn gateway(&self, words: &[&str]) -> Command {
        let mut command = command(GATEWAY, CALLER, words);
        command.env("FLEET_HUB", &self.url);
        command
    }

    /// `remote status`: its exit code and what it prints.
    pub(crate) async fn status(&self) -> (Option<i32>, String) {
        let words = ["remote", "status", "--connect", &self.url];
        let (code, printed, _) = run(command(FLEET, CALLER, &words)).await;
        (code, printed)
    }

    pub(crate) async fn status_json(&self) -> Value {
        let words = ["remote", "status", "--connect", &self.url, "--json"];
        let (_, printed, errors) = run(command(FLEET, CALLER, &words)).await;
        serde_json::from_str(&printed).unwrap_or_else(|_| panic!("{printed}{errors}"))
    }

    /// Waits until the status of the first runner of the only queue is as wanted.
    pub(crate) async fn until_runner(&self, is_wanted: impl Fn(&Value) -> bool) {
        in_time(async {
            while !is_wanted(&self.status_json().await["queues"][0]["runners"][0]) {}
        })
        .await;
    }

    /// A pool with the tools of the runners, in this process.
    pub(crate) async fn connect(&self) -> (ToolPool, Remote) {
        let options = HttpBoardOptions::default().token(CALLER);
        let board = HttpBoard::connect(&self.url, options).await.unwrap();
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let remote = Remote::builder(board).connect(&pool).await.unwrap();
        (pool, remote)
    }
}

/// Serves the hub of a folder. Returns its address, too.
async fn serve(folder: &Path, address: &str) -> (Process, String) {
    let mut command = Command::new(FLEET);
    command.args(["remote", "serve", "--listen", address, "--db", "hub.db", "--tokens", "tokens"]);
    command.current_dir(folder);
    let mut process = Process::start(command);
    let line = process.line("listening on ").await;
    (process, line.trim_start_matches("listening on ").to_owned())
}
