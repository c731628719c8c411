//! Exit of a server at the end of its input, or by a signal, after its values are closed.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use suite::limit::Limit;

/// Time after which the official Python client sends SIGTERM to a server whose input has ended.
const KILL_AFTER: Duration = Duration::from_secs(2);

/// An overloaded machine may be late, but not every time.
const ATTEMPTS: usize = 5;

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
        shop.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "t", "version": "1"},
        }}));
        assert_eq!(shop.receive()["id"], 0);
        shop.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        shop
    }

    fn call(&mut self, name: &str) {
        let params = json!({"name": name, "arguments": {}, "_meta": {"progressToken": 1}});
        self.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}));
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

    fn signal(&self, name: &str) {
        let kill = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(kill.expect("there is `kill`").success());
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

#[test]
fn an_endless_call_is_abandoned_before_the_host_kills_the_server() {
    for (tool, sign) in [("shop.wait", "waiting"), ("shop.count", "")] {
        let in_time = |_| time_to_end(tool, sign).is_some_and(|time| time < KILL_AFTER);
        assert!((0..ATTEMPTS).any(in_time), "{tool}");
    }
}

/// Time in which a busy server exits after the end of its input. `None` if it had no time left to
/// answer its call, as on an overloaded machine.
fn time_to_end(tool: &str, sign: &str) -> Option<Duration> {
    let mut shop = Shop::open();
    shop.call(tool);
    match sign {
        "" => assert_eq!(shop.receive()["method"], "notifications/progress"),
        sign => shop.log_until(sign),
    }
    let start = Instant::now();
    drop(shop.input.take());
    let (status, result) = shop.ended();
    assert!(status.success());
    assert_eq!(result?["isError"], true);
    Some(start.elapsed())
}

#[test]
fn values_of_a_session_are_closed_before_the_process_ends() {
    for how in ["EOF", "TERM"] {
        let mut shop = Shop::open();
        shop.call("cart.ping");
        assert_eq!(shop.receive()["result"]["isError"], false);
        match how {
            "EOF" => drop(shop.input.take()),
            signal => shop.signal(signal),
        }
        shop.log_until("cleared");
        assert!(shop.child.wait().expect("it ends").success(), "{how}");
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
    for signal in ["TERM", "INT"] {
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
    shop.signal("INT");
    assert_eq!(shop.ended().0.code(), Some(1));
}

#[test]
fn a_second_signal_ends_immediately() {
    let mut shop = Shop::open();
    shop.call("shop.wait");
    shop.log_until("waiting");
    shop.signal("TERM");
    // Two signals of one kind may be merged.
    shop.signal("INT");
    assert_eq!(shop.child.wait().expect("it ends").code(), Some(1));
    let rest: String = shop.log.map(|line| line.expect("UTF-8")).collect();
    assert!(!rest.contains("closed"), "{rest}");
    shop.output.by_ref().for_each(drop);
}
