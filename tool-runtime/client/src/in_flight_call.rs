//! A call in flight: its context, its time limits and its progress.

use super::request_timeouts::RequestTimeouts;
use futures_util::task::AtomicWaker;
use std::future::poll_fn;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use tokio::time::Instant;
use tool_runtime_core::seam::lock;
use tool_runtime_core::{Progress, ToolContext};

/// One call that runs.
pub(super) struct InFlightCall {
    context: ToolContext,
    timeouts: RequestTimeouts,
    /// Time of the last sign of life: the start, progress, an answered question.
    last: Mutex<Instant>,
    /// Questions that the server has asked during the call.
    questions: AtomicUsize,
    expiry: AtomicU8,
    waker: AtomicWaker,
}

/// The reason why a call is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Expiry {
    /// The idle timeout passed.
    Silent = 1,
    /// The deadline passed, regardless of progress.
    Late = 2,
}

impl InFlightCall {
    pub(super) fn new(context: &ToolContext, timeouts: RequestTimeouts) -> Arc<Self> {
        Arc::new(Self {
            context: context.clone(),
            timeouts,
            last: Mutex::new(Instant::now()),
            questions: AtomicUsize::new(0),
            expiry: AtomicU8::new(0),
            waker: AtomicWaker::new(),
        })
    }

    pub(super) fn context(&self) -> &ToolContext {
        &self.context
    }

    pub(super) fn timeouts(&self) -> RequestTimeouts {
        self.timeouts
    }

    /// A name for the next question of the call: the same whenever the call is made again.
    pub(super) fn next_question(&self, server: &str) -> String {
        format!("{server}-{}", self.questions.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Something was said about the call just now.
    pub(super) fn touch(&self) {
        *lock(&self.last) = Instant::now();
    }

    pub(super) fn report(&self, progress: Progress) {
        self.touch();
        if let Some(peer) = self.context.peer().filter(|peer| peer.hears_progress()) {
            peer.progress(progress);
        }
    }

    /// The time at which the call is given up if no progress arrives before.
    pub(super) fn deadline(&self) -> Instant {
        self.timeouts.end(*lock(&self.last))
    }

    /// Gives it up if its time is over.
    pub(super) fn expire(&self, now: Instant) {
        if self.deadline() > now {
            return;
        }
        let is_late = self.timeouts.until.is_some_and(|until| until <= now);
        let expiry = if is_late { Expiry::Late } else { Expiry::Silent };
        self.expiry.store(expiry as u8, Ordering::Release);
        self.waker.wake();
    }

    /// Waits until it is given up.
    pub(super) async fn expired(&self) -> Expiry {
        poll_fn(|context| {
            self.waker.register(context.waker());
            match self.expiry.load(Ordering::Acquire) {
                0 => Poll::Pending,
                late if late == Expiry::Late as u8 => Poll::Ready(Expiry::Late),
                _ => Poll::Ready(Expiry::Silent),
            }
        })
        .await
    }
}
