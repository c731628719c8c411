//! Async tools that block their thread, and clients that do not read, do not block a server.

use super::server::stateless;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader, Lines, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::Duration;
use suite::limit::Limit;
use suite::process::{Signal, signal};

/// Time limit after which a hanging server is killed, so that its test fails. Less than the tools block.
const HANG_LIMIT: Duration = Duration::from_secs(300);

/// Calls that block their thread.
const BLOCKING: u64 = 16;

struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    log: Lines<BufReader<ChildStderr>>,
    _limit: Limit,
}

impl Server {
    fn start(words: &[&str]) -> Self {
        Self::start_program(env!("CARGO_BIN_EXE_blocking_server"), words)
    }

    fn start_program(program: &str, words: &[&str]) -> Self {
        // A server that was started by `nohup` outlives its terminal, and so would one that these tests start.
        let mut child = Command::new("env")
            .args(["--default-signal=HUP", program])
            .args(words)
            .env("RUST_LOG", "warn,tool_runtime_core::dispatch=debug")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        Self {
            _limit: Limit::within(HANG_LIMIT, &child),
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("piped")).lines(),
            log: BufReader::new(child.stderr.take().expect("piped")).lines(),
            child,
        }
    }

    /// A server over stdio, after the handshake of 2025-11-25.
    fn open() -> Self {
        Self::start(&["serve"]).initialized()
    }

    fn initialized(mut self) -> Self {
        let server = &mut self;
        server.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "t", "version": "1"},
        }}));
        assert_eq!(server.answers(1)[&0]["serverInfo"]["name"], "suite");
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        self
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("still open"), "{message}").expect("it reads");
    }

    fn request(&mut self, id: u64, method: &str, params: &Value) {
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.send(&message);
    }

    fn call(&mut self, id: u64, name: &str) {
        let params = json!({"name": name, "arguments": {}, "_meta": {"progressToken": id}});
        self.request(id, "tools/call", &params);
    }

    /// The next answers by id: results or errors.
    fn answers(&mut self, count: usize) -> BTreeMap<u64, Value> {
        let messages = self.output.by_ref().map(|line| line.expect("UTF-8"));
        let messages = messages.map(|line| serde_json::from_str::<Value>(&line).expect("JSON"));
        let answers = messages.filter_map(|mut message| {
            let id = message["id"].as_u64()?;
            let key = if message["error"].is_null() { "result" } else { "error" };
            Some((id, message[key].take()))
        });
        let answers: BTreeMap<u64, Value> = answers.take(count).collect();
        assert_eq!(answers.len(), count, "the server has ended: {answers:?}");
        answers
    }

    fn log_until(&mut self, text: &str) {
        assert!(self.log.any(|line| line.expect("UTF-8").contains(text)), "{text:?} is not logged");
    }

    /// Reads the log until it contains each of the texts, in any order.
    fn log_until_all(&mut self, mut texts: Vec<String>) {
        while !texts.is_empty() {
            let line = self.log.next().unwrap_or_else(|| panic!("{texts:?} are not logged"));
            let line = line.expect("UTF-8");
            texts.retain(|text| !line.contains(text));
        }
    }

    /// Ends the server by a signal, or by the end of its input.
    fn end(mut self, how: Option<Signal>) -> (ExitStatus, Vec<String>) {
        match how {
            None => drop(self.input.take()),
            Some(how) => signal(self.child.id(), how),
        }
        self.ended()
    }

    fn ended(mut self) -> (ExitStatus, Vec<String>) {
        let log = self.log.by_ref().map(|line| line.expect("UTF-8")).collect();
        (self.child.wait().expect("it ends"), log)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails only for a process that has exited.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// Fills a server with blocking calls, checks that it still answers, and ends it.
fn check_that_other_requests_are_served(blocking: &[&str], how: Option<Signal>) {
    let mut server = Server::open();
    // None of these is answered before the others, whatever their time.
    for (id, name) in (100..100 + BLOCKING).zip(blocking.iter().cycle()) {
        server.call(id, &format!("endless_{name}"));
    }
    server.call(90, "report_and_sleep");
    server.request(1, "ping", &json!({}));
    server.call(2, "quick");
    server.call(3, "delayed");
    let served = server.answers(3);
    assert_eq!(served.keys().copied().collect::<Vec<_>>(), [1, 2, 3], "{served:?}");
    assert_eq!((text(&served[&2]), text(&served[&3])), ("done", "done"));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 90}}));
    for (id, name) in (200..).zip(blocking) {
        server.call(id, name);
    }
    for (id, result) in server.answers(blocking.len()) {
        assert!(text(&result).contains("did not answer within 1s"), "{id}: {result}");
    }
    server.request(4, "ping", &json!({}));
    assert!(server.answers(1).contains_key(&4));
    let names = blocking.iter().collect::<BTreeSet<_>>().into_iter();
    let mut lines: Vec<_> = names.map(|name| format!("`{name}` blocks its thread")).collect();
    lines.push("`report_and_sleep` was cancelled".to_owned());
    server.log_until_all(lines);
    let (status, _) = server.end(how);
    assert!(status.success(), "{status}");
}

