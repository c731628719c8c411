//! B9, tools by their purpose.

use serde_json::{Value, json};
use tempfile::TempDir;
use tool_runtime::prelude::*;
use tool_runtime::search::ActiveTools;
use tool_runtime_builtins::{Builtins, Workspace};

struct Shop {
    _folder: TempDir,
    active: ActiveTools,
    pool: ToolPool,
}

impl Shop {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let workspace = Workspace::builder().root(folder.path()).build().unwrap();
        let active = ActiveTools::new(["ToolSearch"]).unwrap();
        let tool =
            |name: &str, purpose: &str| Tool::builder(name, purpose).handler(|| async { "done" });
        let pool = ToolPool::builder()
            .install(Builtins::new(workspace).files().search().tool_search(&active))
            .add(tool("mail.send", "Send an email to recipients."))
            .add(tool("mail.list", "List the emails of a folder."))
            .build()
            .unwrap();
        Self { _folder: folder, active, pool }
    }

    async fn definitions(&self, arguments: Value) -> Vec<Value> {
        let result = self.pool.call(ToolCall::json("ToolSearch", arguments)).await;
        result.observation().structured().unwrap()["tools"].as_array().unwrap().clone()
    }

    async fn found(&self, arguments: Value) -> Vec<String> {
        let tools = self.definitions(arguments).await;
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test]
async fn a_keyword_finds_tools_the_best_first() {
    let found = Shop::new().found(json!({ "query": "send an email" })).await;
    assert_eq!(found[..2], ["mail.send", "mail.list"]);
}

#[tokio::test]
async fn one_or_several_names_are_found() {
    let shop = Shop::new();
    assert_eq!(shop.found(json!({ "query": "select:Grep" })).await, ["Grep"]);
    assert_eq!(
        shop.found(json!({ "query": "select:mail.list,Read" })).await,
        ["mail.list", "Read"]
    );
}

#[tokio::test]
async fn an_unknown_word_name_or_an_empty_query_finds_none() {
    let shop = Shop::new();
    for query in ["zyzzyva", "select:nothing", "", "select:"] {
        assert!(shop.found(json!({ "query": query })).await.is_empty(), "{query}");
    }
}

#[tokio::test]
async fn the_number_of_tools_is_limited_by_either_name() {
    let shop = Shop::new();
    for name in ["limit", "max_results"] {
        assert_eq!(shop.found(json!({ "query": "files", name: 2 })).await.len(), 2, "{name}");
    }
}

#[tokio::test]
async fn definitions_have_schemas() {
    let tools = Shop::new().definitions(json!({ "query": "select:Read" })).await;
    assert!(tools[0]["inputSchema"]["properties"]["file_path"].is_object(), "{tools:?}");
}

#[tokio::test]
async fn tools_that_were_found_are_activated() {
    let shop = Shop::new();
    assert_eq!(shop.active.visible(&shop.pool.snapshot()).len(), 1);
    shop.found(json!({ "query": "select:Read" })).await;
    let visible = shop.active.visible(&shop.pool.snapshot());
    assert_eq!(visible.iter().map(Tool::name).collect::<Vec<_>>(), ["ToolSearch", "Read"]);
}
