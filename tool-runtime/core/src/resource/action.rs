//! A resource's typed variables and what reads it: what `#[resource]` generates from a function.

use super::{IntoResource, ReadRequest, ResourceDefinition};
use crate::arguments::{Arguments, DecodeError};
use crate::completion::ArgumentCompleter;
use crate::content::ResourceContents;
use crate::context::ToolContext;
use crate::offering::Running;
use crate::parameter::Settings;

/// A resource's typed variables, and what reads it: what `#[resource]` generates from a function.
/// [`Resource::builder`](crate::Resource::builder) makes one from a closure.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// How the program is configured.
/// #[resource("config://app")]
/// async fn config() -> &'static str {
///     "verbose = true"
/// }
///
/// assert_eq!(<ConfigResource as ResourceAction>::URI, "config://app");
/// ```
pub trait ResourceAction: Sized + Send + 'static {
    /// The URI, or the template of URIs.
    const URI: &'static str;

    /// Return type.
    type Output: IntoResource;

    /// The definition of the resource, for clients.
    fn definition() -> ResourceDefinition;

    /// Decodes the variables in one pass.
    ///
    /// # Errors
    /// The first thing that does not fit.
    fn decode(arguments: Arguments<'_>) -> Result<Self, DecodeError>;

    /// Reads the resource. Dropping the future cancels the read.
    fn run(self, context: &ToolContext) -> impl Future<Output = Self::Output> + Send;

    /// Whether the values satisfy the constraints of their parameters. Default: they do.
    ///
    /// # Errors
    /// The first constraint that is broken.
    fn check(&self) -> Result<(), DecodeError> {
        Ok(())
    }

    #[doc(hidden)]
    fn settings() -> Settings;

    #[doc(hidden)]
    fn completers() -> &'static [ArgumentCompleter] {
        &[]
    }
}

/// Decodes an action and starts it.
pub(super) type Enter =
    for<'a> fn(
        Arguments<'_>,
        ReadRequest<'a>,
        &'a ToolContext,
    ) -> Result<Running<'a, Option<Vec<ResourceContents>>>, DecodeError>;

/// All that is compiled per resource.
pub(super) fn enter<'a, A: ResourceAction>(
    arguments: Arguments<'_>,
    reading: ReadRequest<'a>,
    context: &'a ToolContext,
) -> Result<Running<'a, Option<Vec<ResourceContents>>>, DecodeError> {
    let action = A::decode(arguments)?;
    Ok(Box::pin(async move { action.run(context).await.into_resource(reading) }))
}
