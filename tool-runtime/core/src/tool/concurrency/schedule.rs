//! The schedule of calls: concurrent, except that calls of the same resources run in order of arrival.
//!
//! A call takes a [`Ticket`] when it arrives and waits until it is [`Held`]. A ticket claims all its keys at once. A
//! batch has its own queue; declared keys take a second ticket in the pool's queue, which orders calls of different
//! batches. A running call may make others, which refer to their caller by a [`Link`]. Only these can wait in a cycle;
//! the cycle is found when it would close (`queue/cycle.rs`).

mod entry;
mod link;
mod queue;
mod shared_queue;
mod ticket;

#[cfg(test)]
mod tests;

pub(crate) use link::Link;
pub(crate) use queue::Deadlock;
pub(crate) use shared_queue::SharedQueue;
pub(crate) use ticket::{Held, Ticket};
