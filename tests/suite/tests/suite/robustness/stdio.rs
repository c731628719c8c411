//! One connection over stdio.

use super::HANG_LIMIT;
use super::random::Rng;
use super::resource_usage::ResourceUsage;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use suite::limit::Limit;

/// Number of checks of the server's resources.
const CHECKS: usize = 10;

const WARM_UP: u64 = 3_000;
/// Times the variable `SEARCH`.
const MESSAGES: u64 = 9_000;

/// The expected answer to an id.
enum Expected {
    /// A result with this text.
    Text(String),
    /// A result with `isError`.
    Failure,
    /// An error of the protocol with this code.
    Error(i64),
    /// A result of any kind.
    Result,
    /// One answer or no answer: the request is cancelled.
    Maybe,
}

impl Expected {
    fn must_be_answered(&self) -> bool {
        !matches!(self, Self::Maybe)
    }
}

/// Requests that are sent and not answered.
#[derive(Default)]
struct PendingAnswers {
    expected: HashMap<u64, Expected>,
    /// Number of these that must be answered. Counting them for each answer would be slower than the server.
    open: u64,
    /// Lines whose answers have no id.
    without_id: u64,
    /// The last report of resources.
    usage: Option<Value>,
    failure: Option<String>,
}

impl PendingAnswers {
    fn expect(&mut self, id: u64, expected: Expected) {
        self.open += u64::from(expected.must_be_answered());
        self.expected.insert(id, expected);
    }

    fn settle(&mut self, answer: &Value) -> Result<(), String> {
        let Some(id) = answer["id"].as_u64() else {
            let is_rejection = answer["id"].is_null() && answer["error"]["code"].is_i64();
            self.without_id =
                self.without_id.checked_sub(1).filter(|_| is_rejection).ok_or("unasked")?;
            return Ok(());
        };
        let result = &answer["result"];
        let expected = self.expected.remove(&id).ok_or("answered twice, or never asked")?;
        self.open -= u64::from(expected.must_be_answered());
        let fits = match expected {
            Expected::Text(text) => result["content"][0]["text"] == *text,
            Expected::Failure => result["isError"] == true,
            Expected::Error(code) => answer["error"]["code"] == code,
            Expected::Result => result.is_object(),
            Expected::Maybe => true,
        };
        if result["structuredContent"]["tasks"].is_u64() {
            self.usage = Some(result.clone());
        }
        fits.then_some(()).ok_or_else(|| "not what was asked for".to_owned())
    }

    fn is_settled(&self) -> bool {
        (self.open == 0 && self.without_id == 0) || self.failure.is_some()
    }
}

/// The server and both ends of its connection.
struct Conversation {
    child: Child,
    input: BufWriter<ChildStdin>,
    pending: Arc<(Mutex<PendingAnswers>, Condvar)>,
    reader: JoinHandle<()>,
    next_id: u64,
    rng: Rng,
    _limit: Limit,
}

impl Conversation {
    fn start() -> Self {
        Self::start_with(&mut Command::new(env!("CARGO_BIN_EXE_limited_server")))
    }

    fn start_with(command: &mut Command) -> Self {
        let mut child = command
            // A panicking thread waits for the backtraces of others.
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // The server logs every panic.
            .stderr(Stdio::null())
            .spawn()
            .expect("the server starts");
        let pending = Arc::<(Mutex<PendingAnswers>, Condvar)>::default();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let reader = std::thread::spawn({
            let pending = Arc::clone(&pending);
            move || read(output, &pending)
        });
        let input = BufWriter::new(child.stdin.take().expect("piped"));
        let (rng, _limit) = (Rng::new(4), Limit::within(HANG_LIMIT, &child));
        let mut conversation = Self { child, input, pending, reader, next_id: 0, rng, _limit };
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        conversation.request("initialize", &hello, Expected::Result);
        conversation.wait_until_settled();
        conversation.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        conversation
    }

    fn line(&mut self, line: &str) {
        self.input.write_all(line.as_bytes()).expect("the server reads");
        self.input.write_all(b"\n").expect("the server reads");
    }

    /// A line that is answered without an id.
    fn invalid_line(&mut self, line: &str) {
        self.pending.0.lock().expect("no panic").without_id += 1;
        self.line(line);
    }

