//! Tools under another name, with other descriptions, and with arguments that are renamed, fixed or narrowed.
//!
//! `plan` computes the new definition, and `schema` its input schema; `rewrite` turns the arguments of a
//! call into those of the original; `executor` runs the call and maps its errors back.

mod argument;
mod executor;
mod plan;
mod rewrite;
mod schema;
#[cfg(test)]
mod tests;

pub use argument::ArgumentTransform;

use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::list;
use executor::TransformedExecutor;
use rewrite::Mapping;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Changes to the definition that a tool shows: its name, its descriptions, its arguments. The tool itself
/// is not changed.
///
/// It applies to one tool by [`Tool::transform`], to tools of a pool by
/// [`ToolPoolBuilder::transform`](crate::pool::ToolPoolBuilder::transform) and by the key `transform` of a
/// [`PoolConfig`](crate::pool::PoolConfig), and to tools of an external server by the key `tools` of its
/// entry.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::transform::ToolTransform;
///
/// /// Tell the weather.
/// #[tool(read_only)]
/// async fn weather(
///     /// Name of the city.
///     q: String,
///     /// `c` or `f`.
///     unit: String,
///     /// Number of days.
///     days: u32,
/// ) -> String {
///     format!("{q}: {days} days in {unit}")
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let forecast = Tool::from_action::<WeatherAction>().transform(
///     &ToolTransform::new()
///         .name("forecast")
///         .description("Tell the weather of the next days.")
///         .rename("q", "city")
///         .fix("unit", "c")
///         .narrow("days", serde_json::json!({ "maximum": 7 })),
/// )?;
/// let pool = ToolPool::builder().add(forecast).build()?;
/// let result = pool.call(ToolCall::new("forecast", r#"{"city": "Oslo", "days": 3}"#)).await;
/// assert_eq!(result.observation().to_text(), "Oslo: 3 days in c");
/// let result = pool.call(ToolCall::new("forecast", r#"{"city": "Oslo", "days": 30}"#)).await;
/// assert_eq!(result.error().unwrap().issues()[0].message(), "`days` must be at most 7, got 30");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// Output schema, annotations, icons and metadata stay. Filters, restrictions, hooks and typed calls know
/// the tool by its new name only.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolTransform {
    /// The new name. Default: the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Written before the name, with a dot between. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// The new title for people. Default: the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The new description. Default: the tool's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Further tags. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Changes of arguments, by the tool's own names. Default: none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, ArgumentTransform>,
}

impl ToolTransform {
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

    /// Writes a prefix before the name, with a dot between.
    #[must_use]
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = Some(prefix.into());
        self
    }

    /// Sets the title for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Adds a tag, for filters.
    #[must_use]
    pub fn tag(mut self, tag: impl Into<String>) -> Self {
        self.tags.push(tag.into());
        self
    }

    /// Changes an argument, given by the tool's own name. Replaces an earlier change of that argument.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, transform: ArgumentTransform) -> Self {
        self.arguments.insert(name.into(), transform);
        self
    }

    /// Renames an argument.
    #[must_use]
    pub fn rename(self, argument: impl Into<String>, name: impl Into<String>) -> Self {
        self.change(argument, |change| change.name(name))
    }

    /// Hides an optional argument: calls run with the tool's own default.
    #[must_use]
    pub fn hide(self, argument: impl Into<String>) -> Self {
        self.change(argument, ArgumentTransform::hide)
    }

    /// Hides an argument and gives every call this value.
    #[must_use]
    pub fn fix(self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.change(argument, |change| change.value(value))
    }

    /// Makes an argument optional: calls without it run with this value.
    #[must_use]
    pub fn default_value(self, argument: impl Into<String>, value: impl Into<Value>) -> Self {
        self.change(argument, |change| change.default_value(value))
    }

    /// Narrows an argument by a JSON Schema that holds in addition to the tool's own.
    #[must_use]
    pub fn narrow(self, argument: impl Into<String>, schema: impl Into<Value>) -> Self {
        self.change(argument, |change| change.schema(schema))
    }

    /// The reasons why this transform cannot be applied to a tool of an external server.
    #[doc(hidden)]
    pub fn problems(&self, definition: &ToolDefinition) -> Vec<String> {
        plan::plan(definition, &[], self).err().unwrap_or_default()
    }

    fn change(
        mut self,
        argument: impl Into<String>,
        change: impl FnOnce(ArgumentTransform) -> ArgumentTransform,
    ) -> Self {
        let known = self.arguments.entry(argument.into()).or_default();
        *known = change(std::mem::take(known));
        self
    }
}

/// The reasons why a transform does not fit a tool.
///
/// ```
/// use tool_runtime::Tool;
/// use tool_runtime::transform::ToolTransform;
///
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let error = ping.transform(&ToolTransform::new().hide("verbose")).unwrap_err();
/// assert_eq!(error.to_string(), "`ping` cannot be transformed:\n- it has no argument `verbose`; it has no arguments");
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{tool}` cannot be transformed:{}", list(.problems))]
pub struct TransformError {
    tool: String,
    problems: Vec<String>,
}

crate::debug_as_message!(TransformError);

impl TransformError {
    /// All problems.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl Tool {
    /// Makes a tool with a changed definition, see [`ToolTransform`]. The original is not changed.
    ///
    /// # Errors
    /// All problems: an unknown argument, two arguments of one name, a hidden argument that needs a
    /// value, values that the tool's schema does not allow.
    pub fn transform(&self, transform: &ToolTransform) -> Result<Self, TransformError> {
        let planned = plan::plan(self.definition(), self.parameters(), transform);
        let tool = || self.name().to_owned();
        let (definition, mapping) =
            planned.map_err(|problems| TransformError { tool: tool(), problems })?;
        Ok(self.under(definition, mapping))
    }

    /// As [`Self::transform`]; a failure becomes a problem of the tool, and the pool rejects it.
    #[doc(hidden)]
    #[must_use]
    pub fn transformed(&self, transform: &ToolTransform) -> Self {
        self.transform(transform).unwrap_or_else(|error| {
            let mut definition = self.definition().clone();
            definition.name = plan::new_name(&definition.name, transform);
            for problem in error.problems {
                definition.add_problem(format!("its transform: {problem}"));
            }
            self.under(definition, Mapping::default())
        })
    }

    fn under(&self, definition: ToolDefinition, mapping: Mapping) -> Self {
        let definition = Arc::new(definition);
        let matched = self.matched().and_then(|matched| mapping.matched_argument(matched));
        let executor = TransformedExecutor::new(self, &definition, mapping);
        Self::from_tool(self, definition, executor, matched)
    }
}
