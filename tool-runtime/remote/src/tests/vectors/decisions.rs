//! The decisions that follow from a record: each function of `transition`, for each record that there can be.

use super::{Variants, assert_complete, check, variants};
use crate::names::{CallerName, RunnerId};
use crate::outcome::write_error;
use crate::payload::Payload;
use crate::record::{Ended, Record, Revised, Revision, State};
use crate::transition::{
    Holder, OnBegin, OnClaim, OnDoubt, OnEnd, OnGiveUp, must_stop, on_begin, on_claim, on_doubt,
    on_end, on_give_up, on_suspend,
};
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use tool_runtime_core::vocabulary::RetryMode;
use tool_runtime_core::vocabulary::error::ErrorClass;

variants! {
    OnClaim { Run, Start, Settle, Later, Finish }
    OnEnd { Write, Late }
    OnBegin { Submit, Follow, Return, Unknown }
    OnDoubt { Submit, Wait, Settle, Return }
    OnGiveUp { Write, Nothing }
}

/// The round of the job. Records are of the round before, of this one, and of the next.
const ROUND: u32 = 2;

const REVISION: Revision = Revision(7);

/// What a decision depends on.
#[derive(Clone, Copy)]
struct Input<'a> {
    mode: RetryMode,
    record: Option<&'a Revised>,
    holder: Holder,
}

impl Input<'_> {
    fn record(&self) -> Option<&Record> {
        self.record.map(|revised| &revised.record)
    }

    /// A write replaces what was read.
    fn check(&self, revision: Revision) {
        assert_eq!(revision, self.record.map_or(Revision::NONE, |_| REVISION));
    }

    fn check_outcome(&self, outcome: &Payload) {
        assert_eq!(self.record().and_then(Record::outcome), Some(outcome));
    }
}

/// The records that there can be, by names.
fn records() -> Vec<(String, Option<Revised>)> {
    let (runner, caller): (RunnerId, CallerName) = ("web.h1-1".into(), "pool1".parse().unwrap());
    let outcome = || Payload::Inline(write_error(ErrorClass::Cancelled, "it was cancelled"));
    let mut records = vec![("none".to_owned(), None)];
    for round in ROUND - 1..=ROUND + 1 {
        let by_caller = |was| Record::by_caller(round, &caller, was, outcome());
        for (name, mut record) in [
            ("started", Record::started(round, &runner)),
            ("suspended", Record::new(round, State::Suspended)),
            ("ran", Record::by_runner(round, &runner, outcome(), Some(5))),
            ("refused by a runner", Record::by_runner(round, &runner, outcome(), None)),
            ("settled by a runner", Record::settled(round, &runner, outcome())),
            ("given up before it started", by_caller(Ended::None)),
            ("given up while it ran", by_caller(Ended::Started)),
            ("given up with a question", by_caller(Ended::Suspended)),
        ] {
            "0011223344556677".clone_into(&mut record.nonce);
            let revised = Revised { record, revision: REVISION };
            records.push((format!("{name}, round {round}"), Some(revised)));
        }
    }
    records
}

