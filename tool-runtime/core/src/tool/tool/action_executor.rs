//! Executes actions. Per action one short function and its future are compiled; everything else
//! is shared.

use super::executor::Executor;
use crate::schema;
use crate::tool::arguments::input::InputModel;
use crate::tool::arguments::parameter::{Parameter, SchemaOrigin, Settings};
use crate::tool::arguments::schemas;
use crate::tool::arguments::{Arguments, DecodeError};
use crate::tool::concurrency::access::Access;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::tool::results::output_check::OutputShape;
use crate::tool::tool::action::Action;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::{CallError, ToolError};
use crate::vocabulary::future::{BoxFuture, boxed};
use serde_json::Value;
use std::sync::{Arc, OnceLock};

type Outcome<'a> = BoxFuture<'a, Result<Observation, CallError>>;

/// An action whose type is known only to function pointers.
pub(super) struct ActionExecutor {
    /// Created on first use: it costs as much as the rest of a tool.
    input: OnceLock<InputModel>,
    definition: Arc<ToolDefinition>,
    settings: Settings,
    shape: OutputShape,
    decode: DecodeAction,
}

/// An action as function pointers.
pub(super) struct ActionParts {
    definition: fn() -> ToolDefinition,
    settings: fn() -> Settings,
    decode: DecodeAction,
    /// Instead of the action's own.
    name: Option<String>,
}

impl ActionParts {
    pub(super) fn from_action<A: Action>() -> Self {
        Self { definition: A::definition, settings: A::settings, decode: decode::<A>, name: None }
    }

    pub(super) fn with_name(self, name: String) -> Self {
        Self { name: Some(name), ..self }
    }
}

/// Decodes an action, and runs or keeps it.
type DecodeAction = for<'a> fn(Arguments<'a>, Purpose<'a>) -> Result<Decoded<'a>, DecodeError>;

/// The purpose of decoding an action. One function serves all purposes, since decoding is
/// most of the code that is compiled per action.
enum Purpose<'a> {
    Run { context: &'a ToolContext, shape: &'a OutputShape },
    Keep,
    Visual,
}

/// The result for each purpose.
enum Decoded<'a> {
    Running(Outcome<'a>),
    Kept(Option<Access>, DecodedAction),
    Visual(Option<String>),
}

/// Starts an action that was decoded before it may run. A closure of [`decode`], because the future of an
/// action is compiled again in each codegen unit that names it.
pub(crate) type DecodedAction =
    Box<dyn for<'a> FnOnce(&'a ToolContext, &'a OutputShape) -> Outcome<'a> + Send>;

impl ActionExecutor {
    /// Asks the action for its definition, which evaluates its defaults: once.
    pub(super) fn new(parts: &ActionParts) -> Self {
        let (mut definition, settings) = ((parts.definition)(), (parts.settings)());
        if let Some(name) = &parts.name {
            definition.name.clone_from(name);
        }
        if settings.schema == SchemaOrigin::Given {
            mark_secrets(&mut definition, &settings);
            let problems = schema_problems(&definition, &settings);
            definition.problems.extend(problems);
        }
        Self {
            input: OnceLock::new(),
            shape: OutputShape::from_definition(&definition),
            definition: Arc::new(definition),
            settings,
            decode: parts.decode,
        }
    }

    pub(super) fn definition(&self) -> &Arc<ToolDefinition> {
        &self.definition
    }

    pub(super) fn settings(&self) -> Settings {
        self.settings
    }

    fn input(&self) -> &InputModel {
        self.input.get_or_init(|| InputModel::new(&self.definition, &self.settings))
    }

    /// Decodes the arguments of a call that may run later.
    pub(super) fn decode_call(
        &self,
        arguments: Arguments<'_>,
    ) -> Result<(Access, DecodedAction), CallError> {
        self.input().check(arguments)?;
        match (self.decode)(arguments, Purpose::Keep) {
            Ok(Decoded::Kept(access, action)) => Ok((access.unwrap_or_default(), action)),
            Ok(_) => unreachable!("the purpose is to keep it"),
            Err(error) => Err(self.input().explain(arguments, &error)),
        }
    }

