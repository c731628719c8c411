use super::{board, builder, call_as, error, script, text, value};
use crate::Profile;
use crate::tasks::identity::Identity;
use serde_json::{Value, json};
use tempfile::TempDir;
use tool_runtime::prelude::*;
use tool_runtime_agent::{Agent, AgentEvent, SubAgents};

/// A call by a member of the first team.
async fn call_of(pool: &ToolPool, member: &str, tool: &str, arguments: Value) -> Observation {
    let identity = Identity::Member { team: 1, name: member.to_owned() };
    let context = pool.context().with(identity);
    pool.call_with(ToolCall::json(tool, arguments), &context).await.observation().clone()
}

async fn read(pool: &ToolPool, member: &str) -> String {
    call_of(pool, member, "ReadMessages", json!({})).await.to_text()
}

#[tokio::test]
async fn teams_are_created_and_disbanded() {
    let (_directory, pool) = board();
    let created =
        text(&pool, "TeamCreate", json!({ "name": "build", "members": ["ada", "bob"] })).await;
    assert_eq!(created, "created team_1 `build`, members: `lead`, `ada`, `bob`");
    let again = error(&pool, "TeamCreate", json!({ "name": "build" })).await;
    assert!(again.starts_with("the team `build` exists"), "{again}");
    for (arguments, word) in [
        (json!({ "name": "a b" }), "`name`"),
        (json!({ "name": "x", "members": ["lead"] }), "`lead` is the agent that leads"),
        (json!({ "name": "x", "members": ["*"] }), "`*` is not a name of a member"),
        (json!({ "members": [] }), "`name`"),
        (json!({ "name": "team_2" }), "`team_2` reads like the id of a team"),
    ] {
        let text = error(&pool, "TeamCreate", arguments).await;
        assert!(text.contains(word), "{text}");
    }
    let unknown = error(&pool, "TeamDelete", json!({ "id": "team_2" })).await;
    assert_eq!(unknown, "`team_2` is not the id or name of a team; teams: `build`");
    text(&pool, "TeamDelete", json!({ "id": "build" })).await;
    let gone = error(&pool, "TeamDelete", json!({ "id": "team_1" })).await;
    assert_eq!(gone, "the team `team_1` is disbanded; teams: none");
    let next = text(&pool, "TeamCreate", json!({ "name": "build" })).await;
    assert!(next.starts_with("created team_2 "), "{next}");
    let foreign = call_as(&pool, "eve", "TeamDelete", json!({ "id": "team_2" })).await;
    assert!(foreign.is_error());
}

#[tokio::test]
async fn only_the_lead_creates_and_disbands_teams() {
    let (_directory, pool) = board();
    text(&pool, "TeamCreate", json!({ "name": "build", "members": ["ada"] })).await;
    for (tool, arguments) in
        [("TeamCreate", json!({ "name": "other" })), ("TeamDelete", json!({ "id": "build" }))]
    {
        let result = call_of(&pool, "ada", tool, arguments).await.to_text();
        assert_eq!(result, "only the agent that leads teams creates and disbands them");
    }
}

#[tokio::test]
async fn messages_reach_members_once_and_in_order() {
    let (_directory, pool) = board();
    text(&pool, "TeamCreate", json!({ "name": "build", "members": ["ada", "bob"] })).await;
    let sent = text(&pool, "SendMessage", json!({ "to": "ada", "message": "first" })).await;
    assert_eq!(sent, "sent to `ada` in the team `build`");
    let broadcast =
        call_of(&pool, "bob", "SendMessage", json!({ "to": "*", "message": "second" })).await;
    assert_eq!(broadcast.to_text(), "sent to `lead`, `ada` in the team `build`");
    assert_eq!(
        read(&pool, "ada").await,
        "Message from `lead` in the team `build`:\nfirst\n\nMessage from `bob` in the team `build`:\nsecond"
    );
    assert_eq!(read(&pool, "ada").await, "no messages");
    assert_eq!(read(&pool, "bob").await, "no messages");
    let lead = text(&pool, "ReadMessages", json!({})).await;
    assert_eq!(lead, "Message from `bob` in the team `build`:\nsecond");
}

