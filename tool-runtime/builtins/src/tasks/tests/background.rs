//! Agents in the background.

use super::{SubAgents, builder, error, json, script, text, value, within};
use crate::Profile;
use std::sync::Arc;
use tempfile::TempDir;
use tokio::sync::Notify;
use tool_runtime::prelude::*;

/// Notifies when a call begins and when it is dropped.
#[derive(Clone, Default)]
struct Signals {
    begun: Arc<Notify>,
    dropped: Arc<Notify>,
}

struct OnDrop(Arc<Notify>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

impl Signals {
    fn work(&self) -> Tool {
        let signals = self.clone();
        Tool::builder("work", "Work forever.").read_only(true).handler(move || {
            let signals = signals.clone();
            async move {
                let _on_drop = OnDrop(Arc::clone(&signals.dropped));
                signals.begun.notify_one();
                std::future::pending::<()>().await;
            }
        })
    }
}

fn input() -> serde_json::Value {
    json!({ "prompt": "Work.", "description": "Work on it", "run_in_background": true })
}

#[tokio::test]
async fn an_agent_is_a_task_that_stop_really_ends() {
    let directory = TempDir::new().unwrap();
    let signals = Signals::default();
    let agents = SubAgents::new(script(json!([{ "calls": [{ "name": "work" }] }])));
    let builder = builder(&directory.path().join("tasks.db"), Some(agents), Profile::Standard);
    let pool = builder.add(signals.work()).build().unwrap();
    let started = value(&pool, "Agent", input()).await;
    assert_eq!((&started["task_id"], &started["status"]), (&json!("task_1"), &json!("running")));
    within(signals.begun.notified()).await;

    let id = json!({ "id": "task_1" });
    let task = value(&pool, "TaskGet", id.clone()).await;
    assert_eq!((&task["status"], &task["agent"]), (&json!("in_progress"), &started["agent_id"]));
    assert_eq!(text(&pool, "TaskOutput", id.clone()).await, "(no output yet)");
    let owned = error(&pool, "TaskUpdate", json!({ "id": "task_1", "status": "completed" })).await;
    assert!(owned.contains("an agent does `task_1`"), "{owned}");

    let stopped = text(&pool, "TaskStop", json!({ "id": "task_1", "reason": "too slow" })).await;
    assert!(stopped.starts_with("stopped task_1 [cancelled] Work on it"), "{stopped}");
    assert!(stopped.ends_with("reason: too slow"), "{stopped}");
    within(signals.dropped.notified()).await;
    let again = error(&pool, "TaskStop", id).await;
    assert!(again.contains("is cancelled and cannot change"), "{again}");
}

#[tokio::test]
async fn a_scheduled_job_has_no_agent_in_the_background() {
    let directory = TempDir::new().unwrap();
    let agents = SubAgents::new(script(json!([{ "text": "Done." }])));
    let pool = builder(&directory.path().join("tasks.db"), Some(agents), Profile::Standard);
    let pool = pool.build().unwrap();
    let execution = tool_runtime::tool::Execution::new("job").with_label("run_by", "schedule");
    let context = pool.context().in_execution(&Arc::new(execution));
    let refused = pool.call_with(ToolCall::json("Agent", input()), &context).await;
    let text = refused.observation().to_text();
    assert!(refused.is_error() && text.contains("leave `run_in_background` out"), "{text}");
}

#[tokio::test]
async fn an_agent_ends_with_its_session_and_the_task_says_so() {
    let directory = TempDir::new().unwrap();
    let signals = Signals::default();
    let agents = SubAgents::new(script(json!([{ "calls": [{ "name": "work" }] }])));
    let builder = builder(&directory.path().join("tasks.db"), Some(agents), Profile::Standard);
    let pool = builder.add(signals.work()).build().unwrap();
    let session = pool.session();
    let started = text(session.pool(), "Agent", input()).await;
    assert_eq!(
        started,
        "`agent-1` runs in the background as `task_1`, at most until this session ends; `TaskOutput` returns its answer"
    );
    within(signals.begun.notified()).await;
    let listed = text(&pool, "TaskList", json!({})).await;
    assert_eq!(listed, "task_1 [in_progress] Work on it; owner: agent-1; agent: agent-1");
    within(session.close()).await;
    within(signals.dropped.notified()).await;
    let output = value(&pool, "TaskOutput", json!({ "id": "task_1", "wait_ms": 60_000 })).await;
    assert_eq!(output["status"], "failed");
    assert_eq!(output["reason"], "the agent stopped: the session that started it has ended");
}

#[tokio::test]
async fn an_agent_of_a_call_without_a_session_is_listed_until_the_program_ends() {
    let directory = TempDir::new().unwrap();
    let signals = Signals::default();
    let agents = SubAgents::new(script(json!([{ "calls": [{ "name": "work" }] }])));
    let builder = builder(&directory.path().join("tasks.db"), Some(agents), Profile::Standard);
    let pool = builder.add(signals.work()).build().unwrap();
    let started = text(&pool, "Agent", input()).await;
    assert!(started.contains("at most until this program ends"), "{started}");
    within(signals.begun.notified()).await;
    let listed = text(&pool, "TaskList", json!({})).await;
    assert!(listed.contains("task_1 [in_progress]"), "{listed}");
    within(pool.close()).await;
    within(signals.dropped.notified()).await;
}

#[tokio::test]
async fn the_output_of_an_agent_is_its_answer_or_its_failure() {
    let directory = TempDir::new().unwrap();
    let agents = SubAgents::new(script(json!([{ "text": "It is 42." }])));
    let pool = builder(&directory.path().join("tasks.db"), Some(agents), Profile::Standard);
    let pool = pool.build().unwrap();
    value(&pool, "Agent", input()).await;
    let output = json!({ "id": "task_1", "wait_ms": 60_000 });
    assert_eq!(text(&pool, "TaskOutput", output).await, "It is 42.");
    assert_eq!(value(&pool, "TaskGet", json!({ "id": "task_1" })).await["status"], "completed");
    // The script has ended.
    value(&pool, "Agent", input()).await;
    let output = value(&pool, "TaskOutput", json!({ "id": "task_2", "wait_ms": 60_000 })).await;
    assert_eq!(output["status"], "failed");
    assert!(output["reason"].as_str().unwrap().contains("no more turns"), "{output}");
}

#[tokio::test]
async fn closing_the_pool_ends_agents_and_their_tasks() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("tasks.db");
    let signals = Signals::default();
    let agents = SubAgents::new(script(json!([{ "calls": [{ "name": "work" }] }])));
    let one = builder(&file, Some(agents), Profile::Standard).add(signals.work()).build().unwrap();
    let other = builder(&file, None, Profile::Standard).build().unwrap();
    value(&one, "Agent", input()).await;
    within(signals.begun.notified()).await;
    within(one.close()).await;
    within(signals.dropped.notified()).await;
    let output = value(&other, "TaskOutput", json!({ "id": "task_1", "wait_ms": 60_000 })).await;
    assert_eq!(output["status"], "failed", "{output}");
}
