//! Hints about a tool's effects, as MCP has them.

use serde::{Deserialize, Serialize};

/// The MCP tool annotations.
///
/// A hint that is absent has MCP's default, which is the dangerous one: not read-only,
/// destructive, not idempotent, open world. `destructive` and `idempotent` mean something
/// only for a tool that is not read-only.
///
/// Source: MCP specification 2025-11-25, `ToolAnnotations`.
///
/// ```
/// use tool_runtime::ToolAnnotations;
///
/// let annotations = ToolAnnotations::default().with_read_only(true);
/// assert!(annotations.is_read_only());
/// assert!(!annotations.is_destructive());
/// assert!(ToolAnnotations::default().is_destructive());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ToolAnnotations {
    /// A display title; [`ToolDefinition::title`](crate::tool::ToolDefinition::title) is the newer field for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The tool changes nothing. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// The tool may destroy something, beyond adding to it. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it again with the same arguments changes nothing more. Default: false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// The tool interacts with external entities, such as web pages. Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// Writes a method per hint.
macro_rules! hints {
    ($($with:ident: $hint:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[must_use]
        pub fn $with(mut self, hint: bool) -> Self {
            self.$hint = Some(hint);
            self
        }
    )*};
}

impl ToolAnnotations {
    hints! {
        with_read_only: read_only_hint, "Sets whether the tool changes nothing.";
        with_destructive: destructive_hint, "Sets whether the tool may destroy something.";
        with_idempotent: idempotent_hint, "Sets whether a second equal call changes nothing more.";
        with_open_world: open_world_hint, "Sets whether the tool touches an open world.";
    }

    /// Sets the display title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Whether the tool changes nothing, with MCP's default.
    pub fn is_read_only(&self) -> bool {
        self.read_only_hint.unwrap_or(false)
    }

    /// Whether the tool may destroy something: never if it is read-only.
    pub fn is_destructive(&self) -> bool {
        !self.is_read_only() && self.destructive_hint.unwrap_or(true)
    }

    /// Whether a second equal call changes nothing more: always so if it is read-only.
    pub fn is_idempotent(&self) -> bool {
        self.is_read_only() || self.idempotent_hint.unwrap_or(false)
    }

    /// Whether the tool touches an open world, with MCP's default.
    pub fn is_open_world(&self) -> bool {
        self.open_world_hint.unwrap_or(true)
    }

    /// Whether no hint is set.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Whether a call may run again if its outcome is unknown. In JSON `safe_to_retry` or `at_most_once`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RetryMode {
    /// Repeating the call has no additional effect: its tool is read-only or idempotent.
    SafeToRetry,
    /// The call must not have its effect twice.
    AtMostOnce,
}

impl RetryMode {
    /// The mode of a tool with these hints, which must be trusted: those that are read-only or idempotent
    /// are safe to retry.
    pub fn from_annotations(annotations: &ToolAnnotations) -> Self {
        if annotations.is_read_only() || annotations.is_idempotent() {
            Self::SafeToRetry
        } else {
            Self::AtMostOnce
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retry_mode_survives_serialization() {
        for (mode, json) in [
            (RetryMode::SafeToRetry, r#""safe_to_retry""#),
            (RetryMode::AtMostOnce, r#""at_most_once""#),
        ] {
            assert_eq!(serde_json::to_string(&mode).unwrap(), json);
            assert_eq!(serde_json::from_str::<RetryMode>(json).unwrap(), mode);
        }
    }
}
