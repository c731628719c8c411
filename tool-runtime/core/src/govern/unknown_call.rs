//! A call of a tool that the pool does not have: answered from the record of an earlier attempt, and recorded.

use super::call_view::{CallDetails, CallView};
use super::governors::Governors;
use super::meta_parameters::MetaArguments;
use super::recorder::{CallEvent, CallStage, Receipt, ReceiptState};
use super::step::{record, wait_for_record};
use super::step_store::Begin;
use crate::tool::context::ToolContext;
use crate::tool::results::observation::Observation;
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::error::CallError;
use futures_util::future::join_all;

/// A call of a tool that the pool does not have. Nothing decides about it, and nothing runs.
pub(crate) struct UnknownCall<'a> {
    name: &'a str,
    details: CallDetails,
}

impl<'a> UnknownCall<'a> {
    /// A call as its caller wrote it. `meta` has its arguments without the parameters of the pool, if it has some.
    pub(crate) fn new(
        name: &'a str,
        arguments: &str,
        meta: Option<MetaArguments>,
        context: ToolContext,
    ) -> Self {
        let Some(meta) = meta else {
            return Self { name, details: CallDetails::new(name, arguments, None, context) };
        };
        let mut details = CallDetails::new(name, &meta.rest, None, context);
        (details.risk, details.summary) = (meta.risk, meta.summary);
        Self { name, details }
    }

    /// The outcome that the call had in an earlier attempt of its execution, when the pool had the tool.
    pub(crate) async fn earlier_outcome(
        &self,
        governors: &Governors,
    ) -> Option<Result<Observation, CallError>> {
        let (Some(steps), Some(step)) = (&governors.steps, &self.details.step) else { return None };
        // A step that may run again is looked up and not marked: this one never starts.
        match steps.begin(step, RetryMode::SafeToRetry).await {
            Ok(Begin::Replay(outcome)) => Some(outcome),
            Ok(Begin::Run | Begin::Indeterminate) => None,
            Err(error) => {
                tracing::warn!(tool = self.name, "an earlier call could not be looked up: {error}");
                None
            }
        }
    }

    /// Records the call and its outcome, which is that of an earlier attempt or an error, and waits until it is recorded.
    pub(crate) async fn record(
        &self,
        governors: &Governors,
        outcome: &Result<Observation, CallError>,
        is_replayed: bool,
    ) {
        let call = CallView::new(self.name, None, &self.details);
        let finished =
            CallStage::Finished { outcome: outcome.as_ref(), duration: None, is_replayed };
        let events = [CallStage::Proposed, finished].map(|stage| CallEvent { call, stage });
        let all =
            |event| governors.recorders.iter().map(move |recorder| record(&**recorder, event));
        let receipts: Vec<Receipt> = events.into_iter().flat_map(all).collect();
        let recorded = receipts.into_iter().map(|receipt| async {
            match receipt.0 {
                ReceiptState::Done(done) => done,
                ReceiptState::Pending(pending) => pending.await,
            }
        });
        let recorded = async { join_all(recorded).await.into_iter().collect() };
        wait_for_record(self.name, recorded).await;
    }
}
