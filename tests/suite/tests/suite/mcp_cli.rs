//! The command line of a program with external servers, as its operator uses it.

use super::server::Server;
#[cfg(target_os = "linux")]
use super::support::{Directory, HeldPipe};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, LazyLock};
use suite::built::built;
use suite::limit::{self, Limit};
use tool_runtime::BoxFuture;
use tool_runtime::mcp::{McpManager, McpServerConfig};
use tool_runtime::peer::{Peer, PeerCapability, PeerError, PeerRequest};
use tool_runtime::prelude::*;

/// A unique configuration file.
fn file(test: &str, servers: Value) -> PathBuf {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("mcp-cli-{test}.json"));
    let text = json!({ "mcpServers": servers }).to_string();
    std::fs::write(&file, text).expect("room for a file");
    file
}

fn faulty(script: &Value) -> Value {
    json!({ "command": env!("CARGO_BIN_EXE_faulty_server"), "args": [script.to_string()] })
}

/// Two tools, `echo` and `get_current_time`.
fn working() -> Value {
    faulty(&json!({ "tools": ["echo", "get_current_time"] }))
}

/// A server that never answers. An overloaded machine may not even start it in time.
fn hanging() -> Value {
    let mut entry = faulty(&json!({ "slow": 600_000 }));
    entry["connect_timeout"] = json!("1s");
    entry
}

fn gateway(file: &Path, words: &[&str]) -> Output {
    static GATEWAY: LazyLock<PathBuf> = LazyLock::new(|| built("gateway"));
    let mut command = Command::new(&*GATEWAY);
    command.arg("--mcp-config").arg(file).args(words).stdin(Stdio::null()).env_remove("RUST_LOG");
    limit::output(&mut command).expect("the gateway starts")
}

/// The log of a server, up to the line that contains a string.
fn serving_until(file: &Path, words: &[&str], text: &str) -> String {
    logged_until("", file, words, text)
}