/// The decisions of a function about all records. Modes and holders that make no difference are not told apart.
fn table(decide: impl Fn(Input<'_>) -> Value) -> Vec<Value> {
    let mut cases = Vec::new();
    for (name, record) in records() {
        let record = record.as_ref();
        let is_started = record.is_some_and(|it| matches!(it.record.state, State::Started { .. }));
        let holders: &[Holder] =
            if is_started { &[Holder::Alive, Holder::Gone] } else { &[Holder::Alive] };
        let by_mode = [RetryMode::SafeToRetry, RetryMode::AtMostOnce].map(|mode| {
            let then = holders.iter().map(|&holder| decide(Input { mode, record, holder }));
            (json!(mode), merged(holders, then.collect()))
        });
        let by_mode = match by_mode {
            [(_, safe), (_, once)] if safe == once => vec![(json!("any"), safe)],
            by_mode => by_mode.into(),
        };
        for (mode, by_holder) in by_mode {
            for (holder, then) in by_holder {
                let mut case = Map::from_iter([
                    ("record".to_owned(), json!(name)),
                    ("mode".to_owned(), mode.clone()),
                ]);
                case.extend(holder.map(|holder| ("holder".to_owned(), holder)));
                case.insert("then".to_owned(), then);
                cases.push(Value::Object(case));
            }
        }
    }
    cases
}

fn merged(holders: &[Holder], then: Vec<Value>) -> Vec<(Option<Value>, Value)> {
    if then.iter().all(|it| *it == then[0]) {
        return vec![(None, then[0].clone())];
    }
    let name = |holder: &Holder| match holder {
        Holder::Alive => Some(json!("alive")),
        Holder::Gone => Some(json!("gone")),
    };
    holders.iter().map(name).zip(then).collect()
}

/// Notes a decision, which must be one of those that there are.
fn note<D: Variants>(decisions: &RefCell<Vec<D>>, decision: D) -> String {
    let name = decision.variant().to_lowercase();
    decisions.borrow_mut().push(decision);
    name
}

#[test]
fn decisions_are_those_of_the_vectors() {
    let (claims, ends, begins) = <(RefCell<_>, RefCell<_>, RefCell<_>)>::default();
    let (doubts, given_up) = <(RefCell<_>, RefCell<_>)>::default();
    let all: Map<String, Value> = records()
        .into_iter()
        .map(|(name, revised)| (name, json!(revised.map(|revised| revised.record))))
        .collect();
    let expected = json!({
        "round": ROUND,
        "records": all,
        "on_claim": table(|it| claim(it, &claims)),
        "on_end": table(|it| end(it, &ends)),
        "on_look": table(|it| {
            json!(if must_stop(it.mode, ROUND, it.record) { "stop" } else { "go on" })
        }),
        "on_begin": table(|it| begin(it, &begins)),
        "on_doubt": table(|it| doubt(it, &doubts)),
        "on_give_up": table(|it| give_up(it, &given_up)),
        "on_suspend": table(|it| {
            let revision = on_suspend(it.mode, ROUND, it.record);
            revision.inspect(|revision| it.check(*revision));
            json!(if revision.is_some() { "write" } else { "nothing" })
        }),
    });
    check("vectors/decisions.json", &expected, 2);
    assert_complete(claims.take());
    assert_complete(ends.take());
    assert_complete(begins.take());
    assert_complete(doubts.take());
    assert_complete(given_up.take());
}

fn claim(it: Input<'_>, decisions: &RefCell<Vec<OnClaim>>) -> Value {
    let decision = on_claim(it.mode, ROUND, it.record, |_| it.holder);
    if let OnClaim::Run(of) | OnClaim::Start(of) | OnClaim::Settle(of) = decision {
        it.check(of);
    }
    note(decisions, decision).into()
}

fn end(it: Input<'_>, decisions: &RefCell<Vec<OnEnd>>) -> Value {
    let decision = on_end(it.mode, ROUND, it.record);
    if let OnEnd::Write(of) = decision {
        it.check(of);
    }
    note(decisions, decision).into()
}

fn begin(it: Input<'_>, decisions: &RefCell<Vec<OnBegin>>) -> Value {
    let decision = on_begin(it.mode, it.record());
    let round = match &decision {
        OnBegin::Submit(round) | OnBegin::Follow(round) => Some(*round),
        OnBegin::Return(outcome) | OnBegin::Unknown(outcome) => {
            it.check_outcome(outcome);
            None
        }
    };
    with(note(decisions, decision), round)
}

fn doubt(it: Input<'_>, decisions: &RefCell<Vec<OnDoubt>>) -> Value {
    let decision = on_doubt(it.mode, ROUND, it.record, |_| it.holder);
    let round = match &decision {
        OnDoubt::Submit(round) => Some(*round),
        OnDoubt::Settle(of) => {
            it.check(*of);
            None
        }
        OnDoubt::Return(outcome) => {
            it.check_outcome(outcome);
            None
        }
        OnDoubt::Wait => None,
    };
    with(note(decisions, decision), round)
}

fn give_up(it: Input<'_>, decisions: &RefCell<Vec<OnGiveUp>>) -> Value {
    let decision = on_give_up(it.mode, ROUND, it.record);
    let was = match decision {
        OnGiveUp::Write(of, was) => {
            it.check(of);
            Some(was)
        }
        OnGiveUp::Nothing => None,
    };
    with(note(decisions, decision), was)
}

/// A decision, with its argument if it has one.
fn with(name: String, argument: Option<impl serde::Serialize>) -> Value {
    match argument {
        Some(argument) => json!({ name: argument }),
        None => name.into(),
    }
}
