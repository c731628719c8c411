//! Closures as executors.

use super::action_executor::settle;
use super::executor::Executor;
use crate::tool::arguments::input::InputModel;
use crate::tool::arguments::probe::{self, Decode};
use crate::tool::arguments::schemas;
use crate::tool::arguments::{Arguments, DecodeError};
use crate::tool::concurrency::access::Access;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::{IntoObservation, Observation};
use crate::tool::results::output_check::OutputShape;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::error::CallError;
use crate::vocabulary::future::BoxFuture;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::marker::PhantomData;

/// A closure that can be a tool: `Fn() -> Fut`, `Fn(Arguments) -> Fut` or
/// `Fn(Arguments, ToolContext) -> Fut`.
///
/// ```
/// use tool_runtime::Tool;
/// use tool_runtime::tool::Handler;
///
/// fn tool<M: 'static>(handler: impl Handler<M>) -> Tool {
///     Tool::builder("ping", "Answer at once.").handler(handler)
/// }
///
/// assert_eq!(tool(|| async { "pong" }).name(), "ping");
/// ```
#[diagnostic::on_unimplemented(
    message = "this closure cannot be a tool",
    note = "write `|| async {{ .. }}`, `|args: Args| async move {{ .. }}` or `|args: Args, context: ToolContext| async move {{ .. }}`",
    note = "`Args` needs `Deserialize` and `JsonSchema`; the result needs `IntoObservation`, a struct goes into `Json(..)`",
    note = "it is called many times, from several threads: clone what it captures for each call, change nothing but by a `Mutex`, and capture no `Rc`"
)]
pub trait Handler<M>: Send + Sync + 'static {
    /// The type of the arguments; `None` without any.
    #[doc(hidden)]
    const INPUT: Option<TypedInput>;

    /// The return type.
    #[doc(hidden)]
    type Output: IntoObservation;

    #[doc(hidden)]
    fn start(
        &self,
        arguments: Arguments<'_>,
        context: &ToolContext,
    ) -> Result<impl Future<Output = Self::Output> + Send, DecodeError>;
}

/// The type that holds the arguments of a closure.
#[derive(Clone, Copy)]
pub struct TypedInput {
    schema: fn() -> Value,
    decode: Decode,
    /// Whether the arguments decode.
    check: fn(Arguments<'_>) -> Result<(), DecodeError>,
}

impl TypedInput {
    const fn from_type<A: DeserializeOwned + JsonSchema>() -> Self {
        Self {
            schema: || schemas::closed_input_of::<A>(probe::decode::<A>),
            decode: probe::decode::<A>,
            check: |arguments| arguments.parse_closed::<A>().map(drop),
        }
    }

    pub(super) fn schema(self) -> Value {
        (self.schema)()
    }
}

#[diagnostic::do_not_recommend]
impl<F, Fut, R> Handler<(R,)> for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send,
    R: IntoObservation,
{
    const INPUT: Option<TypedInput> = None;

    type Output = R;

    fn start(
        &self,
        _: Arguments<'_>,
        _: &ToolContext,
    ) -> Result<impl Future<Output = R> + Send, DecodeError> {
        Ok(self())
    }
}

#[diagnostic::do_not_recommend]
impl<F, Fut, A, R> Handler<(A, R)> for F
where
    F: Fn(A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send,
    A: DeserializeOwned + JsonSchema,
    R: IntoObservation,
{
    const INPUT: Option<TypedInput> = Some(TypedInput::from_type::<A>());

    type Output = R;

    fn start(
        &self,
        arguments: Arguments<'_>,
        _: &ToolContext,
    ) -> Result<impl Future<Output = R> + Send, DecodeError> {
        Ok(self(arguments.parse_closed()?))
    }
}

#[diagnostic::do_not_recommend]
impl<F, Fut, A, R> Handler<(A, ToolContext, R)> for F
where
    F: Fn(A, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = R> + Send,
    A: DeserializeOwned + JsonSchema,
    R: IntoObservation,
{
    const INPUT: Option<TypedInput> = Some(TypedInput::from_type::<A>());

    type Output = R;

    fn start(
        &self,
        arguments: Arguments<'_>,
        context: &ToolContext,
    ) -> Result<impl Future<Output = R> + Send, DecodeError> {
        Ok(self(arguments.parse_closed()?, context.clone()))
    }
}

/// The resources that a call of a closure touches.
pub(super) type AccessOf = dyn Fn(&Map<String, Value>) -> Access + Send + Sync;

pub(super) struct HandlerExecutor<H, M> {
    handler: H,
    access: Option<Box<AccessOf>>,
    input: InputModel,
    shape: OutputShape,
    marker: PhantomData<fn() -> M>,
}

impl<H: Handler<M>, M> HandlerExecutor<H, M> {
    pub(super) fn new(
        handler: H,
        definition: &ToolDefinition,
        access: Option<Box<AccessOf>>,
    ) -> Self {
        Self {
            handler,
            access,
            input: input::<H, M>(definition),
            shape: OutputShape::from_definition(definition),
            marker: PhantomData,
        }
    }
}

/// A given schema may assert more than the type does.
fn input<H: Handler<M>, M>(definition: &ToolDefinition) -> InputModel {
    match H::INPUT {
        Some(own) if own.schema().as_object() == Some(&definition.input_schema) => {
            InputModel::from_decoder(definition, own.decode)
        }
        _ => InputModel::from_schema(definition),
    }
}

impl<H: Handler<M>, M: 'static> Executor for HandlerExecutor<H, M> {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            // Decoding starts the closure, so the schema is checked first.
            self.input.check(arguments)?;
            match self.handler.start(arguments, context) {
                Ok(future) => settle(future.await.into_observation(), &self.shape),
                Err(error) => Err(self.input.explain(arguments, &error)),
            }
        })
    }

    fn access(&self, arguments: Arguments<'_>) -> Result<Access, CallError> {
        self.input.check(arguments)?;
        // A type may reject values that its schema allows; such calls do not reach hooks and the user.
        let decoded = H::INPUT.map_or(Ok(()), |input| (input.check)(arguments));
        decoded.map_err(|error| self.input.explain(arguments, &error))?;
        Ok(match &self.access {
            Some(access) => access(&serde_json::from_str(arguments.as_str()).unwrap_or_default()),
            None => Access::undeclared(),
        })
    }
}