/// The same with the level of log lines, or the default one.
fn logged_until(level: &str, file: &Path, words: &[&str], text: &str) -> String {
    let mut command = Command::new(built("gateway"));
    command.arg("--mcp-config").arg(file).args(words).env_remove("RUST_LOG");
    if !level.is_empty() {
        command.env("RUST_LOG", level);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the gateway starts");
    let _limit = Limit::of(&child);
    let log = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut printed = String::new();
    for line in log.lines() {
        let line = line.expect("UTF-8");
        printed.push_str(&line);
        if line.contains(text) {
            drop(child.stdin.take());
        }
    }
    child.wait().expect("it ends");
    printed
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

fn json_of(output: &Output) -> Value {
    serde_json::from_str(stdout(output)).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

#[test]
fn commands_report_disconnected_servers_and_continue() {
    let missing = json!({ "command": "no-such-program-here" });
    let file = file("missing", json!({ "working": working(), "h": hanging(), "no": missing }));
    for words in [&["list"] as &[_], &["call", "working.echo"], &["schema", "working.echo"]] {
        let output = gateway(&file, words);
        let printed = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{words:?}: {printed}");
        assert!(printed.contains("warning: the MCP server `h` is not connected: it "));
        assert!(
            printed.contains("warning: the MCP server `no` is not connected: there is no program")
        );
        assert_eq!(printed.lines().count(), 2, "{words:?}: {printed}");
    }
    let call = gateway(&file, &["call", "no.echo"]);
    let error = "error: the MCP server `no` is not connected: there is no program";
    assert!(stderr(&call).contains(error), "{call:?}");
    assert_eq!(call.status.code(), Some(1), "{call:?}");
    for words in [&["status"] as &[_], &["doctor"], &["call", "h.echo"], &["report"]] {
        let output = gateway(&file, words);
        let printed = format!("{}{}", stdout(&output), stderr(&output));
        assert!(printed.contains(" within "), "{words:?}: {printed}");
        assert!(
            !printed.contains("retrying") && !printed.contains("connecting"),
            "{words:?}: {printed}"
        );
    }
}

#[test]
fn a_gateway_answers_before_a_slow_server_and_lists_wait_for_it() {
    // Longer than the default time limit of lists.
    let mut slow = faulty(&json!({ "slow": 8_000, "tools": ["echo"] }));
    slow["connect_timeout"] = json!("1h");
    let mut never = faulty(&json!({ "slow": 3_600_000 }));
    never["connect_timeout"] = json!("1h");
    let never = file("never", json!({ "never": never }));
    let program = built("gateway");
    let start = |file: &Path, words: &[&str]| {
        let file = file.to_str().expect("UTF-8");
        let words = [&["--mcp-config", file], words].concat();
        Server::with(program.to_str().expect("UTF-8"), &words).greeted().0
    };
    start(&never, &["serve"]).leave();
    let mut gateway =
        start(&file("slow", json!({ "remote": slow })), &["--mcp-wait", "600", "serve"]);
    gateway.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
    let mut answers = std::iter::repeat_with(|| gateway.receive());
    let listed = answers.find(|message| message["id"] == 1).expect("an answer");
    assert!(listed.to_string().contains("remote.echo"), "{listed}");
    gateway.leave();
}

#[test]
fn unusable_tools_are_named_in_every_report() {
    let remote = faulty(&json!({ "tools": ["echo", "remote-tool", "patterned-tool"] }));
    let file = file("unusable", json!({ "s": remote }));
    let left_out = "its tool `remote-tool` is left out";
    let pattern = "cannot be compiled here and is not enforced";
    for words in [&["status"] as &[_], &["doctor"], &["list"]] {
        let output = gateway(&file, words);
        let printed = format!("{}{}", stdout(&output), stderr(&output));
        assert!(printed.contains(left_out) && printed.contains(pattern), "{words:?}: {printed}");
    }
    let report = gateway(&file, &["report"]);
    assert!(stdout(&report).contains("remote-tool"), "{report:?}");
    let log = serving_until(&file, &["serve"], left_out);
    assert!(log.contains(left_out), "{log}");
    let log = serving_until(&file, &["serve"], pattern);
    assert!(log.contains(pattern), "{log}");
    // Rules that are not enforced here are left to the server.
    let called = gateway(&file, &["call", "s.patterned-tool", "a=x"]);
    assert!(stderr(&called).contains("Unknown tool: patterned-tool"), "{called:?}");
}

/// rmcp logs what a server says about itself.
#[test]
fn log_lines_of_libraries_show_no_secret() {
    const SECRET: &str = "tok/5fQ9zL+x";
    let mut server = faulty(&json!({ "tools": ["echo"], "title": format!("of {SECRET}") }));
    server["env"] = json!({ "PLACE": SECRET });
    server["secrets"] = json!(["PLACE"]);
    let file = file("log", json!({ "s": server }));
    for words in ["list", "status", "doctor"] {
        let mut command = Command::new(built("gateway"));
        command.arg("--mcp-config").arg(&file).arg(words).stdin(Stdio::null());
        let output = limit::output(command.env("RUST_LOG", "debug")).expect("the gateway starts");
        let log = stderr(&output);
        assert!(log.contains("of ${PLACE}") && !log.contains(SECRET), "{words}: {log}");
    }
    // A server ends with its input, perhaps before it has connected.
    let log = logged_until("debug", &file, &["serve"], "of ${PLACE}");
    assert!(log.contains("of ${PLACE}") && !log.contains(SECRET), "{log}");
}

#[test]
fn a_rejected_connection_is_logged_once_and_is_not_an_error() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("its address"));
    drop(listener);
    let file = file("unreachable", json!({ "remote": { "type": "http", "url": url } }));
    let listed = gateway(&file, &["list"]);
    assert_eq!(stderr(&listed).lines().count(), 1, "{}", stderr(&listed));
    let served = gateway(&file, &["serve"]);
    let log = stderr(&served);
    assert!(!log.contains("ERROR") && !log.contains("rmcp"), "{log}");
}

#[test]
fn a_missing_required_server_ends_commands_that_need_it() {
    let mut required = hanging();
    required["required"] = json!(true);
    let file = file("required", json!({ "working": working(), "h": required }));
    for words in [
        &["list"] as &[_],
        &["call", "working.echo"],
        &["schema", "working.echo"],
        &["report"],
        &["serve"],
    ] {
        let output = gateway(&file, words);
        assert_eq!(output.status.code(), Some(3), "{words:?}: {output:?}");
        let expected = "error: MCP servers that are required could not be connected to:\n- h: it ";
        assert!(stderr(&output).contains(expected), "{words:?}: {output:?}");
        assert_eq!(stdout(&output), "", "{words:?}");
    }
    for words in ["status", "doctor"] {
        let output = gateway(&file, &[words]);
        assert_eq!(output.status.code(), Some(1), "{words}: {output:?}");
        assert!(stdout(&output).contains("working"), "{words}: {output:?}");
    }
}

#[test]
fn a_command_that_a_client_of_the_desktop_does_not_find_is_named() {
    use std::os::unix::fs::symlink;
    let home = tempfile::TempDir::new().expect("a folder");
    let (folder, program) = (home.path().join("node/bin"), built("gateway"));
    let config = home.path().join(".config/Claude");
    for folder in [&folder, &config] {
        std::fs::create_dir_all(folder).expect("a folder");
    }
    symlink(&program, folder.join("own-npx")).expect("a link");
    let entry = json!({ "mcpServers": { "gateway": { "command": program, "args": ["serve"] } } });
    std::fs::write(config.join("claude_desktop_config.json"), entry.to_string()).expect("a file");
    let file = file("desktop", json!({ "far": { "command": "own-npx", "args": ["serve"] } }));
    let mut command = Command::new(&program);
    command.arg("--mcp-config").arg(&file).arg("doctor").stdin(Stdio::null());
    command.env("HOME", home.path()).env("PATH", &folder).env_remove("XDG_CONFIG_HOME");
    let output = limit::output(&mut command).expect("it starts");
    let found = stdout(&output);
    let expected =
        format!("`own-npx` is in {}, which is not in the PATH of Claude Desktop", folder.display());
    assert!(found.contains(&expected), "{found}");
}

#[test]
fn the_doctor_checks_all_entries_despite_mistakes() {
    let servers = json!({
        "unset": { "command": "x", "env": { "A": "${input:key}" } },
        "file": { "command": "x", "envFile": "no-such-file" },
        "working": working(),
    });
    let file = file("mistakes", servers);
    let output = gateway(&file, &["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let found = json_of(&output);
    let last_finding = |name: &str| {
        let mut subjects = found.as_array().expect("an array").iter();
        let server = subjects.find(|subject| subject["server"] == name).expect("the server");
        server["findings"].as_array().expect("an array").last().expect("a finding").clone()
    };
    let text = |finding: &Value| finding["text"].as_str().expect("a string").to_owned();
    let no_file = last_finding("file");
    assert!(text(&no_file).contains("`mcpServers.file.envFile`: the file cannot be read"));
    let unset = last_finding("unset");
    assert_eq!(unset["level"], "error");
    assert!(text(&unset).contains("`${input:key}` has no value"), "{found}");
    assert_eq!(
        unset["help"],
        "only editors prompt for this value; give it by `--var input:key=..`"
    );
    let working = last_finding("working");
    assert_eq!(working["level"], "ok");
    assert!(text(&working).ends_with("lists 2 tools"), "{found}");
    // A mistake in one entry does not affect the others.
    for (words, code) in [(&["list"] as &[_], 0), (&["call", "working.echo"], 0), (&["status"], 1)]
    {
        let output = gateway(&file, words);
        assert_eq!(output.status.code(), Some(code), "{words:?}: {output:?}");
        let printed = format!("{}{}", stdout(&output), stderr(&output));
        for what in
            ["`mcpServers.file.envFile`: the file cannot be read", "`${input:key}` has no value"]
        {
            assert!(printed.contains(what), "{words:?}: {printed}");
        }
    }
    let call = gateway(&file, &["call", "unset.echo"]);
    assert!(stderr(&call).contains("error: the MCP server `unset` is not connected"), "{call:?}");
    let status = json_of(&gateway(&file, &["status", "--json"]));
    let states: Vec<&Value> = (0..3).map(|index| &status[index]["state"]).collect();
    assert_eq!(states, ["failed", "failed", "ready"], "{status}");
}

#[test]
fn a_tool_that_is_left_out_is_reported_once_and_not_counted() {
    let script = json!({ "tools": ["echo", "echo-noschema"] });
    let file = file("left-out", json!({ "s": faulty(&script) }));
    let doctor = gateway(&file, &["doctor"]);
    let printed = stdout(&doctor);
    assert_eq!(printed.matches("echo-noschema").count(), 1, "{printed}");
    assert!(printed.contains("its tool `echo-noschema` is left out: "), "{printed}");
    let status = json_of(&gateway(&file, &["status", "--json"]));
    assert_eq!(status[0]["tools"], 1, "{status}");
}

#[test]
fn an_unreadable_file_ends_every_command() {
    let file = file("broken", json!({}));
    std::fs::write(&file, "{").expect("room for a file");
    for words in ["list", "status", "serve"] {
        assert_eq!(gateway(&file, &[words]).status.code(), Some(3), "{words}");
    }
}

#[test]
fn servers_are_read_from_yaml() {
    let script = json!({ "tools": ["echo"] }).to_string();
    let file = file("yaml", json!({})).with_extension("yaml");
    let program = env!("CARGO_BIN_EXE_faulty_server");
    let text = format!("mcpServers:\n  working:\n    command: {program}\n    args: ['{script}']\n");
    std::fs::write(&file, text).expect("room for a file");
    let list = gateway(&file, &["list"]);
    assert!(stdout(&list).contains("working.echo"), "{list:?}");
}

#[test]
fn conflicting_servers_do_not_hide_other_problems() {
    let (mut one, mut two) = (working(), working());
    one["prefix"] = json!("same");
    two["prefix"] = json!("same");
    let file = file("same", json!({ "one": one, "two": two, "working": working() }));
    let output = gateway(&file, &["doctor"]);
    let printed = stdout(&output);
    assert!(printed.contains("would both be `same.…`"), "{printed}");
    assert_eq!(printed.matches("lists 2 tools").count(), 2, "{printed}");
}

#[test]
fn variables_are_given_on_the_command_line_and_not_printed() {
    let entry = json!({
        "command": env!("CARGO_BIN_EXE_faulty_server"),
        "args": ["${input:script}"],
        "cwd": "${workspaceFolder}",
    });
    let file = file("variables", json!({ "s": entry }));
    let script = ["--var", r#"input:script={"tools":["hunter2"]}"#];
    let list = gateway(&file, &[script[0], script[1], "list"]);
    assert!(stdout(&list).contains("s.hunter2"), "{list:?}");
    let here = ["--var", "workspaceFolder=/no/such/folder"];
    for words in [
        &["doctor"] as &[_],
        &["status"],
        &["--var", "hunter2", "list"],
        &["--var", "=hunter2", "list"],
    ] {
        let words: Vec<&str> =
            ["--var", "input:script=hunter2"].iter().chain(&here).chain(words).copied().collect();
        let output = gateway(&file, &words);
        let printed = format!("{}{}", stdout(&output), stderr(&output));
        assert!(!printed.contains("hunter2"), "{words:?}: {printed}");
        assert_ne!(output.status.code(), Some(0), "{words:?}: {printed}");
    }
    let output = gateway(&file, &["--var", "hunter2", "list"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(stderr(&output).contains("'--var <NAME=VALUE>'"), "{output:?}");
    let output = gateway(&file, &["list"]);
    assert!(stderr(&output).contains("give it by `--var input:script=..`"), "{output:?}");
}

#[test]
fn patterns_that_match_nothing_are_reported() {
    let mut entry = working();
    entry["include"] = json!(["get_curent_time", "echo"]);
    let config = file("patterns", json!({ "working": entry }));
    let list = gateway(&config, &["--allow", "tme.*", "list"]);
    let message = "`include`: `get_curent_time` is not any of the 2 tools that it lists; \
                did you mean `get_current_time`?";
    for (output, code) in
        [(&list, 2), (&gateway(&config, &["status"]), 0), (&gateway(&config, &["doctor"]), 0)]
    {
        let printed = format!("{}{}", stdout(output), stderr(output));
        assert!(printed.contains(message), "{printed}");
        assert_eq!(output.status.code(), Some(code), "{printed}");
    }
    let call = gateway(&config, &["--allow", "tme.*", "call", "origin"]);
    for output in [&list, &call] {
        let count = stderr(output).matches("the pattern `tme.*` picks no tool").count();
        assert_eq!(count, 1, "{output:?}");
    }
    let received = serving_until(&config, &["--allow", "tme.*", "serve"], "picks no tool");
    assert_eq!(received.matches("the pattern `tme.*` picks no tool").count(), 1, "{received}");
    let some = file("some", json!({ "working": working(), "h": hanging() }));
    let list = gateway(&some, &["--allow", "h.*", "list"]);
    // Its server may still connect.
    assert_eq!(list.status.code(), Some(0), "{list:?}");
    let warning =
        "warning: the pattern `h.*` picks no tool of those that are there; servers are missing";
    assert_eq!(stderr(&list).matches(warning).count(), 1, "{list:?}");
    let bad = gateway(&config, &["--allow", "[", "list"]);
    assert_eq!(bad.status.code(), Some(2), "{bad:?}");
    assert!(stderr(&bad).contains("'--allow <PATTERN>': `[` at character 1"), "{bad:?}");
}

#[test]
fn status_has_a_json_form() {
    let off = json!({ "command": "x", "disabled": true });
    let file = file("scripts", json!({ "working": working(), "h": hanging(), "off": off }));
    let output = gateway(&file, &["status", "--json"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let status = json_of(&output);
    let states: Vec<&Value> = (0..3).map(|index| &status[index]["state"]).collect();
    assert_eq!(states, ["failed", "disabled", "ready"], "{status}");
    assert!(status[0]["reason"].as_str().expect("a string").contains(" within "));
    assert_eq!(status[1], json!({ "name": "off", "state": "disabled", "tools": 0 }));
    assert_eq!(status[2]["tools"], 2);
    assert_eq!(status[2]["server"]["name"], "faulty");
    assert!(status[2]["protocol"].is_string(), "{status}");
}

#[test]
fn a_configuration_without_servers_is_a_warning() {
    let file = file("none", json!({}));
    let status = gateway(&file, &["status"]);
    assert!(stderr(&status).contains("warning: there are no MCP servers"), "{status:?}");
    let doctor = gateway(&file, &["doctor"]);
    assert!(stdout(&doctor).contains("warning  the configuration lists no servers"), "{doctor:?}");
    for output in [status, doctor] {
        assert_eq!(output.status.code(), Some(0), "{output:?}");
    }
}

#[test]
fn help_documents_exit_codes_and_json() {
    let file = file("help", json!({}));
    for (command, words) in [("status", "`needs_auth`"), ("doctor", "`level`")] {
        let help = gateway(&file, &["help", command]);
        for words in ["Exit codes: 0 ", "--json", words, "--var <NAME=VALUE>"] {
            assert!(stdout(&help).contains(words), "{help:?}");
        }
    }
}

/// Confirms every question.
struct AcceptAll;

impl Peer for AcceptAll {
    fn can(&self, capability: PeerCapability) -> bool {
        capability == PeerCapability::Elicitation
    }

    fn request(&self, _: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        Box::pin(async { Ok(json!({ "action": "accept", "content": { "ok": true } })) })
    }
}

#[tokio::test]
async fn requests_of_servers_are_passed_on_if_configured() {
    let asking = faulty(&json!({ "version": "2026-07-28", "tools": ["ask"] }));
    let file = file("asking", json!({ "remote": asking }));
    let file = file.to_str().expect("UTF-8");
    for (words, answer) in [
        (&["--ask", "serve"] as &[_], r#"{"action":"accept","content":{"ok":true}}"#),
        (&["serve"], r#"{"action":"decline"}"#),
    ] {
        let program = tokio::task::spawn_blocking(|| built("gateway")).await.expect("it builds");
        let gateway = McpServerConfig::stdio(program.to_str().expect("UTF-8"));
        let gateway = gateway.args(["--mcp-config", file]).args(words.iter().copied());
        let pool = ToolPool::builder().allow_empty().build().expect("a pool");
        let builder = McpManager::builder().server("gateway", gateway).peer(Arc::new(AcceptAll));
        let manager = builder.connect(&pool).await.expect("it starts");
        let result = pool.call(ToolCall::new("gateway.remote.ask", "{}")).await;
        assert_eq!(result.observation().to_text(), answer, "{result:?}");
        manager.close().await;
    }
}

/// The first server exits on request, the second only when it is killed.
#[cfg(target_os = "linux")]
#[test]
fn processes_that_left_the_session_end_with_the_program() {
    let directory = Directory::new();
    let (starts, pipe) = (directory.write("starts", ""), directory.file("pipe"));
    let held = HeldPipe::new(&pipe);
    let background = |begin: &str| {
        format!(
            "setsid sh -c '{begin} echo started >> \"$0\"; while :; do sleep 1; done' \"$0\" >&- 2>&- <&- &"
        )
    };
    let script = json!({ "tools": ["echo"] });
    let command = format!(
        "exec 9> \"$1\"; shift; {} {} until [ \"$(wc -l < \"$0\")\" -eq 2 ]; do sleep 0.01; done; exec \"$@\" 9>&-",
        background(""),
        background("trap \"\" TERM;"),
    );
    let entry = json!({ "command": "sh", "args": [
        "-c", command, starts, pipe, env!("CARGO_BIN_EXE_faulty_server"), script.to_string(),
    ] });
    let file = file("background", json!({ "s": entry }));
    let output = gateway(&file, &["call", "s.echo"]);
    assert!(output.status.success(), "{output:?}");
    let starts = std::fs::read_to_string(starts).expect("the file is there");
    assert_eq!(starts.lines().count(), 2);
    held.ended();
}
