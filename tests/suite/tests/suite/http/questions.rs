//! Concurrent questions of one call.

use super::client::RawRequest;
use super::test_server::TestServer;
use serde_json::json;
use std::time::Duration;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::http::HttpOptions;
use tool_runtime::prelude::*;

/// Ask two things at once. The second question takes a while to write.
#[tool(register = false)]
async fn ask_both(context: &ToolContext) -> Result<String, ToolError> {
    let (left, right) = futures_util::join!(context.ask::<String>("left", "Left?"), async {
        std::thread::sleep(Duration::from_millis(50));
        context.ask::<String>("right", "Right?").await
    });
    Ok(format!("{:?} {:?}", left?.accepted(), right?.accepted()))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn concurrent_questions_are_sent_together() {
    let tools = |pool: ToolPoolBuilder| pool.tool::<AskBothAction>();
    let server = TestServer::start_with(HttpOptions::default(), tools).await;
    let request = RawRequest::call(1, "ask_both").with_params(|params| {
        params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({"elicitation": {}});
    });
    let result = server.request(&request).await.json();
    let questions = result["result"]["inputRequests"].as_object().expect("questions");
    assert_eq!(questions.keys().collect::<Vec<_>>(), ["left", "right"]);
}
