//! The names that the program offers, what they need, and the tools that need the program's own options.

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const LIMIT: Duration = Duration::from_secs(120);
const KEY: &str = "a key of at least twenty-four bytes";
const FAMILIES: &str =
    "--families=files,search,shell,code,web,browser,servers,people,tasks,schedule,skills";

const CORE: [&str; 10] = [
    "Read",
    "Write",
    "Edit",
    "Glob",
    "Grep",
    "Bash",
    "AskUser",
    "ToolSearch",
    "WebFetch",
    "WebSearch",
];
const ADVANCED: [&str; 12] = [
    "Agent",
    "Skill",
    "SendMessage",
    "TaskCreate",
    "TaskGet",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "TaskUpdate",
    "TeamCreate",
    "TeamDelete",
    "NotebookEdit",
];
const SPECIALIST: [&str; 13] = [
    "EnterWorktree",
    "ExitWorktree",
    "EnterPlanMode",
    "ExitPlanMode",
    "CronCreate",
    "CronDelete",
    "CronList",
    "TodoWrite",
    "LSP",
    "Config",
    "RemoteTrigger",
    "ListMcpResources",
    "ReadMcpResource",
];
/// Other names of the sources, and tools that those above need besides them.
const FURTHER: [&str; 13] = [
    "Task",
    "pause_for_human",
    "finish",
    "think",
    "apply_patch",
    "MultiEdit",
    "UndoEdit",
    "ListDirectory",
    "Move",
    "Delete",
    "BashOutput",
    "KillBash",
    "ReadMessages",
];
/// The browser, by the names of OpenHands.
const BROWSER: [&str; 12] = [
    "browser_navigate",
    "browser_click",
    "browser_type",
    "browser_get_state",
    "browser_get_content",
    "browser_scroll",
    "browser_go_back",
    "browser_list_tabs",
    "browser_switch_tab",
    "browser_close_tab",
    "browser_get_storage",
    "browser_set_storage",
];
/// The other names of OpenHands.
const OPEN_HANDS: [&str; 10] = [
    "terminal",
    "file_editor",
    "glob",
    "grep",
    "task_tracker",
    "finish",
    "think",
    "apply_patch",
    "task",
    "delegate",
];

/// A directory with a file, and next to it all that tools need: a language server, a skill, targets, a script.
struct Setup {
    directory: TempDir,
}

impl Setup {
    fn new() -> Self {
        let directory = TempDir::new().unwrap();
        let setup = Self { directory };
        let (project, skill) = (setup.path("project"), setup.path("skills/greet"));
        fs::create_dir_all(&project).unwrap();
        fs::create_dir_all(&skill).unwrap();
        fs::create_dir_all(setup.path("bin")).unwrap();
        fs::write(project.join("plan.txt"), "Ship on Friday.\n").unwrap();
        let text = "---\nname: greet\ndescription: Greet a person.\n---\nGreet $ARGUMENTS.\n";
        fs::write(skill.join("SKILL.md"), text).unwrap();
        setup.script(&json!([
            { "calls": [{ "name": "Read", "arguments": { "file_path": "plan.txt" } }] },
            { "text": "They ship on Friday." },
        ]));
        setup.targets("http://127.0.0.1:9/");
        setup.program("git");
        setup.program("rust-analyzer");
        setup
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.directory.path().join(name)
    }

    fn script(&self, turns: &Value) {
        fs::write(self.path("script.json"), turns.to_string()).unwrap();
    }

    fn targets(&self, url: &str) {
        let targets = json!({ "builds": { "url": url, "key_variable": "BUILDS_KEY" } });
        fs::write(self.path("targets.json"), targets.to_string()).unwrap();
    }

