//! Waiting in the queue, polled by hand.

mod cases;
mod oracle;
mod properties;
mod simulation;
mod threads;

use super::{Deadlock, Held, Link, Ticket};
use crate::tool::concurrency::access::{Access, Claim};
use futures_util::FutureExt as _;

fn reads(key: &str) -> Claim {
    Claim { access: Access::none().read(key), is_read_only: false }
}

fn writes(key: &str) -> Claim {
    Claim { access: Access::none().write(key), is_read_only: false }
}

/// A call with undeclared access.
fn anything() -> Claim {
    Claim::default()
}

/// Polls once without a waker: for tickets that are ready or rejected.
fn now(ticket: Ticket) -> Result<Held, Deadlock> {
    ticket.ready().now_or_never().expect("ready without waiting")
}

fn held(queue: &super::SharedQueue, claim: Claim, parent: Option<&Link>) -> Held {
    now(queue.enter(claim, parent)).expect("not rejected")
}
