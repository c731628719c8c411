//! Functions that make tools from parameters.

use crate::tool::context::ToolContext;
use crate::tool::tool::Tool;
use crate::tool::toolset::{ToolsetError, decode_params};
use crate::vocabulary::error::ToolError;
use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sealed::Sealed;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::future::ready;
use std::marker::PhantomData;
use std::sync::Arc;

/// The tools that a factory creates: one or many.
pub trait Tools {
    #[doc(hidden)]
    fn into_tools(self, _: Sealed) -> Vec<Tool>;
}

impl Tools for Tool {
    fn into_tools(self, _: Sealed) -> Vec<Tool> {
        vec![self]
    }
}

impl Tools for Vec<Tool> {
    fn into_tools(self, _: Sealed) -> Vec<Tool> {
        self
    }
}

/// A function that creates tools from parameters, for
/// [`Registry::factory`](crate::pool::Registry::factory).
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::pool::{Registry, ToolFactory};
///
/// fn check<M>(_: &impl ToolFactory<M>) {}
///
/// let tool = || Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// check(&move |(): ()| Ok::<_, ToolError>(tool()));
/// check(&move |(): ()| async move { Ok::<_, ToolError>(vec![tool()]) });
/// check(&move |(): (), context: ToolContext| {
///     let _greeting = context.get::<String>();
///     Ok::<_, ToolError>(tool())
/// });
/// ```
#[diagnostic::on_unimplemented(
    message = "this function cannot make tools",
    note = "write `|params: Params| Ok::<_, ToolError>(tool)` or `|params: Params| async move {{ Ok::<_, ToolError>(tools) }}`",
    note = "a second parameter `context: ToolContext` gives the pool's state",
    note = "`Params` needs `Deserialize` and `JsonSchema`; the result is a `Tool` or a `Vec<Tool>`"
)]
pub trait ToolFactory<M>: Send + Sync + 'static {
    #[doc(hidden)]
    fn make(&self, params: Value, context: &ToolContext, _: Sealed) -> Made;
}

/// The tools that a factory creates.
type Made = BoxFuture<'static, Result<Vec<Tool>, ToolsetError>>;

/// Marks synchronous factories.
#[derive(Debug)]
pub struct SyncFactory;

/// Marks asynchronous factories.
#[derive(Debug)]
pub struct AsyncFactory;

#[diagnostic::do_not_recommend]
impl<F, P, T, E> ToolFactory<(SyncFactory, P, T, E)> for F
where
    F: Fn(P) -> Result<T, E> + Send + Sync + 'static,
    P: DeserializeOwned + JsonSchema,
    T: Tools,
    E: Into<ToolError>,
{
    fn make(&self, params: Value, _: &ToolContext, _: Sealed) -> Made {
        make_tools(params, |params| at_once(self(params)))
    }
}

#[diagnostic::do_not_recommend]
impl<F, P, Fut, T, E> ToolFactory<(AsyncFactory, P, Fut, T, E)> for F
where
    F: Fn(P) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + JsonSchema,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    T: Tools,
    E: Into<ToolError>,
{
    fn make(&self, params: Value, _: &ToolContext, _: Sealed) -> Made {
        make_tools(params, |params| later(self(params)))
    }
}

#[diagnostic::do_not_recommend]
impl<F, P, T, E> ToolFactory<(SyncFactory, P, ToolContext, T, E)> for F
where
    F: Fn(P, ToolContext) -> Result<T, E> + Send + Sync + 'static,
    P: DeserializeOwned + JsonSchema,
    T: Tools,
    E: Into<ToolError>,
{
    fn make(&self, params: Value, context: &ToolContext, _: Sealed) -> Made {
        make_tools(params, |params| at_once(self(params, context.clone())))
    }
}

#[diagnostic::do_not_recommend]
impl<F, P, Fut, T, E> ToolFactory<(AsyncFactory, P, ToolContext, Fut, T, E)> for F
where
    F: Fn(P, ToolContext) -> Fut + Send + Sync + 'static,
    P: DeserializeOwned + JsonSchema,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
    T: Tools,
    E: Into<ToolError>,
{
    fn make(&self, params: Value, context: &ToolContext, _: Sealed) -> Made {
        make_tools(params, |params| later(self(params, context.clone())))
    }
}

/// Decodes the parameters and creates the tools.
fn make_tools<P: DeserializeOwned + JsonSchema>(
    params: Value,
    make: impl FnOnce(P) -> Made,
) -> Made {
    decode_params(params).map_or_else(|error| Box::pin(ready(Err(error))) as Made, make)
}

fn later<T: Tools, E: Into<ToolError>>(
    tools: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Made {
    Box::pin(async move { into_tools(tools.await) })
}

fn at_once<T: Tools, E: Into<ToolError>>(tools: Result<T, E>) -> Made {
    Box::pin(ready(into_tools(tools)))
}

fn into_tools<T: Tools, E: Into<ToolError>>(made: Result<T, E>) -> Result<Vec<Tool>, ToolsetError> {
    made.map(|tools| tools.into_tools(Sealed)).map_err(|error| ToolsetError::Failed(error.into()))
}

/// A factory, its type erased.
pub(super) trait Erased: Send + Sync {
    fn make(&self, params: Value, context: &ToolContext) -> Made;
}

pub(super) fn erase<M: 'static>(factory: impl ToolFactory<M>) -> Arc<dyn Erased> {
    Arc::new(FactoryOf { factory, marker: PhantomData })
}

struct FactoryOf<F, M> {
    factory: F,
    marker: PhantomData<fn() -> M>,
}

impl<F: ToolFactory<M>, M> Erased for FactoryOf<F, M> {
    fn make(&self, params: Value, context: &ToolContext) -> Made {
        self.factory.make(params, context, Sealed)
    }
}
