//! A prompt's typed arguments and its execution: what `#[prompt]` generates from a function.

use super::{IntoPrompt, PromptDefinition, PromptMessages};
use crate::arguments::{Arguments, DecodeError};
use crate::completion::ArgumentCompleter;
use crate::context::ToolContext;
use crate::offering::Running;
use crate::parameter::Settings;

/// A prompt's typed arguments, and what makes its messages: what `#[prompt]` generates from a
/// function. [`Prompt::builder`](crate::Prompt::builder) makes one from a closure.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// Say hello.
/// #[prompt]
/// async fn hello() -> &'static str {
///     "Hello!"
/// }
///
/// assert_eq!(<HelloPrompt as PromptAction>::NAME, "hello");
/// assert_eq!(HelloPrompt::definition().description, "Say hello.");
/// ```
pub trait PromptAction: Sized + Send + 'static {
    /// The prompt's name.
    const NAME: &'static str;

    /// Return type.
    type Output: IntoPrompt;

    /// The definition of the prompt, for clients.
    fn definition() -> PromptDefinition;

    /// Decodes the arguments in one pass.
    ///
    /// # Errors
    /// The first thing that does not fit.
    fn decode(arguments: Arguments<'_>) -> Result<Self, DecodeError>;

    /// Makes what becomes the messages. Dropping the future cancels it.
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
    for<'a> fn(Arguments<'_>, &'a ToolContext) -> Result<Running<'a, PromptMessages>, DecodeError>;

/// All that is compiled per prompt.
pub(super) fn enter<'a, A: PromptAction>(
    arguments: Arguments<'_>,
    context: &'a ToolContext,
) -> Result<Running<'a, PromptMessages>, DecodeError> {
    let action = A::decode(arguments)?;
    Ok(Box::pin(async move { action.run(context).await.into_prompt() }))
}
