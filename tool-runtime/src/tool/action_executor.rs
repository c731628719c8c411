//! Executes actions. Per action two short functions are compiled; everything else is shared.

use super::{BoxFuture, Executor};
use crate::access::Access;
use crate::action::Action;
use crate::arguments::{Arguments, DecodeError};
use crate::context::ToolContext;
use crate::definition::ToolDefinition;
use crate::error::{CallError, ToolError};
use crate::input::InputModel;
use crate::observation::Observation;
use std::sync::OnceLock;

type Outcome<'a> = BoxFuture<'a, Result<Observation, CallError>>;

/// An action whose type is known only to function pointers.
pub(super) struct ActionExecutor {
    /// Made when it is first needed: it costs as much as the rest of a tool.
    input: OnceLock<InputModel>,
    describe: fn() -> InputModel,
    /// The output has no schema although it may be structured: a scalar, shown as text.
    is_text: bool,
    start: for<'a> fn(&'a Self, Arguments<'a>, &'a ToolContext) -> Outcome<'a>,
    examine: fn(Arguments<'_>) -> Result<Access, DecodeError>,
    show: fn(Arguments<'_>) -> Option<String>,
}

impl ActionExecutor {
    pub(super) fn new<A: Action>(definition: &ToolDefinition) -> Self {
        Self {
            input: OnceLock::new(),
            describe: || InputModel::new(&A::definition(), &A::settings()),
            is_text: definition.output_schema.is_none(),
            start: start::<A>,
            examine: examine::<A>,
            show: show::<A>,
        }
    }

    fn input(&self) -> &InputModel {
        self.input.get_or_init(self.describe)
    }

    #[cold]
    fn refused<'a>(&self, arguments: Arguments<'a>, error: &DecodeError) -> Outcome<'a> {
        let refusal = self.input().explain(arguments, error);
        Box::pin(std::future::ready(Err(refusal)))
    }
}

impl Executor for ActionExecutor {
    fn call<'a>(&'a self, arguments: Arguments<'a>, context: &'a ToolContext) -> Outcome<'a> {
        match self.input().check(arguments) {
            Ok(()) => (self.start)(self, arguments, context),
            Err(refusal) => Box::pin(std::future::ready(Err(refusal))),
        }
    }

    fn access(&self, arguments: Arguments<'_>) -> Result<Access, CallError> {
        self.input().check(arguments)?;
        (self.examine)(arguments).map_err(|error| self.input().explain(arguments, &error))
    }

    fn visualize(&self, arguments: Arguments<'_>) -> Option<String> {
        Some((self.show)(arguments).unwrap_or_else(|| self.input().visualize(arguments)))
    }
}

/// The one box of a call: it holds the action's own future and little else.
fn start<'a, A: Action>(
    executor: &'a ActionExecutor,
    arguments: Arguments<'a>,
    context: &'a ToolContext,
) -> Outcome<'a> {
    match A::decode(arguments) {
        Ok(action) => {
            Box::pin(async move { settle(A::observe(action.run(context).await), executor.is_text) })
        }
        Err(error) => executor.refused(arguments, &error),
    }
}

fn examine<A: Action>(arguments: Arguments<'_>) -> Result<Access, DecodeError> {
    let action = A::decode(arguments)?;
    Ok(A::ACCESS.map_or_else(Access::undeclared, |access| access(&action)))
}

fn show<A: Action>(arguments: Arguments<'_>) -> Option<String> {
    A::decode(arguments).ok()?.visualize()
}

/// What is the same for every action.
pub(crate) fn settle(
    observed: Result<Observation, ToolError>,
    is_text: bool,
) -> Result<Observation, CallError> {
    match observed {
        Ok(observation) if is_text && observation.is_scalar() => Ok(observation.into_plain_text()),
        Ok(observation) => Ok(observation),
        Err(error) => Err(error.into()),
    }
}