    /// Runs an action that was decoded.
    pub(super) fn start<'a>(
        &'a self,
        action: DecodedAction,
        context: &'a ToolContext,
    ) -> Outcome<'a> {
        action(context, &self.shape)
    }

    #[cold]
    fn reject<'a>(&self, arguments: Arguments<'a>, error: &DecodeError) -> Outcome<'a> {
        let error = self.input().explain(arguments, error);
        Box::pin(std::future::ready(Err(error)))
    }
}

/// The reasons why no call can succeed with a given schema.
fn schema_problems(definition: &ToolDefinition, settings: &Settings) -> Vec<String> {
    let advertised = |key| {
        let has = |parameter: &&Parameter| parameter.aliases.contains(&key);
        settings.parameters.iter().find(has).map_or(key, |parameter| parameter.name)
    };
    let own = schemas::input(settings.parameters);
    let mut problems = schema::incompatibilities(&definition.input_schema, &own, advertised);
    problems.extend(schema::own_problem(&definition.input_schema));
    problems
}

impl Executor for ActionExecutor {
    fn call<'a>(&'a self, arguments: Arguments<'a>, context: &'a ToolContext) -> Outcome<'a> {
        if let Err(error) = self.input().check(arguments) {
            return Box::pin(std::future::ready(Err(error)));
        }
        match (self.decode)(arguments, Purpose::Run { context, shape: &self.shape }) {
            Ok(Decoded::Running(running)) => running,
            Ok(_) => unreachable!("the purpose is to run it"),
            Err(error) => self.reject(arguments, &error),
        }
    }

    fn access(&self, arguments: Arguments<'_>) -> Result<Access, CallError> {
        self.decode_call(arguments).map(|(access, _)| access)
    }

    fn visualize(&self, arguments: Arguments<'_>) -> Option<String> {
        match (self.decode)(arguments, Purpose::Visual) {
            Ok(Decoded::Visual(own)) => own,
            _ => None,
        }
    }
}

/// Marks secret parameters in a schema that the user gave, for all that hide them.
fn mark_secrets(definition: &mut ToolDefinition, settings: &Settings) {
    let secret = settings.parameters.iter().filter(|parameter| parameter.is_secret);
    for parameter in secret {
        let properties = definition.input_schema.get_mut("properties");
        let property = properties.and_then(|all| all.get_mut(parameter.name));
        if let Some(Value::Object(property)) = property {
            property.insert("writeOnly".to_owned(), true.into());
        }
    }
}

fn decode<'a, A: Action>(
    arguments: Arguments<'a>,
    purpose: Purpose<'a>,
) -> Result<Decoded<'a>, DecodeError> {
    let action = A::decode(arguments)?;
    Ok(match purpose {
        Purpose::Run { context, shape } => Decoded::Running(start(action, context, shape)),
        Purpose::Keep => {
            let access = A::ACCESS.map(|access| access(&action));
            Decoded::Kept(access, Box::new(|context, shape| start(action, context, shape)))
        }
        Purpose::Visual => Decoded::Visual(action.visualize()),
    })
}

/// The only box of a call: it contains the action's future and little else.
fn start<'a, A: Action>(
    action: A,
    context: &'a ToolContext,
    shape: &'a OutputShape,
) -> Outcome<'a> {
    boxed(|| async move { settle(A::observe(action.run(context).await), shape) })
}

/// Converts the result of any action.
pub(crate) fn settle(
    observed: Result<Observation, ToolError>,
    shape: &OutputShape,
) -> Result<Observation, CallError> {
    let observation = observed?;
    if matches!(shape, OutputShape::Text) && observation.is_scalar() {
        return Ok(observation.into_plain_text());
    }
    shape.check(&observation)?;
    Ok(observation)
}
