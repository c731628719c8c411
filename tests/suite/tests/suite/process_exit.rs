//! Exit of a server at the end of its input, or by a signal, after its values are closed.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::Duration;
use suite::limit::{Limit, limited};
use suite::process::{Signal, signal, stop};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, duplex, split};
use tokio::sync::Notify;
use tokio::time::Instant;
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;

/// Time after which the official Python client sends SIGTERM to a server whose input has ended.
const KILL_AFTER: Duration = Duration::from_secs(2);

fn hello(capabilities: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": capabilities,
        "clientInfo": {"name": "t", "version": "1"},
    }})
}

fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

fn call(name: &str) -> Value {
    let params = json!({"name": name, "arguments": {}, "_meta": {"progressToken": 1}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
}

struct Shop {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    log: Lines<BufReader<ChildStderr>>,
    _limit: Limit,
}

impl Shop {
    fn start(words: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_closing_server"))
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("piped")).lines(),
            log: BufReader::new(child.stderr.take().expect("piped")).lines(),
            _limit: Limit::of(&child),
            child,
        }
    }

    /// A server, after the handshake of 2025-11-25.
    fn open() -> Self {
        let mut shop = Self::start(&["serve"]);
        shop.send(&hello(&json!({"elicitation": {}})));
        assert_eq!(shop.receive()["id"], 0);
        shop.send(&initialized());
        shop
    }

    fn call(&mut self, name: &str) {
        self.send(&call(name));
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("still open"), "{message}").expect("it reads");
    }

    fn receive(&mut self) -> Value {
        let line = self.output.next().expect("a message").expect("UTF-8");
        serde_json::from_str(&line).expect("JSON")
    }

    fn log_until(&mut self, text: &str) {
        assert!(self.log.any(|line| line.expect("UTF-8").contains(text)), "{text:?} is not logged");
    }

    fn signal(&self, name: Signal) {
        signal(self.child.id(), name);
    }

    /// Waits until the value is closed. Returns the exit status and the result of the last call.
    fn ended(mut self) -> (ExitStatus, Option<Value>) {
        let messages = self.output.by_ref().map(|line| line.expect("UTF-8"));
        let messages = messages.map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
        let result = messages.filter(|message| message["id"] == 1).last();
        self.log_until("closed");
        (self.child.wait().expect("it ends"), result.map(|mut result| result["result"].take()))
    }
}

/// Never end.
#[tool(register = false)]
async fn wait(started: &Arc<Notify>) {
    started.notify_one();
    std::future::pending::<()>().await;
}

/// End within the time that a server gives its calls.
#[tool(register = false)]
async fn end_soon(started: &Arc<Notify>) {
    started.notify_one();
    tokio::time::sleep(Duration::from_millis(900)).await;
}

