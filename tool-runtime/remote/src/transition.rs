//! The decisions of runners and callers that follow from the record of a step, without I/O.
//!
//! A record that was read may be out of date. So every decision to run a tool that may run at most once, and every outcome, is
//! a write that names the revision it relies on; the record that a conflict returns is decided about anew.

use crate::names::RunnerId;
use crate::payload::Payload;
use crate::record::{Author, Ended, Record, Revised, Revision, State};
use tool_runtime_core::vocabulary::RetryMode;

/// Whether the runner that started a step may still run it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// It lives, as far as known.
    Alive,
    /// It was not heard for a lease.
    Gone,
}

/// A decision of a runner about a job that it claimed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OnClaim {
    /// Run the tool. The end replaces the record of this revision.
    Run(Revision),
    /// Write `started` instead of this revision, then run the tool.
    Start(Revision),
    /// Write that the outcome is unknown, instead of this revision: the runner that started it is gone.
    Settle(Revision),
    /// Look again later: another runner may still run it.
    Later,
    /// Remove the job: nobody needs it.
    Finish,
}

/// Decides about a claimed job of a round.
pub(crate) fn on_claim(
    mode: RetryMode,
    round: u32,
    record: Option<&Revised>,
    holder: impl FnOnce(&RunnerId) -> Holder,
) -> OnClaim {
    let begin = match mode {
        RetryMode::SafeToRetry => OnClaim::Run,
        _ => OnClaim::Start,
    };
    let Some(Revised { record, revision }) = record else { return begin(Revision::NONE) };
    match &record.state {
        _ if record.round > round => OnClaim::Finish,
        State::Started { .. } if mode == RetryMode::SafeToRetry => begin(*revision),
        State::Started { runner } => match holder(runner) {
            Holder::Alive => OnClaim::Later,
            Holder::Gone => OnClaim::Settle(*revision),
        },
        State::Suspended if record.round < round => begin(*revision),
        State::Done { .. } if gives_way(record, mode, round) => begin(*revision),
        State::Suspended | State::Done { .. } => OnClaim::Finish,
    }
}

/// Whether a record that is done makes room for a later round: its tool did not run, or may run again.
fn gives_way(record: &Record, mode: RetryMode, round: u32) -> bool {
    let State::Done { was, ran: None, .. } = &record.state else { return false };
    record.round < round && (mode == RetryMode::SafeToRetry || *was != Ended::Started)
}

/// A decision of a runner about an outcome, when the tool has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnEnd {
    /// Write the outcome instead of this revision.
    Write(Revision),
    /// Nothing: the step was decided without it.
    Late,
}

/// Decides about the outcome of a round.
pub(crate) fn on_end(mode: RetryMode, round: u32, record: Option<&Revised>) -> OnEnd {
    let Some(Revised { record, revision }) = record else { return OnEnd::Write(Revision::NONE) };
    let is_open = match &record.state {
        State::Started { .. } => record.round <= round,
        State::Suspended => record.round < round,
        State::Done { .. } => gives_way(record, mode, round),
    };
    if is_open { OnEnd::Write(*revision) } else { OnEnd::Late }
}

/// Whether a runner that looks at the record while the tool runs must stop it.
pub(crate) fn must_stop(mode: RetryMode, round: u32, record: Option<&Revised>) -> bool {
    on_end(mode, round, record) == OnEnd::Late
}

/// The first decision of a caller.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OnBegin {
    /// Submit a round.
    Submit(u32),
    /// Wait for the end of a round that runs.
    Follow(u32),
    /// Return the outcome.
    Return(Payload),
    /// The outcome is unknown: an earlier attempt gave up while the tool ran, and wrote this.
    Unknown(Payload),
}

