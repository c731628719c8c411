//! The generated server on raw JSON lines that official clients do not send.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use suite::limit::Limit;

/// A running server and its three streams.
pub(super) struct Server {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    /// `None` once it is closed.
    log: Option<Lines<BufReader<ChildStderr>>>,
    _limit: Limit,
}

impl Server {
    fn start() -> Self {
        Self::of(env!("CARGO_BIN_EXE_misbehaving_tools"))
    }

    fn of(program: &str) -> Self {
        Self::with(program, &[])
    }

    /// A server of another program, with arguments.
    pub(super) fn with(program: &str, words: &[&str]) -> Self {
        let mut child = Command::new(program)
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the server starts");
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().expect("piped")).lines(),
            log: child.stderr.take().map(|log| BufReader::new(log).lines()),
            _limit: Limit::of(&child),
            child,
        }
    }

    /// The quickstart's server, after the handshake of 2025-11-25.
    fn initialized() -> (Self, Value) {
        Self::start().greeted()
    }

    /// A server of another program, after the handshake of 2025-11-25.
    pub(super) fn ready(program: &str) -> Self {
        Self::of(program).greeted().0
    }

    pub(super) fn greeted(self) -> (Self, Value) {
        self.greeted_by(&json!({}))
    }

    /// After the handshake, by a client with these capabilities.
    pub(super) fn greeted_with(self, capabilities: &Value) -> Self {
        self.greeted_by(capabilities).0
    }

    fn greeted_by(self, capabilities: &Value) -> (Self, Value) {
        let mut server = self;
        server.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "t", "version": "1"}
        }}));
        let answer = server.receive();
        server.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        (server, answer["result"].clone())
    }

    pub(super) fn send(&mut self, message: &Value) {
        self.send_line(&message.to_string());
    }

    fn send_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("still open");
        writeln!(input, "{line}").expect("the server reads");
    }

    /// The next line, which must be a message.
    pub(super) fn receive(&mut self) -> Value {
        let line = self.output.next().expect("an answer").expect("UTF-8");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    fn call(&mut self, id: u64, name: &str) -> Value {
        self.send(&call(id, name));
        self.receive()
    }

    fn log_until(&mut self, text: &str) {
        let log = self.log.as_mut().expect("still open");
        let found = log.any(|line| line.expect("UTF-8").contains(text));
        assert!(found, "{text:?} was not logged");
    }

    /// Ends the input, discards further output, and waits for the process.
    pub(super) fn leave(mut self) {
        drop(self.input.take());
        while self.output.next().is_some() {}
        assert!(self.child.wait().expect("it ends").success());
    }

    /// Ends the input, waits for the process, and returns its remaining output.
    pub(super) fn rest(mut self) -> Vec<Value> {
        drop(self.input.take());
        let mut printed = Vec::new();
        for line in &mut self.output {
            printed.push(serde_json::from_str(&line.expect("UTF-8")).expect("a message"));
        }
        assert!(self.child.wait().expect("it ends").success());
        printed
    }

    /// Ends the input and waits for the process.
    pub(super) fn finish(mut self) {
        drop(self.input.take());
        assert!(self.output.next().is_none(), "nothing is sent after the end");
        assert!(self.child.wait().expect("it ends").success());
    }
}

fn call(id: u64, name: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": {}}})
}

/// A request of 2026-07-28.
pub(super) fn stateless(id: u64, method: &str, params: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

#[test]
fn the_server_has_the_name_and_version_of_the_users_package() {
    let (server, hello) = Server::initialized();
    assert_eq!(hello["serverInfo"], json!({"name": "suite", "title": "Odd", "version": "0.1.0"}));
    assert_eq!(hello["instructions"], "Do not use these.");
    let capabilities = json!({"logging": {}, "tools": {"listChanged": true}});
    assert_eq!(hello["capabilities"], capabilities);
    server.finish();
}

#[test]
fn printed_output_never_reaches_the_protocol() {
    let (mut server, _) = Server::initialized();
    let answer = server.call(1, "print_line");
    assert_eq!(answer["result"]["content"][0]["text"], "done");
    server.log_until("forged");
    server.log_until("and on standard error");
    server.finish();
}

#[test]
fn the_server_continues_after_a_panic() {
    let (mut server, _) = Server::initialized();
    let answer = server.call(1, "boom");
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(server.call(2, "print_line")["result"]["content"][0]["text"], "done");
    server.finish();
}

#[test]
fn an_answer_with_unknown_content_is_an_error() {
    let (mut server, _) = Server::initialized();
    assert_eq!(server.call(1, "undefined_content")["result"]["isError"], true);
    server.finish();
}

/// A warning is logged for each of these calls.
#[test]
fn a_host_that_does_not_read_the_log_gets_its_answers() {
    let (mut server, _) = Server::initialized();
    for id in 1..2000 {
        assert_eq!(server.call(2 * id, "broken")["id"], 2 * id);
        assert_eq!(server.call(2 * id + 1, "boom")["id"], 2 * id + 1);
    }
    server.finish();
}

#[test]
fn a_host_that_has_closed_the_log_gets_its_answers() {
    let (mut server, _) = Server::initialized();
    server.log = None;
    for id in 1..20 {
        assert_eq!(server.call(id, "broken")["id"], id);
    }
    assert_eq!(server.call(20, "boom")["result"]["isError"], true);
    server.finish();
}

#[test]
fn a_cancelled_call_is_dropped_and_not_answered() {
    let (mut server, _) = Server::initialized();
    server.send(&call(7, "hang"));
    server.log_until("hanging");
    server.send(
        &json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}),
    );
    server.log_until("dropped");
    assert_eq!(server.call(8, "print_line")["id"], 8);
    server.finish();
}