#[test]
fn blocking_calls_do_not_delay_others_until_the_input_ends() {
    check_that_other_requests_are_served(&["spin", "sleep", "sleep", "sleep"], None);
}

/// The reading task yields after some lines. A call that then blocks its worker must not keep it.
#[test]
fn a_reading_task_that_yields_is_not_kept_by_a_blocking_call() {
    for quick in 50..72 {
        let mut server = Server::open();
        server.call(1, "endless_sleep");
        server.request(2, "ping", &json!({}));
        server.answers(1);
        let call = |(id, name): (u64, &str)| {
            let params = json!({"name": name, "arguments": {}});
            json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
        };
        let ping = json!({"jsonrpc": "2.0", "id": 4, "method": "ping"});
        let lines = (100..100 + quick).map(|id| (id, "quick"));
        let lines = lines.chain([(3, "endless_sleep")]).chain((200..205).map(|id| (id, "quick")));
        let lines = lines.map(call).chain([ping]).map(|message| format!("{message}\n"));
        let input = server.input.as_mut().expect("still open");
        input.write_all(lines.collect::<String>().as_bytes()).expect("it reads");
        assert!(server.answers(quick as usize + 6).contains_key(&4), "{quick}");
    }
}

#[test]
fn blocking_calls_do_not_delay_a_signal() {
    check_that_other_requests_are_served(&["sleep"], Some(Signal::TERM));
    check_that_other_requests_are_served(&["sleep"], Some(Signal::HUP));
}

/// Fills a server with calls whose hooks, approver or arguments block, checks that it still answers, and
/// ends it.
fn check_that_blocking_hooks_delay_no_others(how: Option<Signal>) {
    let program = env!("CARGO_BIN_EXE_blocking_hooks");
    let mut server = Server::start_program(program, &["serve"]).initialized();
    let names = ["before", "after", "read"];
    let call = |server: &mut Server, id: u64, name: &str| {
        let arguments = if name.ends_with("read") { json!({"slow": "slow"}) } else { json!({}) };
        server.request(id, "tools/call", &json!({"name": name, "arguments": arguments}));
    };
    // None of these is answered before the others, whatever their time.
    for (id, name) in (100..100 + BLOCKING).zip(names.iter().cycle()) {
        call(&mut server, id, &format!("endless_{name}"));
    }
    server.call(90, "approved");
    server.log_until("asked");
    server.request(1, "ping", &json!({}));
    server.call(2, "quick");
    server.call(3, "delayed");
    let served = server.answers(3);
    assert_eq!(served.keys().copied().collect::<Vec<_>>(), [1, 2, 3], "{served:?}");
    assert_eq!((text(&served[&2]), text(&served[&3])), ("done", "done"));
    server.send(&json!({"jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": {"requestId": 90}}));
    for (id, name) in (200..).zip(names) {
        call(&mut server, id, name);
    }
    let rejections = ["a check failed", "was withheld", "did not answer within 1s"];
    for (id, result) in server.answers(names.len()) {
        let error_text = rejections[(id - 200) as usize];
        assert!(text(&result).contains(error_text), "{id}: {result}");
    }
    let blocking = ["hook before before", "hook after after", "approver of approved", "read"];
    let mut lines = blocking.map(|name| format!("`{name}` blocks its thread")).to_vec();
    lines.push("`approved` was cancelled".to_owned());
    server.log_until_all(lines);
    let (status, _) = server.end(how);
    assert!(status.success(), "{status}");
}

#[test]
fn blocking_hooks_do_not_delay_others_until_the_input_ends() {
    check_that_blocking_hooks_delay_no_others(None);
}

#[test]
fn blocking_hooks_do_not_delay_a_signal() {
    check_that_blocking_hooks_delay_no_others(Some(Signal::TERM));
}

#[test]
fn blocking_prompts_and_resources_do_not_delay_others() {
    let mut server = Server::open();
    for id in 0..5 {
        server.request(10 + id, "prompts/get", &json!({"name": "sleepy_prompt"}));
        server.request(20 + id, "resources/read", &json!({"uri": "test://sleepy"}));
    }
    server.call(1, "delayed");
    assert!(server.answers(1).contains_key(&1));
    for (id, error) in server.answers(10) {
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains("did not answer within 1s"), "{id}: {error}");
    }
    let names = ["sleepy_prompt", "test://sleepy"];
    server.log_until_all(names.map(|name| format!("`{name}` blocks its thread")).to_vec());
    let (status, _) = server.end(None);
    assert!(status.success(), "{status}");
}

