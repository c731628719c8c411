//! Requests as the APIs receive them: definitions, the model's own turn, and results.

use crate::fake::{Answer, Fake, ReceivedRequest, Recorded, Recording, pool};
use serde_json::{Map, Value, json};
use tool_runtime::prelude::*;
use tool_runtime_agent::Agent;

/// Both requests of a recorded conversation.
async fn requests(name: &str) -> [Value; 2] {
    let recording = Recording::named(name);
    let fake = Fake::start(recording.answers()).await;
    let agent = Agent::new(fake.model_of(&recording), pool(&recording.tools)).system("Be brief.");
    agent.run("Go.").finish().await.expect("an answer");
    let received: [ReceivedRequest; 2] = fake.requests().try_into().expect("two requests");
    received.map(|request| {
        let key = &request.key;
        assert!(key == "test-key" || key == "Bearer test-key", "{request:?}");
        let path = match name.split(',').next().unwrap() {
            "anthropic" => "/v1/messages",
            "chat" => "/v1/chat/completions",
            "responses" => "/v1/responses",
            _ if recording.is_streamed() => "/v1/models/gemini-2.5-flash:streamGenerateContent",
            _ => "/v1/models/gemini-2.5-flash:generateContent",
        };
        assert_eq!(request.path, path);
        request.body
    })
}

fn description(name: &str) -> String {
    format!("Answer with the arguments, for `{name}`.")
}

/// The schema of the tools.
fn schema() -> Value {
    json!({ "type": "object", "properties": {} })
}

