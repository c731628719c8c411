//! String literals as defaults and examples.

use std::path::PathBuf;
use tool_runtime::prelude::*;

/// Go.
#[tool]
async fn go(
    /// The destination.
    #[arg(default = "home", example = "away")]
    place: Option<String>,
    /// The vehicle.
    #[arg(default = "/tmp", example = "/")]
    path: Option<PathBuf>,
    /// The speed.
    #[arg(default = "fast", example = "slowly")]
    how: Box<str>,
    /// The name of the companion.
    #[arg(default = Some("nobody".into()))]
    whom: Option<String>,
) -> String {
    format!("{place:?} {path:?} {how} {whom:?}")
}

#[test]
fn compiles_and_runs() {
    let definition = GoAction::definition();
    let place = definition.argument("place").expect("an argument");
    assert_eq!(place["default"], "home");
    assert_eq!(place["examples"], serde_json::json!(["away"]));
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let pool = ToolPool::builder().tool::<GoAction>().build().expect("a pool");
        let result = pool.call(ToolCall::new("go", "{}")).await;
        let text = result.observation().to_text();
        assert_eq!(text, r#"Some("home") Some("/tmp") fast Some("nobody")"#);
    });
}
