//! A new version of the configuration of a running gateway.
#![cfg(unix)]

use crate::serving::HTTP;
use crate::support::{Folder, Server, replace};
use rustix::process::Signal;
use serde_json::json;

fn folder() -> Folder {
    let folder = Folder::new(HTTP);
    folder.write("tokens", "ada:8fQm2x1vXk9pTz\n");
    folder
}

#[test]
fn tokens_and_servers_are_replaced_without_a_gap() {
    let folder = folder();
    folder.write("inner.toml", "[tools]\nfamilies = ['search']");
    folder.write("note", "hello");
    let server = Server::start(&folder);
    let read = |token| server.call(token, "Read", json!({ "file_path": "note" })).0;
    assert_eq!(read("8fQm2x1vXk9pTz"), 200);
    replace(&folder.path("tokens"), "bob:Rk7wqL3nVb5sYd\n");
    let program = env!("CARGO_BIN_EXE_tool-gateway");
    let servers = format!(
        "[mcpServers.inner]\ncommand = '{program}'\nargs = ['--config', 'inner.toml', 'serve']"
    );
    replace(&folder.path("tool-gateway.toml"), &format!("{HTTP}{servers}"));
    server.signal(Signal::HUP);
    server.line("tokens were removed of: ada");
    server.line("tokens were added of: bob");
    let line = server.line("the configuration was read again");
    assert!(line.contains(r#"servers_added="inner""#), "{line}");
    assert_eq!((read("8fQm2x1vXk9pTz"), read("Rk7wqL3nVb5sYd")), (401, 200));
    // It is being connected to, and the call waits.
    let (status, text) = server.call("Rk7wqL3nVb5sYd", "inner.Glob", json!({ "pattern": "note" }));
    assert!(status == 200 && text.starts_with("note"), "{status} {text}");
    // Of a version with mistakes, no server and no key is taken.
    replace(&folder.path("tool-gateway.toml"), &format!("{HTTP}x = 1"));
    server.signal(Signal::HUP);
    let line = server.line("the configuration is not replaced by its new version");
    assert!(line.contains("unknown field `x` of `tools`"), "{line}");
    assert_eq!(server.call("Rk7wqL3nVb5sYd", "inner.Glob", json!({ "pattern": "note" })).0, 200);
    // What is fixed at the start is named.
    let other = HTTP.replace("'files'", "'files', 'search'");
    replace(&folder.path("tool-gateway.toml"), &other);
    server.signal(Signal::HUP);
    server
        .line("the values of `tools.families` are other ones than at the start, and count at the next one");
    let line = server.line("the configuration was read again");
    assert!(line.contains(r#"servers_removed="inner""#), "{line}");
    server.signal(Signal::TERM);
    assert_eq!(server.end(), 0);
}

#[test]
fn a_changed_file_counts_without_a_signal() {
    let folder = folder();
    folder.write("note", "hello");
    let server = Server::start(&folder);
    replace(&folder.path("tokens"), "bob:Rk7wqL3nVb5sYd\n");
    server.line("the configuration was read again");
    assert_eq!(server.call("Rk7wqL3nVb5sYd", "Read", json!({ "file_path": "note" })).0, 200);
    assert_eq!(server.call("8fQm2x1vXk9pTz", "Read", json!({ "file_path": "note" })).0, 401);
    // Without tokens, nobody is let in.
    replace(&folder.path("tokens"), "# none\n");
    server.line("`http.tokens_file` has no token, so nobody is let in by one");
    server.line("the configuration was read again");
    assert_eq!(server.call("Rk7wqL3nVb5sYd", "Read", json!({ "file_path": "note" })).0, 401);
}

#[test]
fn a_changed_policy_counts_and_its_idle_rules_are_named() {
    let folder = Folder::new(&format!("{HTTP}[policy]\nfile = 'policies'"));
    folder.write("tokens", "ada:8fQm2x1vXk9pTz\n");
    folder.write("note", "hello");
    std::fs::create_dir(folder.path("policies")).expect("a directory");
    folder.write("policies/_global.yaml", "default: allow\nrules: []");
    let server = Server::start(&folder);
    let read = || server.call("8fQm2x1vXk9pTz", "Read", json!({ "file_path": "note" })).1;
    assert!(read().contains("hello"));
    folder.write(
        "policies/ada.yaml",
        "rules:\n- {id: no-reads, when: {tools: [Read]}, then: deny}\n- {id: idle, when: {tools: [Reed]}, then: deny}",
    );
    assert!(server.line("the policy `policies` was read again").contains("rules=2"));
    server.line("the policy: ada: rule `idle`: `Reed` selects no tool; did you mean `Read`?");
    assert!(read().contains("not allowed"), "{}", read());
    let line = server.line("a call was denied");
    assert!(line.contains("rule=\"no-reads\""), "{line}");
    // Whatever else is wrong: a rule that denies may be urgent.
    std::fs::remove_file(folder.path("policies/ada.yaml")).expect("a file");
    replace(&folder.path("tool-gateway.toml"), "titel = 'x'");
    server.signal(Signal::HUP);
    server.line("unknown key `titel`");
    assert!(read().contains("hello"), "{}", read());
}

#[test]
fn a_new_version_opens_nothing() {
    let folder = Folder::new(&format!("{HTTP}[policy]\nfile = 'policy.yaml'"));
    folder.write("tokens", "ada:8fQm2x1vXk9pTz\n");
    folder.write("tokens2", "bob:Rk7wqL3nVb5sYd\n");
    folder.write("policy.yaml", "default: allow\nrules: []");
    folder.write("note", "Rk7wqL3nVb5sYd");
    let server = Server::start(&folder);
    let read = |token, file: &str| server.call(token, "Read", json!({ "file_path": file }));
    assert!(read("8fQm2x1vXk9pTz", "note").1.contains("Rk7wqL3nVb5sYd"));
    let reload = |configuration: &str| {
        replace(&folder.path("tool-gateway.toml"), configuration);
        server.signal(Signal::HUP);
        server.line("the configuration was read again");
    };
    // Other tokens count, although the policy is elsewhere now. Their file is protected, and they are masked.
    std::fs::rename(folder.path("policy.yaml"), folder.path("rules.yaml")).expect("a new name");
    let other = HTTP.replace("'tokens'", "'tokens2'");
    reload(&format!("{other}[policy]\nfile = 'rules.yaml'"));
    assert_eq!(read("8fQm2x1vXk9pTz", "note").0, 401);
    let (_, text) = read("Rk7wqL3nVb5sYd", "tokens2");
    assert!(text.contains("is protected"), "{text}");
    let (_, text) = read("Rk7wqL3nVb5sYd", "note");
    assert!(text.contains("${TOKEN}"), "{text}");
    // Without tokens, those of before stay until the next start.
    reload(&HTTP.replace("tokens_file = 'tokens'", "insecure_no_auth = true"));
    assert_eq!(read("", "note").0, 401);
    assert_eq!(read("Rk7wqL3nVb5sYd", "note").0, 200);
}

#[test]
fn a_removed_token_counts_whatever_else_is_wrong() {
    let folder = folder();
    folder.write("note", "hello");
    let server = Server::start(&folder);
    let read = |token| server.call(token, "Read", json!({ "file_path": "note" })).0;
    assert_eq!(read("8fQm2x1vXk9pTz"), 200);
    replace(&folder.path("tool-gateway.toml"), &format!("{HTTP}x = 1"));
    replace(&folder.path("tokens"), "bob:Rk7wqL3nVb5sYd\n");
    server.signal(Signal::HUP);
    server.line("tokens were removed of: ada");
    server.line("the configuration is not replaced by its new version");
    assert_eq!((read("8fQm2x1vXk9pTz"), read("Rk7wqL3nVb5sYd")), (401, 200));
    // A line with a mistake has no token, and a new one does not count yet.
    replace(&folder.path("tokens"), "bob:Rk7wqL3nVb5sYd\neve:8fQm2x1vXk9pTz\nada secret-token\n");
    server.signal(Signal::HUP);
    server.line("new tokens do not count: `http.tokens_file`: line 3 is not");
    assert_eq!((read("8fQm2x1vXk9pTz"), read("Rk7wqL3nVb5sYd")), (401, 200));
    replace(&folder.path("tokens"), "bob Rk7wqL3nVb5sYd\nzoe:another-token-1\n");
    server.signal(Signal::HUP);
    server.line("tokens were removed of: bob");
    assert_eq!(read("Rk7wqL3nVb5sYd"), 401);
    replace(&folder.path("tokens"), "bob:Rk7wqL3nVb5sYd\n");
    server.signal(Signal::HUP);
    server.line("tokens were added of: bob");
    replace(&folder.path("tokens"), "bob:Rk7wqL3nVb5sYd scopes=approve\n");
    replace(&folder.path("tool-gateway.toml"), HTTP);
    server.signal(Signal::HUP);
    server.line("tokens have other names or scopes of: bob");
}

#[test]
fn a_default_that_is_written_is_no_change() {
    let folder = folder();
    let server = Server::start(&folder);
    replace(&folder.path("tool-gateway.toml"), &format!("{HTTP}repair = true\ntimeout = 5"));
    server.signal(Signal::HUP);
    server.line("the values of `tools.timeout` are other ones than at the start");
}