#[tokio::test]
async fn anthropic() {
    let [first, second] = requests("anthropic, streamed").await;
    assert_eq!(first["system"], "Be brief.");
    assert_eq!(first["stream"], true);
    assert_eq!(
        first["tools"],
        json!([{
            "name": "lab__get_weather",
            "description": description("lab.get_weather"),
            "input_schema": schema(),
        }])
    );
    assert_eq!(second["tools"], first["tools"]);
    let messages = &second["messages"];
    assert_eq!(messages[0], json!({ "role": "user", "content": "Go." }));
    let thinking = &messages[1]["content"][0];
    assert_eq!(
        (&thinking["type"], &thinking["signature"]),
        (&json!("thinking"), &json!("signature_REDACTED_2"))
    );
    assert!(thinking["thinking"].as_str().unwrap().starts_with("The user wants"), "{thinking}");
    let call = json!({
        "type": "tool_use", "id": "toolu_REDACTED_1", "name": "lab__get_weather",
        "input": { "city": "Tokyo, Japan" },
    });
    assert_eq!(messages[1]["content"][2], call);
    let text = json!([{ "type": "text", "text": r#"got {"city":"Tokyo, Japan"}"# }]);
    let result =
        json!({ "type": "tool_result", "tool_use_id": "toolu_REDACTED_1", "content": text });
    assert_eq!(messages[2], json!({ "role": "user", "content": [result] }));

    // Results of parallel calls are in one message.
    let [_, second] = requests("anthropic, whole").await;
    assert_eq!(second["messages"][2]["content"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn openai_chat() {
    let requests = [requests("chat, whole").await, requests("chat, streamed").await];
    for [first, second] in requests {
        assert_eq!(first["messages"][0], json!({ "role": "system", "content": "Be brief." }));
        let alpha = json!({
            "name": "lab__alpha", "description": description("lab.alpha"), "parameters": schema(), "strict": false,
        });
        assert_eq!(first["tools"][0], json!({ "type": "function", "function": alpha }));
        let calls = &second["messages"][2]["tool_calls"];
        assert_eq!(calls[1]["function"]["name"], "lab__beta");
        assert_eq!(calls[1]["function"]["arguments"], r#"{"value":"blue"}"#);
        let result =
            |id: &str, text: &str| json!({ "role": "tool", "tool_call_id": id, "content": text });
        assert_eq!(second["messages"][3], result("call_REDACTED_1", r#"got {"value":"red"}"#));
        assert_eq!(second["messages"][4], result("call_REDACTED_2", r#"got {"value":"blue"}"#));
    }
}

#[tokio::test]
async fn openai_responses() {
    let [first, second] = requests("responses, whole").await;
    assert_eq!(first["instructions"], "Be brief.");
    assert_eq!(first["store"], false);
    assert_eq!(
        first["tools"],
        json!([{
            "type": "function", "name": "lab__get_weather", "description": description("lab.get_weather"),
            "parameters": schema(), "strict": false,
        }])
    );
    assert_eq!(
        second["input"],
        json!([
            { "role": "user", "content": "Go." },
            { "type": "reasoning", "encrypted_content": "encrypted_content_REDACTED_1", "summary": [] },
            {
                "type": "function_call", "call_id": "call_REDACTED_1", "name": "lab__get_weather",
                "arguments": r#"{"city":"Tokyo, Japan"}"#,
            },
            {
                "type": "function_call_output", "call_id": "call_REDACTED_1",
                "output": r#"got {"city":"Tokyo, Japan"}"#,
            },
        ])
    );
    let [_, second] = requests("responses, streamed").await;
    assert_eq!(second["input"][4]["call_id"], "call_REDACTED_2");
    assert_eq!(second["input"][4]["type"], "function_call_output");
}

#[tokio::test]
async fn gemini() {
    for name in ["gemini, whole", "gemini, streamed"] {
        let [first, second] = requests(name).await;
        assert_eq!(first["systemInstruction"]["parts"][0]["text"], "Be brief.");
        let tool = &first["tools"][0]["functionDeclarations"][0];
        assert_eq!(tool["parametersJsonSchema"], schema());
        let contents = &second["contents"];
        let call = &contents[1]["parts"][0];
        assert_eq!(call["thoughtSignature"], "signature_REDACTED_1");
        assert_eq!(call["functionCall"]["name"], tool["name"]);
        let result = &contents[2]["parts"][0]["functionResponse"];
        assert_eq!(result["name"], tool["name"]);
        let got = format!("got {}", call["functionCall"]["args"]);
        assert_eq!(result["response"]["content"], got);
        assert_eq!(contents[2]["role"], "user");
    }
}

/// An answer of Anthropic that calls one tool.
fn calling(name: &str) -> Answer {
    let body = json!({
        "id": "m", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "stop_reason": "tool_use",
        "content": [{ "type": "tool_use", "id": "t", "name": name, "input": {} }],
        "usage": { "input_tokens": 1, "output_tokens": 1 },
    });
    Answer::Whole(Recorded { content_type: "application/json".into(), body: body.to_string() })
}

#[tokio::test]
async fn anthropic_gets_images_and_the_mark_of_errors() {
    let pool = ToolPool::builder()
        .add(
            Tool::builder("look", "Look.")
                .handler(|| async { ContentBlock::image("iVBORw0KGgo=", "image/png") }),
        )
        .add(
            Tool::builder("fail", "Fail.")
                .handler(|| async { Err::<(), _>(ToolError::user("no luck")) }),
        )
        .build()
        .unwrap();
    let last = Recording::named("anthropic, whole").answers().pop().unwrap();
    let fake = Fake::start([calling("look"), calling("fail"), last]).await;
    let model = fake.model("claude-sonnet-4-6").whole_answers();
    Agent::new(model, pool).run("Go.").finish().await.unwrap();
    let messages = fake.requests()[2].body["messages"].clone();
    assert_eq!(messages[2]["content"][0]["content"][0]["source"]["data"], "iVBORw0KGgo=");
    assert_eq!(messages[4]["content"][0]["is_error"], true);
}

#[tokio::test]
async fn a_tool_is_not_mistaken_for_one_of_the_api() {
    let pool = pool(&["web_search".to_owned()]);
    let last = Recording::named("anthropic, whole").answers().pop().unwrap();
    let fake = Fake::start([calling("web_search_tool"), last]).await;
    let model = fake.model("claude-sonnet-4-6").whole_answers();
    Agent::new(model, pool).run("Go.").finish().await.unwrap();
    let [first, second]: [ReceivedRequest; 2] = fake.requests().try_into().unwrap();
    assert_eq!(first.body["tools"][0]["name"], "web_search_tool");
    let result = &second.body["messages"][2]["content"][0]["content"][0]["text"];
    assert_eq!(result, "got {}");
}

#[tokio::test]
async fn strict_schemas_are_marked() {
    let tool = Tool::builder("count", "Count.").handler(|_: Map<String, Value>| async { 1 });
    let pool = ToolPool::builder().tool::<AddAction>().add(tool).build().unwrap();
    let last = Recording::named("chat, whole").answers().pop().unwrap();
    let fake = Fake::start([last]).await;
    let model = fake.model("openai::gpt-4.1-mini").strict().whole_answers();
    Agent::new(model, pool).run("Go.").finish().await.unwrap();
    let tools = fake.requests()[0].body["tools"].clone();
    let strict = |index: usize| tools[index]["function"]["strict"].clone();
    assert_eq!((strict(0), strict(1)), (json!(true), json!(false)));
    assert_eq!(tools[0]["function"]["parameters"]["required"], json!(["a", "b"]));
}

/// Add two integers.
#[tool(read_only, register = false)]
async fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: Option<i64>,
) -> i64 {
    a + b.unwrap_or_default()
}
