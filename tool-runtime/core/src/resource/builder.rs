//! Resources from closures, for those who have no function to annotate.

use super::{IntoResource, Resource, ResourceDefinition};
use crate::completion::Complete;
use crate::content::ContentAnnotations;
use crate::error::CallError;
use crate::icon::Icon;
use crate::offering::{Terms, TextHandler};
use serde_json::{Map, Value};
use std::fmt;
use std::time::Duration;

/// Builds a resource from a closure.
///
/// ```
/// use tool_runtime::{Resource, TextArguments};
///
/// let note = Resource::builder("notes://{id}", "note", "One note.")
///     .mime_type("text/plain")
///     .complete("id", |_: String| vec!["1", "2"])
///     .handler(|variables: TextArguments| async move {
///         (variables["id"] == "1").then(|| "Buy a map.")
///     });
/// assert!(note.definition().is_template());
/// ```
pub struct ResourceBuilder {
    definition: ResourceDefinition,
    terms: Terms,
}

impl ResourceBuilder {
    pub(super) fn new(uri: String, name: String, description: String) -> Self {
        let definition =
            ResourceDefinition { uri, name, description, ..ResourceDefinition::default() };
        Self { definition, terms: Terms::default() }
    }

    /// Sets the title for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Sets the MIME type.
    #[must_use]
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.definition.mime_type = Some(mime_type.into());
        self
    }

    /// Sets the size in bytes.
    #[must_use]
    pub fn size(mut self, bytes: u64) -> Self {
        self.definition.size = Some(bytes);
        self
    }

    /// Says for whom it is, how much it matters, when it changed.
    #[must_use]
    pub fn annotations(mut self, annotations: ContentAnnotations) -> Self {
        self.definition.annotations = annotations;
        self
    }

    /// Adds a picture.
    #[must_use]
    pub fn icon(mut self, icon: Icon) -> Self {
        self.definition.icons.push(icon);
        self
    }

    /// Sets MCP metadata.
    #[must_use]
    pub fn meta(mut self, meta: Map<String, Value>) -> Self {
        self.definition.meta = meta;
        self
    }

    /// Says what a variable could be while it is typed.
    #[must_use]
    pub fn complete<M>(mut self, variable: &str, function: impl Complete<M>) -> Self {
        let completers = &mut self.terms.completers;
        completers.insert(variable, move |prefix, context| function.complete(prefix, context));
        self
    }

    /// Sets the resource's own time limit. Default: the pool's.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = Some(timeout);
        self
    }

    /// Finishes with the closure that reads it.
    ///
    /// It takes nothing, or the variables as [`TextArguments`](crate::TextArguments), or these
    /// and a [`ToolContext`](crate::ToolContext), and returns a future of anything that is
    /// [`IntoResource`].
    pub fn handler<M: 'static, H>(self, handler: H) -> Resource
    where
        H: TextHandler<M>,
        H::Output: IntoResource,
    {
        Resource::new(self.definition, self.terms, move |texts, reading, context| {
            let output = handler.start(texts, context);
            Box::pin(async move { output.await.into_resource(reading).map_err(CallError::from) })
        })
    }
}

impl fmt::Debug for ResourceBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceBuilder")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}
