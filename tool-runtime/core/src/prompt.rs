//! A prompt: a definition, and what makes its messages. Cheap to clone, as a tool is.

mod action;
mod builder;
mod definition;
mod message;

pub use action::PromptAction;
pub use builder::PromptBuilder;
pub use definition::{PromptArgument, PromptDefinition, PromptDraft};
pub use message::{IntoPrompt, PromptMessage, PromptMessages, Role};

use crate::context::ToolContext;
use crate::error::CallError;
use crate::future::BoxFuture;
use crate::offering::{Terms, TextInput};
use crate::texts::TextArguments;
use crate::tool::Origin;
use std::fmt;
use std::sync::Arc;

/// A definition and what makes its messages. Cheap to clone.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// Review a piece of code.
/// #[prompt]
/// async fn review(
///     /// The code.
///     code: String,
/// ) -> String {
///     format!("Review this code, worst problem first:\n{code}")
/// }
///
/// let prompt = Prompt::of::<ReviewPrompt>();
/// assert_eq!(prompt.definition().arguments[0].name, "code");
/// ```
#[derive(Clone)]
pub struct Prompt(Arc<Parts>);

struct Parts {
    definition: PromptDefinition,
    terms: Terms,
    run: Box<Run>,
}

/// Makes the messages of one request.
type Run = dyn for<'a> Fn(&'a TextArguments, &'a ToolContext) -> Answer<'a> + Send + Sync;

type Answer<'a> = BoxFuture<'a, Result<PromptMessages, CallError>>;

impl Prompt {
    /// From an action, as `#[prompt]` makes it of a function.
    pub fn of<A: PromptAction>() -> Self {
        let (input, terms) = TextInput::new::<A>(A::NAME, &A::settings(), A::completers());
        Self::assembled(A::definition(), terms, input, action::enter::<A>)
    }

    fn assembled(
        definition: PromptDefinition,
        terms: Terms,
        input: TextInput,
        enter: action::Enter,
    ) -> Self {
        Self::new(definition, terms, move |texts, context| {
            match input.start(texts, |arguments| enter(arguments, context)) {
                Ok(messages) => Box::pin(async move { messages.await.map_err(CallError::from) }),
                Err(refusal) => Box::pin(std::future::ready(Err(refusal))),
            }
        })
    }

    fn new(
        definition: PromptDefinition,
        terms: Terms,
        run: impl for<'a> Fn(&'a TextArguments, &'a ToolContext) -> Answer<'a> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(Parts { definition, terms, run: Box::new(run) }))
    }

    /// Starts a prompt from a closure.
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> PromptBuilder {
        PromptBuilder::new(name.into(), description.into())
    }

    /// Everything that a client may know of it.
    pub fn definition(&self) -> &PromptDefinition {
        &self.0.definition
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.0.definition.name
    }

    pub(crate) fn terms(&self) -> &Terms {
        &self.0.terms
    }

    /// Whether an argument can be completed.
    #[doc(hidden)]
    pub fn is_completed(&self) -> bool {
        self.0.terms.completers.arguments().next().is_some()
    }

    pub(crate) fn run<'a>(
        &'a self,
        arguments: &'a TextArguments,
        context: &'a ToolContext,
    ) -> Answer<'a> {
        (self.0.run)(arguments, context)
    }

    /// Says where in the source it was written.
    pub(crate) fn at(mut self, origin: Origin) -> Self {
        if let Some(parts) = Arc::get_mut(&mut self.0) {
            parts.terms.origin = Some(origin);
        }
        self
    }

    /// Whether both are one and the same prompt, however they were found.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let action = self.0.terms.action;
        action.is_some() && action == other.0.terms.action || Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("definition", &self.0.definition).finish_non_exhaustive()
    }
}
