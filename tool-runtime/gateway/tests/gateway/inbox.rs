//! The inbox over HTTP, its people, and how they learn of questions.

use crate::serving::HTTP;
use crate::support::{Folder, Server, call, request};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

const ADA: &str = "8fQm2x1vXk9pTz";
const GRACE: &str = "Rk7wqL3nVb5sYd";

/// A gateway that asks about each call.
fn folder(approvals: &str) -> Folder {
    let folder = Folder::new(&format!(
        "{HTTP}[policy]\nfile = 'policy.yaml'\n[log]\nfile = 'calls.db'\n[approvals]\ncaller = false\nterminal = false\ninbox = 'inbox'\n{approvals}"
    ));
    folder.write(
        "tokens",
        &format!("ada:{ADA} scopes=approve\ngrace:{GRACE} scopes=approve\nbob:Zt4mHc8eKq2uWx\n"),
    );
    folder.write("policy.yaml", "default: ask\nrules: []");
    folder.write("note", "hello");
    folder
}

fn ask(server: &Server, method: &str, path: &str, token: &str, body: &str) -> (u16, Value) {
    let head = format!("{method} {path} HTTP/1.1\r\nauthorization: Bearer {token}\r\n");
    let (status, body) = request(server.address, &head, body);
    (status, serde_json::from_str(&body).unwrap_or_default())
}

/// The id of the only question, once it is there.
fn question(server: &Server) -> String {
    loop {
        let (status, all) = ask(server, "GET", "/approvals", GRACE, "");
        assert_eq!(status, 200, "{all}");
        if let Some(id) = all["approvals"][0]["id"].as_str() {
            return id.to_owned();
        }
    }
}

#[test]
fn a_path_writes_no_line_of_its_own() {
    let folder = folder("");
    let server = Server::start(&folder);
    let (status, _) = ask(&server, "GET", "/approvals/%0aforged%1b[31m", GRACE, "");
    assert_eq!(status, 404);
    let line = server.line("rejected");
    assert!(line.contains("forged") && !line.contains('\u{1b}'), "{line}");
}

#[cfg(unix)]
#[test]
fn named_people_answer_over_http() {
    let folder = folder("");
    let server = Server::start(&folder);
    let (address, arguments) = (server.address, json!({ "file_path": "note" }));
    let waiting = std::thread::spawn(move || call(address, ADA, "Read", &arguments));
    let path = format!("/approvals/{}", question(&server));
    let yes = r#"{ "is_approved": true, "by": "the queen" }"#;
    // Without the scope, and the caller itself.
    assert_eq!(ask(&server, "GET", "/approvals", "Zt4mHc8eKq2uWx", "").0, 403);
    assert_eq!(ask(&server, "POST", &path, ADA, yes).0, 403);
    assert_eq!(ask(&server, "POST", &path, "wrong", yes).0, 401);
    assert_eq!(ask(&server, "POST", &path, GRACE, yes).0, 204);
    let (status, text) = waiting.join().expect("no panic");
    assert!(status == 200 && text.contains("hello"), "{text}");
    let (status, page) = server.get("/inbox");
    assert!(status == 200 && page.contains("inbox.js"), "{page}");
    // Pages of others send no requests.
    let head = "GET /approvals HTTP/1.1\r\norigin: https://evil.example\r\n";
    assert_eq!(request(server.address, head, "").0, 403);
    let own = format!("GET /inbox HTTP/1.1\r\norigin: http://{}\r\n", server.address);
    assert_eq!(request(server.address, &own, "").0, 200);
    server.line("the origin `https://evil.example` is not allowed");
    server.signal(rustix::process::Signal::TERM);
    assert_eq!(server.end(), 0);
    let log = folder.ok(&["log", "show", "--records"]);
    assert!(log.contains("grace") && !log.contains("the queen"), "{log}");
}

#[test]
fn a_command_answers_in_the_name_of_a_person_if_names_are_trusted() {
    for (is_trusted, setting) in [(false, ""), (true, "trust_names = true")] {
        let folder = folder(setting);
        folder.write("policy.yaml", "default: allow\nrules:\n- id: by-hand\n  when: {tools: [Read]}\n  then: {decision: ask, reason: 'May it?', approval: {approvers: [grace]}}");
        let server = Server::start(&folder);
        let (address, arguments) = (server.address, json!({ "file_path": "note" }));
        let waiting = std::thread::spawn(move || call(address, ADA, "Read", &arguments));
        let id = question(&server);
        let (code, text) = folder.run(&["approvals", "approve", &id, "--as", "grace"]);
        if is_trusted {
            assert_eq!(code, 0, "{text}");
            assert!(waiting.join().expect("no panic").1.contains("hello"));
        } else {
            assert_eq!(code, 2);
            assert!(text.contains("`approvals.trust_names`"), "{text}");
            let path = format!("/approvals/{id}");
            assert_eq!(ask(&server, "POST", &path, GRACE, r#"{ "is_approved": false }"#).0, 204);
            waiting.join().expect("no panic");
        }
    }
}

#[cfg(unix)]
#[test]
fn people_learn_of_questions_by_a_command_and_a_webhook() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let hook = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut received = String::new();
        let mut buffer = [0; 4096];
        while !received.contains("waits for an answer") {
            let read = stream.read(&mut buffer).expect("it sends");
            assert!(read > 0, "{received}");
            received.push_str(std::str::from_utf8(&buffer[..read]).expect("UTF-8"));
        }
        stream
            .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
            .expect("it reads");
        received
    });
    let folder = folder(&format!(
        "[approvals.notify]\ncommand = ['/bin/sh', '-c', 'cat > told.new && mv told.new told']\nwebhook = 'http://{address}/hook'\npage = 'https://tools.example.com/inbox'"
    ));
    let server = Server::start(&folder);
    let (to, arguments) = (server.address, json!({ "file_path": "note" }));
    let waiting = std::thread::spawn(move || call(to, ADA, "Read", &arguments));
    let posted = hook.join().expect("no panic");
    assert!(
        posted.contains("Read of ada waits for an answer. https://tools.example.com/inbox"),
        "{posted}"
    );
    while !folder.path("told").exists() {
        std::thread::yield_now();
    }
    let told = std::fs::read_to_string(folder.path("told")).expect("a file");
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!((&told["tool"], &told["caller"]), (&json!("Read"), &json!("ada")));
    assert!(!told.to_string().contains("file_path"), "no arguments: {told}");
    let path = format!("/approvals/{}", question(&server));
    assert_eq!(ask(&server, "POST", &path, GRACE, r#"{ "is_approved": false }"#).0, 204);
    waiting.join().expect("no panic");
}

#[test]
fn what_the_inbox_needs_is_checked() {
    let (code, text) = Folder::new(
        "[http]\nlisten = '8080'\ninbox = true\n[approvals.notify]\nwebhook = 'mailto:x'",
    )
    .run(&["check"]);
    assert_eq!(code, 1);
    for line in [
        ":3: `http.inbox`: there is no inbox",
        ":3: `http.inbox`: people answer by their tokens",
        ":4: `approvals.notify`: there is no inbox",
        ":5: `approvals.notify.webhook`: it is not an address",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}
