//! A case: its calls, and the events meanwhile.

use proptest::prelude::*;

/// One case.
#[derive(Clone, Debug)]
pub(super) struct Case {
    pub(super) seed: u64,
    /// The rate of faults, of 100.
    pub(super) rate: u64,
    pub(super) calls: Vec<Call>,
    pub(super) events: Vec<Event>,
}

/// A call of one of two callers.
#[derive(Clone, Debug)]
pub(super) struct Call {
    /// Times are milliseconds.
    pub(super) at: u64,
    pub(super) caller: usize,
    pub(super) is_safe: bool,
    /// The time until the effect, and after it.
    pub(super) before: u64,
    pub(super) after: u64,
    pub(super) limit: u64,
    /// When its first attempt is dropped.
    pub(super) dropped: Option<u64>,
    /// Whether it is in an execution, whose next attempt repeats it.
    pub(super) keeps: bool,
    /// Whether the tool asks a question, which a second request answers.
    pub(super) asks: bool,
}

#[derive(Clone, Debug)]
pub(super) struct Event {
    pub(super) at: u64,
    pub(super) process: usize,
    pub(super) what: What,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// The runner is killed; another one starts after a while.
    Kill { pause: u64 },
    /// The runner ends in order; another one has started before.
    Restart,
    /// The runner or caller is cut off for a while.
    Cut { time: u64 },
}

fn call() -> impl Strategy<Value = Call> {
    let times = (0..20_000_u64, 0..8_000_u64, 0..8_000_u64, 500..60_000_u64);
    let dropped = proptest::option::weighted(0.25, 0..15_000_u64);
    let kind =
        (0..2_usize, any::<bool>(), proptest::bool::weighted(0.3), proptest::bool::weighted(0.4));
    (times, dropped, kind).prop_map(
        |((at, before, after, limit), dropped, (caller, is_safe, keeps, asks))| Call {
            at,
            caller,
            is_safe,
            before,
            after,
            limit,
            dropped,
            keeps,
            asks,
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let what = prop_oneof![
        2 => (0..30_000_u64).prop_map(|pause| What::Kill { pause }),
        1 => Just(What::Restart),
        1 => (100..40_000_u64).prop_map(|time| What::Cut { time }),
    ];
    (0..30_000_u64, 0..5_usize, what).prop_map(|(at, process, what)| Event { at, process, what })
}

pub(super) fn case() -> impl Strategy<Value = Case> {
    let calls = proptest::collection::vec(call(), 1..6);
    let events = proptest::collection::vec(event(), 0..4);
    (
        any::<u64>().no_shrink(),
        prop_oneof![1 => Just(0), 1 => Just(5), 2 => Just(20)],
        calls,
        events,
    )
        .prop_map(|(seed, rate, calls, events)| Case { seed, rate, calls, events })
}