#[test]
fn the_server_continues_after_invalid_lines() {
    let (mut server, _) = Server::initialized();
    for (line, code) in [
        ("not json", -32700),
        ("[]", -32600),
        (r#"{"hello":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list"}"#, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}"#, -32602),
    ] {
        server.send_line(line);
        let answer = server.receive();
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
    }
    assert_eq!(server.call(2, "print_line")["id"], 2);
    server.finish();
}

#[test]
fn arguments_reach_the_tool_as_they_were_written() {
    let (mut server, _) = Server::initialized();
    for arguments in [r#"{"millis":1}"#, r#"{ "millis" : 1 }"#, r#"{"\u006dillis":1}"#] {
        server.send_line(&format!(
            r#"{{"params":{{"arguments":{arguments},"name":"sleepy"}},"id":"a","method":"tools/call","jsonrpc":"2.0"}}"#
        ));
        assert_eq!(server.receive()["result"]["content"][0]["text"], "slept");
    }
    for arguments in ["null", "[]", "7", r#"{"millis":1,"millis":2}"#] {
        server.send_line(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"sleepy","arguments":{arguments}}}}}"#
        ));
        assert_eq!(server.receive()["result"]["isError"], true, "{arguments}");
    }
    server.finish();
}

#[test]
fn a_list_is_wrapped_for_the_clients_that_need_an_object() {
    let find = |answer: &Value| {
        let tools = answer["result"]["tools"].as_array().expect("tools").clone();
        tools.into_iter().find(|tool| tool["name"] == "numbers").expect("the tool")["outputSchema"]
            .clone()
    };
    let (mut stateful, _) = Server::initialized();
    stateful.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let schema = find(&stateful.receive());
    assert_eq!(
        (&schema["type"], &schema["properties"]["result"]["type"]),
        (&json!("object"), &json!("array"))
    );
    assert_eq!(
        stateful.call(2, "numbers")["result"]["structuredContent"],
        json!({"result": [1, 2]})
    );
    stateful.finish();

    let mut server = Server::start();
    server.send(&stateless(1, "tools/list", &json!({})));
    assert_eq!(find(&server.receive())["type"], "array");
    server.send(&stateless(2, "tools/call", &json!({"name": "numbers", "arguments": {}})));
    assert_eq!(server.receive()["result"]["structuredContent"], json!([1, 2]));
    server.finish();
}

#[test]
fn an_object_is_wrapped_where_its_schema_is() {
    let (mut server, _) = Server::initialized();
    for (id, found) in [(0, json!(null)), (7, json!({"id": 7}))] {
        server.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": {"name": "find", "arguments": {"id": id}}}));
        let answer = server.receive();
        assert_eq!(answer["result"]["structuredContent"], json!({"result": found}));
    }
    server.finish();
}

/// A file is written by a thread, which must end with the server.
#[test]
fn an_answer_before_the_end_reaches_a_file() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("answers.jsonl");
    for _ in 0..20 {
        let file = std::fs::File::create(&path).expect("a file");
        let mut child = Command::new(env!("CARGO_BIN_EXE_misbehaving_tools"))
            .stdin(Stdio::piped())
            .stdout(file)
            .spawn()
            .expect("the server starts");
        let _limit = Limit::of(&child);
        let mut input = child.stdin.take().expect("piped");
        writeln!(input, "hello").expect("the server reads");
        drop(input);
        assert!(child.wait().expect("it ends").success());
        let answers = std::fs::read_to_string(&path).expect("the file");
        assert!(answers.contains("-32700"), "{answers:?}");
    }
}

#[test]
fn two_servers_list_the_same_bytes() {
    let listing = || {
        let (mut server, _) = Server::initialized();
        server.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        let line = server.output.next().expect("an answer").expect("UTF-8");
        server.finish();
        line
    };
    assert_eq!(listing(), listing());
}

#[test]
fn a_client_that_disconnects_immediately_ends_the_server() {
    let mut server = Server::start();
    drop(server.input.take());
    server.finish();
}
