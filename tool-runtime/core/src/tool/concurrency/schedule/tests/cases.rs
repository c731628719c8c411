//! Tests of single scheduling rules.

use super::*;
use crate::tool::concurrency::schedule::SharedQueue;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

/// A pending ticket and the number of its wake-ups.
struct Wait {
    ready: Pin<Box<dyn Future<Output = Result<Held, Deadlock>>>>,
    wakes: Arc<Wakes>,
}

#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Enters and waits; must not be ready at once.
fn waiting(queue: &SharedQueue, claim: Claim, parent: Option<&Link>) -> Wait {
    let ready = Box::pin(queue.enter(claim, parent).ready());
    let mut wait = Wait { ready, wakes: Arc::default() };
    assert!(wait.poll().is_pending(), "should wait");
    wait
}

impl Wait {
    fn poll(&mut self) -> Poll<Result<Held, Deadlock>> {
        let waker = Waker::from(Arc::clone(&self.wakes));
        self.ready.as_mut().poll(&mut Context::from_waker(&waker))
    }

    fn is_woken(&self) -> bool {
        self.wakes.0.load(Ordering::Relaxed) == 1
    }

    fn held(mut self) -> Held {
        assert!(self.is_woken(), "should be woken");
        match self.poll() {
            Poll::Ready(outcome) => outcome.expect("not rejected"),
            Poll::Pending => panic!("woken for nothing"),
        }
    }
}

#[test]
fn tickets_without_conflict_are_ready_immediately() {
    let queue = SharedQueue::default();
    let held = [held(&queue, writes("a"), None), held(&queue, reads("b"), None)];
    let tickets = [now(queue.enter(reads("b"), None)), now(queue.enter(writes("c"), None))];
    assert!(tickets.iter().all(Result::is_ok));
    drop((held, tickets));
    assert!(queue.lock().is_empty());
}

#[test]
fn the_order_is_of_entering_not_of_polling() {
    let queue = SharedQueue::default();
    let first = queue.enter(writes("a"), None);
    let second = waiting(&queue, writes("a"), None);
    assert!(!second.is_woken());
    drop(now(first).unwrap());
    drop(second.held());
    assert!(queue.lock().is_empty());
}

#[test]
fn readers_do_not_overtake_a_waiting_writer() {
    let queue = SharedQueue::default();
    let reader = held(&queue, reads("a"), None);
    let writer = waiting(&queue, writes("a"), None);
    let late = [waiting(&queue, reads("a"), None), waiting(&queue, reads("a"), None)];
    drop(reader);
    let writer = writer.held();
    assert!(!late[0].is_woken());
    drop(writer);
    let _together = late.map(Wait::held);
}

#[test]
fn a_dropped_ticket_unblocks_later_ones() {
    let queue = SharedQueue::default();
    let _reader = held(&queue, reads("a"), None);
    let writer = waiting(&queue, writes("a"), None);
    let unpolled = queue.enter(anything(), None);
    let late = waiting(&queue, reads("a"), None);
    drop(writer);
    assert!(!late.is_woken());
    drop(unpolled);
    drop(late.held());
}

