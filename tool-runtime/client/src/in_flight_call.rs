//! A call in flight: its context, its time limits and its progress.

use super::request_timeouts::RequestTimeouts;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::SetOnce;
use tokio::time::Instant;
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::ToolContext;
use tool_runtime_core::tool::peer::Progress;

/// A running call.
pub(super) struct InFlightCall {
    context: ToolContext,
    timeouts: RequestTimeouts,
    /// Time of the last activity: the start, progress, an answered question.
    last: Mutex<Instant>,
    /// Questions that the server has asked during the call.
    questions: AtomicUsize,
    expiry: SetOnce<Expiry>,
}

/// The reason why a call is abandoned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expiry {
    /// The idle timeout passed.
    Silent,
    /// The deadline passed, regardless of progress.
    Late,
}

impl InFlightCall {
    pub(super) fn new(context: &ToolContext, timeouts: RequestTimeouts) -> Arc<Self> {
        Arc::new(Self {
            context: context.clone(),
            timeouts,
            last: Mutex::new(Instant::now()),
            questions: AtomicUsize::new(0),
            expiry: SetOnce::new(),
        })
    }

    pub(super) fn context(&self) -> &ToolContext {
        &self.context
    }

    pub(super) fn timeouts(&self) -> RequestTimeouts {
        self.timeouts
    }

    /// The key of the next question: the same when the call is repeated.
    pub(super) fn next_question(&self, server: &str) -> String {
        format!("{server}-{}", self.questions.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Notes activity of the server.
    pub(super) fn touch(&self) {
        *lock(&self.last) = Instant::now();
    }

    pub(super) fn report(&self, progress: Progress) {
        self.touch();
        if let Some(peer) = self.context.peer().filter(|peer| peer.accepts_progress()) {
            peer.progress(progress);
        }
    }

    /// The time at which the call times out without progress.
    pub(super) fn deadline(&self) -> Instant {
        self.timeouts.end(*lock(&self.last))
    }

    /// Expires the call if its time has passed.
    pub(super) fn expire(&self, now: Instant) {
        if self.deadline() > now {
            return;
        }
        let is_late = self.timeouts.until.is_some_and(|until| until <= now);
        let expiry = if is_late { Expiry::Late } else { Expiry::Silent };
        // The first reason counts.
        drop(self.expiry.set(expiry));
    }

    /// Waits until the call expires.
    pub(super) async fn expired(&self) -> Expiry {
        *self.expiry.wait().await
    }
}
