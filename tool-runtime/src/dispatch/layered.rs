//! Calls through the layers of a pool.

use crate::call::{ToolCall, ToolResult};
use crate::context::ToolContext;
use crate::error::{BoxError, CallError, ErrorClass};
use crate::observation::Observation;
use crate::pool::{CallRequest, Layered, ToolPool};
use std::convert::identity;

impl ToolPool {
    /// Hands a call to the outermost layer; the innermost hands it to [`CallRequest::run`].
    pub(super) async fn layered(
        &self,
        layers: &dyn Layered,
        name: &str,
        arguments: &str,
        context: &ToolContext,
    ) -> Result<Observation, CallError> {
        let call = ToolCall::new(name, arguments).with_id(context.call_id().unwrap_or_default());
        let request = CallRequest { pool: self.clone(), call, context: context.clone() };
        match layers.call(request).await {
            Ok(result) => result.into_outcome(),
            Err(error) => Err(refused(name, error)),
        }
    }
}

impl CallRequest {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// What the call may use.
    pub fn context(&self) -> &ToolContext {
        &self.context
    }

    /// Runs the call inside of all layers.
    #[cfg_attr(not(feature = "tower"), allow(dead_code))]
    pub(crate) async fn run(self) -> ToolResult {
        let Self { pool, call, context } = self;
        let outcome = pool.bare(call.name(), call.arguments(), &context, identity).await;
        ToolResult::new(call, outcome)
    }
}

/// A layer has an answer of its own instead of the tool's.
fn refused(name: &str, error: BoxError) -> CallError {
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
