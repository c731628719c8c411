//! Steps of executions that are repeated.

use super::recorder::RecordError;
use crate::tool::context::StepId;
use crate::tool::results::observation::Observation;
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::error::CallError;
use crate::vocabulary::future::BoxFuture;

/// Looks up the calls that ran in earlier attempts of an [`Execution`](crate::tool::Execution).
///
/// It is asked about each call that is a step of an execution, after policies and hooks have allowed the call
/// and before a person is asked. A call that ran already is not repeated: it returns its earlier
/// result. So does a call whose tool the pool no longer has: it is looked up like one that is safe to
/// retry, and never starts.
///
/// A call has a step without an execution if the step was made elsewhere or its tool runs in another process.
/// Such a call is not looked up: nothing repeats it. In an execution, a call of a tool in another process is looked up like
/// one that is safe to retry, also if it may run only once: that process keeps the outcome of the step, and the interrupted
/// call is taken up again there.
///
/// The store learns what ran from the events of a [`Recorder`](crate::govern::Recorder), which carry the
/// step: one type is usually both. `Started` is the mark that is written ahead of the effect,
/// `Finished` the result.
pub trait StepStore: Send + Sync + 'static {
    /// Gets ready when a pool with the store is built. Default: nothing.
    ///
    /// # Errors
    /// The store cannot look up steps. The pool is not built.
    fn prepare(&self) -> Result<(), RecordError> {
        Ok(())
    }

    /// Looks up a step.
    ///
    /// # Errors
    /// The step cannot be looked up. A call that may run only once does not run then.
    fn begin<'a>(
        &'a self,
        step: &'a StepId,
        mode: RetryMode,
    ) -> BoxFuture<'a, Result<Begin, RecordError>>;
}

/// The response of a [`StepStore`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Begin {
    /// The step has not run, or it was interrupted and may run again.
    Run,
    /// The step ran, and this was its outcome.
    Replay(Result<Observation, CallError>),
    /// The step started, its end is unknown, and it may run only once.
    Indeterminate,
}
