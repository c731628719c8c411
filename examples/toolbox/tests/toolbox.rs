//! The program, driven by rmcp's MCP client and from the command line.

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;
use tokio::process::Command;

const LIMIT: Duration = Duration::from_secs(120);
const POLICY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/policy.yaml");

type Client = RunningService<RoleClient, ()>;

/// A directory with a file.
fn project() -> TempDir {
    let project = TempDir::new().unwrap();
    std::fs::write(project.path().join("main.rs"), "fn main() {\n    old_name();\n}\n").unwrap();
    project
}

async fn connect(root: &Path, options: &[&str]) -> Client {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command.arg("serve").arg("--root").arg(root).args(options);
    ().serve(TokioChildProcess::new(command).unwrap()).await.unwrap()
}

/// The text of a result and whether it is an error.
async fn call(client: &Client, tool: &str, arguments: Value) -> (String, bool) {
    let arguments = arguments.as_object().unwrap().clone();
    let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
    let result = client.call_tool(request);
    let result = tokio::time::timeout(LIMIT, result).await.expect("the call hangs").unwrap();
    let text =
        result.content.iter().filter_map(|block| block.as_text()).map(|text| text.text.clone());
    (text.collect(), result.is_error == Some(true))
}

#[tokio::test]
async fn a_client_searches_edits_and_runs() {
    let project = project();
    let client = connect(project.path(), &["--families", "files,search,shell"]).await;
    let tools = client.list_all_tools().await.unwrap();
    for name in ["Read", "Edit", "Glob", "Grep", "Bash", "BashOutput", "KillBash"] {
        assert!(tools.iter().any(|tool| tool.name == name), "{name}");
    }
    let arguments = json!({ "pattern": "old_\\w+", "output_mode": "content" });
    let found = call(&client, "Grep", arguments).await;
    assert_eq!(found, ("main.rs:2:    old_name();".to_owned(), false));
    let read = call(&client, "Read", json!({ "file_path": "main.rs" })).await;
    assert!(read.0.contains("old_name") && !read.1, "{read:?}");
    let arguments =
        json!({ "file_path": "main.rs", "old_string": "old_name", "new_string": "new_name" });
    let edited = call(&client, "Edit", arguments).await;
    assert!(!edited.1, "{edited:?}");
    let command = json!({ "command": "cat main.rs; exit 3" });
    let printed = call(&client, "Bash", command).await;
    assert_eq!(printed, ("fn main() {\n    new_name();\n}\n[exit code 3]".to_owned(), false));
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_policy_sees_the_parsed_command() {
    let project = project();
    let options = ["--families=search,shell", "--policy", POLICY];
    let client = connect(project.path(), &options).await;
    let cases = [
        ("ls main.rs", true),
        ("ls main.rs; rm main.rs", false),
        ("ls | sh", false),
        ("env ls", false),
        ("rm main.rs", false),
    ];
    for (command, allowed) in cases {
        let (text, is_error) = call(&client, "Bash", json!({ "command": command })).await;
        assert_eq!(!is_error, allowed, "{command}: {text}");
    }
    assert!(project.path().join("main.rs").exists());
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_call_from_the_command_line() {
    let project = project();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command
        .args(["call", "Grep", "pattern=old_", "output_mode=count", "--root"])
        .arg(project.path());
    let output = tokio::time::timeout(LIMIT, command.output()).await.unwrap().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "main.rs:1\n");
    assert!(output.status.success());

    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command.args(["list", "--families", "fiels"]);
    let output = command.output().await.unwrap();
    assert_eq!(output.status.code(), Some(3));
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("`fiels` is not a family of tools"), "{error}");
}

#[tokio::test]
async fn a_job_of_a_client_runs_in_another_process() {
    use std::process::Stdio;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    let project = project();
    let file = project.path().join("schedule.db");
    let file = format!("--schedule-file={}", file.display());
    let options = ["--families=search,schedule", "--min-interval=1s", &file];
    let client = connect(project.path(), &options).await;
    let job = json!({ "name": "search", "schedule": "* * * * * *", "tool": "Grep",
        "arguments": { "pattern": "old_\\w+", "output_mode": "content" } });
    let created = call(&client, "CronCreate", job).await;
    assert!(
        created.0.contains("created `cron_1`") && created.0.contains("no host lives"),
        "{created:?}"
    );
    client.cancel().await.unwrap();

    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command.arg("schedule").arg("--root").arg(project.path()).args(options);
    let mut host = command.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(host.stdout.take().unwrap()).lines();
    let ended = async {
        while let Some(line) = lines.next_line().await.unwrap() {
            if line.contains("succeeded") {
                return line;
            }
        }
        panic!("the host ended");
    };
    let line = tokio::time::timeout(LIMIT, ended).await.expect("no run within two minutes");
    assert!(line.starts_with("cron_1 `search` succeeded") && line.contains("old_name"), "{line}");
}
