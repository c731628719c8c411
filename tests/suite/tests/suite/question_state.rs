//! State that clients of 2026-07-28 carry from round to round, valid and tampered with.

use super::questions::{answering, calls};
use super::support::pool_of;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use tool_runtime::error::ProtocolError;
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;
use tool_runtime::testing::{ProtocolVersion, Reply, TestClient};

/// Ask two things, one after the other.
#[tool(register = false)]
async fn chat(
    /// The greeting.
    greeting: String,
    /// Another argument.
    #[arg(default = 1)]
    times: u32,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let name = context.ask::<String>("name", "Your name?").await?.accepted();
    let city = context.ask::<String>("city", "Your city?").await?.accepted();
    Ok(format!("{greeting} {name:?} of {city:?}, {times}"))
}

/// Ask only the first of the two questions.
#[tool(register = false)]
async fn greet(
    /// The greeting.
    greeting: String,
    context: &ToolContext,
) -> Result<String, ToolError> {
    let name = context.ask::<String>("name", "Your name?").await?.accepted();
    Ok(format!("{greeting} {name:?}"))
}

fn pool() -> ToolPool {
    ToolPool::builder().tool::<ChatAction>().tool::<GreetAction>().build().expect("a pool")
}

type Answered = Result<Value, ProtocolError>;

/// One round, by hand: a state of `null` is left out.
async fn round(client: &TestClient, call: &Value, state: &Value, answers: Value) -> Answered {
    let mut params = call.clone();
    if !state.is_null() {
        params["requestState"] = state.clone();
    }
    params["inputResponses"] = answers;
    client.request("tools/call", params).await
}

fn chat_call() -> Value {
    json!({ "name": "chat", "arguments": { "greeting": "Hi", "times": 2 } })
}

fn name_answer() -> Value {
    json!({ "name": { "action": "accept", "content": { "name": "Ada" } } })
}

fn city_answer() -> Value {
    json!({ "city": { "action": "accept", "content": { "city": "Graz" } } })
}

/// The state after the answer to the first question.
async fn state_of(client: &TestClient) -> Value {
    let first = client.request("tools/call", chat_call()).await.expect("a question");
    let second = round(client, &chat_call(), &first["requestState"], name_answer())
        .await
        .expect("a question");
    assert_eq!(keys(&second), ["city"]);
    second["requestState"].clone()
}

/// Keys of the open questions.
fn keys(result: &Value) -> Vec<&str> {
    assert_eq!(result["resultType"], "input_required", "{result}");
    result["inputRequests"].as_object().expect("questions").keys().map(String::as_str).collect()
}

fn text(answered: Answered) -> String {
    let result = answered.expect("a result");
    assert_eq!(result["resultType"], "complete", "{result}");
    result["content"][0]["text"].as_str().expect("a string").to_owned()
}

#[track_caller]
fn rejected(answered: Answered) {
    let error = answered.expect_err("rejected");
    assert_eq!(error.code(), -32602, "{error}");
    assert!(error.message().contains("requestState"), "{error}");
}

