//! The disturbances beside kills.

use super::part::Kind;
use fastrand::Rng;
use std::cmp::Reverse;

/// A disturbance. Times are in seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A process is stopped, and goes on.
    Stop(Kind, u64),
    /// A connection passes on nothing for a while, and stays open.
    Stall(Kind, u64),
    /// A connection is closed, in order or by a reset.
    Cut(Kind, Cut),
    /// The queue is deleted.
    DeleteQueue,
    /// The disk of the engine is full for a while.
    FillDisk(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    Close,
    Reset,
}

/// Each kind of process is stopped for an instant, for less than a lease, and for more.
pub(super) const STOPS: &[Fault] = &[
    Fault::Stop(Kind::Runner, 20),
    Fault::Stop(Kind::Runner, 5),
    Fault::Stop(Kind::Runner, 1),
    Fault::Stop(Kind::Caller, 20),
    Fault::Stop(Kind::Caller, 5),
    Fault::Stop(Kind::Caller, 1),
    Fault::Stop(Kind::Engine, 20),
    Fault::Stop(Kind::Engine, 5),
    Fault::Stop(Kind::Engine, 1),
];

/// What a network does.
pub(super) const CUTS: &[Fault] = &[
    Fault::Stall(Kind::Runner, 20),
    Fault::Stall(Kind::Runner, 5),
    Fault::Stall(Kind::Caller, 20),
    Fault::Stall(Kind::Caller, 5),
    Fault::Cut(Kind::Runner, Cut::Close),
    Fault::Cut(Kind::Runner, Cut::Reset),
    Fault::Cut(Kind::Caller, Cut::Close),
    Fault::Cut(Kind::Caller, Cut::Reset),
];

impl Fault {
    fn seconds(self) -> u64 {
        match self {
            Self::Stop(_, seconds) | Self::Stall(_, seconds) | Self::FillDisk(seconds) => seconds,
            Self::Cut(..) | Self::DeleteQueue => 0,
        }
    }
}

/// Random faults: each of them comes once before one comes again. The longest of a round come first, so that they are over
/// when the calls are.
pub(super) fn plan(kinds: &[Fault], count: usize, random: &mut Rng) -> Vec<Fault> {
    let mut faults = Vec::new();
    while faults.len() < count {
        let mut round = kinds.to_vec();
        random.shuffle(&mut round);
        round.truncate(count - faults.len());
        round.sort_by_key(|fault| Reverse(fault.seconds()));
        faults.extend(round);
    }
    faults
}
