//! Changes of one argument.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// Changes of one argument of a tool. `Debug` does not show the fixed value.
///
/// ```
/// use tool_runtime::transform::ArgumentTransform;
/// use serde_json::json;
///
/// let unit = ArgumentTransform::new()
///     .name("unit")
///     .description("Unit of the temperature.")
///     .schema(json!({ "enum": ["c", "f"] }))
///     .default_value("c");
/// let key = ArgumentTransform::new().value("8fQm2x");
/// assert!(!format!("{key:?}").contains("8fQm2x"));
/// # let _ = unit;
/// ```
#[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ArgumentTransform {
    /// The new name. Default: the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The new description. Default: the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Whether models do not see the argument, which then has the fixed or default value, or else is
    /// absent. Default: false.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hide: bool,
    /// The value of every call, which also hides the argument. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The value of calls without the argument, which makes it optional. Default: the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether calls must give an optional argument. Default: as the tool says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<bool>,
    /// A JSON Schema that holds in addition to the tool's own: `enum`, `minimum` and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<Value>,
}

impl ArgumentTransform {
    /// A transform that changes nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the new name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Hides the argument.
    #[must_use]
    pub fn hide(mut self) -> Self {
        self.hide = true;
        self
    }

    /// Hides the argument and gives every call this value.
    #[must_use]
    pub fn value(mut self, value: impl Into<Value>) -> Self {
        self.value = Some(value.into());
        self
    }

    /// Sets the value of calls without the argument.
    #[must_use]
    pub fn default_value(mut self, value: impl Into<Value>) -> Self {
        self.default = Some(value.into());
        self
    }

    /// Sets whether calls must give the argument.
    #[must_use]
    pub fn required(mut self, required: bool) -> Self {
        self.required = Some(required);
        self
    }

    /// Narrows the argument by a JSON Schema, an object.
    #[must_use]
    pub fn schema(mut self, schema: impl Into<Value>) -> Self {
        // The schema may have patterns and formats.
        crate::schema::engine::enable();
        self.schema = Some(schema.into());
        self
    }

    /// The keywords that hold in addition to the tool's own.
    pub(super) fn narrowing(&self) -> Option<&Map<String, Value>> {
        self.schema.as_ref().and_then(Value::as_object)
    }

    /// Whether models do not see the argument.
    pub(super) fn is_hidden(&self) -> bool {
        self.hide || self.value.is_some()
    }

    /// The value of every call of a hidden argument.
    pub(super) fn constant(&self) -> Option<&Value> {
        self.value.as_ref().or(self.default.as_ref()).filter(|_| self.is_hidden())
    }

    /// The contradictions within the transform.
    pub(super) fn problems(&self) -> Vec<String> {
        let (mut problems, has_text) =
            (Vec::new(), self.name.is_some() || self.description.is_some());
        if self.is_hidden() && (has_text || self.required.is_some() || self.schema.is_some()) {
            problems.push("is hidden, so nothing else about it can be changed".to_owned());
        }
        if self.value.is_some() && self.default.is_some() {
            problems.push("has a fixed `value` and a `default`; write one of them".to_owned());
        }
        if self.default.is_some() && self.required == Some(true) {
            problems.push("has a `default` and is `required`; write one of them".to_owned());
        }
        if self.name.as_ref().is_some_and(String::is_empty) {
            problems.push("gets an empty name; write one".to_owned());
        }
        if self.schema.is_some() && self.narrowing().is_none() {
            problems.push("has a `schema` that is not an object".to_owned());
        }
        problems
    }
}

impl fmt::Debug for ArgumentTransform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let constant = self.constant().map(|_| "***");
        f.debug_struct("ArgumentTransform")
            .field("name", &self.name)
            .field("description", &self.description)
            .field("hide", &self.hide)
            .field("value", &constant)
            .field("default", &self.default.as_ref().filter(|_| !self.is_hidden()))
            .field("required", &self.required)
            .field("schema", &self.schema)
            .finish()
    }
}
