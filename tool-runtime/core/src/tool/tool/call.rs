//! The calls of a tool: described for people, decoded, run, interrupted.

use super::Tool;
use super::action_executor::DecodedAction;
use crate::tool::arguments::Arguments;
use crate::tool::call::visual;
use crate::tool::concurrency::access::{self, Access};
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::{CallError, caught};
use crate::vocabulary::future::BoxFuture;

/// A validated call that has not started.
#[derive(Default)]
pub(crate) struct DecodedCall {
    pub(crate) access: Access,
    pub(crate) action: Option<DecodedAction>,
}

impl Tool {
    /// Describes a call for people: the tool's own text, or else its name and arguments, without secret ones. No character
    /// controls a terminal or is invisible, and long strings are shortened.
    pub fn visualize(&self, arguments: &str) -> String {
        match self.own_text(arguments, &ToolContext::default()) {
            Some(own) => visual::own(&own),
            None => visual::call(self.name(), arguments, &self.definition().input_schema),
        }
    }

    /// The tool's own text about a call, if it has one.
    pub(crate) fn own_text(&self, arguments: &str, context: &ToolContext) -> Option<String> {
        let set = || self.0.visualize.as_ref().and_then(|own| own(arguments, context));
        let text = || set().or_else(|| self.executor().visualize(Arguments::new(arguments)));
        // Both are the user's code and may panic.
        caught(text).ok().flatten()
    }

    /// The resources that a call would touch, and its decoded arguments where they are kept.
    ///
    /// # Errors
    /// Arguments that are not valid.
    pub(crate) fn decode(&self, arguments: &str) -> Result<DecodedCall, CallError> {
        let arguments = Arguments::new(arguments);
        self.in_its_directory(|| match &self.0.action {
            Some((_, executor)) => {
                let (access, action) = executor.decode_call(arguments)?;
                Ok(DecodedCall { access, action: Some(action) })
            }
            None => Ok(DecodedCall { access: self.executor().access(arguments)?, action: None }),
        })
    }

    /// Computes the keys of a call.
    pub(crate) fn in_its_directory<T>(&self, compute: impl FnOnce() -> T) -> T {
        access::in_directory(self.0.directory.as_ref(), compute)
    }

    /// Runs a call with the decoded action, or else with the text of the arguments.
    pub(crate) fn run<'a>(
        &'a self,
        action: Option<DecodedAction>,
        arguments: &'a str,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        match (&self.0.action, action) {
            (Some((_, executor)), Some(action)) => executor.start(action, context),
            _ => self.executor().call(Arguments::new(arguments), context),
        }
    }

    /// What a call would touch. `None` if the tool does not declare it, and for invalid arguments.
    #[doc(hidden)]
    pub fn access_of(&self, arguments: &str) -> Option<Access> {
        let decoded = self.declares_access().then(|| caught(|| self.decode(arguments)));
        let access = decoded?.ok()?.ok()?.access;
        access.is_declared().then_some(access)
    }

    /// Whether calls declare what they touch.
    #[doc(hidden)]
    pub fn declares_access(&self) -> bool {
        self.0.declares_access
    }

    /// Whether calls ask about each file that they read, see [`Self::checks_files`].
    #[doc(hidden)]
    pub fn has_file_checks(&self) -> bool {
        self.0.checks_files
    }

    /// Notifies the executor that a call ended early.
    pub(crate) fn interrupt(&self, context: &ToolContext) {
        self.0.lifecycle.interrupt(context);
    }
}