#[test]
fn the_log_reports_the_end_of_a_blocked_poll() {
    let mut server = Server::open();
    let bed = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = bed.local_addr().expect("an address");
    let arguments = json!({"address": address.to_string()});
    server.request(1, "tools/call", &json!({"name": "nap", "arguments": arguments}));
    server.log_until("`nap` blocks its thread");
    drop(bed.accept().expect("the tool connects"));
    server.log_until("`nap` no longer blocks its thread");
    assert!(server.answers(1).contains_key(&1));
}

#[test]
fn a_command_that_calls_a_blocking_tool_ends_in_time() {
    for name in ["sleep", "spin"] {
        let (status, log) = Server::start(&["call", name]).ended();
        assert_eq!(status.code(), Some(1), "{log:?}");
        let answer =
            format!("error: `{name}` did not answer within 1s; ask for less, or try again");
        assert!(log.contains(&answer), "{log:?}");
    }
}

#[test]
fn the_first_signal_ends_a_command_that_calls_a_blocking_tool() {
    let mut command = Server::start(&["call", "report_and_sleep"]);
    command.log_until("reported");
    let (status, log) = command.end(Some(Signal::TERM));
    assert_eq!(status.code(), Some(130), "{log:?}");
    let answer = "error: the call to `report_and_sleep` was cancelled".to_owned();
    assert!(log.contains(&answer), "{log:?}");
}

/// A request on a separate connection, and its future answer.
fn post(address: &str, id: u64, name: &str) -> BufReader<TcpStream> {
    let params = json!({"name": name, "arguments": {}});
    let body = stateless(id, "tools/call", &params).to_string();
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\n\
         mcp-method: tools/call\r\nmcp-name: {name}\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    BufReader::new(stream)
}

fn answer(mut stream: BufReader<TcpStream>) -> String {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("UTF-8");
    answer
}

#[test]
fn blocking_calls_do_not_delay_others_over_http() {
    let mut server = Server::start(&["serve", "--http", "127.0.0.1:0"]);
    let line = server.log.next().expect("a line").expect("UTF-8");
    let address =
        line.strip_prefix("listening on http://").and_then(|url| url.strip_suffix("/mcp"));
    let address = address.unwrap_or_else(|| panic!("{line}"));
    let names = ["spin", "sleep", "sleep", "sleep"].iter().cycle();
    let blocked: Vec<_> =
        (0..BLOCKING).zip(names).map(|(id, name)| post(address, id, name)).collect();
    for name in ["quick", "delayed"] {
        let answer = answer(post(address, 99, name));
        assert!(answer.contains("done"), "{answer}");
    }
    for stream in blocked {
        let answer = answer(stream);
        assert!(answer.contains("did not answer within 1s"), "{answer}");
    }
    server.log_until_all(
        ["spin", "sleep"].map(|name| format!("`{name}` blocks its thread")).to_vec(),
    );
    let (status, _) = server.end(Some(Signal::TERM));
    assert!(status.success(), "{status}");
}

/// Ends a server while its client does not read answers. How long that may take is checked in `process_exit`.
fn exits_while_unread(how: Option<Signal>) {
    let mut server = Server::open();
    // A later call waits until answers are read.
    server.call(21, "report_and_sleep");
    server.log_until("reported");
    for id in 1..=20 {
        server.call(id, "long_text");
    }
    // One answer shows that calls are answered; the pipe holds few of the others.
    server.answers(1);
    let output = std::mem::replace(&mut server.output, BufReader::new(empty()).lines());
    let (status, _) = server.end(how);
    assert!(status.success(), "{status}");
    drop(output);
}

/// The output of a process without one.
fn empty() -> ChildStdout {
    let mut child = Command::new("true").stdout(Stdio::piped()).spawn().expect("it starts");
    drop(child.wait());
    child.stdout.take().expect("piped")
}

#[test]
fn a_client_that_does_not_read_does_not_delay_the_exit() {
    exits_while_unread(None);
    exits_while_unread(Some(Signal::TERM));
}

#[test]
fn a_closed_output_counts_as_disconnected() {
    let mut server = Server::open();
    drop(std::mem::replace(&mut server.output, BufReader::new(empty()).lines()));
    let log: Vec<_> = server.log.by_ref().map(|line| line.expect("UTF-8")).collect();
    assert!(server.child.wait().expect("it ends").success(), "{log:#?}");
    assert!(server.input.is_some());
}