#[tokio::test]
async fn messages_stay_within_the_team() {
    let (_directory, pool) = board();
    let none = error(&pool, "SendMessage", json!({ "to": "ada", "message": "a" })).await;
    assert!(none.contains("create one by `TeamCreate`"), "{none}");
    text(&pool, "TeamCreate", json!({ "name": "build", "members": ["ada"] })).await;
    text(&pool, "TeamCreate", json!({ "name": "test", "members": ["ada", "eve"] })).await;

    let stranger =
        call_of(&pool, "ada", "SendMessage", json!({ "to": "eve", "message": "a" })).await;
    assert!(stranger.is_error());
    assert_eq!(
        stranger.to_text(),
        "`eve` is not another member of the team `build`; its members: `lead`, `ada`"
    );
    let other = json!({ "to": "eve", "message": "a", "team": "test" });
    let other = call_of(&pool, "ada", "SendMessage", other).await;
    assert!(
        other.is_error() && other.to_text().contains("leave `team` out"),
        "{}",
        other.to_text()
    );
    call_of(&pool, "ada", "SendMessage", json!({ "to": "*", "message": "a" })).await;

    let several = error(&pool, "SendMessage", json!({ "to": "ada", "message": "a" })).await;
    assert!(several.contains("`build`, `test`"), "{several}");
    let one = json!({ "to": "ada", "message": "a", "team": "team_2" });
    assert_eq!(text(&pool, "SendMessage", one).await, "sent to `ada` in the team `test`");
    assert_eq!(read(&pool, "ada").await, "no messages", "that was for the other team");
    let unknown = error(&pool, "SendMessage", json!({ "to": "joe", "message": "a" })).await;
    assert!(unknown.contains("`joe` is not a member of a team"), "{unknown}");
    let eve = json!({ "to": "eve", "message": "a" });
    assert_eq!(text(&pool, "SendMessage", eve).await, "sent to `eve` in the team `test`");

    let context = pool.context().with(Identity::Outsider);
    let call = ToolCall::json("SendMessage", json!({ "to": "ada", "message": "a" }));
    let outsider = pool.call_with(call, &context).await;
    assert!(outsider.observation().to_text().contains("not a member of a team"));
}

#[tokio::test]
async fn a_mailbox_is_bounded() {
    let (_directory, pool) = board();
    text(&pool, "TeamCreate", json!({ "name": "build", "members": ["ada"] })).await;
    for _ in 0..100 {
        text(&pool, "SendMessage", json!({ "to": "ada", "message": "a" })).await;
    }
    let full = error(&pool, "SendMessage", json!({ "to": "*", "message": "a" })).await;
    assert!(full.starts_with("`ada` has 100 unread messages"), "{full}");
    read(&pool, "ada").await;
    text(&pool, "SendMessage", json!({ "to": "ada", "message": "a" })).await;
}

#[tokio::test]
async fn an_agent_loop_adds_messages_to_the_conversation() {
    let directory = TempDir::new().unwrap();
    let sub = script(json!([
        { "calls": [{ "name": "SendMessage", "arguments": { "to": "lead", "message": "half done" } }] },
        { "text": "Done." },
    ]));
    let file = directory.path().join("tasks.db");
    let pool = builder(&file, Some(SubAgents::new(sub)), Profile::Standard).build().unwrap();
    let lead = script(json!([
        { "calls": [{ "name": "TeamCreate", "arguments": { "name": "build" } }] },
        { "calls": [{ "name": "Agent", "arguments": {
            "prompt": "Build.", "description": "Build it", "name": "ada", "team_name": "build" } }] },
        { "calls": [{ "name": "SendMessage", "arguments": { "to": "ada", "message": "thanks" } }] },
        { "text": "All done." },
    ]));
    let mut run = Agent::new(lead, pool.clone()).run("Build it.");
    let (mut received, mut results) = (Vec::new(), Vec::new());
    while let Some(event) = run.next().await {
        match event {
            AgentEvent::Received(text) => received.push(text),
            AgentEvent::Result(result) => results.push(result.observation().to_text()),
            _ => {}
        }
    }
    assert_eq!(received, ["Message from `ada` in the team `build`:\nhalf done"]);
    assert!(results[1].starts_with("Done."), "{results:?}");
    assert_eq!(results[2], "sent to `ada` in the team `build`");
    assert_eq!(read(&pool, "ada").await, "Message from `lead` in the team `build`:\nthanks");
    let team = value(&pool, "TeamDelete", json!({ "id": "build" })).await;
    assert_eq!(team["members"], json!(["lead", "ada"]));
}
