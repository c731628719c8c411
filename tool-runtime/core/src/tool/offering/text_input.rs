//! Arguments of a prompt or a resource, read for its action or checked for its closure.

use crate::tool::arguments::input::InputModel;
use crate::tool::arguments::parameter::Settings;
use crate::tool::arguments::{Arguments, DecodeError};
use crate::tool::offering::completion::{ArgumentCompleter, Completers};
use crate::tool::offering::text_arguments::{TextArguments, TextSchema};
use crate::tool::offering::{Answer, OfferingProperties, Running};
use crate::vocabulary::error::{CallError, ErrorClass};
use std::any::TypeId;
use std::future::ready;

/// Reads the arguments of an action.
pub(crate) struct TextInput {
    schema: TextSchema,
    model: InputModel,
}

impl TextInput {
    /// Reads from an action how its arguments are read, and its terms for the pool.
    pub(crate) fn new<A: 'static>(
        name: &str,
        settings: &Settings,
        completers: &'static [ArgumentCompleter],
    ) -> (Self, OfferingProperties) {
        Self::from_parts(name, settings, completers, TypeId::of::<A>())
    }

    fn from_parts(
        name: &str,
        settings: &Settings,
        completers: &'static [ArgumentCompleter],
        action: TypeId,
    ) -> (Self, OfferingProperties) {
        let schema = TextSchema::new(settings.parameters);
        let terms = OfferingProperties {
            needs: settings.needs,
            timeout: settings.timeout,
            completers: Completers::from_schema(&schema, settings.parameters, completers),
            action: Some(action),
            origin: None,
        };
        (Self { schema, model: InputModel::from_table(name, settings.parameters) }, terms)
    }

    /// Decodes the arguments and runs the function. Invalid arguments are an error.
    pub(crate) fn run<'a, T: Send + 'a>(
        &self,
        values: &TextArguments,
        enter: impl FnOnce(Arguments<'_>) -> Result<Running<'a, T>, DecodeError>,
    ) -> Answer<'a, T> {
        match self.start(values, enter) {
            Ok(running) => Box::pin(async move { running.await.map_err(CallError::from) }),
            Err(rejection) => Box::pin(ready(Err(rejection))),
        }
    }

    fn start<T>(
        &self,
        values: &TextArguments,
        enter: impl FnOnce(Arguments<'_>) -> Result<T, DecodeError>,
    ) -> Result<T, CallError> {
        let json = self.schema.json(values);
        let arguments = Arguments::new(&json);
        self.model.check(arguments)?;
        enter(arguments).map_err(|error| self.model.explain(arguments, &error))
    }
}

/// Rejects arguments of a closure, which has no decoder: those that are missing, and those that
/// it does not have.
///
/// # Errors
/// The first problem.
pub(crate) fn check<'a>(
    name: &str,
    arguments: impl Iterator<Item = (&'a str, bool)> + Clone,
    values: &TextArguments,
) -> Result<(), CallError> {
    let rejected = |what: String| {
        CallError::new(ErrorClass::Input, format!("invalid arguments for `{name}`: {what}"))
    };
    if let Some((missing, _)) =
        arguments.clone().find(|(name, is_required)| *is_required && !values.contains_key(*name))
    {
        return Err(rejected(format!("missing required argument `{missing}`")));
    }
    match values.keys().find(|name| !arguments.clone().any(|(known, _)| known == *name)) {
        Some(unknown) => Err(rejected(format!("unknown argument `{unknown}`"))),
        None => Ok(()),
    }
}
