use super::{PeopleParams, builder, builtins, error, text};
use crate::Profile;
use serde_json::json;
use tool_runtime::agent::AgentRun;
use tool_runtime::prelude::*;

#[tokio::test]
async fn entries_are_added_toggled_removed_and_cleared() {
    let pool = builder(PeopleParams::new()).build().unwrap();
    let todo = async |arguments| text(&pool, "TodoWrite", arguments).await;
    assert_eq!(todo(json!({ "action": "list" })).await, "the list is empty");
    todo(json!({ "action": "add", "text": "Read", "priority": "high" })).await;
    assert_eq!(
        todo(json!({ "action": "add", "text": "Write" })).await,
        "[ ] #1 Read (high)\n[ ] #2 Write"
    );
    assert_eq!(
        todo(json!({ "action": "toggle", "id": 1 })).await,
        "[x] #1 Read (high)\n[ ] #2 Write"
    );
    assert_eq!(
        todo(json!({ "action": "toggle", "id": 1 })).await,
        "[ ] #1 Read (high)\n[ ] #2 Write"
    );
    assert_eq!(todo(json!({ "action": "remove", "id": 2 })).await, "[ ] #1 Read (high)");
    let third = todo(json!({ "action": "add", "text": "Test" })).await;
    assert!(third.ends_with("#3 Test"), "numbers are not given twice: {third}");
    assert_eq!(todo(json!({ "action": "clear" })).await, "the list is empty");
}

#[tokio::test]
async fn what_is_missing_or_unknown_is_named() {
    let pool = builder(PeopleParams::new()).build().unwrap();
    text(&pool, "TodoWrite", json!({ "action": "add", "text": "Read" })).await;
    for (arguments, expected) in [
        (json!({ "action": "add" }), "`add` needs `text`"),
        (json!({ "action": "toggle" }), "`toggle` and `remove` need `id`"),
        (json!({ "action": "remove", "id": 7 }), "no entry has the number 7; known numbers: 1"),
    ] {
        assert_eq!(error(&pool, "TodoWrite", arguments).await, expected);
    }
    let unknown = error(&pool, "TodoWrite", json!({ "action": "finish" })).await;
    assert!(unknown.contains("toggle") && unknown.contains("clear"), "{unknown}");
    let unknown =
        error(&pool, "TodoWrite", json!({ "action": "add", "text": "a", "priority": "urgent" }))
            .await;
    assert!(unknown.contains("medium"), "{unknown}");
    for _ in 1..200 {
        text(&pool, "TodoWrite", json!({ "action": "add", "text": "More" })).await;
    }
    let full = error(&pool, "TodoWrite", json!({ "action": "add", "text": "More" })).await;
    assert_eq!(full, "the list has 200 entries; remove some that are done");
}

#[tokio::test]
async fn sessions_and_sub_agents_have_lists_of_their_own() {
    let pool = builder(PeopleParams::new()).build().unwrap();
    let (one, other) = (pool.session(), pool.session());
    text(one.pool(), "TodoWrite", json!({ "action": "add", "text": "Mine" })).await;
    let listed = json!({ "action": "list" });
    assert_eq!(text(other.pool(), "TodoWrite", listed.clone()).await, "the list is empty");
    assert_eq!(text(one.pool(), "TodoWrite", listed.clone()).await, "[ ] #1 Mine");
    let context = one.pool().context().with(AgentRun::new(Some("helper-1")));
    let result = one.pool().call_with(ToolCall::json("TodoWrite", listed), &context).await;
    assert_eq!(result.observation().to_text(), "the list is empty");
}

#[tokio::test]
async fn a_plan_is_viewed_and_replaced() {
    let builtins = builtins(PeopleParams::new(), Profile::OpenHands);
    let pool = ToolPool::builder().install(builtins).check_outputs().build().unwrap();
    let names: Vec<String> = pool.tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["finish", "task_tracker", "think"]);
    let view = json!({ "command": "view" });
    assert_eq!(text(&pool, "task_tracker", view.clone()).await, "no plan; make one by `plan`");
    let plan = json!({ "command": "plan", "task_list": [
        { "title": "Read", "status": "done", "notes": "twice" },
        { "title": "Write", "status": "in_progress" },
        { "title": "Test" },
    ] });
    let expected = "1. [x] Read\n   twice\n2. [>] Write\n3. [ ] Test";
    assert_eq!(text(&pool, "task_tracker", plan).await, expected);
    assert_eq!(text(&pool, "task_tracker", view).await, expected);
    let missing = error(&pool, "task_tracker", json!({ "command": "plan" })).await;
    assert_eq!(missing, "`plan` needs `task_list`, the whole new plan");
    let unknown = json!({ "command": "plan", "task_list": [{ "title": "a", "status": "ready" }] });
    assert!(error(&pool, "task_tracker", unknown).await.contains("in_progress"));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
#[allow(dead_code, reason = "a schema")]
struct Verdict {
    /// Whether the change is right.
    is_right: bool,
}

#[tokio::test]
async fn finish_ends_a_run_with_a_typed_answer() {
    let pool = builder(PeopleParams::new().answer::<Verdict>()).build().unwrap();
    let wrong = error(&pool, "finish", json!({ "message": "Fine." })).await;
    assert!(wrong.contains("`answer`"), "{wrong}");
    let wrong = error(&pool, "finish", json!({ "answer": { "is_right": "yes" } })).await;
    assert!(wrong.contains("is_right"), "{wrong}");
    let run = AgentRun::new(None);
    let context = pool.context().with(run.clone());
    let finish = ToolCall::json("finish", json!({ "answer": { "is_right": true } }));
    let result = pool.call_with(finish, &context).await;
    assert_eq!(result.observation().to_text(), r#"{"is_right":true}"#);
    let (text, value) = run.take_answer().unwrap();
    assert_eq!((text.as_str(), value), (r#"{"is_right":true}"#, Some(json!({ "is_right": true }))));

    let pool = builder(PeopleParams::new()).build().unwrap();
    let finish = json!({ "message": "Done." });
    assert_eq!(super::text(&pool, "finish", finish).await, "Done.");
    assert_eq!(super::text(&pool, "think", json!({ "thought": "Hm." })).await, "noted");
}
