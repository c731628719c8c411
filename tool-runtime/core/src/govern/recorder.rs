//! Records of calls: proposed, decided, started, finished.

use super::call_view::CallView;
use super::policy::Decision;
use crate::tool::results::observation::Observation;
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::error::CallError;
use crate::vocabulary::future::BoxFuture;
use std::fmt;
use std::time::Duration;

/// Records the events of all calls, also of rejected and dropped calls.
///
/// The events of one call have one [number](CallView::number) and come in order. The first is
/// [`CallStage::Proposed`], the last [`CallStage::Finished`].
///
/// ```
/// use tool_runtime::govern::{CallEvent, CallStage, Receipt, Recorder};
///
/// struct Log;
///
/// impl Recorder for Log {
///     fn record(&self, event: CallEvent<'_>) -> Receipt {
///         if let CallStage::Finished { outcome, .. } = event.stage {
///             println!("{}: {}", event.call.name(), if outcome.is_ok() { "done" } else { "failed" });
///         }
///         Receipt::recorded()
///     }
/// }
/// ```
pub trait Recorder: Send + Sync + 'static {
    /// Gets ready when a pool with the recorder is built: opens or creates what it records to. Default: nothing.
    ///
    /// # Errors
    /// Nothing can be recorded. This is a problem of the pool.
    fn prepare(&self) -> Result<(), RecordError> {
        Ok(())
    }

    /// Why events cannot be recorded at present, for the readiness of a server. Default: they can.
    fn problem(&self) -> Option<String> {
        None
    }

    /// Waits until all events up to now are stored, or cannot be. A pool that is closed waits for it: the process may end
    /// before the last handle is dropped. Default: nothing waits to be stored.
    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Records an event. This must not block, so slow work goes into the receipt. It is also called
    /// for calls whose future is dropped.
    fn record(&self, event: CallEvent<'_>) -> Receipt;
}

/// An event of a call.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CallEvent<'a> {
    /// The call, as it is at this stage.
    pub call: CallView<'a>,
    /// The stage.
    pub stage: CallStage<'a>,
}

/// A stage of a call, in the order of time.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum CallStage<'a> {
    /// The call arrived.
    Proposed,
    /// A decision was made. A call that a person is asked about has two: the question, then the
    /// answer. A call with invalid arguments has none.
    #[non_exhaustive]
    Decided {
        /// The decision of all policies, hooks and the approver. The reason of a denial is in it.
        decision: &'a Decision,
        /// The person who approved or rejected the call, if the approver reports it.
        by: Option<&'a str>,
    },
    /// The call was interrupted for a question to its caller, and continues when a later request brings
    /// the answer. Its stages before the interruption are not recorded again.
    Suspended,
    /// The tool is about to run. A tool that may run only once does not if this is not recorded.
    #[non_exhaustive]
    Started {
        /// Whether the call may run again if its end is not recorded.
        mode: RetryMode,
    },
    /// The call ended.
    #[non_exhaustive]
    Finished {
        /// The outcome, as the caller gets it.
        outcome: Result<&'a Observation, &'a CallError>,
        /// The time that the tool ran. `None` for a call whose tool did not run.
        duration: Option<Duration>,
        /// Whether the outcome is that of an earlier attempt, see [`StepStore`](crate::govern::StepStore).
        is_replayed: bool,
    },
}

/// The response of a [`Recorder`]: the event is recorded, or will be.
///
/// A call waits for its receipts before its tool starts, and for the last one before it returns,
/// then for 30 seconds at most.
#[must_use = "a pending receipt does nothing until it is awaited"]
pub struct Receipt(pub(super) ReceiptState);

pub(super) enum ReceiptState {
    Done(Result<(), RecordError>),
    Pending(BoxFuture<'static, Result<(), RecordError>>),
}

impl Receipt {
    /// The event is recorded, or the recorder does not care.
    pub fn recorded() -> Self {
        Self(ReceiptState::Done(Ok(())))
    }

    /// The event cannot be recorded.
    pub fn refused(error: RecordError) -> Self {
        Self(ReceiptState::Done(Err(error)))
    }

    /// The event is recorded when the future is ready.
    pub fn pending(
        recorded: impl Future<Output = Result<(), RecordError>> + Send + 'static,
    ) -> Self {
        Self(ReceiptState::Pending(Box::pin(recorded)))
    }
}

impl fmt::Debug for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ReceiptState::Done(done) => f.debug_tuple("Receipt").field(done).finish(),
            ReceiptState::Pending(_) => f.write_str("Receipt(pending)"),
        }
    }
}

/// An event or a step that cannot be recorded or looked up. The text is for the operator.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RecordError {
    reason: String,
    rejects_all: bool,
}

crate::debug_as_message!(RecordError);

impl RecordError {
    /// A reason, for the operator.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), rejects_all: false }
    }

    /// Rejects every call that is not recorded. Default: calls that are safe to repeat run, with a
    /// warning.
    #[must_use]
    pub fn for_all_calls(mut self) -> Self {
        self.rejects_all = true;
        self
    }

    /// Whether calls that are safe to repeat are rejected, too.
    pub fn rejects_all_calls(&self) -> bool {
        self.rejects_all
    }
}
