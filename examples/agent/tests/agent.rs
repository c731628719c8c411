//! The program, as a person at its terminal sees it. The web is a server of the test.

use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Answers searches and one page until the process ends. Returns the port.
fn web() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 4096];
            let length = stream.read(&mut request).unwrap();
            let is_search = request[..length].starts_with(b"GET /search?");
            let (kind, body) = if is_search {
                // Links of an engine to itself are dropped, so the page has another host.
                let url = format!("http://localhost:{port}/ships");
                let hit = json!({ "title": "Ships", "url": url, "content": "When they sail" });
                ("application/json", json!({ "results": [hit] }).to_string())
            } else {
                let page = "<title>Ships</title><h1>Ships</h1><p>They sail on Friday.";
                ("text/html", page.to_owned())
            };
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close");
            let answer = format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    port
}

/// Runs the program with scripts, and a person who types lines.
fn run(turns: &Value, options: &[&str], lines: &str) -> Output {
    let directory = TempDir::new().unwrap();
    let file = |name: &str, turns: &Value| {
        let path = directory.path().join(name);
        std::fs::write(&path, turns.to_string()).unwrap();
        path
    };
    let explorer = json!([{ "calls": [{ "name": "list_notes" }] }, { "text": "`old` is old." }]);
    let mut program = Command::new(env!("CARGO_BIN_EXE_agent"));
    program.current_dir(directory.path()).args(options);
    program.arg("--script").arg(file("script.json", turns));
    program.arg("--explorer").arg(file("explorer.json", &explorer));
    program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = program.spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

/// Asserts that the output has these strings in this order.
fn assert_in_order(output: &str, strings: &[&str]) {
    let mut rest = output;
    for string in strings {
        let Some((_, after)) = rest.split_once(string) else {
            panic!("`{string}` is missing, or too early, in:\n{output}");
        };
        rest = after;
    }
}

#[test]
fn it_reads_the_web_plans_delegates_and_schedules() {
    let port = web();
    let page = format!("http://localhost:{port}/ships");
    let job = json!({ "name": "list", "schedule": "* * * * * *", "tool": "list_notes" });
    let explore = json!({ "prompt": "Which notes are old?", "description": "Find old notes",
        "subagent_type": "Explore" });
    let turns = json!([
        call("WebSearch", json!({ "query": "ships" })),
        call("WebFetch", json!({ "url": page })),
        call("Agent", explore),
        call("EnterPlanMode", json!({})),
        call("delete_notes", json!({ "titles": ["old"] })),
        call("ExitPlanMode", json!({ "plan": "Delete the note `old`." })),
        call("delete_notes", json!({ "titles": ["old"] })),
        call("CronCreate", job),
        { "text": "The ships sail on Friday; `old` is deleted, and the notes are listed each second." },
    ]);
    let url = format!("http://127.0.0.1:{port}");
    let hosts = ["--private-host", "localhost", "--private-host", "127.0.0.1"];
    let options = [&["--searxng", &url, "--runs", "1"][..], &hosts].concat();
    // The plan, the deletion, the job.
    let process = run(&turns, &options, "y\ny\ny\n");
    let (output, asked) =
        (String::from_utf8_lossy(&process.stdout), String::from_utf8_lossy(&process.stderr));
    assert!(process.status.success(), "{output}\n{asked}");
    assert_in_order(
        &output,
        &[
            "-> WebSearch",
            "Ships",
            &page,
            "-> WebFetch",
            "They sail on Friday.",
            "-> Agent",
            "Explore-1 -> list_notes",
            "`old` is old.",
            "-> EnterPlanMode",
            "plan mode began",
            "-> delete_notes",
            "only tools that read may run",
            "-> ExitPlanMode",
            "the plan is approved",
            "-> delete_notes",
            "2 are left",
            "-> CronCreate",
            "created `cron_1`",
            "The ships sail on Friday; `old` is deleted",
            "tokens in",
        ],
    );
    // The job lists what the agent has left.
    assert!(output.contains("job cron_1 `list` succeeded"), "{output}");
    assert!(output.contains(": new older"), "{output}");
    assert_in_order(&asked, &["Delete the note `old`.", "delete_notes", "CronCreate"]);
}

#[test]
fn a_rejected_plan_changes_nothing() {
    let turns = json!([
        call("EnterPlanMode", json!({})),
        call("ExitPlanMode", json!({ "plan": "Delete all notes." })),
        call("delete_notes", json!({ "titles": ["new", "old", "older"] })),
        call("list_notes", json!({})),
        { "text": "Nothing was deleted." },
    ]);
    // The second answer would approve the deletion, if it was asked about.
    let process = run(&turns, &[], "too risky\ny\n");
    let output = String::from_utf8_lossy(&process.stdout);
    assert!(process.status.success(), "{output}");
    assert_in_order(
        &output,
        &[
            "-> ExitPlanMode",
            "too risky",
            "-> delete_notes",
            "only tools that read may run",
            "-> list_notes",
            "<- new\nold\nolder",
        ],
    );
}
