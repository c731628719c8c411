//! Tools that wait for a search: by tag, source, number and tokens.

use super::super::support::Echo;
use serde_json::json;
use tool_runtime::export::{Api, Export, estimate_tokens};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;
use tool_runtime::search::{ActiveTools, Deferral, ToolSearch};

fn tool(name: &str, tags: &[&str], description: &str) -> Tool {
    let mut definition = ToolDefinition::new(name, description);
    definition.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
    Tool::new(definition.with_input_schema(json!({ "type": "object" })), Echo)
}

fn pool() -> ToolPool {
    ToolPool::builder()
        .add(tool("a", &[], "Short."))
        .add(tool("b", &["rare"], "Short."))
        .add(tool("c", &[], &"A long description. ".repeat(100)))
        .add(tool("d", &[], "Short."))
        .add(tool("search", &[], "Search."))
        .add_from(&Source::Mcp("git".to_owned()), [tool("git.log", &[], "Short.")])
        .build()
        .unwrap()
}

fn shown(deferral: Deferral) -> Vec<String> {
    let tools = ActiveTools::deferring(deferral).visible(&pool().snapshot());
    tools.iter().map(|tool| tool.name().to_owned()).collect()
}

#[test]
fn tools_are_deferred_by_selectors_and_limits() {
    let all_tools = ["a", "b", "c", "d", "git.log", "search"];
    assert_eq!(shown(Deferral::new()), all_tools);
    let by_tag = Deferral::new().defer(["tag:rare"]).unwrap();
    assert_eq!(shown(by_tag), ["a", "c", "d", "git.log", "search"]);
    let by_source = Deferral::new().defer(["source:mcp:git"]).unwrap();
    assert_eq!(shown(by_source), ["a", "b", "c", "d", "search"]);
    let keep_search = || Deferral::new().keep(["search"]).unwrap();
    assert_eq!(shown(keep_search().max_tools(3)), ["a", "b", "search"]);
    assert_eq!(shown(keep_search().max_tools(0)), ["search"]);
    assert_eq!(shown(keep_search().defer(["*"]).unwrap()), ["search"]);
    let size = |name: &str| {
        let pool = pool();
        let definition = pool.get(name).unwrap().definition().clone();
        estimate_tokens(&serde_json::to_string(&definition).unwrap())
    };
    let limit = size("search") + size("a") + size("b") + size("d");
    assert_eq!(
        shown(keep_search().max_tokens(limit)),
        ["a", "b", "d", "search"],
        "`c` does not fit"
    );
    assert_eq!(shown(keep_search().max_tokens(limit - 1)), ["a", "b", "search"]);
    let error = Deferral::new().defer(["label:x"]).unwrap_err();
    assert!(error.to_string().starts_with("`label:x` picks nothing"), "{error}");
}

#[test]
fn an_activation_keeps_the_tools_shown_by_a_limit() {
    let active = ActiveTools::deferring(Deferral::new().max_tools(3));
    let pool = pool();
    let export = || {
        let visible = active.visible(&pool.snapshot());
        let definitions: Vec<_> = visible.iter().map(|tool| tool.definition()).collect();
        Export::new(Api::Anthropic, &definitions).definitions().to_vec()
    };
    let before = export();
    active.activate(["git.log", "a", "d"]);
    let after = export();
    assert_eq!(after[..3], before);
    assert_eq!((&after[3]["name"], &after[4]["name"]), (&json!("git__log"), &json!("d")));
    assert_eq!(after.len(), 5);
}

#[tokio::test]
async fn five_thousand_tools_are_deferred_by_a_budget_and_found_by_a_search() {
    let active = ActiveTools::deferring(
        Deferral::new().keep(["tool_search"]).unwrap().max_tools(40).max_tokens(1000),
    );
    let many = (0..5000).map(|number| {
        tool(
            &format!("set{}.item{number}", number % 50),
            &["rare"],
            &format!("Count item {number}."),
        )
    });
    let search = ToolSearch::new().activating(&active).into_tool();
    let pool = many.fold(ToolPool::builder(), |pool, tool| pool.add(tool)).add(search).build();
    let pool = pool.unwrap();
    let export = || active.export(&pool.snapshot(), Api::Anthropic);
    let before = export();
    assert!(before.tools().len() <= 40, "{}", before.tools().len());
    assert!(before.tools().iter().any(|tool| tool.id == "tool_search"));
    let wanted = |query: &str| {
        let call = ToolCall::json("tool_search", json!({ "query": query, "limit": 1 }));
        let pool = pool.clone();
        async move {
            pool.call(call).await.observation().structured().unwrap()["tools"][0]["name"].clone()
        }
    };
    assert_eq!(wanted("count item 4999").await, "set49.item4999");
    assert_eq!(wanted("select:set0.item4950").await, "set0.item4950");
    let after = export();
    assert_eq!(after.definitions()[..before.definitions().len()], *before.definitions());
    let added: Vec<_> = after.tools()[before.tools().len()..].iter().map(|tool| &tool.id).collect();
    assert_eq!(added, ["set49.item4999", "set0.item4950"]);
    let result = pool.call(ToolCall::new("set17.item17", "{}")).await;
    assert!(!result.is_error(), "a deferred tool can be called: {result:?}");
}
