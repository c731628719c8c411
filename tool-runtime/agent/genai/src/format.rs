//! Definitions, calls and results as genai's types.

use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ContentPart, MessageContent, ToolResponse, Usage as GenaiUsage};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use tool_runtime::export::{
    Api, ApiFormat, Exported, FinishReason, ImportError, LeftOut, ToolExport,
};
use tool_runtime::tool::Usage;
use tool_runtime::{ToolCall, ToolDefinition, ToolResult};

/// The name in errors.
const GENAI: &str = "genai";

/// Messages are genai's `ChatMessage` as JSON, definitions its `Tool`; schemas are those that the
/// API behind a model accepts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GenaiFormat {
    pub(crate) kind: AdapterKind,
    pub(crate) is_strict: bool,
}

/// The response of a model.
#[derive(Serialize, Deserialize)]
pub(crate) struct ModelResponse {
    pub(crate) message: ChatMessage,
    pub(crate) usage: GenaiUsage,
    /// The API's word for the reason of its end.
    #[serde(default)]
    pub(crate) finish_reason: String,
}

impl GenaiFormat {
    /// The API whose schema rules apply.
    fn api(self) -> Api {
        match self.kind {
            AdapterKind::Anthropic | AdapterKind::MiniMax => Api::Anthropic,
            AdapterKind::OpenAIResp => Api::OpenAiResponses,
            AdapterKind::Gemini | AdapterKind::GeminiIx | AdapterKind::Vertex => Api::Gemini,
            _ => Api::OpenAiChat,
        }
    }

    /// Names that genai reserves for tools of the API itself.
    fn reserved(self) -> &'static [&'static str] {
        match self.api() {
            Api::Gemini => &[
                "googleSearch",
                "googleSearchRetrieval",
                "codeExecution",
                "urlContext",
                "google_search",
                "code_execution",
                "url_context",
                "file_search",
                "computer_use",
                "google_maps",
                "mcp_server",
                "retrieval",
            ],
            _ => &["web_search"],
        }
    }

    /// Renames a tool whose name is reserved.
    fn rename(self, report: &mut ToolExport) {
        if self.reserved().contains(&report.wire_name.as_str()) {
            report.wire_name.push_str("_tool");
        }
    }
}

impl ApiFormat for GenaiFormat {
    fn key(&self) -> String {
        format!("genai {} {}", self.kind, self.is_strict)
    }

    fn definitions(&self, tools: &[&ToolDefinition]) -> Exported {
        let api = self.api();
        let exported =
            if self.is_strict { api.strict().definitions(tools) } else { api.definitions(tools) };
        let mut renamed = Exported { left_out: exported.left_out, ..Exported::default() };
        for (mut report, definition) in
            exported.reports.into_iter().zip(declarations(exported.tools))
        {
            self.rename(&mut report);
            if renamed.reports.iter().any(|other| other.wire_name == report.wire_name) {
                let reason = format!("another tool is named `{}`", report.wire_name);
                renamed.left_out.push(LeftOut { id: report.id, reason });
                continue;
            }
            renamed.tools.push(tool(&report, &definition));
            renamed.reports.push(report);
        }
        renamed
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ImportError> {
        let message = read(response)?.message;
        Ok(message.content.into_tool_calls().into_iter().map(call).collect())
    }

    fn text(&self, response: &Value) -> Result<String, ImportError> {
        Ok(read(response)?.message.content.texts().concat())
    }

    fn finish_reason(&self, response: &Value) -> FinishReason {
        read(response).map_or_else(
            |_| FinishReason::Complete,
            |response| FinishReason::from_word(&response.finish_reason),
        )
    }

    fn answer(&self, response: &Value) -> Result<Vec<Value>, ImportError> {
        let mut message = read(response)?.message;
        for part in message.content.iter_mut() {
            // APIs reject arguments that are not an object; the call's result reports the mistake.
            if let ContentPart::ToolCall(call) = part
                && !call.fn_arguments.is_object()
            {
                call.fn_arguments = Value::Object(Map::new());
            }
        }
        // An empty message is rejected.
        Ok(if message.content.is_empty() { Vec::new() } else { vec![to_json(&message)] })
    }

    fn results(&self, results: &[(&str, &ToolResult)]) -> Vec<Value> {
        let parts: Vec<ContentPart> = match self.api() {
            // Anthropic's adapter passes blocks unchanged, with images and error marks.
            Api::Anthropic => {
                let messages = Api::Anthropic.results(results);
                let blocks = messages.iter().filter_map(|message| message["content"].as_array());
                blocks
                    .flatten()
                    .cloned()
                    .map(|block| ContentPart::from_custom(block, None))
                    .collect()
            }
            _ => {
                let messages = Api::OpenAiChat.results(results);
                results.iter().zip(messages).map(|(result, text)| response(result, &text)).collect()
            }
        };
        vec![to_json(&ChatMessage::tool(MessageContent::from_parts(parts)))]
    }

    fn user(&self, text: &str) -> Value {
        to_json(&ChatMessage::user(text))
    }

    fn usage(&self, response: &Value) -> Usage {
        let Ok(ModelResponse { usage, .. }) = read(response) else { return Usage::default() };
        let count = |tokens: Option<i32>| tokens.and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        Usage {
            input: count(usage.prompt_tokens),
            output: count(usage.completion_tokens),
            cached: count(usage.prompt_tokens_details.and_then(|details| details.cached_tokens)),
        }
    }
}

/// The declarations of an export, without the API's envelope.
fn declarations(tools: Vec<Value>) -> impl Iterator<Item = Value> {
    tools.into_iter().flat_map(|mut tool| {
        match (tool["functionDeclarations"].take(), tool["function"].take()) {
            (Value::Array(all), _) => all,
            (_, function @ Value::Object(_)) => vec![function],
            _ => vec![tool],
        }
    })
}

/// A definition as genai's `Tool`.
fn tool(report: &ToolExport, definition: &Value) -> Value {
    let schema = ["input_schema", "parameters", "parametersJsonSchema"];
    json!({
        "name": report.wire_name,
        "description": definition["description"],
        "schema": schema.into_iter().find_map(|key| definition.get(key)),
        "strict": definition.get("strict"),
    })
}

fn call(call: genai::chat::ToolCall) -> ToolCall {
    let arguments = match call.fn_arguments {
        Value::Null => "{}".to_owned(),
        // Not JSON, as the model wrote it.
        Value::String(text) => text,
        arguments => arguments.to_string(),
    };
    ToolCall::new(call.fn_name, arguments).with_call_id(call.call_id)
}

/// A result as genai's `ToolResponse`, which is text.
fn response((name, result): &(&str, &ToolResult), message: &Value) -> ContentPart {
    let text = message["content"].as_str().unwrap_or_default();
    ToolResponse::new(result.call_id(), text).with_fn_name(*name).into()
}

fn read(response: &Value) -> Result<ModelResponse, ImportError> {
    ModelResponse::deserialize(response).map_err(|error| ImportError::new(GENAI, error.to_string()))
}

fn to_json(message: &ChatMessage) -> Value {
    serde_json::to_value(message).expect("a message has string keys")
}
