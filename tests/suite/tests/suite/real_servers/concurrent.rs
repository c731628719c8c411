//! Six servers at once: two languages, four versions of two SDKs, both protocol versions.

use super::super::support::class;
use super::fixture::{ALL, Fixture, manager_builder};
use serde_json::{Value, json};
use tool_runtime::mcp::{McpManager, McpState};
use tool_runtime::pool::ToolStatus;
use tool_runtime::prelude::*;
use tool_runtime::{ContentBlock, ErrorClass};

/// Starting them is expensive, so all checks share one pool.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn six_servers_share_one_pool() {
    let fixture = Fixture::new("concurrent");
    let repository = fixture.repository();
    let pool = ToolPool::builder().build().unwrap();
    let manager = manager_builder().config(fixture.config()).connect(&pool).await.unwrap();
    every_tool_is_listed(&pool, &manager);
    each_answers(&pool, &fixture, &repository).await;
    a_batch_is_answered_in_order(&pool, &repository).await;
    every_kind_of_content_is_kept(&pool, &fixture).await;
    rejects_invalid_arguments_before_sending(&pool, &manager).await;
    reports_failures(&pool, &repository).await;
    reports_unknown_names(&pool).await;
    applies_restrictions(&pool).await;
    manager.close().await;
    assert!(pool.snapshot().tools().is_empty());
}

async fn call(pool: &ToolPool, name: &str, arguments: Value) -> ToolResult {
    pool.call(ToolCall::new(name, arguments.to_string())).await
}

/// The text of a call that succeeds.
async fn text(pool: &ToolPool, name: &str, arguments: Value) -> String {
    let result = call(pool, name, arguments).await;
    assert!(!result.is_error(), "{name}: {result:?}");
    result.observation().to_text()
}

async fn structured(pool: &ToolPool, name: &str, arguments: Value) -> Value {
    let result = call(pool, name, arguments).await;
    result.observation().structured_as().unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn every_tool_is_listed(pool: &ToolPool, manager: &McpManager) {
    let snapshot = pool.snapshot();
    for (name, _, count) in ALL {
        let prefix = format!("{name}.");
        let tools = snapshot.tools().iter().filter(|tool| tool.name().starts_with(&prefix));
        assert_eq!(tools.count(), count, "{name}");
        let status = manager.server(name).unwrap();
        assert_eq!((status.state, status.tools), (McpState::Ready, count), "{name}");
        assert!(status.problems.is_empty(), "{name}: {:?}", status.problems);
        let protocol = if matches!(name, "git" | "time") { "2026-07-28" } else { "2025-11-25" };
        assert_eq!(status.protocol.as_deref(), Some(protocol), "{name}");
    }
    assert_eq!(snapshot.tools().len(), ALL.iter().map(|(.., count)| count).sum::<usize>());
    let report = pool.report();
    assert!(report.tools.iter().all(|tool| tool.status == ToolStatus::Visible), "{report}");
}

async fn each_answers(pool: &ToolPool, fixture: &Fixture, repository: &str) {
    assert_eq!(text(pool, "everything.echo", json!({ "message": "hi" })).await, "Echo: hi");
    let file = fixture.path("files/new.txt");
    text(pool, "files.write_file", json!({ "path": file, "content": "Zürich" })).await;
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "Zürich");
    let log = text(pool, "git.git_log", json!({ "repo_path": repository })).await;
    assert!(log.contains("Draw a map"), "{log}");
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["writes"] });
    text(pool, "memory.create_entities", json!({ "entities": [ada] })).await;
    let found = structured(pool, "memory.open_nodes", json!({ "names": ["Ada"] })).await;
    assert_eq!(found["entities"], json!([ada]));
    // The session is kept: a call finds the results of earlier ones.
    text(pool, "sqlite.create_table", json!({ "query": "CREATE TABLE t (n INTEGER)" })).await;
    text(pool, "sqlite.write_query", json!({ "query": "INSERT INTO t VALUES (7)" })).await;
    let rows = text(pool, "sqlite.read_query", json!({ "query": "SELECT n FROM t" })).await;
    assert_eq!(rows, "[{'n': 7}]");
    let noon =
        json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    assert_eq!(structured(pool, "time.convert_time", noon).await["time_difference"], "+9.0h");
}

async fn a_batch_is_answered_in_order(pool: &ToolPool, repository: &str) {
    let calls = [
        ("everything.get-sum", json!({ "a": 2, "b": 3 }), "The sum of 2 and 3 is 5."),
        ("git.git_show", json!({ "repo_path": repository, "revision": "HEAD" }), "Draw a map"),
        ("sqlite.list_tables", json!({}), "[{'name': 't'}]"),
        ("no.such", json!({}), "no.such"),
        ("time.get_current_time", json!({ "timezone": "UTC" }), "\"timezone\": \"UTC\""),
        ("everything.echo", json!({ "message": "last" }), "Echo: last"),
        ("files.list_directory", json!({ "path": "note.txt/.." }), "note.txt"),
        ("memory.read_graph", json!({}), "Ada"),
    ];
    let batch =
        calls.iter().map(|(name, arguments, _)| ToolCall::new(*name, arguments.to_string()));
    let results = pool.call_all(batch).await;
    assert_eq!(results.len(), calls.len());
    for (result, (name, _, expected)) in results.iter().zip(&calls) {
        assert_eq!(result.name(), *name);
        let text = result.observation().to_text();
        assert!(text.contains(expected), "{name}: {text}");
    }
}

