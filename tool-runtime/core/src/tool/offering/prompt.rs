//! A prompt: a definition and the function that creates its messages. Cheap to clone, like a tool.

mod action;
mod builder;
pub(crate) mod definition;
mod message;

pub use action::PromptAction;
pub use builder::PromptBuilder;
pub use definition::{PromptArgument, PromptDefinition};
pub use message::{IntoPrompt, PromptMessage, PromptMessages, Role};

use crate::tool::context::ToolContext;
use crate::tool::offering::text_arguments::TextArguments;
use crate::tool::offering::{Answer, Offering, OfferingBuilder, OfferingProperties, TextInput};
use crate::tool::tool::Origin;
use std::fmt;
use std::sync::Arc;

/// A definition and the function that creates its messages. Cheap to clone.
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
/// let prompt = Prompt::from_action::<ReviewPrompt>();
/// assert_eq!(prompt.definition().arguments[0].name, "code");
/// ```
#[derive(Clone)]
pub struct Prompt(Arc<Offering<PromptDefinition, Run>>);

/// Makes the messages of one request.
type Run =
    dyn for<'a> Fn(&'a TextArguments, &'a ToolContext) -> Answer<'a, PromptMessages> + Send + Sync;

impl Prompt {
    /// Creates a prompt from an action, which `#[prompt]` generates for a function.
    pub fn from_action<A: PromptAction>() -> Self {
        let (input, terms) = TextInput::new::<A>(A::NAME, &A::settings(), A::completers());
        Self::from_parts(A::definition(), terms, input, action::enter::<A>)
    }

    fn from_parts(
        definition: PromptDefinition,
        terms: OfferingProperties,
        input: TextInput,
        enter: action::Enter,
    ) -> Self {
        Self::new(definition, terms, move |values, context| {
            input.run(values, |arguments| enter(arguments, context))
        })
    }

    fn new(
        definition: PromptDefinition,
        terms: OfferingProperties,
        run: impl for<'a> Fn(&'a TextArguments, &'a ToolContext) -> Answer<'a, PromptMessages>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self(Arc::new(Offering { definition, terms, run: Box::new(run) }))
    }

    /// Starts a prompt from a closure.
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> PromptBuilder {
        let (name, description) = (name.into(), description.into());
        let definition = PromptDefinition { name, description, ..PromptDefinition::default() };
        OfferingBuilder::from_definition(definition)
    }

    /// The definition of the prompt, for clients.
    pub fn definition(&self) -> &PromptDefinition {
        &self.0.definition
    }

    /// The name of the prompt.
    pub fn name(&self) -> &str {
        &self.0.definition.name
    }

    pub(crate) fn terms(&self) -> &OfferingProperties {
        &self.0.terms
    }

    /// Whether an argument can be completed.
    #[doc(hidden)]
    pub fn has_completers(&self) -> bool {
        self.0.terms.completers.arguments().next().is_some()
    }

    pub(crate) fn run<'a>(
        &'a self,
        arguments: &'a TextArguments,
        context: &'a ToolContext,
    ) -> Answer<'a, PromptMessages> {
        (self.0.run)(arguments, context)
    }

    /// Sets the location in the source code.
    pub(crate) fn at(self, origin: Origin) -> Self {
        Self(Offering::at(self.0, origin))
    }

    /// Whether both are the same prompt, from any source.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Offering::is_same(&self.0, &other.0)
    }
}

impl fmt::Debug for Prompt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prompt").field("definition", &self.0.definition).finish_non_exhaustive()
    }
}
