//! The APIs of models.

use crate::format::definitions;
use crate::response;
use crate::results::results;
use crate::usage::usage;
use serde_json::{Value, json};
use std::fmt;
use std::str::FromStr;
use tool_runtime_core::tool::export::{ApiFormat, Exported, FinishReason, ImportError};
use tool_runtime_core::tool::{ToolCall, ToolDefinition, ToolResult};
use tool_runtime_core::vocabulary::Usage;
use tool_runtime_core::vocabulary::matching::ToolPattern;

/// An API of models, as the format of an [export](tool_runtime_core::pool::Snapshot::export).
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
        Strict { api: self, only: None }
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strict {
    api: Api,
    only: Option<Vec<ToolPattern>>,
}

impl Strict {
    /// Lets the API enforce only the schemas of these tools: Anthropic compiles them, and rejects a request whose
    /// schemas are too complex together. Default: of all tools.
    ///
    /// ```
    /// use tool_runtime::export::Api;
    /// use tool_runtime::prelude::*;
    ///
    /// let ping = |id: &str| Tool::builder(id, "Answer at once.").handler(|| async { "pong" });
    /// let pool = ToolPool::builder().add(ping("fast")).add(ping("slow")).build()?;
    /// let export = pool.snapshot().export(Api::Anthropic.strict().only(["fast".parse()?]));
    /// let strict: Vec<bool> = export.tools().iter().map(|tool| tool.is_strict).collect();
    /// assert_eq!(strict, [true, false]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn only(mut self, tools: impl IntoIterator<Item = ToolPattern>) -> Self {
        self.only = Some(tools.into_iter().collect());
        self
    }

    fn includes(&self, tool: &ToolDefinition) -> bool {
        let only = self.only.as_ref();
        only.is_none_or(|only| only.iter().any(|pattern| pattern.matches(&tool.name)))
    }
}

impl ApiFormat for Api {
    fn key(&self) -> String {
        self.name().to_owned()
    }

    fn definitions(&self, tools: &[&ToolDefinition]) -> Exported {
        definitions(*self, |_| false, tools)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ImportError> {
        response::calls(*self, response)
    }

    fn text(&self, response: &Value) -> Result<String, ImportError> {
        response::text(*self, response)
    }

    fn finish_reason(&self, response: &Value) -> FinishReason {
        response::finish_reason(*self, response)
    }

    fn answer(&self, response: &Value) -> Result<Vec<Value>, ImportError> {
        response::messages(*self, response)
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

    fn usage(&self, response: &Value) -> Usage {
        usage(*self, response)
    }
}

impl ApiFormat for Strict {
    fn key(&self) -> String {
        match &self.only {
            None => format!("{} strict", self.api),
            Some(only) => {
                let only: Vec<String> = only.iter().map(ToolPattern::to_string).collect();
                format!("{} strict only {}", self.api, only.join("\n"))
            }
        }
    }

    fn definitions(&self, tools: &[&ToolDefinition]) -> Exported {
        definitions(self.api, |tool| self.includes(tool), tools)
    }

    fn calls(&self, response: &Value) -> Result<Vec<ToolCall>, ImportError> {
        self.api.calls(response)
    }

    fn text(&self, response: &Value) -> Result<String, ImportError> {
        self.api.text(response)
    }

    fn finish_reason(&self, response: &Value) -> FinishReason {
        self.api.finish_reason(response)
    }

    fn answer(&self, response: &Value) -> Result<Vec<Value>, ImportError> {
        self.api.answer(response)
    }

    fn results(&self, given: &[(&str, &ToolResult)]) -> Vec<Value> {
        self.api.results(given)
    }

    fn user(&self, text: &str) -> Value {
        self.api.user(text)
    }

    fn usage(&self, response: &Value) -> Usage {
        self.api.usage(response)
    }
}