#[test]
fn a_panic_releases_the_resources() {
    let queue = SharedQueue::default();
    let also = queue.clone();
    let panicking = std::panic::catch_unwind(move || {
        let _held = held(&also, anything(), None);
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(panicking.is_err());
    assert!(queue.lock().is_empty());
}

#[test]
fn a_dropped_waker_may_leave_the_queue() {
    struct Owner(#[expect(dead_code, reason = "dropped")] Held);
    impl Wake for Owner {
        fn wake(self: Arc<Self>) {}
    }
    let queue = SharedQueue::default();
    let other = held(&queue, writes("b"), None);
    let _first = held(&queue, writes("a"), None);
    let mut second = Box::pin(queue.enter(writes("a"), None).ready());
    let waker = Waker::from(Arc::new(Owner(other)));
    assert!(second.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    drop(waker);
    assert!(second.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
}

#[test]
fn a_call_does_not_block_its_nested_calls() {
    let queue = SharedQueue::default();
    let parent = held(&queue, anything(), None);
    let child = held(&queue, anything(), Some(&parent.link()));
    let _grandchild = held(&queue, anything(), Some(&child.link()));
}

#[test]
fn calls_of_one_parent_wait_for_each_other() {
    let queue = SharedQueue::default();
    let parent = held(&queue, anything(), None);
    let first = held(&queue, writes("a"), Some(&parent.link()));
    let second = waiting(&queue, writes("a"), Some(&parent.link()));
    drop(first);
    drop(second.held());
}

#[test]
fn calls_of_one_parent_keep_their_order() {
    let queue = SharedQueue::default();
    let parent = held(&queue, writes("a"), None);
    let (x, _y) = (held(&queue, writes("x"), None), held(&queue, writes("y"), None));
    let a_x_and_y =
        Claim { access: Access::none().write("a").write("x").write("y"), is_read_only: false };
    let _unrelated = waiting(&queue, a_x_and_y, None);
    let x_and_y = Claim { access: Access::none().write("x").write("y"), is_read_only: false };
    let first = waiting(&queue, x_and_y, Some(&parent.link()));
    let second = waiting(&queue, writes("x"), Some(&parent.link()));
    drop(x);
    assert!(!first.is_woken() && !second.is_woken());
}

#[test]
fn a_nested_call_passes_calls_that_wait_for_its_parent() {
    let queue = SharedQueue::default();
    let parent = held(&queue, writes("a"), None);
    let after_parent = waiting(&queue, anything(), None);
    let after_both = waiting(&queue, writes("b"), None);
    let child = held(&queue, writes("b"), Some(&parent.link()));
    drop(parent);
    assert!(!after_parent.is_woken());
    drop(child);
    drop(after_parent.held());
    drop(after_both.held());
}

#[test]
fn a_nested_call_waits_behind_unrelated_calls() {
    let queue = SharedQueue::default();
    let parent = held(&queue, writes("a"), None);
    let other = held(&queue, reads("b"), None);
    let unrelated = waiting(&queue, writes("b"), None);
    let child = waiting(&queue, reads("b"), Some(&parent.link()));
    drop(other);
    assert!(!child.is_woken());
    drop(unrelated.held());
    drop(child.held());
}

#[test]
fn the_call_that_completes_a_cycle_is_rejected() {
    let queue = SharedQueue::default();
    let (a, b) = (held(&queue, writes("a"), None), held(&queue, writes("b"), None));
    let a_wants_b = waiting(&queue, writes("b"), Some(&a.link()));
    assert_eq!(now(queue.enter(writes("a"), Some(&b.link()))).unwrap_err(), Deadlock);
    drop(b);
    drop(a_wants_b.held());
    drop(a);
    assert!(queue.lock().is_empty());
}

#[test]
fn a_cycle_of_three_is_found_at_any_depth() {
    let queue = SharedQueue::default();
    let [a, b, c] = ["a", "b", "c"].map(|key| held(&queue, writes(key), None));
    let under_a =
        held(&queue, Claim { access: Access::none(), is_read_only: true }, Some(&a.link()));
    let _a_wants_b = waiting(&queue, writes("b"), Some(&under_a.link()));
    let _b_wants_c = waiting(&queue, writes("c"), Some(&b.link()));
    assert!(now(queue.enter(writes("a"), Some(&c.link()))).is_err());
    assert!(now(queue.enter(writes("d"), Some(&c.link()))).is_ok());
}

/// `x_wants_c` queues behind `unrelated`, which waits for `a`. It may pass, which breaks the cycle.
#[test]
fn a_cycle_is_broken_when_a_call_can_pass() {
    let queue = SharedQueue::default();
    let (a, x) = (held(&queue, writes("a"), None), held(&queue, writes("x"), None));
    let reader = held(&queue, reads("c"), None);
    let a_and_c = Claim { access: Access::none().write("a").write("c"), is_read_only: false };
    let unrelated = waiting(&queue, a_and_c, None);
    let x_wants_c = waiting(&queue, reads("c"), Some(&x.link()));
    let a_wants_x = waiting(&queue, writes("x"), Some(&a.link()));
    drop(x_wants_c.held());
    drop(x);
    drop(a_wants_x.held());
    drop((a, reader));
    drop(unrelated.held());
}

#[test]
fn a_call_that_outlives_its_parent_is_scheduled_as_a_root() {
    let queue = SharedQueue::default();
    let parent = held(&queue, writes("a"), None);
    let link = parent.link();
    drop(parent);
    let _other = held(&queue, writes("a"), None);
    drop(waiting(&queue, writes("a"), Some(&link)));
}

#[test]
fn a_chain_of_ended_calls_leaves_no_entries() {
    let queue = SharedQueue::default();
    let mut link = held(&queue, anything(), None).link();
    for _ in 0..10_000 {
        let next = held(&queue, anything(), Some(&link));
        link = next.link();
        let successor = held(&queue, anything(), Some(&link));
        drop(next);
        link = successor.link();
    }
    assert!(link.child_ancestors().is_none());
    assert!(queue.lock().is_empty());
}

#[test]
fn a_nested_call_through_another_queue_does_not_wait_for_its_ancestor() {
    let (queue, other) = (SharedQueue::default(), SharedQueue::default());
    let outer = held(&queue, anything(), None);
    let between = held(&other, anything(), Some(&outer.link()));
    drop(held(&queue, anything(), Some(&between.link())));
}
