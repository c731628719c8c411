//! Calls and a queue, driven step by step and checked after each.

use crate::tool::concurrency::access::Claim;
use crate::tool::concurrency::schedule::entry::Id;
use crate::tool::concurrency::schedule::{Deadlock, Held, Link, SharedQueue};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

#[derive(Default)]
pub(super) struct Simulation {
    pub(super) queue: SharedQueue,
    /// In the order of entering.
    pub(super) calls: Vec<Call>,
    pub(super) rejections: usize,
}

pub(super) struct Call {
    pub(super) claim: Claim,
    pub(super) parent: Option<usize>,
    pub(super) id: Option<Id>,
    pub(super) state: State,
    flag: Arc<Flag>,
}

pub(super) enum State {
    Waiting(Pin<Box<dyn Future<Output = Result<Held, Deadlock>>>>),
    Held(Held),
    Gone,
}

/// Whether to poll.
#[derive(Default)]
struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl Simulation {
    /// Enters a call, and checks whether its rejection is correct. Without `at_once` it is polled
    /// later.
    pub(super) fn enter(&mut self, claim: Claim, parent: Option<usize>, at_once: bool) {
        let link = parent.map(|parent| self.link(parent));
        let ticket = self.queue.enter(claim.clone(), link.as_ref());
        let id = ticket.id().ok();
        let state = State::Waiting(Box::pin(ticket.ready()));
        let flag = Arc::new(Flag(AtomicBool::new(at_once)));
        self.calls.push(Call { claim, parent, id, state, flag });
        let index = self.calls.len() - 1;
        assert_eq!(
            id.is_none(),
            self.would_never_run(index),
            "rejected if, and only if, it would never run"
        );
        if id.is_none() {
            assert!(parent.is_some(), "only nested calls are rejected");
            self.rejections += 1;
            self.calls[index].state = State::Gone;
        }
    }

    fn link(&self, index: usize) -> Link {
        match &self.calls[index].state {
            State::Held(held) => held.link(),
            _ => panic!("only a held call makes others"),
        }
    }

    /// Ends or drops the call.
    pub(super) fn end(&mut self, index: usize) {
        self.calls[index].state = State::Gone;
    }

    /// Polls all woken calls until none is left.
    pub(super) fn settle(&mut self) {
        while let Some(index) = self.calls.iter().position(Call::is_due) {
            self.poll(index);
        }
    }

    /// Polls all waiting calls, including those that were never polled.
    pub(super) fn poll_all(&mut self) {
        for call in self.calls.iter().filter(|call| call.is_waiting()) {
            call.flag.0.store(true, Ordering::Relaxed);
        }
        self.settle();
    }

    fn poll(&mut self, index: usize) {
        let call = &mut self.calls[index];
        call.flag.0.store(false, Ordering::Relaxed);
        let State::Waiting(ready) = &mut call.state else { return };
        let waker = Waker::from(Arc::clone(&call.flag));
        if let Poll::Ready(outcome) = ready.as_mut().poll(&mut Context::from_waker(&waker)) {
            call.state = State::Held(outcome.expect("only a new ticket is rejected"));
            self.check_order(index);
        }
    }

    /// The calls for which `select` holds.
    pub(super) fn select(&self, select: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        (0..self.calls.len()).filter(|&index| select(self, index)).collect()
    }

    /// Whether the call is held and all of its nested calls have ended.
    pub(super) fn can_end(&self, index: usize) -> bool {
        let is_above = |other: &usize| {
            self.is_descendant_of(*other, index) && !self.calls[*other].is_finished()
        };
        self.calls[index].is_held() && !(0..self.calls.len()).any(|other| is_above(&other))
    }

    pub(super) fn is_descendant_of(&self, index: usize, ancestor: usize) -> bool {
        self.ancestors(index).any(|ancestors| ancestors == ancestor)
    }

    pub(super) fn depth(&self, index: usize) -> usize {
        self.ancestors(index).count()
    }

    fn ancestors(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.calls[index].parent, |&ancestors| self.calls[ancestors].parent)
    }

    /// Whether the queue lets it run, polled or not.
    pub(super) fn is_granted(&self, index: usize) -> bool {
        let id = self.calls[index].id;
        id.is_some_and(|id| self.queue.lock().is_granted(id))
    }
}

impl Call {
    pub(super) fn is_finished(&self) -> bool {
        matches!(self.state, State::Gone)
    }

    pub(super) fn is_held(&self) -> bool {
        matches!(self.state, State::Held(_))
    }

    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting(_))
    }

    pub(super) fn is_due(&self) -> bool {
        self.is_waiting() && self.flag.0.load(Ordering::Relaxed)
    }
}
