//! `tool_search`, and the tools that it activates.

use super::data::definitions;
use serde_json::{Map, Value, json};
use tool_runtime::ToolDefinition;
use tool_runtime::export::{Api, Export};
use tool_runtime::prelude::*;
use tool_runtime::search::{ActiveTools, ToolIndex, ToolSearch};

fn pool(active: &ActiveTools) -> ToolPool {
    let tools = definitions().into_iter().map(|definition| {
        let ToolDefinition { name, description, input_schema, tags, .. } = definition;
        Tool::builder(name, description)
            .tags(tags)
            .input_schema(input_schema)
            .handler(|_: Map<String, Value>| async { "done" })
    });
    let search = ToolSearch::new().activating(active).into_tool();
    tools.fold(ToolPool::builder(), |pool, tool| pool.add(tool)).add(search).build().unwrap()
}

async fn search(pool: &ToolPool, arguments: Value) -> Vec<String> {
    let result = pool.call(ToolCall::new("tool_search", arguments.to_string())).await;
    let found = result.observation().structured().expect("a structured result").clone();
    let found = found["tools"].as_array().expect("a list").clone();
    found.iter().map(|tool| tool["name"].as_str().expect("a name").to_owned()).collect()
}

#[tokio::test]
async fn models_find_tools_by_a_description_or_by_name() {
    let pool = pool(&ActiveTools::new(["tool_search"]).unwrap());
    let found = search(&pool, json!({ "query": "zip these files" })).await;
    assert_eq!((found.len(), found[0].as_str()), (5, "files.compress_files"));
    let named = search(&pool, json!({ "query": "select:git.push, nowhere,db.list_tables" })).await;
    assert_eq!(named, ["git.push", "db.list_tables"]);
    assert!(search(&pool, json!({ "query": "what is the" })).await.is_empty());
    let limited = search(&pool, json!({ "query": "weather", "limit": 2 })).await;
    assert_eq!(limited.len(), 2);
}

#[tokio::test]
async fn a_search_finds_only_visible_tools() {
    let pool = pool(&ActiveTools::new(["tool_search"]).unwrap());
    let agent = pool.scope();
    let _only = agent.restrict(["tool_search", "mail.*"]).unwrap();
    for name in search(&agent, json!({ "query": "send a message to the channel" })).await {
        assert!(name.starts_with("mail."), "{name}");
    }
    let found = search(&pool, json!({ "query": "post a message to the channel" })).await;
    assert!(found.contains(&"chat.post_message".to_owned()), "{found:?}");
}

#[tokio::test]
async fn activation_appends_to_an_export() {
    let active = ActiveTools::new(["tool_search", "files.*"]).unwrap();
    let pool = pool(&active);
    let export = || {
        let visible = active.visible(&pool.snapshot());
        let definitions: Vec<_> = visible.iter().map(|tool| tool.definition()).collect();
        let export = Export::new(Api::Anthropic, &definitions);
        // Names are found in any order.
        assert!(definitions.iter().all(|one| export.wire_name(&one.name) == one.wire_name()));
        export.definitions().to_vec()
    };
    let before = export();
    search(&pool, json!({ "query": "select:web.search_web,files.read_file" })).await;
    search(&pool, json!({ "query": "select:git.push,web.search_web" })).await;
    let after = export();
    assert_eq!(active.activated(), ["web.search_web", "files.read_file", "git.push"]);
    assert_eq!(after[..before.len()], before);
    assert_eq!(after.len(), before.len() + 2);
}

#[test]
fn misspelt_and_inflected_words_find_the_same_tool() {
    let index = ToolIndex::from_definitions(&definitions());
    for query in ["compress files", "compressing a file", "comprss files", "zip the files"] {
        assert_eq!(index.search(query, 1)[0].name, "files.compress_files", "{query}");
    }
    assert_eq!(index.search("weather alerts", 9), index.search("weather alerts", 9));
}
