//! `ListMcpResources` and `ReadMcpResource` over a process: this program, with the argument `serve`.
//!
//! Without libtest, which would print to the standard output of the server.

#[path = "../src/hints.rs"]
mod hints;

use serde_json::{Value, json};
use std::time::Duration;
use tool_runtime::mcp::{McpManager, McpServer, McpServerConfig};
use tool_runtime::prelude::*;
use tool_runtime_builtins::{Builtins, Workspace};

const LIMIT: Duration = Duration::from_secs(60);

/// The settings.
#[resource("config://app", mime_type = "application/toml")]
async fn config() -> &'static str {
    "verbose = true"
}

/// A text of 100,000 characters.
#[resource("text://long", mime_type = "text/plain")]
async fn long() -> String {
    "äöüß".repeat(25_000)
}

/// A picture.
#[resource("image://dot", mime_type = "image/png")]
async fn dot() -> Vec<u8> {
    vec![0x89, b'P', b'N', b'G']
}

/// A file in a format that models do not see.
#[resource("file://data", mime_type = "application/zip")]
async fn data() -> Vec<u8> {
    vec![b'P', b'K', 3, 4, 0]
}

/// One note.
#[resource("notes://{id}", mime_type = "text/plain")]
async fn note(
    /// The note's number.
    id: u32,
) -> Option<String> {
    (id == 1).then(|| "Buy a map.".to_owned())
}

#[tokio::main]
async fn main() {
    if std::env::args().nth(1).as_deref() == Some("serve") {
        return serve().await;
    }
    let (pool, manager) = connected().await;
    resources_of_all_servers_are_listed(&pool).await;
    resources_are_read(&pool).await;
    a_long_text_is_read_in_parts(&pool).await;
    mistakes_are_errors_that_name_the_servers(&pool).await;
    hints_and_tags_are_stated(&pool);
    manager.close().await;
    a_pool_without_servers_says_so().await;
    eprintln!("test result: ok. 6 passed");
}

async fn serve() {
    let pool = ToolPool::builder()
        .resource::<ConfigResource>()
        .resource::<LongResource>()
        .resource::<DotResource>()
        .resource::<DataResource>()
        .resource::<NoteResource>()
        .allow_empty()
        .build()
        .unwrap();
    McpServer::new(pool, "resources", "1.0.0").serve_stdio().await.unwrap();
}

fn pool() -> ToolPool {
    let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build().unwrap();
    let builtins = Builtins::new(workspace).servers();
    ToolPool::builder().install(builtins).check_outputs().build().unwrap()
}

/// A pool with the server, twice, and one that does not start.
async fn connected() -> (ToolPool, McpManager) {
    let program = std::env::current_exe().unwrap();
    let server = McpServerConfig::stdio(program.to_str().unwrap()).arg("serve");
    let missing = McpServerConfig::stdio("/no/such/program");
    let pool = pool();
    let manager = McpManager::builder()
        .server("first", server.clone())
        .server("second", server.clone())
        .server("hidden", server.resources(false))
        .server("missing", missing)
        .connect(&pool)
        .await
        .unwrap();
    (pool, manager)
}

async fn call(pool: &ToolPool, tool: &str, arguments: Value) -> Observation {
    let call = pool.call(ToolCall::json(tool, arguments));
    tokio::time::timeout(LIMIT, call).await.expect("the call hangs").observation().clone()
}

async fn value(pool: &ToolPool, tool: &str, arguments: Value) -> Value {
    let result = call(pool, tool, arguments).await;
    assert!(!result.is_error(), "{}", result.to_text());
    result.structured().unwrap().clone()
}