/// Decides how a caller begins or continues a step.
pub(crate) fn on_begin(mode: RetryMode, record: Option<&Record>) -> OnBegin {
    let Some(record) = record else { return OnBegin::Submit(1) };
    let next = record.round.saturating_add(1);
    match &record.state {
        State::Started { .. } => OnBegin::Follow(record.round),
        State::Suspended => OnBegin::Submit(next),
        State::Done { .. } if gives_way(record, mode, next) => OnBegin::Submit(next),
        State::Done { by: Author::Caller(_), outcome, .. } => OnBegin::Unknown(outcome.clone()),
        State::Done { outcome, .. } => OnBegin::Return(outcome.clone()),
    }
}

/// A decision of a caller that has heard nothing for a while, or may have missed something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum OnDoubt {
    /// Submit a round, which does nothing if it is queued already.
    Submit(u32),
    /// Wait on.
    Wait,
    /// Write that the outcome is unknown, instead of this revision: the runner that started it is gone.
    Settle(Revision),
    /// Return the outcome.
    Return(Payload),
}

/// Decides for a caller in doubt about a round.
pub(crate) fn on_doubt(
    mode: RetryMode,
    round: u32,
    record: Option<&Revised>,
    holder: impl FnOnce(&RunnerId) -> Holder,
) -> OnDoubt {
    let Some(Revised { record, revision }) = record else { return OnDoubt::Submit(round) };
    match &record.state {
        State::Started { runner } => match (holder(runner), mode) {
            (Holder::Alive, _) => OnDoubt::Wait,
            (Holder::Gone, RetryMode::SafeToRetry) => OnDoubt::Submit(record.round.max(round)),
            (Holder::Gone, _) => OnDoubt::Settle(*revision),
        },
        State::Suspended => OnDoubt::Submit(round.max(record.round.saturating_add(1))),
        State::Done { .. } if gives_way(record, mode, round) => OnDoubt::Submit(round),
        State::Done { outcome, .. } => OnDoubt::Return(outcome.clone()),
    }
}

/// A decision of a caller that gives up a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnGiveUp {
    /// Write the end instead of this revision.
    Write(Revision, Ended),
    /// Nothing: the step is decided, or continues elsewhere.
    Nothing,
}

/// Decides for a caller that gives up a round: it was cancelled, or its time is over.
pub(crate) fn on_give_up(mode: RetryMode, round: u32, record: Option<&Revised>) -> OnGiveUp {
    let Some(Revised { record, revision }) = record else {
        return OnGiveUp::Write(Revision::NONE, Ended::None);
    };
    match &record.state {
        _ if record.round > round => OnGiveUp::Nothing,
        State::Started { .. } => OnGiveUp::Write(*revision, Ended::Started),
        State::Suspended => OnGiveUp::Write(*revision, Ended::Suspended),
        State::Done { .. } if gives_way(record, mode, round) => {
            OnGiveUp::Write(*revision, Ended::None)
        }
        State::Done { .. } => OnGiveUp::Nothing,
    }
}