    fn request(&mut self, method: &str, params: &Value, expected: Expected) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        self.pending.0.lock().expect("no panic").expect(id, expected);
        self.line(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        );
        id
    }

    fn call(&mut self, tool: &str, arguments: &Value, expected: Expected) -> u64 {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}), expected)
    }

    fn call_and_cancel(&mut self) {
        let id = self.call("wait", &json!({"millis": 60_000}), Expected::Maybe);
        let gone = json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}});
        self.line(&gone.to_string());
    }

    fn random_step(&mut self) {
        match self.rng.below(100) {
            0..40 => {
                let (a, b) = (self.rng.below(1000), self.rng.below(1000));
                let sum = (a + b).to_string();
                self.call("add", &json!({"a": a, "b": b}), Expected::Text(sum));
            }
            40..50 => self.call_and_cancel(),
            50..55 => drop(self.call("wait", &json!({"millis": 1}), Expected::Result)),
            55..60 => drop(self.call("boom", &json!({}), Expected::Failure)),
            60..65 => drop(self.call("add", &json!({"a": "one", "c": []}), Expected::Failure)),
            65..70 => drop(self.call("nothing", &json!({}), Expected::Error(-32602))),
            70..75 => drop(self.request("no/such/method", &json!({}), Expected::Error(-32601))),
            75..78 => drop(self.request("tools/call", &json!({"name": 7}), Expected::Error(-32602))),
            78..82 => drop(self.request("ping", &json!({}), Expected::Result)),
            82..85 => drop(self.request("tools/list", &json!({}), Expected::Result)),
            85..88 => self.invalid_line("{\"jsonrpc\": \"2.0\", \"id\": 1, "),
            88..90 => self.invalid_line("[1, 2]"),
            90..91 => self.invalid_line(&"[".repeat(5000)),
            91..92 => self.invalid_line(&"x".repeat(70 << 10)),
            92..94 => drop(self.call("big", &json!({"kib": 64}), Expected::Result)),
            94..96 => self.line(r#"{"jsonrpc":"2.0","method":"notifications/unheard_of"}"#),
            96..98 => self.line(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}"#),
            _ => self.line("\r"),
        }
    }

    fn wait_until_settled(&mut self) {
        self.input.flush().expect("the server reads");
        let (pending, changed) = &*self.pending;
        let pending = pending.lock().expect("no panic");
        let waited =
            changed.wait_timeout_while(pending, HANG_LIMIT, |pending| !pending.is_settled());
        let (pending, _) = waited.expect("no panic");
        assert_eq!(pending.failure, None);
        assert!(pending.is_settled(), "{} are not answered", pending.open);
    }

    /// Resources of the server, with the minimum of several task counts: the task of an answered call or
    /// message may not have ended yet.
    fn usage(&mut self) -> ResourceUsage {
        let first = self.usage_now();
        (0..CHECKS).fold(first, |fewest, _| fewest.fewest_tasks(self.usage_now()))
    }

    /// Waits until the server uses no more than before.
    fn uses_no_more_than(&mut self, before: &ResourceUsage) {
        let end = Instant::now() + HANG_LIMIT / 2;
        loop {
            let now = self.usage_now();
            if before.is_within(&now) {
                return;
            }
            assert!(Instant::now() < end, "{before:?} {now:?}");
        }
    }

    fn usage_now(&mut self) -> ResourceUsage {
        self.call("usage", &json!({}), Expected::Result);
        self.wait_until_settled();
        let pending = self.pending.0.lock().expect("no panic");
        ResourceUsage::of(pending.usage.as_ref().expect("an answer"))
    }

    /// The server exits at the end of its input.
    fn finish(mut self) {
        drop(self.input);
        assert!(self.child.wait().expect("a status").success());
        self.reader.join().expect("all lines were answers");
        assert_eq!(self.pending.0.lock().expect("no panic").failure, None);
    }
}

/// Reads all answers, with occasional pauses, like a busy client.
fn read(output: BufReader<ChildStdout>, pending: &(Mutex<PendingAnswers>, Condvar)) {
    for (number, line) in output.lines().enumerate() {
        let line = line.expect("UTF-8");
        let mut open = pending.0.lock().expect("no panic");
        let wait_until_settled = match serde_json::from_str::<Value>(&line) {
            Ok(answer) => open.settle(&answer),
            Err(error) => Err(error.to_string()),
        };
        if let Err(failure) = wait_until_settled {
            open.failure.get_or_insert(format!("{failure}: {line}"));
        }
        if open.is_settled() {
            pending.1.notify_all();
        }
        drop(open);
        if number % 5000 == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

#[test]
fn random_messages_over_stdio() {
    let mut conversation = Conversation::start();
    for _ in 0..WARM_UP {
        conversation.random_step();
    }
    conversation.wait_until_settled();
    let before = conversation.usage();
    for _ in 0..MESSAGES * u64::from(crate::property::search()) {
        conversation.random_step();
    }
    conversation.wait_until_settled();
    conversation.uses_no_more_than(&before);
    conversation.finish();
}

/// One thread reads and runs tools: it must run the tool before it reads on.
#[test]
fn messages_sent_ahead_are_bounded() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_limited_server"));
    let mut conversation = Conversation::start_with(command.env("TOKIO_WORKER_THREADS", "1"));
    for _ in 0..10_000 {
        conversation.call_and_cancel();
    }
    let usage = conversation.usage_now();
    assert!(usage.tasks() < 1000, "{usage:?}");
    conversation.finish();
}

/// Hosts that exit while answers are written.
#[test]
fn connections_that_end_in_the_middle_end_the_server() {
    for seed in 0..20 {
        let mut conversation = Conversation::start();
        conversation.rng = Rng::new(seed);
        for _ in 0..200 {
            conversation.random_step();
        }
        drop(conversation.input.flush());
        conversation.finish();
    }
}
