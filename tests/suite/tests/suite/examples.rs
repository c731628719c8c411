//! The examples, run by their documented commands.

use super::support::{Directory, HeldPipe};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use suite::built::built;
use suite::limit::{self, Limit};
use suite::process::interruptible;

/// An example, served to a client of 2025-11-25.
struct Client {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    _limit: Limit,
}

impl Client {
    fn terminal() -> Self {
        Self::start("terminal")
    }

    fn start(example: &str) -> Self {
        let mut child = interruptible(&built(example))
            .arg("serve")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the example starts");
        let output = BufReader::new(child.stdout.take().expect("piped")).lines();
        let _limit = Limit::of(&child);
        let mut client = Self { input: child.stdin.take(), child, output, _limit };
        client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}
        }}));
        client.receive();
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().expect("open"), "{message}").expect("the server reads");
    }

    fn receive(&mut self) -> Value {
        let line = self.output.next().expect("an answer").expect("UTF-8");
        serde_json::from_str(&line).expect("JSON")
    }

    fn begin(&mut self, id: u64, command: &str) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
            "name": "terminal.run", "arguments": { "command": command }
        }}));
    }

    fn run(&mut self, id: u64, command: &str) -> Value {
        self.begin(id, command);
        // A call that was cancelled may still be answered, if it ended before.
        let answer = std::iter::repeat_with(|| self.receive()).find(|message| message["id"] == id);
        answer.expect("an answer")["result"]["structuredContent"].clone()
    }

    /// Disconnects the client, and checks the exit of the server.
    fn leave(mut self) {
        drop(self.input.take());
        assert!(self.child.wait().expect("it ends").success());
    }
}

fn run(example: &str, words: &[&str]) -> Output {
    limit::output(Command::new(built(example)).args(words)).expect("the example starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_shell_keeps_its_directory_and_its_variables() {
    let mut terminal = Client::terminal();
    terminal.run(1, "cd / && HERE=there");
    let ran = terminal.run(2, "pwd; echo $HERE; echo oops >&2; false");
    assert_eq!(ran, json!({ "output": "/\nthere\noops", "exit_code": 1 }));
    terminal.leave();
}

#[test]
fn a_cancelled_command_is_stopped_and_the_shell_continues() {
    let mut terminal = Client::terminal();
    let shell = terminal.run(1, "STAYS=yes; echo $$")["output"].clone();
    // The FIFO's reader is there when the writer returns: the command runs.
    let fifo = std::env::temp_dir().join(format!("terminal-{}", std::process::id()));
    let status = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo runs");
    assert!(status.success());
    terminal.begin(2, &format!("cat {}; sleep 1000", fifo.display()));
    std::fs::write(&fifo, "x").expect("the command reads");
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}});
    terminal.send(&cancel);
    let ran = terminal.run(3, "echo $$ $STAYS");
    assert_eq!(ran["output"], format!("{} yes", shell.as_str().expect("a number")));
    std::fs::remove_file(fifo).expect("it is there");
    terminal.leave();
}

#[test]
fn a_closed_server_leaves_no_shell() {
    let mut terminal = Client::terminal();
    let directory = Directory::new();
    let pipe = directory.file("pipe");
    let held = HeldPipe::new(&pipe);
    assert_eq!(terminal.run(1, &format!("exec 9> {}", pipe.display()))["exit_code"], 0);
    terminal.leave();
    held.ended();
}

#[test]
fn a_configuration_file_selects_the_tools() {
    let file = std::env::temp_dir().join(format!("tools-{}.toml", std::process::id()));
    let write = |text: &str| std::fs::write(&file, text).expect("the file is written");
    let path = file.to_str().expect("UTF-8").to_owned();

    write(r#"tools = [{ name = "terminal", params = { shell = "/no/such/shell" } }]"#);
    let report = run("terminal", &["report", "--tools", &path]);
    assert!(
        text(&report.stdout)
            .contains("terminal.run    custom  unusable: there is no /no/such/shell"),
        "{}",
        text(&report.stdout)
    );

    write(r#"tools = [{ name = "terminal", params = { shel = "/bin/sh" } }, "terminall"]"#);
    let rejected = run("terminal", &["list", "--tools", &path]);
    let printed = text(&rejected.stderr);
    assert_eq!(rejected.status.code(), Some(3), "{printed}");
    assert!(
        printed.contains("did you mean `shell`?") && printed.contains("did you mean `terminal`"),
        "{printed}"
    );

    write("tool = []");
    let printed = text(&run("terminal", &["list", "--tools", &path]).stderr);
    assert!(printed.contains(&path) && printed.contains("unknown field `tool`"), "{printed}");
    std::fs::remove_file(file).expect("it is there");
}

#[test]
fn the_notes_example_serves_tools_prompts_and_resources() {
    let mut notes = Client::start("notes");
    let mut ask = |id: u64, method: &str, params: Value| {
        notes.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        notes.receive()["result"].clone()
    };
    let remembered = ask(
        1,
        "tools/call",
        json!({"name": "remember", "arguments": {"id": "map", "text": "Buy a map."}}),
    );
    assert_eq!(remembered["content"][0]["text"], "kept as notes://map");
    let read = ask(2, "resources/read", json!({"uri": "notes://map"}));
    assert_eq!(read["contents"][0]["text"], "Buy a map.");
    let index = ask(3, "resources/read", json!({"uri": "notes://"}));
    assert_eq!(index["contents"][0]["text"], r#"["map","welcome"]"#);
    let template = json!({"type": "ref/resource", "uri": "notes://{id}"});
    let found = ask(
        4,
        "completion/complete",
        json!({"ref": template, "argument": {"name": "id", "value": "m"}}),
    );
    assert_eq!(found["completion"]["values"], json!(["map"]));
    let prompt = json!({"name": "rewrite", "arguments": {"id": "map", "style": "formal"}});
    let messages = ask(5, "prompts/get", prompt)["messages"].clone();
    assert_eq!(messages[0]["content"]["text"], "Rewrite this note in a formal style.");
    assert_eq!(messages[1]["content"]["resource"]["uri"], "notes://map");
    ask(6, "resources/subscribe", json!({"uri": "notes://map"}));
    notes.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "forget", "arguments": { "id": "map" }
    }}));
    let messages = [notes.receive(), notes.receive()];
    assert!(
        messages.iter().any(|message| message["method"] == "notifications/resources/updated"),
        "{messages:?}"
    );
    notes.leave();
}

