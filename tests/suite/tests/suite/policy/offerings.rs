//! Resources and prompts of a server, under its policy.

use crate::questions::VERSIONS;
use serde_json::json;
use tool_runtime::policy::{Format, Policy};
use tool_runtime::prelude::*;
use tool_runtime::testing::{Question, Reply, TestClient};

const RULES: &str = "
rules:
  - {id: notes, when: {resources: ['notes://public/*']}, then: allow}
  - {id: others, when: {resources: ['notes://*'], prompts: [review]}, then: ask}";

fn pool() -> ToolPool {
    let notes = Resource::builder("notes://{+path}", "notes", "Notes.");
    ToolPool::builder()
        .add_resource(notes.handler(|| async { "a note" }))
        .add_prompt(Prompt::builder("review", "Review.").handler(|| async { "Review this." }))
        .add_prompt(Prompt::builder("hello", "Greet.").handler(|| async { "Hello!" }))
        .install(Policy::parse(RULES, Format::Yaml).expect("a policy"))
        .build()
        .expect("a pool")
}

/// Approves questions about what is private.
async fn answer(question: Question) -> Reply {
    let decision = if question.message().contains("private") { "approve" } else { "deny" };
    Reply::accept(json!({ "decision": decision }))
}

#[tokio::test]
async fn clients_read_what_the_policy_and_its_user_allow() {
    for version in VERSIONS {
        let client =
            TestClient::builder(&pool()).protocol_version(version).answer(answer).connect().await;
        let read = async |uri: &str| client.exchange("resources/read", json!({ "uri": uri })).await;
        let get = async |name: &str| client.exchange("prompts/get", json!({ "name": name })).await;
        let public = read("notes://public/a").await.expect("contents");
        assert_eq!(public["contents"][0]["text"], "a note");
        assert_eq!(client.questions().len(), 0, "{version:?}");
        let private = read("notes://private/a").await.expect("contents");
        assert_eq!(private["contents"][0]["text"], "a note");
        let secret = read("notes://secret/a").await.expect_err("a denial");
        let text = "the call to `resources:notes://secret/a` was not approved: the user denied it";
        assert_eq!(secret.message(), text);
        assert!(get("review").await.is_err());
        assert_eq!(client.questions().len(), 3, "{version:?}");
        let denied = get("hello").await.expect_err("a denial");
        let text = "the call to `prompts:hello` is not allowed";
        assert!(denied.message().starts_with(text), "{denied}");
        client.close().await;
    }
}
