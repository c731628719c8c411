//! Definitions of resources.

use super::IntoResource;
use crate::tool::arguments::parameter::Parameter;
use crate::tool::tool::definition::{DraftOf, describe};
use crate::vocabulary::content::ContentAnnotations;
use crate::vocabulary::content::Icon;
use serde_json::{Map, Value};

/// The public description of a resource, or of all resources of a template.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// The configuration of the program.
/// #[resource("config://app", mime_type = "application/toml", priority = 0.5)]
/// async fn config() -> &'static str {
///     "verbose = true"
/// }
///
/// let definition = ConfigResource::definition();
/// assert_eq!((&*definition.name, definition.is_template()), ("config", false));
/// assert_eq!(definition.annotations.priority, Some(0.5));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ResourceDefinition {
    /// The URI, or the template of URIs.
    pub uri: String,
    /// The name.
    pub name: String,
    /// A display title.
    pub title: Option<String>,
    /// The description.
    pub description: String,
    /// The MIME type.
    pub mime_type: Option<String>,
    /// The size in bytes; templates have none.
    pub size: Option<u64>,
    /// Audience, priority and modification time.
    pub annotations: ContentAnnotations,
    /// Icons to show beside the name.
    pub icons: Vec<Icon>,
    /// MCP metadata.
    pub meta: Map<String, Value>,
    /// The problems of the definition. A pool is not built while one of its definitions has a
    /// problem.
    pub(crate) problems: Vec<String>,
}

impl ResourceDefinition {
    /// Whether the URI has variables and so describes many resources.
    pub fn is_template(&self) -> bool {
        self.uri.contains('{')
    }

    /// Sets the MIME type of contents that say which they have, if there is none.
    pub(super) fn with_mime_type_of<T: IntoResource>(mut self) -> Self {
        self.mime_type = self.mime_type.or_else(|| T::mime_type().map(str::to_owned));
        self
    }
}

describe!(ResourceDefinition);

/// The definition of a resource under construction.
pub type ResourceDraft = DraftOf<ResourceDefinition>;

impl ResourceDraft {
    /// Starts with the URI, the name, the description and the table of variables.
    pub fn new(uri: &str, name: &str, description: &str, parameters: &[Parameter]) -> Self {
        let (schema, mut problems) = crate::tool::arguments::schemas::advertised_input(parameters);
        problems.extend(unfit(&schema));
        Self(ResourceDefinition {
            uri: uri.to_owned(),
            name: name.to_owned(),
            description: description.trim().to_owned(),
            problems,
            ..ResourceDefinition::default()
        })
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: &str) -> Self {
        self.0.mime_type = Some(mime_type.to_owned());
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.0.size = Some(bytes);
        self
    }

    /// Sets the audience.
    #[must_use]
    pub fn audience(mut self, roles: &[&str]) -> Self {
        self.0.annotations.audience = roles.iter().map(|role| (*role).to_owned()).collect();
        self
    }

    /// Sets the priority, from 0 to 1.
    #[must_use]
    pub fn priority(mut self, priority: f64) -> Self {
        self.0.annotations.priority = Some(priority);
        self
    }
}

/// A URI has one text for each variable.
fn unfit(schema: &Map<String, Value>) -> impl Iterator<Item = String> {
    let variables = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let is_compound =
        |kind: &&Value| kind.as_str().is_some_and(|kind| matches!(kind, "array" | "object"));
    variables.filter(move |(_, property)| property.get("type").filter(is_compound).is_some()).map(
        |(name, _)| {
            format!("a URI has one text for its variable `{name}`; take it as a `String`, and split it in the function")
        },
    )
}
