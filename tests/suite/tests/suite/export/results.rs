//! Results in the messages of each API.

use serde_json::{Value, json};
use tool_runtime::export::Api;
use tool_runtime::prelude::*;

const PIXEL: &str = "iVBORw0KGgo=";

fn pool() -> ToolPool {
    let look = Tool::builder("look", "Look.").handler(|| async {
        Observation::text("A map.")
            .with_content(ContentBlock::image(PIXEL, "image/png"))
            .with_content(ContentBlock::audio("AAAA", "audio/wav"))
            .with_content(ContentBlock::link("file:///a", "a"))
    });
    let fail = Tool::builder("fail", "Fail.")
        .handler(|| async { Err::<(), _>(ToolError::from("no paper")) });
    ToolPool::builder().add(look).add(fail).build().unwrap()
}

async fn messages(api: Api) -> Vec<Value> {
    let pool = pool();
    let calls =
        ["look", "fail"].map(|name| ToolCall::new(name, "{}").with_call_id(format!("id-{name}")));
    let results = pool.call_all(calls).await;
    pool.snapshot().export(api).results(&results)
}

const AUDIO: &str = "[audio/wav, 3 bytes, which cannot be shown here]";

#[tokio::test]
async fn anthropic_supports_images_and_errors() {
    let expected = json!([{ "role": "user", "content": [
        { "type": "tool_result", "tool_use_id": "id-look", "content": [
            { "type": "text", "text": "A map." },
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PIXEL } },
            { "type": "text", "text": AUDIO },
            { "type": "text", "text": "a <file:///a>" },
        ] },
        { "type": "tool_result", "tool_use_id": "id-fail", "content": [{ "type": "text", "text": "no paper" }], "is_error": true },
    ] }]);
    assert_eq!(Value::from(messages(Api::Anthropic).await), expected);
}

#[tokio::test]
async fn chat_completions_support_text() {
    let look =
        format!("A map.\n[image/png, 8 bytes, which cannot be shown here]\n{AUDIO}\na <file:///a>");
    let expected = json!([
        { "role": "tool", "tool_call_id": "id-look", "content": look },
        { "role": "tool", "tool_call_id": "id-fail", "content": "Error: no paper" },
    ]);
    assert_eq!(Value::from(messages(Api::OpenAiChat).await), expected);
}

#[tokio::test]
async fn responses_support_images() {
    let expected = json!([
        { "type": "function_call_output", "call_id": "id-look", "output": [
            { "type": "input_text", "text": "A map." },
            { "type": "input_image", "image_url": format!("data:image/png;base64,{PIXEL}") },
            { "type": "input_text", "text": AUDIO },
            { "type": "input_text", "text": "a <file:///a>" },
        ] },
        { "type": "function_call_output", "call_id": "id-fail", "output": "Error: no paper" },
    ]);
    assert_eq!(Value::from(messages(Api::OpenAiResponses).await), expected);
}

#[tokio::test]
async fn gemini_supports_images_beside_the_response() {
    let output = format!("A map.\n{AUDIO}\na <file:///a>");
    let expected = json!([{ "role": "user", "parts": [
        { "functionResponse": {
            "name": "look",
            "response": { "output": output },
            "id": "id-look",
            "parts": [{ "inlineData": { "mimeType": "image/png", "data": PIXEL } }],
        } },
        { "functionResponse": { "name": "fail", "response": { "error": "no paper" }, "id": "id-fail" } },
    ] }]);
    assert_eq!(Value::from(messages(Api::Gemini).await), expected);
}

#[tokio::test]
async fn mcp_results_are_complete() {
    let messages = messages(Api::Mcp).await;
    assert_eq!(messages[0]["content"][1]["data"], PIXEL);
    assert_eq!(messages[1]["isError"], true);
}

/// The blocks of a result with one image.
async fn image_blocks(mime_type: &'static str, data: &'static str) -> Value {
    let draw = Tool::builder("draw", "Draw.")
        .handler(move || async move { Observation::from(ContentBlock::image(data, mime_type)) });
    let pool = ToolPool::builder().add(draw).build().unwrap();
    let result = pool.call(ToolCall::new("draw", "").with_call_id("a")).await;
    pool.snapshot().export(Api::Anthropic).results([&result])[0]["content"][0]["content"].clone()
}

#[tokio::test]
async fn images_are_sent_as_the_api_takes_them_or_named() {
    let image = json!([{ "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": PIXEL } }]);
    for (mime_type, data) in [
        ("image/png", "data:image/png;base64,iVBORw0KGgo="),
        ("image/png", "iVBORw0KGgo"),
        ("image/jpeg", PIXEL),
        ("image/PNG", "iVBORw0K\nGgo="),
    ] {
        assert_eq!(image_blocks(mime_type, data).await, image, "{mime_type} {data}");
    }
    let named = [
        ("image/png", "no base64!", "[image/png, whose data are not base64]"),
        ("image/png", "AAAA", "[data that were declared as image/png, and are not]"),
        ("image/tiff", "AAAA", "[image/tiff, 3 bytes, which cannot be shown here]"),
        ("image/png", "", "[image/png, empty]"),
    ];
    for (mime_type, data, text) in named {
        let blocks = image_blocks(mime_type, data).await;
        assert_eq!(blocks, json!([{ "type": "text", "text": text }]), "{mime_type} {data}");
    }
}

#[tokio::test]
async fn a_failure_without_a_word_has_a_text() {
    let fail = Tool::builder("fail", "Fail.").handler(|| async { Observation::error("\n") });
    let pool = ToolPool::builder().add(fail).build().unwrap();
    let result = pool.call(ToolCall::new("fail", "").with_call_id("a")).await;
    let block = pool.snapshot().export(Api::Anthropic).results([&result])[0]["content"][0].clone();
    let text = "the tool failed without a message";
    assert_eq!(block["content"], json!([{ "type": "text", "text": text }]));
}
