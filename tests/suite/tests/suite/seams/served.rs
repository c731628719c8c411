//! A served pool: each client lists what it may see, and is told why a call was denied.

use super::{Events, Paths, builder};
use tool_runtime::Principal;
use tool_runtime::prelude::*;
use tool_runtime::testing::TestClient;

fn pool(events: &Events) -> ToolPool {
    let policy = Paths { hides_writing: true, ..Paths::default() };
    builder().policy(policy).recorder(events.clone()).build().unwrap()
}

#[tokio::test]
async fn a_client_lists_and_calls_what_its_principal_may_see() {
    let events = Events::default();
    let pool = pool(&events);
    let names = async |client: &TestClient| -> Vec<String> {
        client.list_tools().await.into_iter().map(|tool| tool.name).collect()
    };
    let client = TestClient::stateless(&pool).await;
    assert_eq!(names(&client).await, ["fail", "read"]);
    let denied = client.call("write", serde_json::json!({ "path": "a" })).await.unwrap();
    assert!(denied.is_error());
    assert!(denied.to_text().contains("`write` is not available to this caller"));

    let admin = Principal::new("ada").with_scopes(["admin"]);
    let admin = TestClient::builder(&pool).principal(admin).connect().await;
    assert_eq!(names(&admin).await, ["fail", "read", "write"]);
    let written = admin.call("write", serde_json::json!({ "path": "a" })).await.unwrap();
    assert_eq!(written.to_text(), "wrote a");
    let secret = admin.call("read", serde_json::json!({ "path": "secret" })).await.unwrap();
    let text = "the call to `read` is not allowed: `path` is secret; read another file";
    assert_eq!(secret.to_text(), text);
    assert_eq!(events.of("read").last().unwrap(), "finished denied");
}

#[tokio::test]
async fn a_stateful_client_lists_the_same() {
    let client = TestClient::stateful(&pool(&Events::default())).await;
    let names: Vec<String> = client.list_tools().await.into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["fail", "read"]);
}
