//! Which calls may run now: in the order they came, and at once unless they meet.
//!
//! A call takes a [`Ticket`] when it comes and waits until it is [`Held`]. While a call runs it
//! may make others; those know what is above them by a [`Link`]. That is where waiting could go
//! round in a circle, and what most of the rules in `queue/` are about.

mod entry;
mod lane;
mod link;
mod queue;
mod ticket;

#[cfg(test)]
mod tests;

pub(crate) use lane::Lane;
pub(crate) use link::Link;
pub(crate) use queue::Deadlock;
pub(crate) use ticket::{Held, Ticket};
