//! The result of a call.

use super::ToolCall;
use crate::tool::results::observation::Observation;
use crate::vocabulary::error::CallError;

/// The one answer to a [`ToolCall`]: exactly one per call. The JSON form has everything except
/// the source of the error: MCP's `CallToolResult` as `observation`, and `error` with class,
/// message, detail and issues.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().build()?;
/// let result = pool.call(ToolCall::new("nothing", "{}").with_call_id("call_1")).await;
/// assert_eq!(result.call_id(), "call_1");
/// assert!(result.is_error());
/// assert_eq!(result.error().unwrap().class(), ErrorClass::NotFound);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Debug)]
pub struct ToolResult {
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) observation: Observation,
    pub(super) error: Option<CallError>,
}

impl ToolResult {
    pub(crate) fn new(call: ToolCall, outcome: Result<Observation, CallError>) -> Self {
        let (observation, error) = match outcome {
            Ok(observation) => (observation, None),
            Err(error) => (Observation::error(error.message()), Some(error)),
        };
        Self { call_id: call.call_id, name: call.name, observation, error }
    }

    /// The outcome passed to [`Self::new`].
    #[cfg(feature = "tower")]
    pub(crate) fn into_outcome(self) -> Result<Observation, CallError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.observation),
        }
    }

    /// The id of the call.
    pub fn call_id(&self) -> &str {
        &self.call_id
    }

    /// The name of the called tool.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The observation for the model; for an error, its text.
    pub fn observation(&self) -> &Observation {
        &self.observation
    }

    /// The observation for the model, by value.
    pub fn into_observation(self) -> Observation {
        self.observation
    }

    /// Whether the call failed or the tool returned an error.
    pub fn is_error(&self) -> bool {
        self.error.is_some() || self.observation.is_error()
    }

    /// The error of the call, with its class and the operator's detail. `None` for an observation
    /// that the tool itself marked as an error.
    pub fn error(&self) -> Option<&CallError> {
        self.error.as_ref()
    }
}
