//! The program, driven by rmcp's MCP client and from the command line.

use rmcp::model::CallToolRequestParams;
use rmcp::service::{RoleClient, RunningService, ServiceExt as _};
use rmcp::transport::TokioChildProcess;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
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
async fn a_policy_keeps_files_from_every_tool_that_changes_them() {
    let project = project();
    let key = project.path().join("server.key");
    std::fs::write(&key, "secret\n").unwrap();
    std::os::unix::fs::symlink(&key, project.path().join("notes.txt")).unwrap();
    let client = connect(project.path(), &["--families=files", "--policy", POLICY]).await;
    for file in ["server.key", "notes.txt", "main.rs"] {
        call(&client, "Read", json!({ "file_path": file })).await;
    }
    let patch = "*** Begin Patch\n*** Update File: main.rs\n@@\n-fn main() {\n+fn other() {\n*** Update File: server.key\n@@\n-secret\n+open\n*** End Patch";
    for (tool, arguments) in [
        ("Write", json!({ "file_path": "server.key", "content": "open" })),
        ("Write", json!({ "file_path": "./new/../server.key", "content": "open" })),
        ("Write", json!({ "file_path": "new.pem", "content": "open" })),
        ("Edit", json!({ "file_path": "notes.txt", "old_string": "secret", "new_string": "open" })),
        ("apply_patch", json!({ "patch": patch })),
        ("Move", json!({ "source": "server.key", "destination": "main.txt" })),
        ("Move", json!({ "source": "main.rs", "destination": "main.key" })),
    ] {
        let (text, is_error) = call(&client, tool, arguments.clone()).await;
        assert!(is_error && text.contains("a person writes keys"), "{tool} {arguments}: {text}");
    }
    assert_eq!(std::fs::read_to_string(&key).unwrap(), "secret\n");
    let moved = json!({ "source": "main.rs", "destination": "lib.rs" });
    assert!(!call(&client, "Move", moved).await.1);
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

/// A process for each call: nothing was read before.
#[tokio::test]
async fn a_person_edits_from_the_command_line_and_a_model_reads_first() {
    let project = project();
    let run = async |arguments: &[&str], input: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command.args(["--root", "."]).args(arguments).current_dir(project.path());
        let (input_pipe, output_pipe) =
            (std::process::Stdio::piped(), std::process::Stdio::piped());
        let mut child = command.stdin(input_pipe).stdout(output_pipe).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).await.unwrap();
        let output = child.wait_with_output().await.unwrap();
        (String::from_utf8(output.stdout).unwrap(), output.status.success())
    };
    let main = project.path().join("main.rs");
    let edit = ["call", "Edit", "file_path=main.rs", "old_string=old_name", "new_string=new_name"];
    assert!(run(&edit, "").await.1);
    assert!(std::fs::read_to_string(&main).unwrap().contains("new_name"));
    assert!(run(&["call", "Write", "file_path=main.rs", "content=@-"], "a\nB\n").await.1);
    assert_eq!(std::fs::read_to_string(&main).unwrap(), "a\nB\n");
    assert!(run(&["call", "Write", "file_path=copy.rs", "content=@main.rs"], "").await.1);
    assert_eq!(std::fs::read_to_string(project.path().join("copy.rs")).unwrap(), "a\nB\n");
    std::fs::write(project.path().join("arguments.json"), r#"{"pattern": "b", "-i": true}"#)
        .unwrap();
    for arguments in [
        &["call", "Grep", "--args", "@arguments.json"][..],
        &["call", "Grep", "pattern=b", "--", "-i=true"],
        &["call", "Grep", "--", "pattern=b", "-i=true"],
    ] {
        let (text, is_success) = run(arguments, "").await;
        assert!(is_success && text.contains("main.rs"), "{text}");
    }
    let client = connect(project.path(), &[]).await;
    let arguments = json!({ "file_path": "main.rs", "old_string": "a", "new_string": "b" });
    let (text, is_error) = call(&client, "Edit", arguments).await;
    assert!(is_error && text.contains("was not read yet"), "{text}");
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

    let mistakes: [(&[&str], &str); 2] = [
        (&["list", "--families", "fiels"], "`fiels` is not a family of tools"),
        (&["serve", "--families", "shell", "--no-network"], "`--no-network` needs a sandbox"),
    ];
    for (arguments, expected) in mistakes {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command.args(arguments).stdin(Stdio::null());
        let output = tokio::time::timeout(LIMIT, command.output()).await.unwrap().unwrap();
        assert_eq!(output.status.code(), Some(3));
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(error.contains(expected), "{error}");
    }
}

