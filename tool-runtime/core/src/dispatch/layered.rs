//! Calls through the layers of a pool.

use super::{guard, report};
use crate::pool::{CallRequest, Innermost, Layers, ToolPool};
use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::{BoxError, CallError, ErrorClass};
use futures_util::future::{Either, select};
use std::convert::Infallible;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::RwLock;
use tower::ServiceExt as _;

/// Passes a call to the outermost layer; the innermost passes it to [`CallRequest::run`].
pub(super) async fn call(
    layers: &Layers,
    pool: &ToolPool,
    call: ToolCall,
    context: &ToolContext,
) -> Result<Observation, CallError> {
    let (name, attempts) = (call.name().to_owned(), Arc::default());
    let (innermost, context) = (innermost(pool.clone()), context.clone());
    let request = CallRequest { call, context, innermost, attempts: Arc::clone(&attempts) };
    match guard::catch_panics(&name, call_layers(layers, request, &attempts)).await {
        Ok(result) => result.into_outcome(),
        Err(error) => {
            // Failures inside the layers have been logged there.
            report::failure(&name, &error);
            Err(error)
        }
    }
}

/// Runs calls of the pool without its layers.
fn innermost(pool: ToolPool) -> Innermost {
    Arc::new(move |call, context| {
        let pool = pool.clone();
        Box::pin(async move {
            let outcome = pool.run_without_layers(&call, &context).await;
            ToolResult::new(call, outcome)
        })
    })
}

/// The response of the layers. A call that waits in a layer is dropped with its future; a call that runs
/// inside them is stopped there, and its hooks are notified.
async fn call_layers(
    layers: &Layers,
    request: CallRequest,
    attempts: &RwLock<()>,
) -> Result<ToolResult, CallError> {
    let (name, context) = (request.call.name().to_owned(), request.context.clone());
    let response = async {
        let response = layers.clone().oneshot(request).await;
        response.map_err(|error| layer_error(&name, &error))
    };
    let over = async {
        let over = guard::waiting(pending::<Result<Infallible, _>>(), &name, &context).await;
        let _exclusive = attempts.write().await;
        over
    };
    match select(pin!(response), pin!(over)).await {
        Either::Left((response, _)) => response,
        Either::Right((Err(over), _)) => Err(over),
        Either::Right((Ok(never), _)) => match never {},
    }
}

impl CallRequest {
    /// Runs the call inside all layers.
    pub(crate) async fn run(self) -> ToolResult {
        let Self { call, context, innermost, attempts } = self;
        let _attempt = attempts.read().await;
        innermost(call, context).await
    }
}

/// A layer returned its own response instead of the tool's.
fn layer_error(name: &str, error: &BoxError) -> CallError {
    let (class, text) = if error.is::<tower::load_shed::error::Overloaded>() {
        (ErrorClass::RateLimited, "too many calls at once; try again later")
    } else if error.is::<tower::timeout::error::Elapsed>() {
        (ErrorClass::Timeout, "it did not answer in time; ask for less, or try again")
    } else {
        (ErrorClass::Transient, "the call did not get through; try again later")
    };
    CallError::new(class, format!("`{name}`: {text}")).with_detail(error.to_string())
}
