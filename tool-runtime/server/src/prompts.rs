//! Serves prompts.

use super::client::Subject;
use super::convert;
use super::handler::PoolHandler;
use super::pagination::List;
use super::refusal;
use super::rounds::Round;
use super::run_call::{interrupted, run_call};
use rmcp::RoleServer;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResponse, GetPromptResult, JsonObject,
    ListPromptsResult, MetaObject, PaginatedRequestParams, PromptMessage,
};
use rmcp::service::RequestContext;
use serde_json::Value;
use tool_runtime_core as core;
use tool_runtime_core::{PromptMessages, TextArguments};

impl PoolHandler {
    /// `prompts/list`.
    pub(super) fn prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listing = self.listing();
        refusal::unless(listing.capabilities.prompts.is_some(), "prompts/list")?;
        let prompts = &listing.prompts;
        let name = |index: usize| prompts[index].name.clone();
        let page = self.page(List::Prompts, prompts.len(), &name, request, context)?;
        Ok(ListPromptsResult {
            next_cursor: page.next,
            ttl_ms: page.ttl_ms,
            cache_scope: page.scope,
            ..ListPromptsResult::with_all_items(prompts[page.range].to_vec())
        })
    }

    /// `prompts/get`.
    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        refusal::unless(self.listing().capabilities.prompts.is_some(), "prompts/get")?;
        let arguments = texts(request.arguments.clone().unwrap_or_default());
        let round = Round { responses: request.input_responses, state: request.request_state };
        let subject =
            Subject { method: "prompts/get", name: request.name, arguments: request.arguments };
        let client = self.client(context, subject, round);
        let call = self.context_with(&client, client.request().token());
        let prompt = self.pool().get_prompt(client.name(), &arguments, &call);
        match run_call(&client, prompt).await {
            Ok(Ok(messages)) => result(messages).map(GetPromptResponse::from),
            Ok(Err(error)) => Err(refusal::of(&error, client.is_modern())),
            Err(interruption) => interrupted(interruption),
        }
    }
}

/// Clients send text. One that sends a number means its digits, one that sends `null` nothing.
fn texts(arguments: JsonObject) -> TextArguments {
    let text = |(name, value)| match value {
        Value::Null => None,
        Value::String(text) => Some((name, text)),
        other => Some((name, other.to_string())),
    };
    arguments.into_iter().filter_map(text).collect()
}

fn result(messages: PromptMessages) -> Result<GetPromptResult, ErrorData> {
    let converted: Result<Vec<_>, _> = messages.messages.iter().map(message).collect();
    let mut result = GetPromptResult::new(converted.map_err(|error| refusal::unfit(&error))?);
    result.description = messages.description.filter(|text| !text.is_empty());
    result.meta = (!messages.meta.is_empty()).then_some(MetaObject(messages.meta));
    Ok(result)
}

fn message(message: &core::PromptMessage) -> serde_json::Result<PromptMessage> {
    // A role that rmcp does not know is an error.
    let role = serde_json::from_value(serde_json::to_value(message.role)?)?;
    Ok(PromptMessage::new(role, convert::block(&message.content)?))
}
