//! Executes actions. Per action only the one line of `run` is compiled anew.

use super::{BoxFuture, Executor};
use crate::action::Action;
use crate::arguments::Arguments;
use crate::context::ToolContext;
use crate::definition::ToolDefinition;
use crate::error::{CallError, ToolError};
use crate::input::InputModel;
use crate::observation::Observation;
use crate::parameter::Settings;
use std::marker::PhantomData;

pub(super) struct ActionExecutor<A> {
    input: InputModel,
    /// The output has no schema although it may be structured: a scalar, shown as text.
    is_text: bool,
    action: PhantomData<fn() -> A>,
}

impl<A: Action> ActionExecutor<A> {
    pub(super) fn new(definition: &ToolDefinition, settings: &Settings) -> Self {
        Self {
            input: InputModel::new(definition, settings),
            is_text: definition.output_schema.is_none(),
            action: PhantomData,
        }
    }
}

impl<A: Action> Executor for ActionExecutor<A> {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let action = match A::decode(arguments) {
                Ok(action) => action,
                Err(error) => return Err(self.input.explain(arguments, &error)),
            };
            self.input.check(arguments)?;
            settle(A::observe(action.run(context).await), self.is_text)
        })
    }

    fn visualize(&self, arguments: Arguments<'_>) -> Option<String> {
        let own = A::decode(arguments).ok().and_then(|action| action.visualize());
        Some(own.unwrap_or_else(|| self.input.visualize(arguments)))
    }
}

/// What is the same for every action.
pub(super) fn settle(
    observed: Result<Observation, ToolError>,
    is_text: bool,
) -> Result<Observation, CallError> {
    match observed {
        Ok(observation) if is_text && observation.is_scalar() => Ok(observation.into_plain_text()),
        Ok(observation) => Ok(observation),
        Err(error) => Err(error.into()),
    }
}