#[tokio::test]
async fn scripts_see_the_exit_code_of_a_command() {
    let project = project();
    for (arguments, expected) in [
        (["Bash", "command=exit 3"], 3),
        (["Bash", "command=kill -9 $$"], 137),
        (["Bash", "command=echo done"], 0),
        (["Bash", "timeout_ms=0"], 2),
    ] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        command.arg("call").args(arguments).args(["--families", "shell", "--root"]);
        let output = command.arg(project.path()).stdin(Stdio::null()).output();
        let output = tokio::time::timeout(LIMIT, output).await.unwrap().unwrap();
        assert_eq!(output.status.code(), Some(expected), "{arguments:?}");
    }
}

#[tokio::test]
async fn calls_as_models_of_other_programs_write_them_are_accepted() {
    let project = project();
    let client = connect(project.path(), &["--families", "files,search"]).await;
    let read = call(&client, "Read", json!({ "path": "main.rs", "limit": "1" })).await;
    assert_eq!(read.0.lines().next(), Some("     1\tfn main() {"));
    let grep = json!({ "pattern": "old", "output_mode": "content", "-n": true, "-C": 0 });
    assert_eq!(call(&client, "Grep", grep).await.0, "main.rs:2:    old_name();");
    client.cancel().await.unwrap();
    let client = connect(project.path(), &["--families", "shell", "--open-hands"]).await;
    let tools = client.list_all_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| &*tool.name).collect::<Vec<_>>(), ["terminal"]);
    let executed = call(&client, "execute_bash", json!({ "command": "echo done" })).await;
    assert!(executed.0.starts_with("done\n") && !executed.1, "{executed:?}");
    client.cancel().await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_sandbox_without_a_family_that_starts_programs_is_reported() {
    let project = project();
    for (families, is_reported) in [("files,search", true), ("files,shell", false)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        let arguments = ["serve", "--sandbox", "landlock", "--families", families, "--root"];
        command.args(arguments).arg(project.path()).stdin(Stdio::null());
        let output = tokio::time::timeout(LIMIT, command.output()).await.unwrap().unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(error.contains("`--sandbox` has no effect"), is_reported, "{error}");
    }
}

/// Runs a command of `Bash` that holds a pipe. Returns the program, and the end of all that hold the pipe.
#[cfg(target_os = "linux")]
fn hold(root: &Path, command: &str) -> (std::process::Child, std::thread::JoinHandle<String>) {
    let pipe = root.join("held");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_toolbox"));
    program.args(["call", "Bash", &format!("command=exec 3>held; {command}"), "--root"]).arg(root);
    let program = program.args(["--families", "shell"]).spawn().unwrap();
    let held = std::thread::spawn(move || std::fs::read_to_string(pipe).unwrap());
    (program, held)
}

#[cfg(target_os = "linux")]
async fn assert_ended(held: std::thread::JoinHandle<String>) {
    let held = tokio::task::spawn_blocking(move || held.join().unwrap());
    let ended = tokio::time::timeout(Duration::from_secs(60), held).await;
    ended.expect("a process lives on").unwrap();
}

/// The process has left the session, has no mark, and was orphaned by the end of its shell.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_process_outlives_the_program() {
    let project = project();
    let (mut program, held) = hold(project.path(), "(env -i setsid sleep 1000 &)");
    assert!(program.wait().unwrap().success());
    assert_ended(held).await;
}

