//! Several processes over one file. A child is this test program again, which runs only `child`.

use super::{SubAgents, builder, json, script, text, value, within};
use crate::Profile;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::Notify;
use tool_runtime::prelude::*;

const FILE: &str = "TASKS_TEST_FILE";
const ROLE: &str = "TASKS_TEST_ROLE";
/// Tasks that each writer creates.
const WRITTEN: usize = 60;

/// A child process that ends with the test.
struct Process(Child, BufReader<ChildStdout>);

impl Process {
    fn start(file: &Path, role: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "tasks::tests::processes::child", "--nocapture"])
            .env(FILE, file)
            .env(ROLE, role)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        Self(child, output)
    }

    /// Waits until the child reports a step.
    fn wait_for(&mut self, step: &str) {
        let mut line = String::new();
        while !line.contains(step) {
            line.clear();
            assert!(self.1.read_line(&mut line).unwrap() > 0, "the child ended before `{step}`");
        }
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// The program of a child; without its variables it does nothing.
#[tokio::test]
#[allow(clippy::print_stdout, reason = "the parent reads it")]
async fn child() {
    let (Some(file), Ok(role)) = (std::env::var_os(FILE), std::env::var(ROLE)) else { return };
    let file = Path::new(&file);
    if role == "agent" {
        let agents = SubAgents::new(script(json!([{ "calls": [{ "name": "work" }] }])));
        let begun = Arc::new(Notify::new());
        let told = Arc::clone(&begun);
        let work = Tool::builder("work", "Work forever.").read_only(true).handler(move || {
            let told = Arc::clone(&told);
            async move {
                told.notify_one();
                std::future::pending::<()>().await;
            }
        });
        let pool = builder(file, Some(agents), Profile::Standard).add(work).build().unwrap();
        let input = json!({ "prompt": "Work.", "description": "Work", "run_in_background": true });
        value(&pool, "Agent", input).await;
        begun.notified().await;
        println!("step working");
        // Ended by the test.
        value(&pool, "TaskOutput", json!({ "id": "task_1", "wait_ms": 50_000 })).await;
        println!("step ended");
    } else {
        let pool = builder(file, None, Profile::Standard).build().unwrap();
        println!("step ready");
        for number in 0..if role == "writer" { WRITTEN } else { usize::MAX } {
            text(&pool, "TaskCreate", json!({ "subject": format!("{role} {number}") })).await;
            text(&pool, "TaskUpdate", json!({ "id": "task_1", "owner": role })).await;
            println!("step wrote {number}");
        }
        println!("step done");
    }
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
}

async fn tasks(pool: &ToolPool) -> Vec<serde_json::Value> {
    value(pool, "TaskList", json!({ "limit": 1000 })).await["tasks"].as_array().unwrap().clone()
}

#[tokio::test]
async fn two_processes_write_at_once_and_nothing_is_lost() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("tasks.db");
    let (mut one, mut other) = (Process::start(&file, "writer"), Process::start(&file, "writer"));
    one.wait_for("step done");
    other.wait_for("step done");
    let pool = builder(&file, None, Profile::Standard).build().unwrap();
    let ids: Vec<String> =
        tasks(&pool).await.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<String> = (1..=2 * WRITTEN).map(|number| format!("task_{number}")).collect();
    assert_eq!(ids, expected);
}

#[tokio::test]
async fn what_was_answered_survives_kill() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("tasks.db");
    let mut least = 0;
    for round in 1..=5 {
        let mut process = Process::start(&file, "endless");
        process.wait_for(&format!("step wrote {}", 3 * round));
        process.kill();
        least += 3 * round + 1;
        let pool = builder(&file, None, Profile::Standard).build().unwrap();
        let all = tasks(&pool).await;
        assert!(all.len() >= least, "{} of {least}", all.len());
        for (number, task) in (1..).zip(&all) {
            assert_eq!(task["id"], format!("task_{number}"));
        }
        least = all.len();
    }
}

/// A process whose agent works on `task_1`, and a pool of this process over the same file.
async fn working() -> (TempDir, Process, ToolPool) {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("tasks.db");
    let mut process = Process::start(&file, "agent");
    process.wait_for("step working");
    let pool = builder(&file, None, Profile::Standard).build().unwrap();
    let task = value(&pool, "TaskGet", json!({ "id": "task_1" })).await;
    assert_eq!(task["status"], "in_progress");
    (directory, process, pool)
}

#[tokio::test]
async fn another_process_stops_an_agent() {
    let (_directory, mut process, pool) = working().await;
    text(&pool, "TaskStop", json!({ "id": "task_1", "reason": "enough" })).await;
    let output = json!({ "id": "task_1", "wait_ms": 50_000 });
    let task = within(value(&pool, "TaskOutput", output)).await;
    assert_eq!((&task["status"], &task["reason"]), (&json!("cancelled"), &json!("enough")));
    process.wait_for("step ended");
}

#[tokio::test]
async fn the_tasks_of_a_killed_process_have_failed() {
    let (_directory, mut process, pool) = working().await;
    process.kill();
    let task = value(&pool, "TaskGet", json!({ "id": "task_1" })).await;
    assert_eq!(task["status"], "failed");
    assert_eq!(task["reason"], "the process that ran the agent has ended");
}
