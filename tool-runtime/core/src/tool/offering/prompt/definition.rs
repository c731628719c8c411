//! Definitions of prompts.

use crate::tool::arguments::parameter::Parameter;
use crate::tool::tool::definition::{DraftOf, describe};
use crate::vocabulary::content::Icon;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The public description of a prompt. The JSON form is MCP's `Prompt`.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// Review a piece of code.
/// #[prompt(title = "Review")]
/// async fn review(
///     /// The code.
///     code: String,
///     /// The text to search for.
///     focus: Option<String>,
/// ) -> String {
///     format!("Look for {}:\n{code}", focus.unwrap_or_else(|| "anything".into()))
/// }
///
/// let definition = ReviewPrompt::definition();
/// assert_eq!(definition.title.as_deref(), Some("Review"));
/// assert!(definition.arguments[0].required && !definition.arguments[1].required);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptDefinition {
    /// The name: 1 to 128 of `A-Z a-z 0-9 _ - .`.
    pub name: String,
    /// A display title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Purpose of the prompt.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Arguments, in the order in which clients prompt for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<PromptArgument>,
    /// Icons to show beside the name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// MCP metadata.
    #[serde(rename = "_meta", default, skip_serializing_if = "Map::is_empty")]
    pub meta: Map<String, Value>,
    /// The problems of the definition. A pool is not built while one of its definitions has a
    /// problem.
    #[serde(skip)]
    pub(crate) problems: Vec<String>,
}

/// An argument of a prompt: text, which the parameter's type parses.
///
/// ```
/// use tool_runtime::prompt::PromptArgument;
///
/// let argument = PromptArgument::new("code", "The code to review.");
/// assert!(argument.required);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PromptArgument {
    /// The name.
    pub name: String,
    /// A display title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Whether the prompt requires it.
    #[serde(default)]
    pub required: bool,
}

impl PromptArgument {
    /// An argument that must be given.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), title: None, description: description.into(), required: true }
    }

    /// An optional argument.
    ///
    /// ```
    /// # use tool_runtime::prompt::PromptArgument;
    /// assert!(!PromptArgument::optional("focus", "The text to search for.").required);
    /// ```
    pub fn optional(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { required: false, ..Self::new(name, description) }
    }

    /// Sets the display title.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    fn from_parameter(parameter: &Parameter) -> Self {
        let required = !parameter.is_optional();
        Self { required, ..Self::new(parameter.name, parameter.description.trim()) }
    }
}

describe!(PromptDefinition);

/// The definition of a prompt under construction.
pub type PromptDraft = DraftOf<PromptDefinition>;

impl PromptDraft {
    /// Starts with the name, the description and the table of arguments.
    pub fn new(name: &str, description: &str, parameters: &[Parameter]) -> Self {
        Self(PromptDefinition {
            name: name.to_owned(),
            description: description.trim().to_owned(),
            arguments: parameters.iter().map(PromptArgument::from_parameter).collect(),
            problems: crate::tool::arguments::schemas::advertised_input(parameters).1,
            ..PromptDefinition::default()
        })
    }
}
