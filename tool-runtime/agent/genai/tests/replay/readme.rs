//! The agent of the README, against a peer that speaks the API of Anthropic.

#[path = "../../examples/notes.rs"]
#[allow(dead_code, reason = "its `main` asks a real model")]
mod notes;

use crate::fake::{Answer, Fake, Recording};
use serde_json::{Value, json};
use tool_runtime::audit::LogReader;

/// An answer that calls tools, or one with text.
fn answer(stop_reason: &str, content: Value) -> Answer {
    let Some(Answer::Whole(mut recorded)) = Recording::named("anthropic, whole").answers().pop()
    else {
        panic!("a recorded answer")
    };
    let mut body: Value = serde_json::from_str(&recorded.body).expect("JSON");
    (body["stop_reason"], body["content"]) = (json!(stop_reason), content);
    recorded.body = body.to_string();
    Answer::Whole(recorded)
}

fn call(id: &str, name: &str, input: Value) -> Value {
    json!({ "type": "tool_use", "id": id, "name": name, "input": input })
}

#[tokio::test]
async fn the_agent_of_the_readme_reads_is_denied_and_leaves_a_record() {
    let directory = tempfile::tempdir().unwrap();
    let (notes, log) = (directory.path().join("notes"), directory.path().join("calls.db"));
    std::fs::create_dir(&notes).unwrap();
    std::fs::write(notes.join("todo.md"), "buy milk").unwrap();
    let calls = json!([
        call("a", "Read", json!({ "file_path": "todo.md" })),
        call("b", "Delete", json!({ "path": "todo.md" })),
    ]);
    let done = json!([{ "type": "text", "text": "You want to buy milk." }]);
    let fake = Fake::start([answer("tool_use", calls), answer("end_turn", done)]).await;
    let model = fake.model("claude-sonnet-4-6").whole_answers();
    let agent = notes::agent(model, notes.to_str().unwrap(), log.to_str().unwrap()).unwrap();
    assert_eq!(agent.run("Tidy up.").finish().await.unwrap(), "You want to buy milk.");
    let requests = fake.requests();
    let tools = requests[0].body["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["name"] == "Write"), "built-in tools");
    let sent = requests[1].body["messages"].to_string();
    assert!(
        sent.contains("buy milk") && sent.contains("no rule of the policy allows it"),
        "{sent}"
    );
    assert!(notes.join("todo.md").exists());
    // The log is complete once its last handle is dropped.
    drop(agent);
    let records = LogReader::open(&log).unwrap().records().count();
    assert!(records >= 4, "both calls begin and end: {records}");
}

#[test]
fn the_readme_has_this_agent_in_at_most_forty_lines() {
    let source = include_str!("../../examples/notes.rs");
    let code = &source[source.find("use tool_runtime::audit").unwrap()..];
    assert!(code.lines().count() <= 40, "{} lines", code.lines().count());
    let readme = include_str!("../../../../../README.md");
    assert!(readme.contains(&format!("```rust\n{code}```\n")), "copy `examples/notes.rs`");
}
