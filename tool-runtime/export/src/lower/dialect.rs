//! The subsets of JSON Schema that APIs accept.

use serde_json::Value;
use std::borrow::Cow;
use tool_runtime_core::seam::{MAX_WIRE_NAME, hashed};

/// A subset of JSON Schema.
///
/// Sources: the APIs' own documents on strict tools and structured outputs, and the transformers of
/// the official Python libraries (`anthropic`, `openai`, `google-genai`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Any schema whose root is a plain object: Anthropic and OpenAI without strict mode.
    Loose,
    /// Anthropic's strict tools.
    Anthropic,
    /// OpenAI's strict functions.
    OpenAi,
    /// Gemini's `parametersJsonSchema`.
    Gemini,
}

/// The treatment of a keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Treatment {
    Keep,
    Describe,
    Drop,
}

/// Formats that both strict dialects accept.
const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

impl Dialect {
    /// Whether the API enforces the schema.
    pub(super) fn is_strict(self) -> bool {
        matches!(self, Self::Anthropic | Self::OpenAi)
    }

    /// The treatment of a keyword that contains no schemas.
    pub(super) fn treatment(self, keyword: &str, value: &Value) -> Treatment {
        let is_kept = match keyword {
            "$schema" | "$comment" | "$id" | "$anchor" => return Treatment::Drop,
            "type" | "description" | "title" | "enum" => true,
            // Without meaning: the API still sends the value `null`, which is absent then.
            "default" if value.is_null() => return Treatment::Drop,
            "const" => self.is_strict(),
            "format" => match (self, value.as_str()) {
                (Self::Gemini, _) => true,
                (Self::Anthropic, Some("uri")) => true,
                (_, Some(format)) => FORMATS.contains(&format),
                (_, None) => false,
            },
            "minItems" if self == Self::Anthropic => matches!(value.as_u64(), Some(0 | 1)),
            "minItems" | "maxItems" | "minimum" | "maximum" => self != Self::Anthropic,
            "pattern" if !is_portable(value) => false,
            "pattern" | "multipleOf" | "exclusiveMinimum" | "exclusiveMaximum" => {
                self == Self::OpenAi
            }
            // OpenAPI: the value `null` is accepted, which `type` already expresses.
            "nullable" => return Treatment::Drop,
            _ => false,
        };
        if is_kept { Treatment::Keep } else { Treatment::Describe }
    }

    /// The name of a property, which the dialect may have to change.
    pub(crate) fn property(self, name: &str) -> Cow<'_, str> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let is_accepted = |c: char| is_word(c) || (self != Self::Gemini && matches!(c, '.' | '-'));
        let starts_well =
            self != Self::Gemini || name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let is_valid = (1..=MAX_WIRE_NAME).contains(&name.len()) && name.chars().all(is_accepted);
        if is_valid && starts_well {
            return Cow::Borrowed(name);
        }
        Cow::Owned(hashed(name, is_accepted))
    }
}

/// Whether engines without lookaround and back references understand a pattern, as those of OpenAI do not.
pub(super) fn is_portable(pattern: &Value) -> bool {
    let Some(pattern) = pattern.as_str() else { return false };
    let has_lookaround = ["(?=", "(?!", "(?<=", "(?<!"].iter().any(|group| pattern.contains(group));
    let has_back_reference = pattern.as_bytes().windows(2).enumerate().any(|(at, pair)| {
        let is_escaped = at > 0 && pattern.as_bytes()[at - 1] == b'\\';
        pair[0] == b'\\' && matches!(pair[1], b'1'..=b'9' | b'k') && !is_escaped
    });
    !has_lookaround && !has_back_reference
}
