//! Lines of the log about questions to people. They have the fields of the call by its span.

use crate::govern::MAX_LOGGED_REASON;
use crate::govern::approval::Approval;
use crate::vocabulary::error::caught;
use crate::vocabulary::printable::one_line;
use futures_util::future::{Either, select};
use std::pin::pin;
use std::time::Duration;

/// The time after which a call waits. An approval that was remembered comes sooner.
const SOON: Duration = Duration::from_millis(100);

/// A question about a call. One that is dropped before its answer was withdrawn.
pub(super) struct QuestionLog<'a> {
    tool: &'a str,
    rule: Option<&'a str>,
    is_answered: bool,
}

impl<'a> QuestionLog<'a> {
    pub(super) fn new(tool: &'a str, rule: Option<&'a str>) -> Self {
        Self { tool, rule, is_answered: false }
    }

    /// The answer. Logs that the call waits, if the answer does not come soon.
    pub(super) async fn wait<T>(&self, answer: impl Future<Output = T>) -> T {
        // The timer is created when the answer is first pending. A runtime may have no timers.
        let soon = async {
            if let Ok(timer) = caught(|| Box::pin(tokio::time::sleep(SOON))) {
                timer.await;
            }
        };
        match select(pin!(answer), pin!(soon)).await {
            Either::Left((answer, _)) => answer,
            Either::Right(((), answer)) => {
                tracing::info!(tool = self.tool, rule = self.rule, "a call waits for an answer");
                answer.await
            }
        }
    }

    /// Logs the answer.
    pub(super) fn end(mut self, answer: &Approval) {
        self.is_answered = true;
        let Self { tool, rule, .. } = self;
        match answer {
            Approval::Approved { by, .. } => tracing::info!(tool, rule, by, "a call was approved"),
            Approval::Rejected { by, reason, .. } => {
                let reason = one_line(reason, MAX_LOGGED_REASON);
                tracing::info!(tool, rule, by, reason, "a call was not approved");
            }
            Approval::Unasked { reason } => {
                let reason = one_line(reason, MAX_LOGGED_REASON);
                tracing::info!(tool, rule, reason, "nobody could be asked about a call");
            }
        }
    }
}

impl Drop for QuestionLog<'_> {
    fn drop(&mut self) {
        if !self.is_answered {
            let Self { tool, rule, .. } = *self;
            tracing::info!(tool, rule, "a call no longer waits for an answer");
        }
    }
}
