//! Calls through the layers of a pool.

use super::{guard, report};
use crate::call::{ToolCall, ToolResult};
use crate::context::ToolContext;
use crate::error::{BoxError, CallError, ErrorClass};
use crate::future::BoxFuture;
use crate::observation::Observation;
use crate::pool::{CallRequest, Innermost, ToolPool};
use futures_util::future::{Either, select};
use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::RwLock;

/// Hands a call to the outermost layer.
type Layers<'a> = &'a (dyn Fn(CallRequest) -> BoxFuture<'static, Answer> + Sync);

/// The answer of a layer.
type Answer = Result<ToolResult, BoxError>;

impl Innermost for ToolPool {
    fn run<'a>(
        &'a self,
        call: &'a ToolCall,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(self.run_without_layers(call.name(), call.arguments(), context))
    }
}

/// Passes a call to the outermost layer; the innermost passes it to [`CallRequest::run`].
pub(crate) async fn layered(
    layers: Layers<'_>,
    inside: Arc<dyn Innermost>,
    call: ToolCall,
    context: &ToolContext,
) -> Result<Observation, CallError> {
    let (name, attempts) = (call.name().to_owned(), Arc::default());
    let context = context.clone();
    let request = CallRequest { inside, call, context, attempts: Arc::clone(&attempts) };
    match guard::catch_panics(&name, answered(layers, request, &attempts)).await {
        Ok(result) => result.into_outcome(),
        Err(error) => {
            // Failures inside of the layers have been logged there.
            report::failure(&name, &error);
            Err(error)
        }
    }
}

/// The answer of the layers. A call that waits in a layer is dropped with its future; a call that runs
/// inside of them is stopped there, and its hooks are notified.
async fn answered(
    layers: Layers<'_>,
    request: CallRequest,
    attempts: &RwLock<()>,
) -> Result<ToolResult, CallError> {
    let (name, context) = (request.call.name().to_owned(), request.context.clone());
    let answer = async { layers(request).await.map_err(|error| layer_error(&name, error)) };
    let over = async {
        let over = guard::waiting(pending::<Result<Infallible, _>>(), &name, &context).await;
        let _exclusive = attempts.write().await;
        over
    };
    match select(pin!(answer), pin!(over)).await {
        Either::Left((answer, _)) => answer,
        Either::Right((Err(over), _)) => Err(over),
        Either::Right((Ok(never), _)) => match never {},
    }
}

impl CallRequest {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The context of the call.
    pub fn context(&self) -> &ToolContext {
        &self.context
    }

    /// Runs the call inside of all layers.
    pub(crate) async fn run(self) -> ToolResult {
        let Self { inside, call, context, attempts } = self;
        let _attempt = attempts.read().await;
        let outcome = inside.run(&call, &context).await;
        ToolResult::new(call, outcome)
    }
}

/// A layer returned its own answer instead of the tool's.
fn layer_error(name: &str, error: BoxError) -> CallError {
    let (class, text) = class_of(&error);
    CallError::new(class, format!("`{name}`: {text}")).with_detail(error.to_string())
}

#[cfg(feature = "tower")]
fn class_of(error: &BoxError) -> (ErrorClass, &'static str) {
    if error.is::<tower::load_shed::error::Overloaded>() {
        return (ErrorClass::RateLimited, "too many calls at once; try again later");
    }
    if error.is::<tower::timeout::error::Elapsed>() {
        return (ErrorClass::Timeout, "it did not answer in time; ask for less, or try again");
    }
    (ErrorClass::Transient, "the call did not get through; try again later")
}

#[cfg(not(feature = "tower"))]
fn class_of(_: &BoxError) -> (ErrorClass, &'static str) {
    (ErrorClass::Transient, "the call did not get through; try again later")
}
