//! Closures behind prompts and resources.

use crate::tool::context::ToolContext;
use crate::tool::offering::text_arguments::TextArguments;
use crate::vocabulary::sealed::Sealed;

/// The closure of a prompt or a resource: `Fn() -> Fut`, `Fn(TextArguments) -> Fut` or
/// `Fn(TextArguments, ToolContext) -> Fut`.
///
/// ```
/// use tool_runtime::Prompt;
/// use tool_runtime::tool::TextHandler;
///
/// fn prompt<M: 'static>(handler: impl TextHandler<M, Output = &'static str>) -> Prompt {
///     Prompt::builder("hello", "Say hello.").handler(handler)
/// }
///
/// assert_eq!(prompt(|| async { "Hello!" }).name(), "hello");
/// ```
#[diagnostic::on_unimplemented(
    message = "this closure cannot be behind a prompt or a resource",
    note = "write `|| async {{ .. }}`, `|arguments: TextArguments| async move {{ .. }}` or `|arguments: TextArguments, context: ToolContext| async move {{ .. }}`"
)]
pub trait TextHandler<M>: Send + Sync + 'static {
    /// Output.
    type Output: Send;

    #[doc(hidden)]
    fn start(
        &self,
        arguments: &TextArguments,
        context: &ToolContext,
        _: Sealed,
    ) -> impl Future<Output = Self::Output> + Send + use<Self, M>;
}

#[diagnostic::do_not_recommend]
impl<F, R> TextHandler<(R,)> for F
where
    F: Fn() -> R + Send + Sync + 'static,
    R: Future<Output: Send> + Send,
{
    type Output = R::Output;

    fn start(
        &self,
        _: &TextArguments,
        _: &ToolContext,
        _: Sealed,
    ) -> impl Future<Output = R::Output> + Send + use<F, R> {
        self()
    }
}

#[diagnostic::do_not_recommend]
impl<F, R> TextHandler<(TextArguments, R)> for F
where
    F: Fn(TextArguments) -> R + Send + Sync + 'static,
    R: Future<Output: Send> + Send,
{
    type Output = R::Output;

    fn start(
        &self,
        arguments: &TextArguments,
        _: &ToolContext,
        _: Sealed,
    ) -> impl Future<Output = R::Output> + Send + use<F, R> {
        self(arguments.clone())
    }
}

#[diagnostic::do_not_recommend]
impl<F, R> TextHandler<(TextArguments, ToolContext, R)> for F
where
    F: Fn(TextArguments, ToolContext) -> R + Send + Sync + 'static,
    R: Future<Output: Send> + Send,
{
    type Output = R::Output;

    fn start(
        &self,
        arguments: &TextArguments,
        context: &ToolContext,
        _: Sealed,
    ) -> impl Future<Output = R::Output> + Send + use<F, R> {
        self(arguments.clone(), context.clone())
    }
}
