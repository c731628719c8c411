//! The APIs of models.

use crate::answer;
use crate::format::definitions;
use crate::results::results;
use crate::usage::usage;
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;
use tool_runtime_core::{
    ApiFormat, Exported, FinishReason, ImportError, ToolCall, ToolDefinition, ToolResult, Usage,
};

/// An API of models, as the format of an [export](tool_runtime_core::Snapshot::export).
///
/// | API | Definitions | Name in text |
/// |---|---|---|
/// | [`Mcp`](Self::Mcp) | MCP's `tools/list` | `mcp` |
/// | [`Anthropic`](Self::Anthropic) | Messages | `anthropic` |
/// | [`OpenAiChat`](Self::OpenAiChat) | Chat Completions, also of the many servers compatible with it | `openai` |
/// | [`OpenAiResponses`](Self::OpenAiResponses) | Responses | `openai-responses` |
/// | [`Gemini`](Self::Gemini) | `generateContent`, with `parametersJsonSchema` | `gemini` |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Api {
    /// MCP's `tools/list` and `tools/call`: everything is kept.
    Mcp,
    /// Anthropic Messages.
    Anthropic,
    /// OpenAI Chat Completions.
    OpenAiChat,
    /// OpenAI Responses.
    OpenAiResponses,
    /// Gemini `generateContent`.
    Gemini,
}

impl Api {
    /// All APIs.
    pub const ALL: [Self; 5] =
        [Self::Mcp, Self::Anthropic, Self::OpenAiChat, Self::OpenAiResponses, Self::Gemini];

    /// Lets the API enforce the schemas of as many tools as it accepts; the others are exported
    /// plain, each with the reason. Default: all tools are plain.
    ///
    /// MCP and Gemini have no strict definitions: for them this changes nothing. Gemini enforces
    /// schemas by the mode `VALIDATED` of a request.
    pub fn strict(self) -> Strict {
        Strict(self)
    }

    /// The name in text, on the command line for instance.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Anthropic => "anthropic",
            Self::OpenAiChat => "openai",
            Self::OpenAiResponses => "openai-responses",
            Self::Gemini => "gemini",
        }
    }
}

/// The error names all APIs.
impl FromStr for Api {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|api| api.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("`{name}` is not a known format; the formats are {names}")
        })
    }
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An API whose strict mode is used where it can be. Created by [`Api::strict`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Strict(Api);

impl ApiFormat for Api {
    fn key(&self) -> String {
        self.name().to_owned()
    }

    fn definitions(&self, tools: &[&ToolDefinition]) -> Exported {
        definitions(*self, false, tools)
    }

    fn calls(&self, answer: &Value) -> Result<Vec<ToolCall>, ImportError> {
        answer::calls(*self, answer)
    }

    fn text(&self, answer: &Value) -> Result<String, ImportError> {
        answer::text(*self, answer)
    }

    fn finish_reason(&self, answer: &Value) -> FinishReason {
        answer::finish_reason(*self, answer)
    }

    fn answer(&self, answer: &Value) -> Result<Vec<Value>, ImportError> {
        answer::messages(*self, answer)
    }

    fn results(&self, given: &[(&str, &ToolResult)]) -> Vec<Value> {
        results(*self, given)
    }

    fn user(&self, text: &str) -> Value {
        match self {
            Self::Gemini => json!({ "role": "user", "parts": [{ "text": text }] }),
            _ => json!({ "role": "user", "content": text }),
        }
    }

    fn usage(&self, answer: &Value) -> Usage {
        usage(*self, answer)
    }
}

impl ApiFormat for Strict {
    fn key(&self) -> String {
        format!("{} strict", self.0)
    }

    fn definitions(&self, tools: &[&ToolDefinition]) -> Exported {
        definitions(self.0, true, tools)
    }

    fn calls(&self, answer: &Value) -> Result<Vec<ToolCall>, ImportError> {
        self.0.calls(answer)
    }

    fn text(&self, answer: &Value) -> Result<String, ImportError> {
        self.0.text(answer)
    }

    fn finish_reason(&self, answer: &Value) -> FinishReason {
        self.0.finish_reason(answer)
    }

    fn answer(&self, answer: &Value) -> Result<Vec<Value>, ImportError> {
        self.0.answer(answer)
    }

    fn results(&self, given: &[(&str, &ToolResult)]) -> Vec<Value> {
        self.0.results(given)
    }

    fn user(&self, text: &str) -> Value {
        self.0.user(text)
    }

    fn usage(&self, answer: &Value) -> Usage {
        self.0.usage(answer)
    }
}
