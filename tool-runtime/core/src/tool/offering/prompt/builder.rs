//! Prompts from closures.

use super::{IntoPrompt, Prompt, PromptArgument, PromptDefinition};
use crate::tool::offering::{self, OfferingBuilder, TextHandler};
use crate::vocabulary::error::CallError;
use crate::vocabulary::sealed::Sealed;

/// Builds a prompt from a closure.
///
/// ```
/// use tool_runtime::Prompt;
/// use tool_runtime::tool::TextArguments;
///
/// let review = Prompt::builder("review", "Review a piece of code.")
///     .argument("code", "The code.")
///     .optional("focus", "The text to search for.")
///     .complete("focus", |_: String| vec!["speed", "safety"])
///     .handler(|arguments: TextArguments| async move {
///         format!("Review this:\n{}", arguments["code"])
///     });
/// assert_eq!(review.definition().arguments.len(), 2);
/// ```
pub type PromptBuilder = OfferingBuilder<PromptDefinition>;

impl PromptBuilder {
    /// Adds an argument that must be given.
    #[must_use]
    pub fn argument(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.definition.arguments.push(PromptArgument::new(name, description));
        self
    }

    /// Adds an optional argument.
    #[must_use]
    pub fn optional(mut self, name: impl Into<String>, description: impl Into<String>) -> Self {
        self.definition.arguments.push(PromptArgument::optional(name, description));
        self
    }

    /// Finishes with the closure that creates the messages.
    ///
    /// The closure takes nothing, or [`TextArguments`](crate::tool::TextArguments), or these and a
    /// [`ToolContext`](crate::tool::ToolContext), and returns a future of anything that is
    /// [`IntoPrompt`].
    pub fn handler<M: 'static, H>(mut self, handler: H) -> Prompt
    where
        H: TextHandler<M>,
        H::Output: IntoPrompt,
    {
        let arguments = &self.definition.arguments;
        let has = |name: &str| arguments.iter().any(|argument| argument.name == name);
        if let Some(unknown) = self.terms.completers.arguments().find(|name| !has(name)) {
            let problem = format!("it completes `{unknown}` and has no such argument; remove one");
            self.definition.problems.push(problem);
        }
        let (name, arguments) = (self.definition.name.clone(), self.definition.arguments.clone());
        Prompt::new(self.definition, self.terms, move |values, context| {
            let known = arguments.iter().map(|argument| (&*argument.name, argument.required));
            if let Err(rejection) = offering::check(&name, known, values) {
                return Box::pin(std::future::ready(Err(rejection)));
            }
            let output = handler.start(values, context, Sealed);
            Box::pin(async move { output.await.into_prompt().map_err(CallError::from) })
        })
    }
}