/// Report progress forever.
#[tool(register = false, progress)]
async fn count(context: &ToolContext, started: &Arc<Notify>) {
    started.notify_one();
    for count in 0_u32.. {
        context.progress(count, None, "");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

/// Answer with more than a client takes that does not read.
#[tool(register = false)]
async fn long_text(started: &Arc<Notify>) -> String {
    started.notify_one();
    "x".repeat(500_000)
}

/// The output of a server whose input ends during a call, if the client reads it, and the time that this takes.
async fn end_during(tool: &str, is_read: bool) -> (String, Duration) {
    let started = Arc::new(Notify::new());
    let pool = ToolPool::builder().tool::<WaitAction>().tool::<CountAction>();
    let pool = pool
        .tool::<EndSoonAction>()
        .tool::<LongTextAction>()
        .state(Arc::clone(&started))
        .build()
        .expect("a pool");
    let (client, stream) = duplex(64 << 10);
    let server = tokio::spawn(McpServer::new(pool, "shop", "1").serve_in_memory(stream, None));
    let (reader, mut writer) = split(client);
    let mut lines = tokio::io::BufReader::new(reader).lines();
    let messages =
        [hello(&json!({})), initialized(), call(tool)].map(|message| message.to_string());
    writer.write_all((messages.join("\n") + "\n").as_bytes()).await.expect("it reads");
    started.notified().await;
    let start = Instant::now();
    writer.shutdown().await.expect("still open");
    let mut output = String::new();
    while is_read && let Some(line) = lines.next_line().await.expect("UTF-8") {
        output = line;
    }
    server.await.expect("no panic").expect("no error");
    (output, start.elapsed())
}

/// The clock is paused: the time is that of the limits that the server sets, on any machine.
#[tokio::test(start_paused = true)]
async fn no_call_lasts_until_the_host_kills_the_server() {
    for (tool, is_abandoned) in [("wait", true), ("count", true), ("end_soon", false)] {
        let (last, time) = limited(end_during(tool, true)).await;
        let last: Value = serde_json::from_str(&last).expect("JSON");
        assert_eq!((&last["id"], &last["result"]["isError"]), (&json!(1), &json!(is_abandoned)));
        assert!(time < KILL_AFTER, "{tool}: {time:?}");
    }
    let (_, time) = limited(end_during("long_text", false)).await;
    assert!(time < KILL_AFTER, "unread: {time:?}");
}

#[test]
fn an_endless_call_is_abandoned_at_the_end_of_the_input() {
    for (tool, sign) in [("shop.wait", "waiting"), ("shop.count", "")] {
        let mut shop = Shop::open();
        shop.call(tool);
        match sign {
            "" => assert_eq!(shop.receive()["method"], "notifications/progress"),
            sign => shop.log_until(sign),
        }
        drop(shop.input.take());
        let (status, result) = shop.ended();
        assert!(status.success());
        // A client that is slow to read all that progress counts as one that does not read.
        assert!(result.is_none_or(|result| result["isError"] == true), "{tool}");
    }
}

#[test]
fn values_of_a_session_are_closed_before_the_process_ends() {
    for how in [None, Some(Signal::TERM)] {
        let mut shop = Shop::open();
        shop.call("cart.ping");
        assert_eq!(shop.receive()["result"]["isError"], false);
        match how {
            None => drop(shop.input.take()),
            Some(signal) => shop.signal(signal),
        }
        shop.log_until("cleared");
        assert!(shop.child.wait().expect("it ends").success(), "{how:?}");
    }
}

#[test]
fn an_unanswerable_question_fails_immediately() {
    let mut shop = Shop::open();
    shop.call("shop.ask");
    assert_eq!(shop.receive()["method"], "elicitation/create");
    drop(shop.input.take());
    let (status, result) = shop.ended();
    let text = result.expect("an answer")["content"][0]["text"].take();
    assert_eq!(text, "the client did not answer: it is disconnected");
    assert!(status.success());
}

#[test]
fn a_signal_ends_a_server_like_the_end_of_its_input() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut shop = Shop::open();
        shop.call("shop.wait");
        shop.log_until("waiting");
        shop.signal(signal);
        let (status, result) = shop.ended();
        assert!(status.success(), "{status}");
        assert_eq!(result.expect("an answer")["isError"], true);
    }
}

#[test]
fn a_signal_cancels_a_command_line_call() {
    let mut shop = Shop::start(&["call", "shop.wait"]);
    shop.log_until("waiting");
    shop.signal(Signal::INT);
    assert_eq!(shop.ended().0.code(), Some(130));
}

#[test]
fn a_second_signal_ends_immediately() {
    let mut shop = Shop::open();
    shop.call("shop.wait");
    shop.log_until("waiting");
    // Both arrive before the first has an effect. Two signals of one kind would be merged.
    stop(shop.child.id());
    for signal in [Signal::TERM, Signal::INT, Signal::CONT] {
        shop.signal(signal);
    }
    assert_eq!(shop.child.wait().expect("it ends").code(), Some(1));
    let rest: String = shop.log.map(|line| line.expect("UTF-8")).collect();
    assert!(!rest.contains("closed"), "{rest}");
    shop.output.by_ref().for_each(drop);
}
