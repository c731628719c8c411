//! `prompts/get`.

use super::client::Subject;
use super::handler::PoolHandler;
use super::request::{McpResult, RequestContext};
use super::rounds::Round;
use super::run_call::{interrupted, run_call};
use super::{convert, errors};
use rmcp::model::{
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject, MetaObject,
    PromptMessage,
};
use serde_json::Value;
use tool_runtime_core as core;
use tool_runtime_core::tool::TextArguments;
use tool_runtime_core::tool::prompt::PromptMessages;

impl PoolHandler {
    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext,
    ) -> McpResult<GetPromptResponse> {
        errors::check_declared(self.listing().capabilities.prompts.as_ref(), "prompts/get")?;
        let arguments = text_arguments(request.arguments.clone().unwrap_or_default());
        let round = Round { responses: request.input_responses, state: request.request_state };
        let subject =
            Subject { method: "prompts/get", name: request.name, arguments: request.arguments };
        let client = self.client(context, subject, round);
        let call = self.context_with(&client, client.request().token());
        let prompt = self.pool.get_prompt(client.name(), &arguments, &call);
        match run_call(&client, prompt).await {
            Ok(Ok(messages)) => result(messages).map(GetPromptResponse::from),
            Ok(Err(error)) => Err(errors::of_call(&error, client.is_stateless())),
            Err(interruption) => interrupted(interruption),
        }
    }
}

/// The arguments as text. A client that sends a number means its digits; `null` is absent.
fn text_arguments(arguments: JsonObject) -> TextArguments {
    let mut converted = TextArguments::new();
    for (name, value) in arguments {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text,
            other => other.to_string(),
        };
        converted.insert(name, text);
    }
    converted
}

fn result(messages: PromptMessages) -> McpResult<GetPromptResult> {
    let converted: Result<Vec<_>, _> = messages.messages.iter().map(message).collect();
    let mut result =
        GetPromptResult::new(converted.map_err(|error| errors::invalid_result(&error))?);
    result.description = messages.description.filter(|text| !text.is_empty());
    result.meta = (!messages.meta.is_empty()).then_some(MetaObject(messages.meta));
    Ok(result)
}

fn message(message: &core::tool::prompt::PromptMessage) -> serde_json::Result<PromptMessage> {
    // rmcp rejects unknown roles.
    let role = convert::via_json(&message.role)?;
    Ok(PromptMessage::new(role, convert::block(&message.content)?))
}