#[tokio::test]
async fn earlier_answers_are_only_in_the_sealed_state() {
    let client = TestClient::stateless(&pool()).await;
    let first = client.request("tools/call", chat_call()).await.expect("a question");
    assert_eq!(keys(&first), ["name"]);
    let question = &first["inputRequests"]["name"];
    assert_eq!(question["method"], "elicitation/create");
    assert_eq!(question["params"]["mode"], "form");
    assert_eq!(
        question["params"]["requestedSchema"]["properties"],
        json!({ "name": { "type": "string" } })
    );
    let state = state_of(&client).await;
    let done = round(&client, &chat_call(), &state, city_answer()).await;
    assert_eq!(text(done), r#"Hi Some("Ada") of Some("Graz"), 2"#);
}

#[tokio::test]
async fn a_missing_answer_is_requested_again() {
    let client = TestClient::stateless(&pool()).await;
    let state = state_of(&client).await;
    let again = round(&client, &chat_call(), &state, json!({})).await.expect("a question");
    assert_eq!(keys(&again), ["city"]);
    // A malformed answer is ignored.
    let nothing = json!({ "city": { "content": { "city": "Graz" } } });
    let again =
        round(&client, &chat_call(), &again["requestState"], nothing).await.expect("a question");
    assert_eq!(keys(&again), ["city"]);
    let done = round(&client, &chat_call(), &again["requestState"], city_answer()).await;
    assert_eq!(text(done), r#"Hi Some("Ada") of Some("Graz"), 2"#);
}

#[tokio::test]
async fn a_call_without_its_state_starts_again() {
    let client = TestClient::stateless(&pool()).await;
    state_of(&client).await;
    let again =
        round(&client, &chat_call(), &Value::Null, city_answer()).await.expect("a question");
    assert_eq!(keys(&again), ["name"]);
    let mut answers = name_answer();
    answers["city"] = city_answer()["city"].clone();
    let done = round(&client, &chat_call(), &Value::Null, answers).await;
    assert_eq!(text(done), r#"Hi Some("Ada") of Some("Graz"), 2"#);
}

#[tokio::test]
async fn answers_without_a_question_are_ignored() {
    let client = TestClient::stateless(&pool()).await;
    let state = state_of(&client).await;
    let mut answers = city_answer();
    answers["weather"] = json!({ "action": "accept", "content": { "weather": "fine" } });
    // An answered question is not asked again.
    answers["name"] = json!({ "action": "accept", "content": { "name": "Eve" } });
    let done = round(&client, &chat_call(), &state, answers).await;
    assert_eq!(text(done), r#"Hi Some("Ada") of Some("Graz"), 2"#);
}

#[tokio::test]
async fn a_state_that_was_changed_is_rejected() {
    let client = TestClient::stateless(&pool()).await;
    let state = state_of(&client).await;
    let state = state.as_str().expect("a string");
    let middle = state.len() / 2;
    let other = if state.as_bytes()[middle] == b'A' { "B" } else { "A" };
    let changed = format!("{}{other}{}", &state[..middle], &state[middle + 1..]);
    for changed_state in [&changed, &state[1..], &state[..state.len() - 1], "", "e30="] {
        rejected(round(&client, &chat_call(), &changed_state.into(), city_answer()).await);
    }
}

#[tokio::test]
async fn a_state_is_valid_only_for_its_tool_and_arguments() {
    let client = TestClient::stateless(&pool()).await;
    let state = state_of(&client).await;
    let other_tool = json!({ "name": "greet", "arguments": { "greeting": "Hi" } });
    let other_arguments = json!({ "name": "chat", "arguments": { "greeting": "Bye", "times": 2 } });
    let fewer = json!({ "name": "chat", "arguments": { "greeting": "Hi" } });
    for call in [other_tool, other_arguments, fewer] {
        rejected(round(&client, &call, &state, city_answer()).await);
    }
    let same = json!({ "name": "chat", "arguments": { "times": 2, "greeting": "Hi" } });
    let done = round(&client, &same, &state, city_answer()).await;
    assert_eq!(text(done), r#"Hi Some("Ada") of Some("Graz"), 2"#);
}

#[tokio::test]
async fn a_state_of_another_server_is_valid_only_with_a_shared_secret() {
    let server = || McpServer::new(pool(), "chats", "1.0.0");
    let one = TestClient::for_server(server()).connect().await;
    let other = TestClient::for_server(server()).connect().await;
    rejected(round(&other, &chat_call(), &state_of(&one).await, city_answer()).await);

    let secret = [7; 32];
    let one = TestClient::for_server(server().with_state_secret(secret)).connect().await;
    let other = TestClient::for_server(server().with_state_secret(secret)).connect().await;
    let done = round(&other, &chat_call(), &state_of(&one).await, city_answer()).await;
    assert_eq!(text(done), r#"Hi Some("Ada") of Some("Graz"), 2"#);
}

#[tokio::test]
async fn a_tool_that_never_stops_asking_fails_the_test() {
    /// Ask forever.
    #[tool(register = false)]
    async fn ask_forever(context: &ToolContext) -> Result<(), ToolError> {
        for nth in 0.. {
            context.ask::<bool>(&format!("sure{nth}"), "Sure?").await?;
        }
        Ok(())
    }
    let client = TestClient::builder(&pool_of::<AskForeverAction>()).max_rounds(3).connect().await;
    let calling = tokio::spawn(client.call("ask_forever", json!({})).into_future());
    let panic = calling.await.expect_err("it panics").into_panic();
    let words = panic.downcast_ref::<String>().expect("words");
    assert_eq!(words, "`tools/call` still sends questions after 3 rounds");
    assert_eq!(calls(&client), 4);
}

#[tokio::test]
async fn older_clients_have_no_round_limit() {
    let client =
        answering(&pool(), tool_runtime::testing::ProtocolVersion::V2025_11_25, Reply::decline())
            .await;
    let result = client.call("chat", json!({ "greeting": "Hi" })).await.expect("a result");
    assert_eq!(result.to_text(), "Hi None of None, 1");
    assert_eq!(calls(&client), 1);
}

/// Ask about a price that changes with each run.
#[tool(register = false)]
async fn pay(prices: &Prices, context: &ToolContext) -> Result<String, ToolError> {
    let price = prices.0.fetch_add(10, Ordering::Relaxed);
    let agreed = context.ask::<bool>("sure", format!("Pay {price} EUR?")).await?;
    Ok(format!("{price} EUR: {:?}", agreed.accepted()))
}

struct Prices(AtomicU32);

/// Ask two questions by one key.
#[tool(register = false)]
async fn ask_two_by_one_key(context: &ToolContext) -> Result<String, ToolError> {
    let one = context.ask::<bool>("sure", "One?").await?.accepted();
    let two = context.ask::<bool>("sure", "Two?").await?.accepted();
    Ok(format!("{one:?} {two:?}"))
}

#[tokio::test]
async fn a_changed_question_is_asked_again() {
    let prices = Prices(AtomicU32::new(10));
    let pool = ToolPool::builder().tool::<PayAction>().state(prices).build().expect("a pool");
    let client =
        TestClient::builder(&pool).capabilities(json!({"elicitation": {}})).connect().await;
    let call = json!({ "name": "pay", "arguments": {} });
    let message = |round: &Value| round["inputRequests"]["sure"]["params"]["message"].clone();
    let first = client.request("tools/call", call.clone()).await.expect("a question");
    assert_eq!(message(&first), "Pay 10 EUR?");
    let yes = json!({ "sure": { "action": "accept", "content": { "sure": true } } });
    let second = round(&client, &call, &first["requestState"], yes).await.expect("a question");
    assert_eq!(message(&second), "Pay 20 EUR?", "{second}");
}

#[tokio::test]
async fn one_key_is_one_question_in_both_versions() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let pool = pool_of::<AskTwoByOneKeyAction>();
        let yes = |_| async { Reply::accept(json!({ "sure": true })) };
        let client =
            TestClient::builder(&pool).protocol_version(version).answer(yes).connect().await;
        let confused = client.call("ask_two_by_one_key", json!({})).await.expect("a result");
        assert!(confused.is_error());
        assert!(confused.to_text().contains("give each question its own key"), "{confused:?}");
    }
}

/// Asks until the answer is yes. Without a limit on rounds it would not end, since it never waits.
async fn keep_asking(context: &ToolContext) -> Result<(), ToolError> {
    for _ in 0..5000 {
        if context.ask::<bool>("sure", "Sure?").await?.accepted() == Some(true) {
            break;
        }
    }
    Ok(())
}

/// Ask until the answer is yes.
#[tool(register = false)]
async fn ask_until_yes(context: &ToolContext) -> Result<(), ToolError> {
    keep_asking(context).await
}

/// The same as a task.
#[tool(register = false, task = "required")]
async fn ask_until_yes_as_task(context: &ToolContext) -> Result<(), ToolError> {
    tokio::task::yield_now().await;
    keep_asking(context).await
}

#[tokio::test]
async fn a_call_that_repeats_an_answered_question_fails() {
    let pool =
        ToolPool::builder().tool::<AskUntilYesAction>().tool::<AskUntilYesAsTaskAction>().build();
    let pool = pool.expect("a pool");
    for tool in ["ask_until_yes", "ask_until_yes_as_task"] {
        let client = TestClient::builder(&pool).tasks();
        let client = client.answer(|_| async { Reply::decline() }).connect().await;
        let error = client.call(tool, json!({})).await.expect_err("an error");
        assert_eq!(error.code(), -32603, "{tool}: {error}");
        assert!(error.message().contains("`sure`"), "{tool}: {error}");
    }
}