/// The program adopts orphans, which would stay zombies as long as it runs.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn no_zombie_is_left_while_the_program_runs() {
    let project = project();
    let client = connect(project.path(), &["--families", "shell"]).await;
    let command = "for i in 1 2 3; do sleep 0.1 >&- 2>&- & echo $!; done; echo $$";
    let (ids, is_error) = call(&client, "Bash", json!({ "command": command })).await;
    assert!(!is_error && ids.lines().count() == 4, "{ids}");
    // A zombie still counts as a process that can be signalled.
    let exists =
        format!("for id in {}; do kill -0 $id 2>&- && exit; done; exit 1", ids.replace('\n', " "));
    let ended = async {
        while Command::new("sh").args(["-c", &exists]).status().await.unwrap().success() {}
    };
    tokio::time::timeout(LIMIT, ended).await.expect("a zombie stays");
    client.cancel().await.unwrap();
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_command_ends_when_the_program_is_killed() {
    let project = project();
    let begun = project.path().join("begun");
    assert!(std::process::Command::new("mkfifo").arg(&begun).status().unwrap().success());
    let (mut program, held) = hold(project.path(), "echo > begun; exec sleep 1000");
    tokio::task::spawn_blocking(|| std::fs::read(begun).unwrap()).await.unwrap();
    program.kill().unwrap();
    program.wait().unwrap();
    assert_ended(held).await;
}

#[tokio::test]
async fn the_family_code_works_in_a_worktree() {
    let project = project();
    let git = |arguments: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@b"]).args(arguments);
        assert!(command.current_dir(project.path()).status().unwrap().success());
    };
    git(&["init", "--quiet"]);
    git(&["add", "--all"]);
    git(&["commit", "--quiet", "--message", "first"]);
    let client = connect(project.path(), &["--families", "files,code"]).await;
    let entered = call(&client, "EnterWorktree", json!({ "name": "fix" })).await;
    assert!(entered.0.contains("its files are in `.worktrees/fix`") && !entered.1, "{entered:?}");
    let arguments = json!({ "file_path": ".worktrees/fix/new.txt", "content": "work" });
    assert!(!call(&client, "Write", arguments).await.1);
    let arguments = json!({ "name": "fix", "action": "remove" });
    let refused = call(&client, "ExitWorktree", arguments).await;
    assert!(refused.0.contains("would destroy work") && refused.1, "{refused:?}");
    assert!(project.path().join(".worktrees/fix/new.txt").exists());
    client.cancel().await.unwrap();
}

/// A server that answers every request with a page. Ends with its runtime.
async fn web_server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            let _ = stream.read(&mut request).await;
            let page = "<title>Plan</title><h1>Steps</h1><p>Read <a href='/more'>more</a>.";
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close";
            let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{page}", page.len());
            let _ = stream.write_all(answer.as_bytes()).await;
        }
    });
    port
}