async fn resources_of_all_servers_are_listed(pool: &ToolPool) {
    let list = value(pool, "ListMcpResources", json!({})).await;
    assert_eq!(list["total"], 10, "{list}");
    let problems = list["problems"].as_array().unwrap();
    assert!(problems.len() == 1 && problems[0].as_str().unwrap().contains("`missing`"), "{list}");
    let list = value(pool, "ListMcpResources", json!({ "server": "second" })).await;
    let resources = list["resources"].as_array().unwrap();
    assert!(resources.iter().all(|one| one["server"] == "second"), "{list}");
    let note = resources.iter().find(|one| one["uri"] == "notes://{id}").unwrap();
    assert_eq!((&note["is_template"], &note["description"]), (&json!(true), &json!("One note.")));
    let text = call(pool, "ListMcpResources", json!({ "server": "first" })).await.to_text();
    assert!(text.starts_with("first:\n- "), "{text}");
    assert!(text.contains("- config://app: config, application/toml; The settings.\n"), "{text}");
    assert!(text.contains("- notes://{id} (template): note, text/plain; One note.\n"), "{text}");
}

async fn resources_are_read(pool: &ToolPool) {
    let read = |uri: &str| json!({ "server": "first", "uri": uri });
    for (uri, expected) in [("config://app", "verbose = true"), ("notes://1", "Buy a map.")] {
        let result = call(pool, "ReadMcpResource", read(uri)).await;
        assert_eq!(result.to_text(), expected, "{uri}");
        assert_eq!(result.structured().unwrap()["parts"][0]["text"], expected);
    }
    let image = call(pool, "ReadMcpResource", read("image://dot")).await;
    assert_eq!(image.content(), [ContentBlock::image("iVBORw==", "image/png")]);
    assert_eq!(image.structured().unwrap()["parts"][0]["bytes"], 4);
    let other = call(pool, "ReadMcpResource", read("file://data")).await;
    assert_eq!(other.to_text(), "[file://data: application/zip, 5 bytes, not shown]");
}

async fn a_long_text_is_read_in_parts(pool: &ToolPool) {
    let (mut text, mut offset) = (String::new(), Some(0));
    while let Some(from) = offset {
        let arguments = json!({ "server": "first", "uri": "text://long", "max_length": 70_000, "offset": from });
        let part = value(pool, "ReadMcpResource", arguments).await;
        text.push_str(part["parts"][0]["text"].as_str().unwrap());
        offset = part["next_offset"].as_u64();
    }
    assert!(text == "äöüß".repeat(25_000));
    let arguments = json!({ "server": "first", "uri": "text://long", "max_length": 10 });
    let result = call(pool, "ReadMcpResource", arguments).await.to_text();
    assert!(result.contains("[characters 0 to 10 of 100000; the rest: `offset` 10]"), "{result}");
    let after = json!({ "server": "first", "uri": "text://long", "offset": 100_000 });
    let result = call(pool, "ReadMcpResource", after).await;
    assert!(result.is_error() && result.to_text().contains("has 100000 characters"));
}

async fn mistakes_are_errors_that_name_the_servers(pool: &ToolPool) {
    for (tool, arguments, expected) in [
        (
            "ListMcpResources",
            json!({ "server": "frist" }),
            "there are: `first`, `missing`, `second`",
        ),
        ("ReadMcpResource", json!({ "server": "x", "uri": "a:b" }), "there are: `first`"),
        ("ReadMcpResource", json!({ "server": "first", "uri": "notes://2" }), "notes://2"),
        ("ReadMcpResource", json!({ "server": "missing", "uri": "a:b" }), "`missing`"),
    ] {
        let result = call(pool, tool, arguments).await;
        let text = result.to_text();
        assert!(result.is_error() && text.contains(expected), "{text}");
    }
}

fn hints_and_tags_are_stated(pool: &ToolPool) {
    let mut rows = hints::rows(pool);
    rows.retain(|row| row.contains("McpResource"));
    assert_eq!(rows, ["ListMcpResources r-io specialist", "ReadMcpResource r-io specialist"]);
}

async fn a_pool_without_servers_says_so() {
    let pool = pool();
    let text = call(&pool, "ListMcpResources", json!({})).await.to_text();
    assert_eq!(text.trim(), "[no resources]");
    let result = call(&pool, "ReadMcpResource", json!({ "server": "x", "uri": "a:b" })).await;
    assert!(result.to_text().contains("no servers are configured"), "{}", result.to_text());
}