async fn every_kind_of_content_is_kept(pool: &ToolPool, fixture: &Fixture) {
    let arguments = json!({ "messageType": "error", "includeImage": true });
    let annotated = call(pool, "everything.get-annotated-message", arguments).await;
    let [first, ContentBlock::Image(image)] = annotated.observation().content() else {
        panic!("{annotated:?}");
    };
    assert_eq!(image.mime_type, "image/png");
    let first = serde_json::to_value(first).unwrap();
    assert_eq!(first["annotations"], json!({ "audience": ["user", "assistant"], "priority": 1.0 }));

    let links = call(pool, "everything.get-resource-links", json!({ "count": 3 })).await;
    let is_link = |block: &&ContentBlock| matches!(block, ContentBlock::ResourceLink(_));
    assert_eq!(links.observation().content().iter().filter(is_link).count(), 3);
    let resource = call(pool, "everything.get-resource-reference", json!({})).await;
    assert!(matches!(resource.observation().content()[1], ContentBlock::Resource(_)));

    let weather = json!({ "location": "New York" });
    let weather = call(pool, "everything.get-structured-content", weather).await;
    let weather = weather.observation();
    let as_text: Value = serde_json::from_str(&weather.to_text()).unwrap();
    assert_eq!(weather.structured_as::<Value>().unwrap(), as_text);
    assert!(weather.meta().is_none(), "it fits its schema");

    std::fs::write(fixture.path("files/dot.png"), b"\x89PNG\r\n\x1a\n").unwrap();
    let media = json!({ "path": fixture.path("files/dot.png") });
    let media = call(pool, "files.read_media_file", media).await;
    assert!(matches!(media.observation().content(), [ContentBlock::Image(_)]), "{media:?}");
    let structured: Value = media.observation().structured_as().unwrap();
    assert_eq!(structured["content"][0]["mimeType"], "image/png");
}

async fn rejects_invalid_arguments_before_sending(pool: &ToolPool, manager: &McpManager) {
    let wrong = [
        ("everything.get-sum", json!({ "a": "two", "b": 3 }), "`a`"),
        ("files.read_text_file", json!({ "path": 7 }), "`path`"),
        ("git.git_log", json!({}), "`repo_path`"),
        ("memory.open_nodes", json!({ "names": "Ada" }), "`names`"),
        ("sqlite.read_query", json!({ "sql": "SELECT 1" }), "`query`"),
        ("time.get_current_time", json!({ "timezone": null }), "`timezone`"),
    ];
    assert_eq!(wrong.len(), manager.status().len());
    for (name, arguments, named) in wrong {
        let rejected = call(pool, name, arguments).await;
        assert_eq!(class(&rejected), ErrorClass::Input, "{name}");
        let message = rejected.observation().to_text();
        assert!(message.contains(named) && message.contains(name), "{name}: {message}");
    }
}

/// Errors that only the server can detect are passed on unchanged.
async fn reports_failures(pool: &ToolPool, repository: &str) {
    let failing = [
        ("everything.get-structured-content", json!({ "location": "Atlantis" }), "location"),
        ("files.read_text_file", json!({ "path": "/etc/passwd" }), "outside allowed directories"),
        ("git.git_show", json!({ "repo_path": repository, "revision": "nowhere" }), "nowhere"),
        ("time.get_current_time", json!({ "timezone": "Mars" }), "Invalid timezone"),
    ];
    for (name, arguments, expected) in failing {
        let result = call(pool, name, arguments).await;
        let message = result.observation().to_text();
        assert!(result.is_error() && message.contains(expected), "{name}: {message}");
    }
    let added = json!({ "observations": [{ "entityName": "Bob", "contents": ["reads"] }] });
    let unknown = call(pool, "memory.add_observations", added).await;
    assert!(unknown.is_error() && unknown.observation().to_text().contains("Bob"), "{unknown:?}");
    // This server reports errors as a success.
    let nonsense = text(pool, "sqlite.read_query", json!({ "query": "SELECT FROM" })).await;
    assert!(nonsense.contains("syntax error"), "{nonsense}");
}

async fn reports_unknown_names(pool: &ToolPool) {
    for (name, ..) in ALL {
        let unknown = call(pool, &format!("{name}.no_such_tool"), json!({})).await;
        assert_eq!(class(&unknown), ErrorClass::NotFound, "{name}");
    }
    let near = call(pool, "git.git_lgo", json!({})).await.observation().to_text();
    assert!(near.contains("`git.git_log`"), "{near}");
}

async fn applies_restrictions(pool: &ToolPool) {
    let only = pool.restrict(["time.*", "git.git_log"]).unwrap();
    let names: Vec<String> = pool.tools().iter().map(|tool| tool.name().to_owned()).collect();
    assert_eq!(names, ["git.git_log", "time.convert_time", "time.get_current_time"]);
    let denied = call(pool, "files.list_allowed_directories", json!({})).await;
    assert_eq!(class(&denied), ErrorClass::Denied);
    drop(only);
    let allowed = text(pool, "files.list_allowed_directories", json!({})).await;
    assert!(allowed.contains("files"), "{allowed}");
}
