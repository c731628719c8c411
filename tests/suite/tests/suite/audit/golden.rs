//! Ids of steps, computed by another program from the same rules.

use std::sync::Arc;
use tool_runtime::audit::EventLog;
use tool_runtime::prelude::*;
use tool_runtime::tool::Execution;

/// The step ids of these calls in a run.
async fn step_ids(run: &str, calls: &[(&str, &str)]) -> Vec<String> {
    let log = EventLog::memory();
    let tool = |name: &str| {
        Tool::builder(name, "Answer.")
            .input_schema(serde_json::json!({ "type": "object" }))
            .handler(|_: serde_json::Map<String, serde_json::Value>| async {})
    };
    let pool = ToolPool::builder().add(tool("add")).add(tool("web.get")).install(log.clone());
    let pool = pool.build().unwrap();
    let context = pool.context().in_execution(&Arc::new(Execution::new(run)));
    for (tool, arguments) in calls {
        pool.call_with(ToolCall::new(*tool, *arguments), &context).await;
    }
    let records = log.reader().await.unwrap().records().map(Result::unwrap);
    let mut step_ids: Vec<String> = records.filter_map(|record| record.step).collect();
    step_ids.dedup();
    step_ids
}

/// The id of a step, from its length-prefixed parts: `sha256(sha256(run, tool, canonical arguments),
/// number)`. Written by `tests/suite/golden_steps.py`.
const GOLDEN: &str = include_str!("golden_steps.txt");

#[tokio::test]
async fn steps_have_the_ids_that_another_program_computes() {
    let calls = [
        ("add", r#"{"b": 2, "a": 1}"#),
        ("add", r#"{"a":1,"b":2.0}"#),
        ("add", r#"{"a":true,"b":2}"#),
        ("web.get", r#"{"url":"https://example.org/\u20ac","z":{"\r":1e21,"é":[0.1,-0.0,null]}}"#),
        ("web.get", "{}"),
    ];
    let step_ids = step_ids("order-17", &calls).await;
    assert_eq!(step_ids.join("\n"), GOLDEN.trim_end());
}
