//! Declared settings.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt;

/// The type of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
#[non_exhaustive]
pub enum SettingKind {
    /// Any JSON value.
    Any,
    /// `true` or `false`.
    Boolean,
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// A string.
    String,
}

impl SettingKind {
    pub(super) fn accepts(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Boolean => value.is_boolean(),
            Self::Integer => value.is_i64() || value.is_u64(),
            Self::Number => value.is_number(),
            Self::String => value.is_string(),
        }
    }
}

impl fmt::Display for SettingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Any => "any value",
            Self::Boolean => "true or false",
            Self::Integer => "a whole number",
            Self::Number => "a number",
            Self::String => "a string",
        })
    }
}

/// A setting that the operator declares.
///
/// ```
/// use serde_json::json;
/// use tool_runtime_builtins::schedule::{SettingKey, SettingKind};
///
/// let theme = SettingKey::new("theme", SettingKind::String).default_value(json!("dark"));
/// let version = SettingKey::new("version", SettingKind::Integer).default_value(json!(3)).read_only();
/// # let _ = (theme, version);
/// ```
#[derive(Clone, Debug)]
pub struct SettingKey {
    pub(super) name: String,
    pub(super) kind: SettingKind,
    pub(super) default: Option<Value>,
    pub(super) is_read_only: bool,
}

impl SettingKey {
    /// A setting without a default, which callers may set.
    pub fn new(name: impl Into<String>, kind: SettingKind) -> Self {
        Self { name: name.into(), kind, default: None, is_read_only: false }
    }

    /// Sets the value of callers that have set none. Default: none.
    #[must_use]
    pub fn default_value(mut self, value: Value) -> Self {
        self.default = Some(value);
        self
    }

    /// Keeps callers from setting it: they read the default.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }
}