#[tokio::test]
async fn a_client_fetches_a_page_of_an_allowed_host() {
    let (project, port) = (project(), web_server().await);
    let url = format!("http://127.0.0.1:{port}/");
    let with_header = json!({ "url": url, "headers": { "X-Api-Key": "k" } });
    let options = ["--families", "web", "--private-host", "127.0.0.1"];
    let client = connect(project.path(), &options).await;
    let (text, is_error) = call(&client, "WebFetch", with_header.clone()).await;
    assert!(is_error && text.contains("`X-Api-Key` is not allowed by the operator"), "{text}");
    client.cancel().await.unwrap();

    let options = [&options[..], &["--searxng", &url, "--request-header", "x-api-key"]].concat();
    let client = connect(project.path(), &options).await;
    assert!(!call(&client, "WebFetch", with_header).await.1);
    let fetched = call(&client, "WebFetch", json!({ "url": url })).await;
    let expected = format!("[{url} \"Plan\"]\n# Steps\n\nRead [more]({url}more).");
    assert_eq!(fetched, (expected, false));
    let (text, is_error) = call(&client, "WebSearch", json!({ "query": "plan" })).await;
    assert!(is_error && text.contains("SearXNG sent an answer that cannot be read"), "{text}");
    client.cancel().await.unwrap();

    let client = connect(project.path(), &["--families", "web"]).await;
    let (text, is_error) = call(&client, "WebFetch", json!({ "url": url })).await;
    assert!(is_error && text.contains("not public"), "{text}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn two_clients_share_tasks() {
    let project = project();
    let data = project.path().join("data");
    let options = ["--families", "people,tasks", "--data", data.to_str().unwrap()];
    let (one, other) =
        (connect(project.path(), &options).await, connect(project.path(), &options).await);
    let created = call(&one, "TaskCreate", json!({ "subject": "Rename" })).await;
    assert_eq!(created, ("created task_1 [pending] Rename".to_owned(), false));
    let listed = call(&other, "TaskList", json!({})).await;
    assert_eq!(listed, ("task_1 [pending] Rename".to_owned(), false));
    // This client shows no forms.
    let (text, is_error) = call(&one, "AskUser", json!({ "question": "Why?" })).await;
    assert!(is_error && text.starts_with("no person can be asked"), "{text}");
    call(&one, "EnterPlanMode", json!({})).await;
    let (text, is_error) = call(&one, "TaskCreate", json!({ "subject": "Write" })).await;
    assert!(is_error && text.contains("only tools that read may run"), "{text}");
    let (_, is_error) = call(&one, "ExitPlanMode", json!({ "plan": "Write." })).await;
    assert!(is_error, "no person has approved it");
    one.cancel().await.unwrap();
    other.cancel().await.unwrap();
}

#[tokio::test]
async fn tools_for_servers_reach_those_of_the_configuration() {
    let project = project();
    let config = project.path().join("mcp.json");
    let program = env!("CARGO_BIN_EXE_toolbox");
    let servers = json!({ "mcpServers": { "inner": { "command": program, "args": ["serve"] } } });
    std::fs::write(&config, servers.to_string()).unwrap();
    let options = ["--families", "servers", "--mcp-config", config.to_str().unwrap()];
    let client = connect(project.path(), &options).await;
    let tools = client.list_all_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "inner.Read"), "{tools:?}");
    let listed = call(&client, "ListMcpResources", json!({ "server": "inner" })).await;
    assert_eq!(listed, ("[no resources]\n".to_owned(), false));
    let unknown = json!({ "server": "outer", "uri": "a:b" });
    let (text, is_error) = call(&client, "ReadMcpResource", unknown).await;
    assert!(is_error && text.contains("there are: `inner`"), "{text}");
    client.cancel().await.unwrap();
}

#[tokio::test]
async fn a_job_of_a_client_runs_in_another_process() {
    use std::process::Stdio;
    use tokio::io::{AsyncBufReadExt as _, BufReader};

    let project = project();
    let data = format!("--data={}", project.path().join("data").display());
    let options = ["--families=search,schedule", "--min-interval=1", &data];
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

    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command.args(["schedule", "--once", "--root"]).arg(project.path()).args(options);
    let output = tokio::time::timeout(LIMIT, command.output()).await.unwrap().unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("another process runs the schedule; nothing was run"), "{error}");
}

#[tokio::test]
async fn every_tool_states_all_hints() {
    let project = project();
    let data = format!("--data={}", project.path().join("data").display());
    let families = "--families=files,search,shell,code,web,servers,people,tasks,schedule,skills";
    for names in [&[][..], &["--open-hands"]] {
        let client = connect(project.path(), &[&[families, &data], names].concat()).await;
        for tool in client.list_all_tools().await.unwrap() {
            let hints = tool.annotations.expect("annotations");
            let is_stated = hints.read_only_hint.is_some()
                && hints.destructive_hint.is_some()
                && hints.idempotent_hint.is_some()
                && hints.open_world_hint.is_some();
            assert!(is_stated, "{}: {hints:?}", tool.name);
        }
        client.cancel().await.unwrap();
    }
}

