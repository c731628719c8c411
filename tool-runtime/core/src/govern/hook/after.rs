//! The input and the decision of a hook after a call.

use crate::tool::results::observation::Observation;
use crate::vocabulary::error::{CallError, ErrorClass};
use std::sync::Arc;
use std::time::Duration;

/// The outcome of a call after earlier hooks. Cheap to clone.
///
/// ```
/// use tool_runtime::{ErrorClass, Observation};
/// use tool_runtime::hook::{After, AfterCall, Hook, HookCall};
///
/// let hook = Hook::after("web.*", |_: HookCall, after: AfterCall| async move {
///     match after.error() {
///         Some(error) if error.class() == ErrorClass::Timeout => {
///             After::replace(Observation::error("the web is slow today; do without"))
///         }
///         _ => After::keep(),
///     }
/// });
/// # let _ = hook;
/// ```
#[derive(Clone, Debug)]
pub struct AfterCall {
    observation: Arc<Observation>,
    error: Option<Arc<CallError>>,
    duration: Duration,
}

impl AfterCall {
    pub(crate) fn new(outcome: &Result<Arc<Observation>, CallError>, duration: Duration) -> Self {
        match outcome {
            Ok(observation) => Self { observation: Arc::clone(observation), error: None, duration },
            Err(error) => Self {
                observation: Arc::new(Observation::error(error.message())),
                error: Some(Arc::new(copied(error))),
                duration,
            },
        }
    }

    /// The observation for the model: of an error its text.
    pub fn observation(&self) -> &Observation {
        &self.observation
    }

    /// Whether the call failed or the tool returned an error.
    pub fn is_error(&self) -> bool {
        self.observation.is_error()
    }

    /// The error of the call, with class, issues and the operator's detail, without
    /// [`source`](std::error::Error::source). `None` for an observation that the tool itself
    /// marked as an error.
    pub fn error(&self) -> Option<&CallError> {
        self.error.as_deref()
    }

    /// The error class, if the call failed.
    pub fn error_class(&self) -> Option<ErrorClass> {
        self.error().map(CallError::class)
    }

    /// The time that the tool ran: zero for a call that was rejected before it ran.
    pub fn duration(&self) -> Duration {
        self.duration
    }
}

/// The error itself is returned to the caller, and its source cannot be cloned.
fn copied(error: &CallError) -> CallError {
    let copy = CallError::new(error.class(), error.message()).with_issues(error.issues().to_vec());
    match error.detail() {
        Some(detail) => copy.with_detail(detail),
        None => copy,
    }
}

/// The decision of a hook after a call.
///
/// ```
/// use tool_runtime::Observation;
/// use tool_runtime::hook::After;
///
/// let nothing_to_add = After::keep();
/// let redacted = After::replace(Observation::text("(a secret)"));
/// # let _ = (nothing_to_add, redacted);
/// ```
#[derive(Debug)]
#[must_use]
pub struct After(pub(crate) Option<Observation>);

impl After {
    /// Keeps the outcome.
    pub fn keep() -> Self {
        Self(None)
    }

    /// Replaces the observation for the model. Also replaces an error, which then becomes a success, unless
    /// the observation [is an error](Observation::is_error).
    ///
    /// For a tool with an output schema, the replacement needs a structured value that matches.
    pub fn replace(observation: impl Into<Observation>) -> Self {
        Self(Some(observation.into()))
    }
}
