//! The tool `delegate` of OpenHands.

use super::{SubAgents, Value, builder, call_as, error, json, meet, script, text, value};
use crate::Profile;
use tempfile::TempDir;
use tool_runtime::prelude::*;
use tool_runtime_agent::AgentKind;

/// A pool whose agents of a type `TYPE` answer with this script.
fn pool(types: &[(&str, Value)]) -> (TempDir, ToolPool) {
    let agents = types.iter().fold(SubAgents::new(script(json!([]))), |agents, (name, turns)| {
        agents.kind(*name, AgentKind::new("An agent.").model(script(turns.clone())))
    });
    let directory = TempDir::new().unwrap();
    let builder =
        builder(&directory.path().join("tasks.db"), Some(agents), Profile::OpenHands).add(meet());
    (directory, builder.build().unwrap())
}

fn spawn(ids: &[&str], types: &[&str]) -> Value {
    json!({ "command": "spawn", "ids": ids, "agent_types": types })
}

fn tasks(tasks: Value) -> Value {
    json!({ "command": "delegate", "tasks": tasks })
}

#[tokio::test]
async fn named_agents_work_at_the_same_time_and_remember() {
    let meeting = json!([
        { "calls": [{ "name": "meet" }] }, { "text": "Met." }, { "text": "Again." }
    ]);
    let (_directory, pool) = pool(&[("a", meeting.clone()), ("b", meeting)]);
    let spawned = text(&pool, "delegate", spawn(&["one", "two"], &["a", "b"])).await;
    assert_eq!(spawned, "spawned `one` (a)\nspawned `two` (b)");
    let both = tasks(json!({ "two": "Meet one.", "one": "Meet two." }));
    assert_eq!(text(&pool, "delegate", both).await, "[one]\nMet.\n[two]\nMet.");
    let again = value(&pool, "delegate", tasks(json!({ "one": "And now?" }))).await;
    let expected =
        json!([{ "id": "one", "agent_type": "a", "status": "completed", "result": "Again." }]);
    assert_eq!(again["agents"], expected);
}

#[tokio::test]
async fn a_failure_does_not_affect_the_others() {
    let (_directory, pool) = pool(&[("good", json!([{ "text": "Found." }])), ("bad", json!([]))]);
    text(&pool, "delegate", spawn(&["a", "b"], &["bad", "good"])).await;
    let both = text(&pool, "delegate", tasks(json!({ "a": "Look.", "b": "Look." }))).await;
    assert!(both.starts_with("[a] failed: ") && both.ends_with("\n[b]\nFound."), "{both}");
    let all = error(&pool, "delegate", tasks(json!({ "a": "Look.", "b": "Look." }))).await;
    assert!(all.contains("[a] failed: ") && all.contains("[b] failed: "), "{all}");
}

#[tokio::test]
async fn wrong_inputs_are_refused_before_any_agent_starts() {
    let (_directory, pool) = pool(&[("a", json!([{ "text": "One." }]))]);
    text(&pool, "delegate", spawn(&["x"], &["a"])).await;
    for (arguments, word) in [
        (spawn(&[], &[]), "`spawn` needs `ids`"),
        (spawn(&["y"], &["a", "a"]), "at most as many `agent_types`"),
        (spawn(&["y", "y"], &[]), "different names"),
        (spawn(&["y"], &["wizard"]), "`wizard` is not a type of agent"),
        (spawn(&["1", "2", "3", "4", "5"], &[]), "at most 5 agents; begin one of these anew: `x`"),
        (spawn(&["1", "2", "3", "4", "5", "6"], &[]), "`ids`"),
        (tasks(json!({})), "`delegate` needs `tasks`"),
        (
            tasks(json!({ "x": "Look.", "z": "Look." })),
            "`z` is not an agent; `spawn` it first. Agents: `x`",
        ),
        (
            json!({ "command": "spawn", "ids": ["y"], "tasks": { "y": "Look." } }),
            "`tasks` is for `delegate`",
        ),
        (json!({ "command": "delegate", "ids": ["x"] }), "are for `spawn`"),
        (json!({ "command": "stop" }), "`command`"),
    ] {
        let refused = error(&pool, "delegate", arguments).await;
        assert!(refused.contains(word), "{word}: {refused}");
    }
    // The agent has not used its only turn, and belongs only to its caller.
    let other = call_as(&pool, "eve", "delegate", tasks(json!({ "x": "Look." }))).await;
    assert!(other.is_error() && other.to_text().ends_with("Agents: none"), "{}", other.to_text());
    assert_eq!(text(&pool, "delegate", tasks(json!({ "x": "Look." }))).await, "[x]\nOne.");
}

#[tokio::test]
async fn spawning_a_name_again_begins_anew() {
    let turns = json!([{ "text": "One." }, { "text": "Two." }]);
    let (_directory, pool) = pool(&[("a", turns), ("b", json!([{ "text": "Other." }]))]);
    text(&pool, "delegate", spawn(&["x"], &["a"])).await;
    assert_eq!(text(&pool, "delegate", tasks(json!({ "x": "Look." }))).await, "[x]\nOne.");
    // Resumed, it would refuse another type.
    text(&pool, "delegate", spawn(&["x"], &["b"])).await;
    assert_eq!(text(&pool, "delegate", tasks(json!({ "x": "Look." }))).await, "[x]\nOther.");
}
