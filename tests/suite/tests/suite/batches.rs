//! Several calls at once: one result each, in call order, and what meets never overlaps.

mod cases;
mod jobs;
mod locks;
mod nesting;
mod properties;

#[tokio::test]
async fn what_a_tool_calls_is_bounded_by_the_handle_it_was_called_through() {
    let secret = Tool::builder("secret", "Tell.").handler(|| async { "told" });
    let asks = Tool::builder("asks", "Ask the other.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            context.call(ToolCall::new("secret", "")).await.into_observation()
        },
    );
    let pool = ToolPool::builder().add(secret).add(asks).build().expect("a pool");
    let agent = pool.scope();
    let _skill = agent.restrict(["asks"]).expect("a pattern");
    for context in [pool.context(), agent.context(), ToolContext::default()] {
        let result = agent.call_with(ToolCall::new("asks", ""), &context).await;
        assert!(result.observation().to_text().starts_with("`secret` is not available"));
    }
    let free = pool.call(ToolCall::new("asks", "")).await;
    assert_eq!(free.observation().to_text(), "told");
}