    /// A program in the search path, which is not started here.
    fn program(&self, name: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let file = self.path("bin").join(name);
        fs::write(&file, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn required(&self) -> Vec<String> {
        let option = |name: &str, path: &Path| format!("--{name}={}", path.display());
        vec![
            FAMILIES.to_owned(),
            option("root", &self.path("project")),
            option("data", &self.path("data")),
            "--chromium=/bin/true".to_owned(),
        ]
    }

    /// Options for every tool.
    fn options(&self) -> Vec<String> {
        let mut options = self.required();
        for (name, file) in
            [("skills", "skills"), ("targets", "targets.json"), ("model-script", "script.json")]
        {
            options.push(format!("--{name}={}", self.path(file).display()));
        }
        options.push("--searxng=http://127.0.0.1:9/".to_owned());
        options
    }

    /// The output of a command.
    fn run(&self, command: &[&str], options: &[String]) -> String {
        let mut program = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        program.args(command).args(options);
        program.env_clear().env("PATH", self.path("bin")).env("BUILDS_KEY", KEY);
        let output = program.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// The line of a tool in the report.
    fn needs(&self, tool: &str, options: &[String]) -> String {
        let report = self.run(&["report"], options);
        let line = report.lines().find(|line| line.split_whitespace().next() == Some(tool));
        line.unwrap_or_else(|| panic!("`{tool}` is not in {report}")).to_owned()
    }

    async fn connect(&self) -> RunningService<RoleClient, ()> {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command.arg("serve").args(self.options()).env("BUILDS_KEY", KEY);
        ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap()
    }
}

fn names(json: &str) -> BTreeSet<String> {
    let definitions: Vec<Value> = serde_json::from_str(json).unwrap();
    definitions.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn sorted(lists: &[&[&str]]) -> BTreeSet<String> {
    lists.iter().flat_map(|list| list.iter()).map(|name| (*name).to_owned()).collect()
}

async fn call(
    client: &RunningService<RoleClient, ()>,
    tool: &'static str,
    arguments: Value,
) -> (String, bool) {
    let arguments = arguments.as_object().unwrap().clone();
    let request = CallToolRequestParams::new(tool).with_arguments(arguments);
    let result = tokio::time::timeout(LIMIT, client.call_tool(request)).await;
    let result = result.expect("the call hangs").unwrap();
    let text = result.content.iter().filter_map(|block| block.as_text());
    (text.map(|text| text.text.clone()).collect(), result.is_error == Some(true))
}

#[test]
fn every_name_of_the_sources_is_listed_with_all_families() {
    let setup = Setup::new();
    let listed = names(&setup.run(&["list", "--json"], &setup.options()));
    let seeds = sorted(&[&CORE, &ADVANCED, &SPECIALIST]);
    assert_eq!(seeds.len(), 35);
    let missing: Vec<_> = seeds.difference(&listed).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert_eq!(listed, sorted(&[&CORE, &ADVANCED, &SPECIALIST, &FURTHER, &BROWSER]));

    let mut options = setup.options();
    options.push("--open-hands".to_owned());
    let listed = names(&setup.run(&["list", "--json"], &options));
    let code = ["EnterWorktree", "ExitWorktree", "LSP", "NotebookEdit"];
    assert_eq!(listed, sorted(&[&OPEN_HANDS, &BROWSER, &code, &["Skill"]]));
}

#[test]
fn a_language_server_is_added_by_an_option() {
    let setup = Setup::new();
    setup.program("solargraph");
    let mut options = setup.required();
    options.push("--language-server=rb=solargraph stdio".to_owned());
    let line = setup.needs("LSP", &options);
    assert!(line.contains("bin/solargraph") && line.contains("bin/rust-analyzer"), "{line}");
}

#[test]
fn without_a_language_server_the_text_is_searched() {
    let setup = Setup::new();
    fs::remove_file(setup.path("bin/rust-analyzer")).unwrap();
    fs::write(setup.path("project/main.rs"), "fn main() {}\n").unwrap();
    let question =
        ["call", "LSP", "operation=goToDefinition", "file_path=main.rs", "line=1", "character=4"];
    let answer = setup.run(&question, &setup.required());
    assert!(answer.contains("main.rs:1:4: [function main] fn main() {}"), "{answer}");
    assert!(answer.contains("`rust-analyzer` is missing; rustup component add"), "{answer}");
}

#[test]
fn the_report_says_what_each_tool_needs_and_whether_it_is_there() {
    let setup = Setup::new();
    let missing = [
        ("Agent", "unusable: `--model` is missing"),
        ("Task", "unusable: `--model` is missing"),
        ("RemoteTrigger", "unusable: `--targets` is missing: give a file"),
        (
            "WebSearch",
            "unusable: `--searxng` is missing: give the address of an instance, or set BRAVE_API_KEY",
        ),
        ("Skill", "unusable: `--skills` is missing: give a folder"),
        ("ListMcpResources", "visible; can use `--mcp-config` (absent)"),
        ("LSP", "can use `gopls` (absent): install the package gopls"),
        ("LSP", "bin/rust-analyzer"),
        ("browser_click", "needs `chromium`: /bin/true"),
        ("EnterWorktree", "bin/git"),
        ("Bash", "needs `bash`: /bin/bash"),
        ("AskUser", "needs `a person` at each call"),
        ("CronCreate", "needs `schedule` at each call"),
    ];
    for (tool, expected) in missing {
        let line = setup.needs(tool, &setup.required());
        assert!(line.contains(expected), "{line}");
    }
    for tool in ["Agent", "RemoteTrigger", "WebSearch", "Skill"] {
        let line = setup.needs(tool, &setup.options());
        assert!(line.contains("visible; needs `--"), "{line}");
    }
    // JSON has the same.
    let report: Value =
        serde_json::from_str(&setup.run(&["report", "--json"], &setup.required())).unwrap();
    let tools = report["tools"].as_array().unwrap();
    let agent = tools.iter().find(|tool| tool["name"] == "Agent").unwrap();
    assert_eq!(agent["status"], "unusable");
    assert_eq!(agent["requirements"][0]["name"], "--model");
    assert_eq!(agent["requirements"][0]["state"], "missing");
}

#[tokio::test]
async fn agents_skills_and_searches_work_over_mcp() {
    let setup = Setup::new();
    let client = setup.connect().await;
    let task = json!({ "prompt": "When do they ship?", "description": "Find the day" });
    let (text, is_error) = call(&client, "Agent", task).await;
    assert!(!is_error && text.starts_with("They ship on Friday."), "{text}");
    let skill = json!({ "skill": "greet", "arguments": "Ada" });
    let (text, is_error) = call(&client, "Skill", skill).await;
    assert!(!is_error && text.contains("Greet Ada."), "{text}");
    let search = json!({ "query": "git worktree", "max_results": 1 });
    let (text, is_error) = call(&client, "ToolSearch", search).await;
    assert!(!is_error && text.contains("Worktree"), "{text}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_trigger_reaches_a_target_of_the_file() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let setup = Setup::new();
    setup.targets(&format!("http://{}/hook", listener.local_addr().unwrap()));
    let received = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = Vec::new();
        while !String::from_utf8_lossy(&request).contains("Build it.") {
            assert!(stream.read_buf(&mut request).await.unwrap() > 0, "the request ended");
        }
        let answer = "HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\nqueued";
        stream.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(request).unwrap()
    });
    let client = setup.connect().await;
    let trigger = json!({ "action": "create", "name": "build", "prompt": "Build it." });
    let (text, is_error) = call(&client, "RemoteTrigger", trigger).await;
    assert!(!is_error, "{text}");
    let run = json!({ "action": "run", "id": "trigger_1" });
    let (text, is_error) = call(&client, "RemoteTrigger", run).await;
    assert!(!is_error && text.contains("queued"), "{text}");
    let request = received.await.unwrap();
    assert!(request.starts_with("POST /hook ") && request.contains("webhook-signature: v1,"));
    client.cancel().await.unwrap();
}

#[test]
fn wrong_options_name_their_mistake() {
    let setup = Setup::new();
    let error = |options: &[String]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        let output = program.arg("list").args(options).output().unwrap();
        assert_eq!(output.status.code(), Some(3));
        String::from_utf8(output.stderr).unwrap()
    };
    // The variable is not set here.
    let text = error(&setup.options());
    assert!(text.contains("the key of `builds` is not in the variable `BUILDS_KEY`"), "{text}");
    fs::write(setup.path("targets.json"), r#"{"builds": {"adress": "x"}}"#).unwrap();
    let text = error(&setup.options());
    assert!(text.contains("targets.json") && text.contains("unknown field `adress`"), "{text}");
    fs::write(setup.path("script.json"), "{}").unwrap();
    let text = error(&setup.options());
    assert!(text.contains("script.json"), "{text}");
}
