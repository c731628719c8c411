use crate::{Builtins, Workspace};
use serde_json::{Value, json};
use tool_runtime::prelude::*;
use tool_runtime::search::ActiveTools;

fn pool(active: &ActiveTools) -> ToolPool {
    let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build().unwrap();
    let tool =
        |name: &str, purpose: &str| Tool::builder(name, purpose).handler(|| async { "done" });
    ToolPool::builder()
        .install(Builtins::new(workspace).search().tool_search(active))
        .add(tool("mail.send", "Send an email to recipients."))
        .add(tool("mail.list", "List the emails of a folder."))
        .add(tool("calendar.create_event", "Create an event in a calendar."))
        .build()
        .unwrap()
}

/// Names of the tools that a search returns.
async fn found(pool: &ToolPool, arguments: Value) -> Vec<String> {
    let result = pool.call(ToolCall::json("ToolSearch", arguments)).await;
    let value = result.observation().structured().unwrap_or_else(|| panic!("{result:?}")).clone();
    let tools = value["tools"].as_array().unwrap().clone();
    assert!(tools.iter().all(|tool| tool["inputSchema"]["type"] == "object"), "{tools:?}");
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn tools_are_found_by_words_and_names() {
    let pool = pool(&ActiveTools::new(["ToolSearch"]).unwrap());
    let cases: &[(Value, &[&str])] = &[
        (json!({ "query": "send an email", "limit": 1 }), &["mail.send"]),
        (json!({ "query": "search the content of files", "limit": 1 }), &["Grep"]),
        (json!({ "query": "select:mail.list,Glob" }), &["mail.list", "Glob"]),
        // Another name of the limit that some models use.
        (json!({ "query": "send an email", "max_results": 1 }), &["mail.send"]),
        (json!({ "query": "select:nothing" }), &[]),
        (json!({ "query": "zyzzyva" }), &[]),
        (json!({ "query": "" }), &[]),
    ];
    for (arguments, expected) in cases {
        assert_eq!(found(&pool, arguments.clone()).await, *expected, "{arguments}");
    }
    let both = found(&pool, json!({ "query": "mail", "limit": 50 })).await;
    assert!(both.contains(&"mail.send".into()) && both.contains(&"mail.list".into()), "{both:?}");
    assert!(!both.contains(&"ToolSearch".into()));
    for wrong in [
        json!({ "query": "mail", "limit": 0 }),
        json!({ "query": "mail", "limit": 51 }),
        json!({ "query": "mail", "max_results": 51 }),
        json!({ "query": "mail", "limit": 1, "max_results": 2 }),
        json!({ "query": "mail", "number": 1 }),
    ] {
        let result = pool.call(ToolCall::json("ToolSearch", wrong.clone())).await;
        assert!(result.is_error(), "{wrong}: {}", result.observation().to_text());
    }
}

#[tokio::test]
async fn found_tools_are_activated() {
    let active = ActiveTools::new(["ToolSearch"]).unwrap();
    let pool = pool(&active);
    found(&pool, json!({ "query": "select:mail.send" })).await;
    let visible = active.visible(&pool.snapshot());
    assert_eq!(visible.iter().map(Tool::name).collect::<Vec<_>>(), ["ToolSearch", "mail.send"]);
}
