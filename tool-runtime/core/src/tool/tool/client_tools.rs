//! Tools whose calls the host program executes later, by id.

mod call;
mod error;
mod executor;
mod pending_calls;

#[cfg(test)]
mod tests;

pub use call::ClientCall;
pub use error::ClientAnswerError;

use crate::schema;
use crate::tool::results::observation::IntoObservation;
use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use executor::ClientExecutor;
use pending_calls::PendingCalls;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Tools whose calls the host program executes later, by id: to pick a file, to ask the
/// user, to run something in a browser.
///
/// A call to such a tool waits until the host has answered it. The host takes calls with
/// [`next`](Self::next), in order of arrival, and answers each once, in any order, with
/// [`answer`](Self::answer). Abandoned calls, because they were cancelled
/// or ran out of time, are never returned by it. Arguments are checked against the tool's schema
/// before the host sees them, answers against its output schema before the model does.
///
/// Cheap to clone; every clone is the same host. When the last one is dropped, pending and later
/// calls end with an error. It needs tokio's timers.
///
/// ```
/// use std::time::Duration;
/// use tool_runtime::tool::ClientTools;
/// use tool_runtime::prelude::*;
///
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let client = ClientTools::new(Duration::from_secs(600));
/// let pick = ToolDefinition::new("pick_colour", "Let the user pick a colour.");
/// let pool = ToolPool::builder().add(client.tool(pick)).build()?;
///
/// let host = async {
///     let call = client.next().await;
///     assert_eq!((call.id(), call.name()), ("call_1", "pick_colour"));
///     client.answer(call.id(), "green")
/// };
/// let call = ToolCall::new("pick_colour", "{}").with_call_id("call_1");
/// let (result, answered) = tokio::join!(pool.call(call), host);
/// assert_eq!(result.observation().to_text(), "green");
/// assert!(answered.is_ok());
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ClientTools(Arc<Host>);

/// The host's side. Tools refer only to the pending calls, so that this is dropped with the last handle.
struct Host {
    pending_calls: Arc<PendingCalls>,
    limit: Duration,
}

impl Drop for Host {
    fn drop(&mut self) {
        self.pending_calls.close();
    }
}

/// Margin of the pool's own limit over the host's: it must not end a call first, since
/// its error text does not name the host.
const TIMEOUT_GRACE: Duration = Duration::from_secs(1);

impl ClientTools {
    /// Creates a host that has this time for each call, from its arrival to its answer. A
    /// shorter deadline of the call's context holds as well; the pool's own limit does not.
    pub fn new(deadline: Duration) -> Self {
        Self(Arc::new(Host { pending_calls: Arc::default(), limit: deadline }))
    }

    /// A tool whose calls arrive here.
    ///
    /// Answers must match the output schema of the definition, if it has one.
    ///
    /// ```
    /// # use tool_runtime::ToolDefinition;
    /// # use tool_runtime::tool::ClientTools;
    /// # use std::time::Duration;
    /// let client = ClientTools::new(Duration::from_secs(60));
    /// let tool = client.tool(ToolDefinition::new("pick_file", "Let the user pick a file."));
    /// assert_eq!(tool.name(), "pick_file");
    /// ```
    pub fn tool(&self, mut definition: ToolDefinition) -> Tool {
        definition.problems.extend(schema::problem(&definition.input_schema, "input"));
        let executor = ClientExecutor::new(&definition, &self.0.pending_calls, self.0.limit);
        Tool::new(definition, executor).with_timeout(self.0.limit.checked_add(TIMEOUT_GRACE))
    }

    /// Waits for the next call, in order of arrival. Each call is received once, whichever handle
    /// asks; dropping the future loses none.
    pub async fn next(&self) -> ClientCall {
        self.0.pending_calls.next().await
    }

    /// The next call, if one is waiting.
    pub fn try_next(&self) -> Option<ClientCall> {
        self.0.pending_calls.try_next()
    }

    /// Answers a call, whether it has been received or not, by everything that a tool may
    /// return: text, [`Json`](crate::tool::Json), an [`Observation`](crate::tool::Observation), a
    /// [`ToolError`](crate::vocabulary::error::ToolError) in an `Err`.
    ///
    /// # Errors
    /// No call waits for this answer: the id is unknown, was answered before, has expired or
    /// was cancelled. Then the call has no effect. Or the answer does not match the tool's output
    /// schema; the call then ends with an internal error.
    ///
    /// ```
    /// # use std::time::Duration;
    /// use tool_runtime::{Observation, ToolError};
    /// use tool_runtime::tool::{ClientAnswerError, ClientTools};
    ///
    /// let client = ClientTools::new(Duration::from_secs(60));
    /// let rejection: Result<Observation, _> = Err(ToolError::user("the user is away"));
    /// let outcome = client.answer("call_1", rejection);
    /// assert!(matches!(outcome, Err(ClientAnswerError::Unknown { .. })));
    /// ```
    pub fn answer(&self, id: &str, outcome: impl IntoObservation) -> Result<(), ClientAnswerError> {
        self.0.pending_calls.answer(id, || outcome.into_observation())
    }

    /// All calls that wait for an answer, in order of arrival, received or not.
    pub fn pending(&self) -> Vec<ClientCall> {
        self.0.pending_calls.pending()
    }

    /// Whether the call still waits for an answer.
    pub fn is_pending(&self, id: &str) -> bool {
        self.0.pending_calls.is_pending(id)
    }

    /// Waits until the call no longer needs an answer, because it was cancelled, has expired or was answered; returns
    /// immediately if the call is not pending. Hosts use it to stop their work.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use tool_runtime::tool::ClientTools;
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let client = ClientTools::new(Duration::from_secs(60));
    /// client.cancelled("no such call").await;
    /// # });
    /// ```
    pub async fn cancelled(&self, id: &str) {
        if let Some(ended) = self.0.pending_calls.end_token(id) {
            ended.cancelled().await;
        }
    }
}

impl fmt::Debug for ClientTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids: Vec<String> = self.pending().iter().map(|call| call.id().to_owned()).collect();
        f.debug_struct("ClientTools")
            .field("deadline", &self.0.limit)
            .field("pending", &ids)
            .finish_non_exhaustive()
    }
}
