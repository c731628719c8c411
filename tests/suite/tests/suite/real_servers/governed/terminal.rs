//! A person at the terminal of the gateway approves calls.

use super::{Example, LIMIT, TOKEN};
use crate::http::client::{Connection, RawRequest};
use crate::pty::Terminal;
use serde_json::{Value, json};
use std::fs;
use std::net::SocketAddr;
use std::process::Command;
use std::time::Instant;

const FORGET: [&str; 4] =
    ["call", "memory.delete_entities", "--args", r#"{"entityNames": ["map"]}"#];

/// The example at a terminal.
fn start(example: &Example, words: &[&str]) -> Terminal {
    let mut command = Command::new(&example.program);
    command.args(words).current_dir(&example.folder).envs(example.environment());
    Terminal::start(command)
}

#[test]
fn a_call_at_a_terminal_asks_the_person_there() {
    let example = Example::new("terminal-call");
    let map = json!({ "type": "entity", "name": "map", "entityType": "thing", "observations": [] });
    fs::write(example.folder.join("memory.jsonl"), format!("{map}\n")).expect("room for a line");
    let mut terminal = start(&example, &FORGET);
    terminal.until("May this be forgotten?");
    terminal.until("other arguments] ");
    terminal.type_in("keep it for the trip");
    assert_eq!(terminal.code(), Some(1), "{}", terminal.shown);
    let reason = "the person at the terminal said: keep it for the trip";
    assert!(terminal.shown.contains(reason), "{}", terminal.shown);
    assert!(example.file("memory.jsonl").contains("map"));

    let mut terminal = start(&example, &FORGET);
    terminal.until("other arguments] ");
    terminal.type_in("y");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown);
    assert!(!example.file("memory.jsonl").contains("map"));
    let shown = example.run(&["log", "show", "calls.db", "--records"]).output;
    assert!(shown.contains("  approved  ") && shown.contains("said: keep it"), "{shown}");
}

/// The example as a server over HTTP, at a terminal.
fn serve(example: &Example) -> (Terminal, SocketAddr) {
    let mut terminal = start(example, &["serve", "--http", "127.0.0.1:0"]);
    terminal.until("/mcp");
    let (_, address) = terminal.shown.split_once("listening on http://").expect("an address");
    let address = address.split('/').next().expect("a string").parse().expect("an address");
    (terminal, address)
}

#[test]
fn a_server_over_http_asks_the_person_at_its_terminal() {
    let example = Example::new("terminal-http");
    let (mut terminal, address) = serve(&example);
    let arguments = json!({ "path": "new.txt", "content": "hello" });
    let client = std::thread::spawn(move || call(address, "files.write_file", &arguments));
    terminal.until("May the file be written?");
    terminal.until("other arguments] ");
    assert!(terminal.shown.contains("new.txt") && !terminal.shown.contains(TOKEN));
    terminal.type_in("y");
    let result = client.join().expect("an answer");
    assert!(!result["isError"].as_bool().unwrap_or(false), "{result}");
    assert_eq!(example.file("files/new.txt"), "hello");
}

#[test]
fn an_edited_policy_counts_without_a_restart() {
    let example = Example::new("edited");
    let (_terminal, address) = serve(&example);
    let read = || call(address, "files.read_text_file", &json!({ "path": "note.txt" }));
    assert_ne!(read()["isError"], true);
    let policy = example.file("policy.yaml");
    let stricter = policy.replace("files.list_directory]}\n    then: allow", "x]}\n    then: deny");
    assert_ne!(policy, stricter);
    fs::write(example.folder.join("policy.yaml"), stricter).expect("room for a file");
    let start = Instant::now();
    while read()["isError"] != true {
        assert!(start.elapsed() < LIMIT, "the edited policy does not count");
    }
}

/// Calls a tool as a client without forms, once its server has started.
#[tokio::main(flavor = "current_thread")]
async fn call(address: SocketAddr, tool: &str, arguments: &Value) -> Value {
    let mut connection = Connection::open(address).await;
    loop {
        let list = RawRequest::stateless(1, "tools/list", json!({}));
        let listed = connection.request(&list).await.last_event();
        if listed.to_string().contains(tool) {
            break;
        }
    }
    let params = json!({ "name": tool, "arguments": arguments });
    let call = RawRequest::stateless(2, "tools/call", params);
    connection.request(&call).await.last_event()["result"].take()
}