/// Its data is out of reach of the tools, as are keys that it uses itself.
#[tokio::test]
async fn data_and_keys_of_the_program_are_its_own() {
    let project = project();
    let data = project.path().join(".toolbox");
    let options =
        ["--families", "files,tasks,shell", "--data", data.to_str().unwrap(), "--env", "GREETING"];
    let client = connect(project.path(), &options).await;
    let created = call(&client, "TaskCreate", json!({ "subject": "a", "description": "b" })).await;
    assert!(!created.1, "{created:?}");
    let delete = call(&client, "Delete", json!({ "path": ".toolbox/tasks.db" })).await;
    assert!(delete.1 && delete.0.contains("is protected"), "{delete:?}");
    let listed = call(&client, "TaskList", json!({})).await;
    assert!(!listed.1 && data.join("tasks.db").exists(), "{listed:?}");
    client.cancel().await.unwrap();

    let error = async |options: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        let program = program.arg("list").arg("--root").arg(project.path()).args(options);
        let output = program.output().await.unwrap();
        assert_eq!(output.status.code(), Some(3));
        String::from_utf8(output.stderr).unwrap()
    };
    for (options, expected) in [
        (&["--data", project.path().to_str().unwrap()][..], "in which the root `"),
        (&["--env", "BRAVE_API_KEY"], "the program itself uses this key"),
        (&["--model", "m", "--env", "OPENAI_API_KEY"], "the program itself uses this key"),
        (
            &["--families=shell", "--limit", "memory"],
            "write a name and a number, as in `memory=4g`",
        ),
        (&["--families=shell", "--limit", "disk=1g"], "`disk` is not a limit"),
        (&["--writable", "/no/such"], "`--writable /no/such` does not exist"),
    ] {
        let text = error(options).await;
        assert!(text.contains(expected), "{options:?}: {text}");
    }
}

/// A skill that is left out is named on standard error and in the report, and by the tool with the reason.
#[tokio::test]
async fn the_reason_why_a_skill_is_left_out_reaches_the_operator_and_the_model() {
    let project = project();
    for (name, text) in
        [("broken", "no front matter"), ("usable", "---\nname: usable\ndescription: D\n---\n")]
    {
        std::fs::create_dir_all(project.path().join(name)).unwrap();
        std::fs::write(project.path().join(name).join("SKILL.md"), text).unwrap();
    }
    let run = async |command: &[&str]| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_toolbox"));
        program.args(command).args(["--families=skills", "--skills"]).arg(project.path());
        let output = program.env_remove("RUST_LOG").output().await.unwrap();
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap())
    };
    let reason = "it has no front matter; begin with a line `---`";
    let [report, log] = run(&["report"]).await;
    assert!(
        report.contains("broken/SKILL.md` (absent): line 1: ") && report.contains(reason),
        "{report}"
    );
    assert!(log.contains("a skill is left out: ") && log.contains(reason), "{log}");
    let [_, error] = run(&["call", "Skill", "skill=broken"]).await;
    assert!(
        error.contains("the skill `broken` is left out: ") && error.contains(reason),
        "{error}"
    );
}

/// A server says at its start what its programs do not get; a limit and a variable reach commands.
#[tokio::test]
async fn variables_and_limits_of_commands_are_the_operators() {
    let project = project();
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolbox"));
    command.args(["serve", "--families=shell", "--env=GREETING", "--limit=file=2m", "--root"]);
    command.arg(project.path()).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    command.envs([("GREETING", "hello"), ("CLOUD_KEY", "secret"), ("MODEL_KEY", "secret")]);
    let builder = TokioChildProcess::builder(command).stderr(Stdio::piped());
    let (process, stderr) = builder.spawn().unwrap();
    let client: Client = ().serve(process).await.unwrap();
    let arguments = json!({ "command": "echo $GREETING $CLOUD_KEY; ulimit -f" });
    assert_eq!(call(&client, "Bash", arguments).await, ("hello\n2048".to_owned(), false));
    client.cancel().await.unwrap();
    let mut said = String::new();
    stderr.unwrap().read_to_string(&mut said).await.unwrap();
    assert!(said.contains("toolbox: 2 variables of the environment are not passed"), "{said}");
}
