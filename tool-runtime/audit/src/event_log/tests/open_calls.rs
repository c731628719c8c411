//! The thread of a log keeps calls in memory until they end, however they end.

use super::*;
use tokio::sync::Notify;

async fn open_calls(log: &EventLog) -> usize {
    log.run(|thread, _| thread.encoder.calls.len()).await.unwrap()
}

#[tokio::test]
async fn calls_are_kept_until_they_end() {
    let (log, started) = (EventLog::memory(), Arc::new(Notify::new()));
    let schema = json!({ "type": "object", "properties": { "text": {} } });
    let tool = |name: &str| Tool::builder(name, "Answer.").input_schema(schema.clone());
    let start = Arc::clone(&started);
    let wait = move || {
        start.notify_one();
        std::future::pending::<()>()
    };
    let pool = ToolPool::builder()
        .add(tool("echo").read_only(true).handler(|| async { "a" }))
        .add(tool("send").handler(|| async { Err::<(), _>("no") }))
        .add(tool("wait").handler(wait))
        .policy(Rules)
        .recorder(log.clone())
        .build()
        .unwrap();
    for call in [
        ToolCall::json("echo", text("a")),
        ToolCall::json("send", text("a")),
        ToolCall::json("send", text("no")),
        ToolCall::json("send", text("ask")),
        ToolCall::new("send", "no JSON"),
        ToolCall::new("other", "{}"),
    ] {
        pool.call(call.clone()).await;
        assert_eq!(open_calls(&log).await, 0, "{call:?}");
    }
    tokio::select! {
        ended = pool.call(ToolCall::new("wait", "{}")) => panic!("{ended:?}"),
        () = async {
            started.notified().await;
            assert_eq!(open_calls(&log).await, 1);
        } => {}
    }
    assert_eq!(open_calls(&log).await, 0, "dropped");
}
