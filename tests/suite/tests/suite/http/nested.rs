//! Nested calls in sessions.

use super::client::RawRequest;
use super::streams::{CarefulAction, event, stateless};
use super::test_server::{TestServer, in_time};
use serde_json::json;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::http::HttpOptions;
use tool_runtime::prelude::*;

/// Call a tool that asks.
#[tool(register = false)]
async fn relay(context: &ToolContext) -> String {
    context.call(ToolCall::new("careful", "")).await.observation().to_text()
}

/// Call a tool that asks and one that does not, concurrently.
#[tool(register = false)]
async fn relay_all(context: &ToolContext) -> String {
    let calls = [ToolCall::new("whoami", ""), ToolCall::new("careful", "")];
    let results = context.call_all(calls).await;
    results.iter().map(|result| result.observation().to_text()).collect::<Vec<_>>().join(" ")
}

#[tokio::test]
async fn a_tool_called_by_a_tool_asks_the_client_of_a_session() {
    let tools = |pool: ToolPoolBuilder| {
        pool.tool::<CarefulAction>().tool::<RelayAction>().tool::<RelayAllAction>()
    };
    let server = TestServer::start_with(HttpOptions::default(), tools).await;
    let session = server.session_with_capabilities(&json!({"elicitation": {}})).await;
    for (id, tool, expected) in [(1, "relay", "did it"), (2, "relay_all", "anonymous did it")] {
        let mut connection = server.open().await;
        connection.send(&RawRequest::call_within(&session, id, tool)).await;
        assert_eq!(in_time(connection.head()).await.header("content-type"), "text/event-stream");
        let question = event(&mut connection).await;
        assert_eq!(question["method"], "elicitation/create", "{tool}: {question}");
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {
            "action": "accept", "content": {"sure": true}
        }});
        assert_eq!(server.request(&RawRequest::within(&session, &answer)).await.status(), 202);
        let done = event(&mut connection).await;
        assert_eq!(done["result"]["content"][0]["text"], expected, "{tool}: {done}");
    }
}

/// Call a tool that asks, twice.
#[tool(register = false)]
async fn relay_twice(context: &ToolContext) -> String {
    let one = context.call(ToolCall::new("careful", "")).await.observation().to_text();
    let two = context.call(ToolCall::new("careful", "")).await.observation().to_text();
    format!("{one}, {two}")
}

#[tokio::test]
async fn each_nested_call_gets_the_answer_to_its_own_question() {
    let tools = |pool: ToolPoolBuilder| pool.tool::<CarefulAction>().tool::<RelayTwiceAction>();
    let server = TestServer::start_with(HttpOptions::default(), tools).await;
    for mut request in stateless("relay_twice") {
        for (key, sure) in [("1/sure", true), ("2/sure", false)] {
            let response = server.request(&request).await.json();
            let questions = response["result"]["inputRequests"].as_object().expect("questions");
            assert_eq!(questions.keys().collect::<Vec<_>>(), [key], "{response}");
            request = request.with_params(|params| {
                params["requestState"] = response["result"]["requestState"].clone();
                params["inputResponses"] =
                    json!({key: {"action": "accept", "content": {"sure": sure}}});
            });
        }
        let done = server.request(&request).await.json();
        assert_eq!(done["result"]["content"][0]["text"], "did it, left it", "{done}");
    }
    let session = server.session_with_capabilities(&json!({"elicitation": {}})).await;
    let mut connection = server.open().await;
    connection.send(&RawRequest::call_within(&session, 1, "relay_twice")).await;
    in_time(connection.head()).await;
    for sure in [true, false] {
        let question = event(&mut connection).await;
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": {
            "action": "accept", "content": {"sure": sure}
        }});
        assert_eq!(server.request(&RawRequest::within(&session, &answer)).await.status(), 202);
    }
    let done = event(&mut connection).await;
    assert_eq!(done["result"]["content"][0]["text"], "did it, left it", "{done}");
}
