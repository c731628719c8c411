//! Questions that are answered in rounds.

use schemars::JsonSchema;
use serde::Deserialize;
use tool_runtime::peer::{Answer, PeerCapability, PeerError, SamplingRequest};
use tool_runtime::prelude::*;

#[derive(Deserialize, JsonSchema, Form)]
pub(crate) struct Named {
    pub(crate) name: String,
}

#[derive(Deserialize, JsonSchema, Form)]
struct Coloured {
    color: String,
}

#[derive(Deserialize, JsonSchema, Form)]
struct Confirmed {
    ok: bool,
}

#[derive(Deserialize, JsonSchema, Form)]
struct About {
    context: String,
}

/// The topic of a prompt.
pub(crate) async fn asked_for_context(context: &ToolContext) -> Result<String, PeerError> {
    let question = "What context should the prompt use?";
    let answer = context.ask::<About>("user_context", question).await?.accepted();
    Ok(answer.map_or_else(|| "anything".to_owned(), |about| about.context))
}

/// Ask for a name.
#[tool(read_only)]
async fn test_input_required_result_elicitation(
    context: &ToolContext,
) -> Result<String, PeerError> {
    match context.ask::<Named>("user_name", "What is your name?").await? {
        Answer::Accepted(Named { name }) => Ok(format!("Hello, {name}!")),
        _ => Ok("Hello, whoever you are!".to_owned()),
    }
}

/// Ask for anything at all.
#[tool(read_only)]
async fn test_streaming_elicitation(context: &ToolContext) -> Result<String, PeerError> {
    test_input_required_result_elicitation(context).await
}

/// Ask the model for a capital.
#[tool(read_only)]
async fn test_input_required_result_sampling(context: &ToolContext) -> Result<String, PeerError> {
    let question = SamplingRequest::new(100).user("What is the capital of France?");
    Ok(context.sample("capital_question", question).await?.text())
}

/// Ask for a capability that no client of the suite has.
#[tool(read_only)]
async fn test_missing_capability(context: &ToolContext) -> Result<String, PeerError> {
    test_input_required_result_sampling(context).await
}

/// Request the roots of the client.
#[tool(read_only)]
async fn test_input_required_result_list_roots(context: &ToolContext) -> Result<String, PeerError> {
    let roots = context.roots("client_roots").await?;
    let uris: Vec<&str> = roots.iter().map(|root| root.uri.as_str()).collect();
    Ok(format!("the client works in {}", uris.join(", ")))
}

/// Ask for a confirmation, which the client sends with the state of the request.
#[tool(read_only)]
async fn test_input_required_result_request_state(
    context: &ToolContext,
) -> Result<&'static str, PeerError> {
    match context.ask::<Confirmed>("confirm", "Please confirm").await? {
        Answer::Accepted(Confirmed { ok: true }) => Ok("state-ok, confirmed"),
        _ => Ok("state-ok, not confirmed"),
    }
}

/// Ask for a confirmation of a client that changes the state.
#[tool(read_only)]
async fn test_input_required_result_tampered_state(
    context: &ToolContext,
) -> Result<&'static str, PeerError> {
    test_input_required_result_request_state(context).await
}

/// Ask three things at once.
#[tool(read_only)]
async fn test_input_required_result_multiple_inputs(
    context: &ToolContext,
) -> Result<String, PeerError> {
    let greeting = SamplingRequest::new(50).user("Generate a greeting");
    let (name, greeting, roots) = tokio::try_join!(
        context.ask::<Named>("user_name", "What is your name?"),
        context.sample("greeting", greeting),
        context.roots("client_roots"),
    )?;
    let name = name.accepted().map_or_else(|| "stranger".to_owned(), |named| named.name);
    Ok(format!("{}, {name}; {} roots", greeting.text(), roots.len()))
}

/// Ask two things, one after the other.
#[tool(read_only)]
async fn test_input_required_result_multi_round(
    context: &ToolContext,
) -> Result<String, PeerError> {
    let name = context.ask::<Named>("step1", "Step 1: What is your name?").await?;
    let color = context.ask::<Coloured>("step2", "Step 2: What is your favorite color?").await?;
    match (name.accepted(), color.accepted()) {
        (Some(Named { name }), Some(Coloured { color })) => Ok(format!("{name} likes {color}")),
        _ => Ok("somebody likes nothing".to_owned()),
    }
}

/// Ask only questions that this client supports.
#[tool(read_only)]
async fn test_input_required_result_capabilities(
    context: &ToolContext,
) -> Result<String, PeerError> {
    if context.can_ask(PeerCapability::Elicitation) {
        return test_input_required_result_elicitation(context).await;
    }
    if context.can_ask(PeerCapability::Sampling) {
        return test_input_required_result_sampling(context).await;
    }
    Ok("there is nobody to ask".to_owned())
}
