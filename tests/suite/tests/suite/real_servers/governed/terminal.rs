//! A person at the terminal of the gateway approves calls.

use super::{Example, LIMIT, TOKEN};
use crate::http::client::{Connection, RawRequest};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use suite::limit::Limit;

const FORGET: [&str; 4] =
    ["call", "memory.delete_entities", "--args", r#"{"entityNames": ["map"]}"#];

/// The example at a terminal.
struct Terminal {
    program: Child,
    keys: File,
    shown: String,
    _limit: Limit,
}

impl Terminal {
    fn start(example: &Example, words: &[&str]) -> Self {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&ours).and_then(|()| unlockpt(&ours)).expect("it may be opened");
        let name = ptsname(&ours, Vec::new()).expect("it has a name").into_string().expect("UTF-8");
        let theirs = || -> Stdio {
            File::options().read(true).write(true).open(&name).expect("the other end").into()
        };
        let mut command = Command::new(&example.program);
        command.args(words).current_dir(&example.folder).envs(example.environment());
        command.stdin(theirs()).stdout(theirs()).stderr(theirs());
        let program = command.spawn().expect("it starts");
        let limit = Limit::of(&program);
        Self { program, keys: File::from(ours), shown: String::new(), _limit: limit }
    }

    /// Reads until the screen shows this.
    fn until(&mut self, text: &str) {
        let mut chunk = [0; 1024];
        while !self.shown.contains(text) {
            match self.keys.read(&mut chunk) {
                Ok(length) if length > 0 => {
                    self.shown.push_str(&String::from_utf8_lossy(&chunk[..length]));
                }
                ended => panic!("{ended:?} before `{text}`: {}", self.shown),
            }
        }
    }

    fn type_in(&mut self, line: &str) {
        writeln!(self.keys, "{line}").expect("the terminal takes it");
    }

    /// Waits for the end, which a terminal reports as an error. The exit code.
    fn code(&mut self) -> Option<i32> {
        let mut chunk = [0; 1024];
        while let Ok(length @ 1..) = self.keys.read(&mut chunk) {
            self.shown.push_str(&String::from_utf8_lossy(&chunk[..length]));
        }
        self.program.wait().expect("it ends").code()
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.program.kill());
        drop(self.program.wait());
    }
}

#[test]
fn a_call_at_a_terminal_asks_the_person_there() {
    let example = Example::new("terminal-call");
    let map = json!({ "type": "entity", "name": "map", "entityType": "thing", "observations": [] });
    fs::write(example.folder.join("memory.jsonl"), format!("{map}\n")).expect("room for a line");
    let mut terminal = Terminal::start(&example, &FORGET);
    terminal.until("May this be forgotten?");
    terminal.until("other arguments] ");
    terminal.type_in("keep it for the trip");
    assert_eq!(terminal.code(), Some(1), "{}", terminal.shown);
    let reason = "the person at the terminal said: keep it for the trip";
    assert!(terminal.shown.contains(reason), "{}", terminal.shown);
    assert!(example.file("memory.jsonl").contains("map"));

    let mut terminal = Terminal::start(&example, &FORGET);
    terminal.until("other arguments] ");
    terminal.type_in("y");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown);
    assert!(!example.file("memory.jsonl").contains("map"));
    let shown = example.run(&["log", "show", "calls.db", "--records"]).output;
    assert!(shown.contains("  approved  ") && shown.contains("said: keep it"), "{shown}");
}

/// The example as a server over HTTP, at a terminal.
fn serve(example: &Example) -> (Terminal, SocketAddr) {
    let mut terminal = Terminal::start(example, &["serve", "--http", "127.0.0.1:0"]);
    terminal.until("/mcp");
    let (_, address) = terminal.shown.split_once("listening on http://").expect("an address");
    let address = address.split('/').next().expect("a text").parse().expect("an address");
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
