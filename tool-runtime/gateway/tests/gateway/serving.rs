//! Serving over HTTP and on standard input and output.

use crate::support::{Folder, Server, call};
use serde_json::json;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

/// The id of a trace.
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A gateway for callers with tokens, over HTTP.
pub(crate) const HTTP: &str =
    "[http]\nlisten = '127.0.0.1:0'\ntokens_file = 'tokens'\n[tools]\nfamilies = ['files']\n";

#[test]
fn callers_are_known_by_their_tokens() {
    let folder = Folder::new(&format!("{HTTP}[log]\nfile = 'calls.db'"));
    folder.write("tokens", "ada:8fQm2x1vXk9pTz\n");
    folder.write("note", "hello");
    let server = Server::start(&folder);
    let (status, text) = server.call("8fQm2x1vXk9pTz", "Read", json!({ "file_path": "note" }));
    assert_eq!(status, 200);
    assert!(text.contains("hello"), "{text}");
    let line = server.line("status=200");
    assert!(line.contains("INFO") && line.contains("\"ada\""), "{line}");
    let missing = json!({ "file_path": "nothing-here" });
    assert_eq!(server.traced_call("8fQm2x1vXk9pTz", TRACE, "Read", missing).0, 200);
    server.line(&format!("trace=\"{TRACE}\""));
    assert_eq!(server.call("wrong", "Read", json!({ "file_path": "note" })).0, 401);
    server.line("rejected: the token is unknown");
    assert_eq!(server.get("/healthz"), (200, "ok\n".to_owned()));
    assert_eq!(server.get("/readyz"), (200, "ready\n".to_owned()));
    #[cfg(unix)]
    {
        server.signal(rustix::process::Signal::TERM);
        server.line("the server stopped");
        assert_eq!(server.end(), 0);
    }
    let log = folder.ok(&["log", "show", "--principal", "ada", "--json"]);
    assert!(log.contains("\"tool\":\"Read\""), "{log}");
    let all = folder.ok(&["log", "show", "--grep", "id=1"]);
    assert_eq!(all.lines().count(), 2, "{all}");
    // The log of calls is found by what the lines of requests have.
    let traced = folder.ok(&["log", "show", "--grep", TRACE]);
    assert_eq!(traced.matches("Read").count(), 1, "{traced}");
    let record = folder.ok(&["log", "export", "--grep", TRACE]);
    let trace = format!("\"trace\":\"{TRACE}\"");
    assert!(record.contains(&trace), "{record}");
    let failed = folder.ok(&["log", "show", "--state", "failed", "--since", "today"]);
    assert!(failed.contains("nothing-here") && !failed.contains("note"), "{failed}");
    let both = ["log", "export", "--decision", "allowed", "--state", "failed"];
    let (code, text) = folder.run(&both);
    assert!(code == 2 && text.contains("a record is a decision or an end"), "{text}");
    folder.ok(&["log", "verify"]);
}

#[test]
fn a_client_may_start_a_gateway_that_has_an_address() {
    let folder = Folder::new(HTTP);
    folder.write("tokens", "ada:8fQm2x1vXk9pTz\n");
    let mut command = folder.command(&["serve", "--stdio"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello });
    writeln!(input, "{hello}").expect("it reads");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("a line");
    assert!(line.contains("\"serverInfo\"") && line.contains("tool-gateway"), "{line}");
    drop(input);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn tools_of_external_servers_are_governed() {
    let program = env!("CARGO_BIN_EXE_tool-gateway");
    let folder = Folder::new(&format!(
        "[policy]\nfile = 'policy.yaml'\n[log]\nfile = 'calls.db'\n[mcpServers.inner]\ncommand = '{program}'\nargs = ['--config', 'inner.toml', 'serve']"
    ));
    folder.write("inner.toml", "[tools]\nfamilies = ['files']");
    folder.write("policy.yaml", "default: allow\nrules:\n- id: no-writes\n  when: {tools: [inner.Write]}\n  then: {decision: deny, reason: 'read only'}");
    folder.write("note", "hello");
    let text = folder.ok(&["call", "inner.Read", "file_path=note"]);
    assert!(text.contains("hello"), "{text}");
    let (code, text) = folder.run(&["call", "inner.Write", "file_path=a", "content=b", "--yes"]);
    assert_eq!(code, 1);
    assert!(text.contains("read only"), "{text}");
    let denied = folder.ok(&["log", "show", "--decision", "denied"]);
    assert!(denied.contains("inner.Write") && !denied.contains("inner.Read"), "{denied}");
    assert!(folder.ok(&["status"]).contains("ready"));
}

#[cfg(unix)]
#[test]
fn a_call_that_waits_for_a_person_ends_with_the_gateway() {
    let folder = Folder::new(&format!(
        "{HTTP}[policy]\nfile = 'policy.yaml'\n[approvals]\ncaller = false\nterminal = false\ninbox = 'inbox'\n[log]\nfile = 'calls.db'"
    ));
    folder.write("tokens", "ada:8fQm2x1vXk9pTz\n");
    folder.write("policy.yaml", "default: ask\nrules: []");
    let server = Server::start(&folder);
    let (status, text) = std::thread::scope(|scope| {
        let (address, arguments) = (server.address, json!({ "file_path": "note" }));
        let call = scope.spawn(move || call(address, "8fQm2x1vXk9pTz", "Read", &arguments));
        while !folder.ok(&["approvals", "list"]).contains("Read") {
            assert!(!call.is_finished(), "it waits");
        }
        server.signal(rustix::process::Signal::TERM);
        call.join().expect("no panic")
    });
    assert_eq!(status, 200);
    assert!(text.contains("the server stops, so the question was not answered"), "{text}");
    assert_eq!(server.end(), 0);
    let log = folder.ok(&["log", "show", "--records"]);
    assert!(log.contains("the server stops, so the question was not answered"), "{log}");
}