#[test]
fn the_pool_example_prints_its_results() {
    let shown = run("pool", &[]);
    let printed = text(&shown.stdout);
    assert!(shown.status.success(), "{printed}{}", text(&shown.stderr));
    for line in [
        "  add: 42",
        "  greet: Hello, Ada!",
        "  notebook.read: Buy a map.",
        "did you mean `text`?",
        "! add: `add` is not available now; available are `notebook.read`",
        "notebook.burn   custom  filtered: deny `*.burn`",
        "the notebook \"Travel\" is closed with 2 pages",
    ] {
        assert!(printed.contains(line), "{line:?} is not in\n{printed}");
    }
}

/// Runs the agent with an answer at its terminal.
fn agent(arguments: &[&str], answer: &str) -> Output {
    let mut child = Command::new(built("agent"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the example starts");
    let _limit = Limit::of(&child);
    writeln!(child.stdin.take().expect("piped"), "{answer}").expect("it reads");
    child.wait_with_output().expect("it ends")
}

#[test]
fn an_agent_delegates_plans_and_asks_before_it_deletes() {
    let output = agent(&[], "y\ny");
    assert!(output.status.success(), "{output:?}");
    let shown = String::from_utf8_lossy(&output.stdout);
    let calls = [
        "-> Agent ",
        "   Explore-1 -> list_notes {}",
        "<- `old` and `older` are old.",
        "-> EnterPlanMode {}",
        "-> ExitPlanMode ",
        "<- the plan is approved, and plan mode has ended",
        "I look at the list first.",
        "-> list_notes {}",
        "<- new",
        "-> delete_notes {\"titles\":[\"old\",\"older\"]}",
        "   1 deleted `old`",
        "   2 deleted `older`",
        "<- 1 are left",
        "Done.",
    ];
    let mut rest = &*shown;
    for line in calls {
        let (_, after) = rest.split_once(line).unwrap_or_else(|| panic!("{line}: {shown}"));
        rest = after;
    }
    let prompt = String::from_utf8_lossy(&output.stderr);
    let plan = ")\n  Delete the notes `old` and `older`.";
    assert!(prompt.contains("Carry out this plan? (plan ") && prompt.contains(plan));
    assert!(prompt.contains("May this run?"), "{prompt}");

    let output = agent(&[], "y\nkeep them");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        shown.contains("was not approved: the person at the terminal said: keep them"),
        "{shown}"
    );

    let output = agent(&[], "make another plan");
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(shown.contains("the person at the terminal said: make another plan"), "{shown}");
    assert!(shown.contains("only tools that read may run while a plan is made"), "{shown}");
    assert!(!shown.contains("are left"), "{shown}");
}

#[test]
fn an_agent_lists_its_mcp_servers() {
    let folder = std::env::temp_dir().join(format!("agent-example-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("mcp.json");
    let config =
        json!({ "mcpServers": { "notes": { "command": built("notes"), "args": ["serve"] } } });
    std::fs::write(&file, config.to_string()).expect("a file");
    let output = agent(&["--mcp-config", file.to_str().expect("UTF-8")], "n");
    std::fs::remove_dir_all(&folder).expect("the folder");
    assert!(output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("notes: ready\n"), "{output:?}");
}

#[test]
fn an_agent_without_models_names_the_missing_feature() {
    let output = agent(&["--model", "claude-sonnet-4-6"], "");
    assert!(!output.status.success());
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(error, "error: this build has no models; add `--features genai`\n");
}
