//! Malformed answers of clients to questions of tools.

use super::client::RawRequest;
use super::streams::{CarefulAction, event};
use super::test_server::{TestServer, in_time};
use serde_json::{Value, json};
use tool_runtime::ToolPoolBuilder;
use tool_runtime::http::HttpOptions;

/// Malformed answers to the question with this id.
fn malformed_answers(id: &Value) -> [String; 5] {
    [
        format!(r#"{{"jsonrpc": "2.0", "id": {id}, "error": "x"}}"#),
        format!(
            r#"{{"jsonrpc": "2.0", "id": {id}, "result": {{}}, "error": {{"code": 1, "message": "x"}}}}"#
        ),
        format!(r#"{{"jsonrpc": "2.0", "id": {id}}}"#),
        format!(r#"{{"id": {id}}}"#),
        format!(r#"{{"jsonrpc": "2.0", "id": {id}, "result": {{}}, "result": {{}}}}"#),
    ]
}

#[tokio::test]
async fn a_question_with_an_unusable_answer_fails() {
    let tools = |pool: ToolPoolBuilder| pool.tool::<CarefulAction>();
    let server = TestServer::start_with(HttpOptions::default(), tools).await;
    let session = server.session_with_capabilities(&json!({"elicitation": {}})).await;
    for nth in 0..malformed_answers(&Value::Null).len() {
        let mut connection = server.open().await;
        connection.send(&RawRequest::call_within(&session, 1, "careful")).await;
        assert_eq!(in_time(connection.head()).await.status, 200);
        let question = event(&mut connection).await;
        assert_eq!(question["method"], "elicitation/create");
        let answer = &malformed_answers(&question["id"])[nth];
        let rejected =
            server.request(&RawRequest::within(&session, &json!({})).with_body(answer)).await;
        assert_eq!(rejected.status(), 400, "{answer}");
        // The id could also be the id of a client's request.
        assert_eq!(rejected.json().get("id"), Some(&Value::Null), "{answer}");
        let result = event(&mut connection).await;
        assert_eq!(result["result"]["isError"], true, "{answer}: {result}");
    }
}
