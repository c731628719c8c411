//! Resources from closures.

use super::{IntoResource, Resource, ResourceDefinition};
use crate::tool::offering::{OfferingBuilder, TextHandler};
use crate::vocabulary::content::ContentAnnotations;
use crate::vocabulary::error::CallError;
use crate::vocabulary::sealed::Sealed;

/// Builds a resource from a closure.
///
/// ```
/// use tool_runtime::Resource;
/// use tool_runtime::tool::TextArguments;
///
/// let note = Resource::builder("notes://{id}", "note", "One note.")
///     .mime_type("text/plain")
///     .complete("id", |_: String| vec!["1", "2"])
///     .handler(|variables: TextArguments| async move {
///         (variables["id"] == "1").then(|| "Buy a map.")
///     });
/// assert!(note.definition().is_template());
/// ```
pub type ResourceBuilder = OfferingBuilder<ResourceDefinition>;

impl ResourceBuilder {
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

    /// Sets the audience, the priority and the modification time.
    #[must_use]
    pub fn annotations(mut self, annotations: ContentAnnotations) -> Self {
        self.definition.annotations = annotations;
        self
    }

    /// Finishes with the closure that reads it.
    ///
    /// The closure takes nothing, or the variables as [`TextArguments`](crate::tool::TextArguments), or these
    /// and a [`ToolContext`](crate::tool::ToolContext), and returns a future of anything that is
    /// [`IntoResource`].
    pub fn handler<M: 'static, H>(self, handler: H) -> Resource
    where
        H: TextHandler<M>,
        H::Output: IntoResource,
    {
        let definition = self.definition.with_mime_type_of::<H::Output>();
        Resource::new(definition, self.terms, move |values, reading, context| {
            let output = handler.start(values, context, Sealed);
            Box::pin(async move { output.await.into_resource(reading).map_err(CallError::from) })
        })
    }
}
