//! Servers that a test writes, over streams of this process.

use crate::{McpManager, McpManagerBuilder, McpReader, McpWriter};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{ToolCall, ToolResult};

/// Lines that a server writes after a message.
pub(super) type Answer = dyn Fn(&Value) -> Option<String> + Send + Sync;

/// A manager with the server `s`, which writes what `answer` returns, and otherwise answers as [`usual`] does.
pub(super) fn scripted(
    answer: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
) -> McpManagerBuilder {
    let answer: Arc<Answer> = Arc::new(answer);
    McpManager::builder().custom("s", move || {
        let answer = Arc::clone(&answer);
        async move { Ok(server(answer)) }
    })
}

/// A pool with the tools of a server as [`scripted`] makes it.
pub(super) async fn connected(
    answer: impl Fn(&Value) -> Option<String> + Send + Sync + 'static,
) -> (ToolPool, McpManager) {
    let pool = pool();
    let manager = scripted(answer).connect(&pool).await.unwrap();
    (pool, manager)
}

pub(super) fn pool() -> ToolPool {
    ToolPool::builder().allow_empty().build().unwrap()
}

pub(super) async fn call(pool: &ToolPool, name: &str) -> ToolResult {
    pool.call(ToolCall::new(name, "{}")).await
}

/// The error text of a call.
pub(super) async fn rejection(pool: &ToolPool, name: &str) -> String {
    let result = call(pool, name).await;
    result.error().unwrap_or_else(|| panic!("{result:?}")).message().to_owned()
}

fn server(answer: Arc<Answer>) -> (McpReader, McpWriter) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    tokio::spawn(serve(theirs, answer));
    let (reader, writer) = tokio::io::split(ours);
    (Box::new(reader), Box::new(writer))
}

async fn serve(stream: DuplexStream, answer: Arc<Answer>) {
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let text = answer(&message).or_else(|| usual(&message)).unwrap_or_default();
        writer.write_all(format!("{text}\n").as_bytes()).await.unwrap();
    }
}

/// The answer of a server of 2025-11-25 with the tool `echo`.
pub(super) fn usual(message: &Value) -> Option<String> {
    Some(match message["method"].as_str()? {
        "initialize" => result(
            message,
            &json!({
                "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {}, "resources": {} },
                "serverInfo": { "name": "scripted", "version": "1" },
            }),
        ),
        "tools/list" => result(message, &json!({ "tools": [tool("echo")] })),
        "tools/call" => {
            result(message, &json!({ "content": [{ "type": "text", "text": "done" }] }))
        }
        _ if message["id"].is_null() => return None,
        _ => error(message, &json!({ "code": -32601, "message": "no such method" })),
    })
}

pub(super) fn tool(name: &str) -> Value {
    json!({ "name": name, "inputSchema": { "type": "object" } })
}

pub(super) fn result(message: &Value, result: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string()
}

pub(super) fn error(message: &Value, error: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }).to_string()
}

/// Whether a message is a request of this method.
pub(super) fn is(message: &Value, method: &str) -> bool {
    message["method"] == method
}
