//! Resources of servers: listed and read by programs, and by models with a tool.

use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, duplex, split};
use tool_runtime::mcp::{McpManager, McpManagerError, McpServerConfig};
use tool_runtime::prelude::*;

fn offering() -> McpServerConfig {
    McpServerConfig::stdio(env!("CARGO_BIN_EXE_offering_server"))
}

fn pool() -> ToolPool {
    ToolPool::builder().allow_empty().build().unwrap()
}

/// A server whose list of resources repeats the same page forever.
async fn repeated_page(stream: DuplexStream, requests: Arc<AtomicUsize>) {
    let (reader, mut writer) = split(stream);
    let mut lines = BufReader::new(reader).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let answer = match message["method"].as_str() {
            Some("initialize") => json!({ "result": {
                "protocolVersion": "2025-11-25",
                "capabilities": { "resources": {} },
                "serverInfo": { "name": "repeated_page", "version": "1" },
            } }),
            Some("resources/list") => {
                requests.fetch_add(1, Ordering::Relaxed);
                json!({ "result": { "resources": [{ "uri": "a:b", "name": "b" }], "nextCursor": "same" } })
            }
            _ => json!({ "error": { "code": -32601, "message": "no such method" } }),
        };
        let Value::Object(mut answer) = answer else { panic!("an object") };
        if message["id"].is_null() {
            continue;
        }
        answer.insert("jsonrpc".to_owned(), json!("2.0"));
        answer.insert("id".to_owned(), message["id"].clone());
        let line = format!("{}\n", Value::Object(answer));
        writer.write_all(line.as_bytes()).await.unwrap();
    }
}

#[tokio::test]
async fn an_endless_list_is_truncated() {
    let requests = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&requests);
    let builder = McpManager::builder().custom("repeated_page", move || {
        let (ours, theirs) = duplex(1 << 16);
        tokio::spawn(repeated_page(theirs, Arc::clone(&count)));
        async move {
            let (reader, writer) = split(ours);
            Ok((Box::new(reader) as _, Box::new(writer) as _))
        }
    });
    let manager = builder.connect(&pool()).await.unwrap();
    let error = manager.resources("repeated_page").await.unwrap_err();
    assert!(error.to_string().contains("repeats an earlier page"), "{error}");
    assert_eq!(requests.load(Ordering::Relaxed), 2, "the second one is the same");
    manager.close().await;
}

#[tokio::test]
async fn a_program_lists_and_reads_resources() {
    let builder = McpManager::builder().server("notes", offering());
    let manager = builder.connect(&pool()).await.unwrap();
    let definitions = manager.resources("notes").await.unwrap();
    let (templates, resources): (Vec<_>, Vec<_>) =
        definitions.iter().partition(|one| one.is_template());
    assert!(!templates.is_empty() && !resources.is_empty(), "{definitions:?}");
    assert!(resources.iter().all(|one| !one.name.is_empty()), "{definitions:?}");
    let contents = manager.read_resource("notes", &resources[0].uri).await.unwrap();
    assert_eq!(contents[0].uri, resources[0].uri);
    let nothing = manager.read_resource("notes", "no:such").await.unwrap_err();
    assert!(matches!(nothing, McpManagerError::Unanswered { .. }), "{nothing}");
    let unknown = manager.resources("unknown").await.unwrap_err();
    assert!(matches!(unknown, McpManagerError::Unknown { .. }), "{unknown}");
    manager.close().await;
}

#[tokio::test]
async fn a_model_reads_the_text_of_an_error() {
    let pool = pool();
    let builder = McpManager::builder().server("notes", offering().resources(true));
    let manager = builder.connect(&pool).await.unwrap();
    for one in
        manager.resources("notes").await.unwrap().iter().filter(|listed| !listed.is_template())
    {
        let contents = manager.read_resource("notes", &one.uri).await.unwrap();
        let arguments = json!({ "server": "notes", "uri": one.uri }).to_string();
        let read = pool.call(ToolCall::new("read_mcp_resource", arguments)).await;
        let texts: Vec<_> = contents.iter().filter_map(|one| one.text.as_deref()).collect();
        assert_eq!(read.observation().to_text(), texts.join("\n"));
    }
    manager.close().await;
}
