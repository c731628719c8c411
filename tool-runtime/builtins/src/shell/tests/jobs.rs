use super::{Fixture, ended};
use crate::shell::ShellParams;
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::sync::Arc;
use tool_runtime::Principal;
use tool_runtime::prelude::*;

impl Fixture {
    /// Starts a job and returns its id.
    async fn start(&self, command: &str) -> String {
        let arguments = json!({ "command": command, "run_in_background": true });
        let value = self.value("Bash", arguments).await;
        value["job_id"].as_str().unwrap().to_owned()
    }

    async fn output(&self, id: &str) -> Value {
        self.value("BashOutput", json!({ "job_id": id })).await
    }

    /// Reads a job until it has ended, and returns all its output.
    async fn all_output(&self, id: &str) -> (String, Value) {
        let mut text = String::new();
        loop {
            let value = self.output(id).await;
            text.push_str(value["stdout"].as_str().unwrap());
            if value["status"] != "running" {
                return (text, value);
            }
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn a_job_is_read_in_parts() {
    let fixture = Fixture::new();
    let (first, second) = (fixture.pipe("first"), fixture.root().join("second"));
    std::process::Command::new("mkfifo").arg(&second).status().unwrap();
    let id = fixture.start("echo one; echo yes > first; read -r x < second; echo $x; exit 4").await;
    assert_eq!(ended(first).await, "yes\n");
    let mut text = String::new();
    while text.is_empty() {
        let value = fixture.output(&id).await;
        assert_eq!((&value["status"], &value["exit_code"]), (&json!("running"), &json!(null)));
        text = value["stdout"].as_str().unwrap().to_owned();
        tokio::task::yield_now().await;
    }
    assert_eq!(text, "one\n");
    tokio::task::spawn_blocking(move || std::fs::write(second, "two\n")).await.unwrap().unwrap();
    let (text, value) = fixture.all_output(&id).await;
    assert_eq!((text.as_str(), &value["exit_code"]), ("two\n", &json!(4)));
    let text = fixture.call("BashOutput", json!({ "job_id": id })).await.to_text();
    assert_eq!(text, "[job_1 ended]\n[exit code 4]");
    fixture.close().await;
}

#[tokio::test]
async fn a_filter_picks_lines() {
    let fixture = Fixture::new();
    let done = fixture.pipe("done");
    let id =
        fixture.start("echo keep 1; echo drop; echo keep 2; echo > done; exec sleep 1000").await;
    ended(done).await;
    let read = async |filter: &str| {
        fixture.call("BashOutput", json!({ "job_id": id, "filter": filter })).await
    };
    let wrong = read("(").await;
    assert!(
        wrong.is_error() && wrong.to_text().contains("`filter` is not a valid"),
        "{}",
        wrong.to_text()
    );
    let mut text = String::new();
    while !text.contains("keep 2") {
        let value = read("^keep").await.structured().unwrap().clone();
        text.push_str(value["stdout"].as_str().unwrap());
        tokio::task::yield_now().await;
    }
    assert_eq!(text, "keep 1\nkeep 2\n");
    fixture.close().await;
}

#[tokio::test]
async fn a_job_is_ended_with_all_that_it_started() {
    let fixture = Fixture::new();
    let (begun, held) = (fixture.pipe("begun"), fixture.pipe("held"));
    let id =
        fixture.start("exec 3>held; (env -i setsid sleep 1000 &) ; echo > begun; sleep 1000").await;
    ended(begun).await;
    let killed = fixture.value("KillBash", json!({ "job_id": id })).await;
    assert_eq!(killed["status"], "killed");
    ended(held).await;
    let again = fixture.value("KillBash", json!({ "job_id": id })).await;
    assert_eq!(again["status"], "killed");
    fixture.close().await;
}

/// Reads a job until its shell has ended, which processes outlive.
async fn shell_ended(fixture: &Fixture, id: &str) -> String {
    loop {
        let value = fixture.output(id).await;
        assert_eq!((&value["status"], &value["exit_code"]), (&json!("running"), &json!(null)));
        if let Some(notice) = value["notice"].as_str() {
            return notice.to_owned();
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_job_whose_shell_has_ended_is_ended_with_all_that_it_started() {
    let fixture = Fixture::with(ShellParams { max_jobs: 1, ..ShellParams::default() }, &[]);
    // In the session of the shell, and in one of its own.
    for start in ["exec 3>held; sleep 1000 &", "exec 3>held; setsid sleep 1000 &"] {
        let mut held = fixture.pipe("held");
        let id = fixture.start(start).await;
        let notice = shell_ended(&fixture, &id).await;
        assert!(notice.contains("exit status: 0") && notice.contains("`KillBash`"), "{notice}");
        let arguments = json!({ "command": "true", "run_in_background": true });
        let refused = fixture.call("Bash", arguments).await;
        assert!(refused.is_error() && refused.to_text().ends_with(&id), "{}", refused.to_text());
        assert!(held.try_recv().is_err());
        let killed = fixture.value("KillBash", json!({ "job_id": id })).await;
        assert_eq!(killed["status"], "killed");
        ended(held).await;
        std::fs::remove_file(fixture.root().join("held")).unwrap();
    }
    fixture.close().await;
}

#[tokio::test]
async fn a_job_ends_with_its_last_process_and_has_the_exit_code_of_its_shell() {
    let fixture = Fixture::new();
    let go = fixture.root().join("go");
    std::process::Command::new("mkfifo").arg(&go).status().unwrap();
    let id = fixture.start("(read -r x < go; echo $x) & exit 3").await;
    shell_ended(&fixture, &id).await;
    tokio::task::spawn_blocking(move || std::fs::write(go, "late\n")).await.unwrap().unwrap();
    let (text, value) = fixture.all_output(&id).await;
    assert_eq!((text.as_str(), &value["status"]), ("late\n", &json!("ended")));
    assert_eq!(value["exit_code"], 3);
    fixture.close().await;
}

#[tokio::test]
async fn jobs_end_with_the_pool() {
    let fixture = Fixture::new();
    let (begun, held) = (fixture.pipe("begun"), fixture.pipe("held"));
    fixture.start("exec 3>held; setsid sleep 1000 & echo > begun; sleep 1000").await;
    ended(begun).await;
    fixture.close().await;
    ended(held).await;
}

#[tokio::test]
async fn jobs_can_clean_up_when_the_pool_closes() {
    let fixture = Fixture::new();
    let (begun, directory) = (fixture.pipe("begun"), tempfile::TempDir::new().unwrap());
    let file = directory.path().join("bye");
    let command =
        "trap 'sleep 0.1; echo bye > FILE; exit' TERM; echo > begun; while :; do sleep 0.02; done";
    fixture.start(&command.replace("FILE", file.to_str().unwrap())).await;
    ended(begun).await;
    fixture.close().await;
    assert_eq!(std::fs::read_to_string(file).unwrap(), "bye\n");
}

#[cfg(target_os = "linux")]
#[test]
fn processes_end_with_tools_that_were_not_closed() {
    use crate::shell::Shell;
    use std::os::unix::process::ExitStatusExt as _;
    let directory = tempfile::TempDir::new().unwrap();
    let workspace = crate::Workspace::builder().root(directory.path()).build().unwrap();
    let shell = Shell::new(workspace, ShellParams::default());
    let mark = shell.mark(shell.next());
    let mut cat = std::process::Command::new("cat");
    cat.env(crate::process_tree::MARK, mark).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = cat.spawn().unwrap();
    // A process has its environment some time after its start, and before it answers.
    child.stdin.as_mut().unwrap().write_all(b".").unwrap();
    child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    drop(shell);
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

#[tokio::test]
async fn a_job_belongs_to_the_principal_that_started_it() {
    let fixture = Fixture::new();
    let id = fixture.start("sleep 1000").await;
    let call = ToolCall::json("BashOutput", json!({ "job_id": id }));
    let context = fixture.pool.context().with_principal(Principal::new("mallory"));
    let result = fixture.pool.call_with(call, &context).await;
    let text = result.observation().to_text();
    assert_eq!(text, "`job_1` is not the id of a background job; known jobs: none");
    let unknown = fixture.call("KillBash", json!({ "job_id": "job_9" })).await;
    assert!(unknown.to_text().ends_with("known jobs: job_1"), "{}", unknown.to_text());
    fixture.close().await;
}

#[tokio::test]
async fn a_scheduled_job_has_no_command_in_the_background() {
    let fixture = Fixture::new();
    let execution = tool_runtime::tool::Execution::new("job").with_label("run_by", "schedule");
    let context = fixture.pool.context().in_execution(&Arc::new(execution));
    let arguments = json!({ "command": "true", "run_in_background": true });
    let refused = fixture.pool.call_with(ToolCall::json("Bash", arguments), &context).await;
    let text = refused.observation().to_text();
    assert!(refused.is_error() && text.contains("leave `run_in_background` out"), "{text}");
    fixture.close().await;
}

#[tokio::test]
async fn the_number_of_jobs_is_limited() {
    let fixture = Fixture::with(ShellParams { max_jobs: 1, ..ShellParams::default() }, &[]);
    let arguments = json!({ "command": "sleep 1000", "run_in_background": true });
    // At the same time: the permit is taken before the command starts.
    let start = || fixture.call("Bash", arguments.clone());
    let started = tokio::join!(start(), start(), start());
    let started = <[Observation; 3]>::from(started);
    assert_eq!(started.iter().filter(|result| result.is_error()).count(), 2);
    let id = fixture.call("BashOutput", json!({ "job_id": "job_0" })).await.to_text();
    let id = id.rsplit(' ').next().unwrap();
    let own = fixture.call("Bash", arguments.clone()).await;
    assert!(own.is_error() && own.to_text().ends_with(id), "{}", own.to_text());
    let context = fixture.pool.context().with_principal(Principal::new("mallory"));
    let call = ToolCall::json("Bash", arguments.clone());
    let foreign = fixture.pool.call_with(call, &context).await;
    let text = foreign.observation().to_text();
    assert!(text.starts_with("other callers run as many background jobs"), "{text}");
    fixture.value("KillBash", json!({ "job_id": id })).await;
    assert!(!fixture.call("Bash", arguments).await.is_error());
    fixture.close().await;
}

#[tokio::test]
async fn jobs_that_have_ended_are_forgotten_after_a_while() {
    let fixture = Fixture::new();
    let mut ids = Vec::new();
    for _ in 0..40 {
        let id = fixture.start("true").await;
        fixture.all_output(&id).await;
        ids.push(id);
    }
    let first = fixture.call("BashOutput", json!({ "job_id": ids[0] })).await;
    assert!(first.is_error(), "{}", first.to_text());
    assert_eq!(fixture.output(&ids[10]).await["status"], "ended");
    fixture.close().await;
}

#[tokio::test]
async fn a_character_that_arrives_in_two_parts_is_read_whole() {
    let fixture = Fixture::new();
    let (begun, rest) = (fixture.pipe("begun"), fixture.root().join("rest"));
    std::process::Command::new("mkfifo").arg(&rest).status().unwrap();
    let command = "printf 'a\\303'; echo > begun; read -r x < rest; printf '\\274'";
    let id = fixture.start(command).await;
    ended(begun).await;
    let mut text = String::new();
    while text.is_empty() {
        text = fixture.output(&id).await["stdout"].as_str().unwrap().to_owned();
        tokio::task::yield_now().await;
    }
    assert_eq!(text, "a");
    tokio::task::spawn_blocking(move || std::fs::write(rest, "x\n")).await.unwrap().unwrap();
    assert_eq!(fixture.all_output(&id).await.0, "\u{fc}");
    fixture.close().await;
}