/// The revision that a caller replaces by `suspended` when its client is asked a question in this round. `None` if the step is
/// decided, or suspended already.
pub(crate) fn on_suspend(
    mode: RetryMode,
    round: u32,
    record: Option<&Revised>,
) -> Option<Revision> {
    match on_end(mode, round, record) {
        OnEnd::Write(revision) => Some(revision),
        OnEnd::Late => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::write_error;
    use RetryMode::{AtMostOnce, SafeToRetry};
    use tool_runtime_core::vocabulary::error::ErrorClass;

    const NO_HOLDER: fn(&RunnerId) -> Holder = |_| panic!("the holder does not matter");
    const REVISION: Revision = Revision(7);
    const MODES: [RetryMode; 2] = [SafeToRetry, AtMostOnce];

    fn outcome() -> Payload {
        Payload::Inline(write_error(ErrorClass::Cancelled, "it was cancelled"))
    }

    fn runner() -> RunnerId {
        RunnerId::from("web.h-1")
    }

    fn revised(record: Record) -> Option<Revised> {
        Some(Revised { record, revision: REVISION })
    }

    fn started(round: u32) -> Option<Revised> {
        revised(Record::started(round, &runner()))
    }

    fn suspended(round: u32) -> Option<Revised> {
        revised(Record::new(round, State::Suspended))
    }

    fn ran(round: u32) -> Option<Revised> {
        revised(Record::by_runner(round, &runner(), outcome(), Some(5)))
    }

    fn refused(round: u32) -> Option<Revised> {
        revised(Record::by_runner(round, &runner(), outcome(), None))
    }

    fn settled(round: u32) -> Option<Revised> {
        revised(Record::settled(round, &runner(), outcome()))
    }

    fn given_up(round: u32, was: Ended) -> Option<Revised> {
        let caller = "pool".parse().unwrap();
        revised(Record::by_caller(round, &caller, was, outcome()))
    }

    fn is(holder: Holder) -> impl FnOnce(&RunnerId) -> Holder {
        move |_| holder
    }

    #[test]
    fn a_runner_that_claims_a_job() {
        let claim = |mode, round, record: Option<Revised>| {
            on_claim(mode, round, record.as_ref(), NO_HOLDER)
        };
        assert_eq!(claim(SafeToRetry, 1, None), OnClaim::Run(Revision::NONE));
        assert_eq!(claim(AtMostOnce, 1, None), OnClaim::Start(Revision::NONE));
        assert_eq!(claim(SafeToRetry, 1, started(1)), OnClaim::Run(REVISION));
        for (holder, then) in
            [(Holder::Alive, OnClaim::Later), (Holder::Gone, OnClaim::Settle(REVISION))]
        {
            assert_eq!(on_claim(AtMostOnce, 1, started(1).as_ref(), is(holder)), then);
        }
        assert_eq!(claim(SafeToRetry, 2, suspended(1)), OnClaim::Run(REVISION));
        assert_eq!(claim(AtMostOnce, 2, suspended(1)), OnClaim::Start(REVISION));
        assert_eq!(claim(AtMostOnce, 2, given_up(1, Ended::None)), OnClaim::Start(REVISION));
        assert_eq!(claim(AtMostOnce, 2, given_up(1, Ended::Started)), OnClaim::Finish);
        assert_eq!(claim(SafeToRetry, 2, given_up(1, Ended::Started)), OnClaim::Run(REVISION));
        assert_eq!(claim(AtMostOnce, 2, refused(1)), OnClaim::Start(REVISION));
        assert_eq!(claim(AtMostOnce, 2, settled(1)), OnClaim::Finish);
        for mode in MODES {
            for record in [suspended(1), suspended(2), ran(1), refused(1), started(2)] {
                assert_eq!(claim(mode, 1, record), OnClaim::Finish, "an old job");
            }
            assert_eq!(claim(mode, 1, given_up(1, Ended::None)), OnClaim::Finish);
            assert_eq!(claim(mode, 2, ran(1)), OnClaim::Finish);
        }
    }

    #[test]
    fn a_runner_whose_tool_has_ended() {
        for mode in MODES {
            let end = |round, record: Option<Revised>| on_end(mode, round, record.as_ref());
            assert_eq!(end(1, None), OnEnd::Write(Revision::NONE));
            assert_eq!(end(1, started(1)), OnEnd::Write(REVISION));
            assert_eq!(end(2, suspended(1)), OnEnd::Write(REVISION));
            assert_eq!(end(2, given_up(1, Ended::None)), OnEnd::Write(REVISION));
            assert_eq!(end(1, suspended(1)), OnEnd::Late);
            assert_eq!(end(1, given_up(1, Ended::Started)), OnEnd::Late);
            assert_eq!(end(1, ran(1)), OnEnd::Late);
            assert_eq!(end(1, started(2)), OnEnd::Late);
        }
    }

    #[test]
    fn a_runner_that_looks_while_the_tool_runs() {
        for mode in MODES {
            let stop = |round, record: Option<Revised>| must_stop(mode, round, record.as_ref());
            assert!(!stop(1, None));
            assert!(!stop(1, started(1)));
            assert!(!stop(2, suspended(1)));
            assert!(stop(1, suspended(1)));
            assert!(stop(1, given_up(1, Ended::Started)));
            assert!(stop(1, started(2)));
        }
    }

    #[test]
    fn a_caller_that_begins_or_continues() {
        let begin =
            |mode, record: Option<Revised>| on_begin(mode, record.map(|it| it.record).as_ref());
        for mode in MODES {
            assert_eq!(begin(mode, None), OnBegin::Submit(1));
            assert_eq!(begin(mode, started(3)), OnBegin::Follow(3));
            assert_eq!(begin(mode, suspended(1)), OnBegin::Submit(2));
            assert_eq!(begin(mode, ran(1)), OnBegin::Return(outcome()));
            assert_eq!(begin(mode, refused(1)), OnBegin::Submit(2));
            assert_eq!(begin(mode, given_up(1, Ended::None)), OnBegin::Submit(2));
            assert_eq!(begin(mode, given_up(1, Ended::Suspended)), OnBegin::Submit(2));
        }
        assert_eq!(begin(SafeToRetry, given_up(1, Ended::Started)), OnBegin::Submit(2));
        assert_eq!(begin(AtMostOnce, given_up(1, Ended::Started)), OnBegin::Unknown(outcome()));
        assert_eq!(begin(AtMostOnce, settled(1)), OnBegin::Return(outcome()));
    }

    #[test]
    fn a_caller_in_doubt() {
        let doubt = |mode, round, record: Option<Revised>| {
            on_doubt(mode, round, record.as_ref(), NO_HOLDER)
        };
        for mode in MODES {
            assert_eq!(doubt(mode, 1, None), OnDoubt::Submit(1));
            assert_eq!(on_doubt(mode, 1, started(1).as_ref(), is(Holder::Alive)), OnDoubt::Wait);
            assert_eq!(doubt(mode, 2, suspended(1)), OnDoubt::Submit(2));
            assert_eq!(doubt(mode, 1, suspended(1)), OnDoubt::Submit(2));
            assert_eq!(doubt(mode, 2, given_up(1, Ended::None)), OnDoubt::Submit(2));
            assert_eq!(doubt(mode, 1, given_up(1, Ended::None)), OnDoubt::Return(outcome()));
            assert_eq!(doubt(mode, 1, ran(1)), OnDoubt::Return(outcome()));
            assert_eq!(doubt(mode, 1, refused(1)), OnDoubt::Return(outcome()));
        }
        let gone = |mode| on_doubt(mode, 1, started(1).as_ref(), is(Holder::Gone));
        assert_eq!(gone(SafeToRetry), OnDoubt::Submit(1));
        assert_eq!(gone(AtMostOnce), OnDoubt::Settle(REVISION));
    }

    #[test]
    fn a_caller_that_gives_up() {
        for mode in MODES {
            let give_up = |round, record: Option<Revised>| on_give_up(mode, round, record.as_ref());
            assert_eq!(give_up(1, None), OnGiveUp::Write(Revision::NONE, Ended::None));
            assert_eq!(give_up(1, started(1)), OnGiveUp::Write(REVISION, Ended::Started));
            assert_eq!(give_up(2, suspended(1)), OnGiveUp::Write(REVISION, Ended::Suspended));
            assert_eq!(give_up(1, suspended(1)), OnGiveUp::Write(REVISION, Ended::Suspended));
            assert_eq!(give_up(2, refused(1)), OnGiveUp::Write(REVISION, Ended::None));
            assert_eq!(give_up(1, ran(1)), OnGiveUp::Nothing);
            assert_eq!(give_up(1, given_up(1, Ended::None)), OnGiveUp::Nothing);
            assert_eq!(give_up(1, started(2)), OnGiveUp::Nothing, "another attempt runs it");
        }
    }

    #[test]
    fn a_caller_whose_client_is_asked() {
        for mode in MODES {
            let suspend = |round, record: Option<Revised>| on_suspend(mode, round, record.as_ref());
            assert_eq!(suspend(1, None), Some(Revision::NONE));
            assert_eq!(suspend(1, started(1)), Some(REVISION));
            assert_eq!(suspend(1, suspended(1)), None);
            assert_eq!(suspend(1, ran(1)), None);
        }
    }
}
