//! The tools as a caller sees them, with servers on this machine.

mod fetch;
mod redirects;
mod search;
mod server;

use super::{SearchParams, WebParams};
use crate::{Builtins, Workspace, hints};
use serde_json::Value;
use std::time::Duration;
use tool_runtime::prelude::*;

/// More than any test takes.
const LIMIT: Duration = Duration::from_secs(300);

fn params() -> WebParams {
    WebParams { allowed_hosts: vec!["127.0.0.1".to_owned()], ..WebParams::default() }
}

fn pool(params: WebParams) -> ToolPool {
    let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build().unwrap();
    let builtins = Builtins::new(workspace).web(params);
    ToolPool::builder().install(builtins).check_outputs().allow_empty().build().unwrap()
}

async fn call(pool: &ToolPool, tool: &str, arguments: Value) -> ToolResult {
    let call = pool.call(ToolCall::json(tool, arguments));
    tokio::time::timeout(LIMIT, call).await.expect("the call hangs")
}

/// The structured result of a call that succeeds.
async fn value(pool: &ToolPool, tool: &str, arguments: Value) -> Value {
    let result = call(pool, tool, arguments).await;
    let observation = result.observation();
    assert!(!observation.is_error(), "{}", observation.to_text());
    observation.structured().unwrap().clone()
}

/// The text of a call that fails.
async fn error(pool: &ToolPool, tool: &str, arguments: Value) -> String {
    let result = call(pool, tool, arguments).await;
    let text = result.observation().to_text();
    assert!(result.observation().is_error(), "{text}");
    text
}

#[tokio::test]
async fn hints_are_stated_and_outputs_have_schemas() {
    let searxng = SearchParams::Searxng { url: "http://127.0.0.1:9/".to_owned() };
    let pool = pool(WebParams { search: Some(searxng), ..params() });
    assert_eq!(hints::rows(&pool), ["WebFetch r-io core", "WebSearch r-io core"]);
}

#[test]
fn tools_that_are_not_usable_are_hidden_with_the_reason() {
    let wrong = WebParams { allowed_hosts: vec!["http://x/".to_owned()], ..WebParams::default() };
    let report = pool(wrong).report().to_string();
    assert!(report.contains("`http://x/` is not a host"), "{report}");
    assert!(report.contains("set `WebParams::search`"), "{report}");
    let variable = "TOOL_RUNTIME_NO_SUCH_KEY".to_owned();
    let search = Some(SearchParams::Brave { key_variable: variable.clone() });
    let report = pool(WebParams { search, ..WebParams::default() }).report().to_string();
    assert!(report.contains(&variable) && report.contains("is not set"), "{report}");
}

#[test]
fn settings_are_read_from_a_configuration() {
    let params: WebParams = serde_json::from_value(serde_json::json!({
        "allowed_hosts": ["10.0.0.0/8"],
        "search": { "backend": "tavily" },
    }))
    .unwrap();
    assert!(
        matches!(params.search, Some(SearchParams::Tavily { key_variable }) if key_variable == "TAVILY_API_KEY")
    );
    let unknown = serde_json::json!({ "search": { "backend": "altavista" } });
    assert!(serde_json::from_value::<WebParams>(unknown).is_err());
}
