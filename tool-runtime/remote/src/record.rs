//! The record of a step, which decides what the outcome of its call is.

use crate::names::{CallerName, RunnerId};
use crate::payload::{BlobRef, Json, Payload};
use crate::random;
use crate::version::Version;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The record of a step, changed only by compare-and-set.
///
/// A step without a record is new. `started` is written ahead of a call that may run at most once; `suspended` by a caller
/// whose client was asked a question; `done` is final, except for an outcome that a caller wrote when it gave up: a
/// later [round](Self::round) may begin after it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Wire", try_from = "Wire")]
pub struct Record {
    /// The number of the attempt to run the tool that this is about, from 1.
    pub round: u32,
    /// Distinguishes this write from all others, so that a writer whose answer was lost recognises its own.
    pub nonce: String,
    /// The state.
    pub state: State,
}

/// The most bytes of a nonce.
const MAX_NONCE: usize = 64;

/// The state of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// A runner runs it.
    Started {
        /// The runner.
        runner: RunnerId,
    },
    /// Its caller was asked a question, and continues it in the next round.
    Suspended,
    /// It has its outcome.
    Done {
        /// The author of the outcome.
        by: Author,
        /// The state that was ended without an outcome of the tool.
        was: Ended,
        /// The time that the tool ran, in milliseconds, if this is its outcome.
        ran: Option<u64>,
        /// The outcome.
        outcome: Payload,
    },
}

/// A record as JSON.
#[derive(Clone, Serialize, Deserialize)]
struct Wire {
    v: Version,
    state: StateName,
    round: u32,
    nonce: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runner: Option<RunnerId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Author>,
    #[serde(default, skip_serializing_if = "Ended::is_none")]
    was: Ended,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ran: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    outcome_blob: Option<BlobRef>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StateName {
    Started,
    Suspended,
    Done,
}

impl From<Record> for Wire {
    fn from(Record { round, nonce, state }: Record) -> Self {
        let mut wire = Self {
            v: Version,
            state: StateName::Suspended,
            round,
            nonce,
            runner: None,
            by: None,
            was: Ended::None,
            ran: None,
            outcome: None,
            outcome_blob: None,
        };
        match state {
            State::Suspended => {}
            State::Started { runner } => {
                (wire.state, wire.runner) = (StateName::Started, Some(runner));
            }
            State::Done { by, was, ran, outcome } => {
                (wire.state, wire.by, wire.was, wire.ran) = (StateName::Done, Some(by), was, ran);
                (wire.outcome, wire.outcome_blob) = outcome.into_members();
            }
        }
        wire
    }
}

impl TryFrom<Wire> for Record {
    type Error = &'static str;

    fn try_from(wire: Wire) -> Result<Self, &'static str> {
        if wire.nonce.len() > MAX_NONCE {
            return Err("the nonce has more than 64 bytes");
        }
        let state = match wire.state {
            StateName::Suspended => State::Suspended,
            StateName::Started => {
                State::Started { runner: wire.runner.ok_or("a started step names no runner")? }
            }
            StateName::Done => State::Done {
                by: wire.by.ok_or("a step that is done does not say by whom")?,
                was: wire.was,
                ran: wire.ran,
                outcome: Payload::of_members(wire.outcome, wire.outcome_blob)
                    .ok_or("a step that is done has no outcome")?,
            },
        };
        Ok(Self { round: wire.round, nonce: wire.nonce, state })
    }
}

/// The state in which a step was ended without an outcome of its tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// There was no record.
    #[default]
    None,
    /// A runner had started it.
    Started,
    /// A question was open.
    Suspended,
}

impl Ended {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// The author of an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Author {
    /// A runner.
    Runner(RunnerId),
    /// A caller, who gave up.
    Caller(CallerName),
}

impl fmt::Display for Author {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Runner(runner) => write!(f, "runner:{runner}"),
            Self::Caller(caller) => write!(f, "caller:{caller}"),
        }
    }
}

impl From<Author> for String {
    fn from(author: Author) -> Self {
        author.to_string()
    }
}

impl TryFrom<String> for Author {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("runner", runner)) => Ok(Self::Runner(runner.into())),
            Some(("caller", caller)) => {
                caller.parse().map(Self::Caller).map_err(|error| format!("{error}"))
            }
            _ => Err(format!("`{text}` is not `runner:ID` or `caller:NAME`")),
        }
    }
}

impl Record {
    /// A record of a round in a state.
    pub fn new(round: u32, state: State) -> Self {
        Self { round, nonce: random::hex_digits::<8>(), state }
    }

    /// A runner starts a round.
    pub(crate) fn started(round: u32, runner: &RunnerId) -> Self {
        Self::new(round, State::Started { runner: runner.clone() })
    }

    /// A runner ends a round: the tool ran for `ran` milliseconds, or not at all.
    pub(crate) fn by_runner(
        round: u32,
        runner: &RunnerId,
        outcome: Payload,
        ran: Option<u64>,
    ) -> Self {
        let by = Author::Runner(runner.clone());
        Self::new(round, State::Done { by, was: Ended::None, ran, outcome })
    }

    /// A runner ends a round whose runner is gone.
    pub(crate) fn settled(round: u32, runner: &RunnerId, outcome: Payload) -> Self {
        let by = Author::Runner(runner.clone());
        Self::new(round, State::Done { by, was: Ended::Started, ran: None, outcome })
    }

    /// A caller ends a round.
    pub(crate) fn by_caller(round: u32, caller: &CallerName, was: Ended, outcome: Payload) -> Self {
        let by = Author::Caller(caller.clone());
        Self::new(round, State::Done { by, was, ran: None, outcome })
    }

    /// The runner that started it, while it runs.
    pub(crate) fn runner(&self) -> Option<&RunnerId> {
        match &self.state {
            State::Started { runner } => Some(runner),
            _ => None,
        }
    }

    /// The outcome, if it is done.
    pub(crate) fn outcome(&self) -> Option<&Payload> {
        match &self.state {
            State::Done { outcome, .. } => Some(outcome),
            _ => None,
        }
    }

    /// Whether a round is suspended.
    pub(crate) fn is_suspended(&self, round: u32) -> bool {
        self.round == round && self.state == State::Suspended
    }

    /// Whether it is done.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done { .. })
    }
}

/// The number of a write of a record. Revisions of one record grow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub u64);

impl Revision {
    /// There is no record.
    pub const NONE: Self = Self(0);
}

/// A record and its revision.
#[derive(Clone, Debug, PartialEq)]
pub struct Revised {
    /// The record.
    pub record: Record,
    /// Its revision, which the next write has to name.
    pub revision: Revision,
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn round_trip(record: &Record) -> Value {
        let text = serde_json::to_string(record).unwrap();
        assert_eq!(serde_json::from_str::<Record>(&text).unwrap(), *record);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn records_are_written_as_documented() {
        let runner = RunnerId::from("web.h1-7f3c2a00");
        let started = round_trip(&Record::started(1, &runner));
        assert_eq!((&started["v"], &started["state"]), (&json!(1), &json!("started")));
        assert_eq!(started["runner"], "web.h1-7f3c2a00");
        let outcome = Payload::Inline(Json::from_value(&json!({ "ok": { "content": [] } })));
        let done = round_trip(&Record::by_runner(2, &runner, outcome.clone(), Some(812)));
        assert_eq!(done["by"], "runner:web.h1-7f3c2a00");
        assert_eq!(
            (&done["ran"], &done["outcome"]["ok"]),
            (&json!(812), &json!({ "content": [] }))
        );
        let caller: CallerName = "pool1".parse().unwrap();
        let ended = round_trip(&Record::by_caller(1, &caller, Ended::Started, outcome));
        assert_eq!((&ended["by"], &ended["was"]), (&json!("caller:pool1"), &json!("started")));
    }

    #[test]
    fn an_incomplete_or_newer_record_is_refused_with_the_reason() {
        let reason = |json: Value| serde_json::from_value::<Record>(json).unwrap_err().to_string();
        let newer = reason(json!({ "v": 2, "state": "suspended", "round": 1, "nonce": "" }));
        assert!(
            newer.contains("it has version 2, and this program reads up to version 1"),
            "{newer}"
        );
        let started = reason(json!({ "v": 1, "state": "started", "round": 1, "nonce": "" }));
        assert_eq!(started, "a started step names no runner");
        let long = json!({ "v": 1, "state": "suspended", "round": 1, "nonce": "x".repeat(65) });
        assert_eq!(reason(long), "the nonce has more than 64 bytes");
        let done = json!({ "v": 1, "state": "done", "by": "caller:a", "round": 1, "nonce": "" });
        assert_eq!(reason(done), "a step that is done has no outcome");
    }

    #[test]
    fn unknown_members_are_ignored_and_long_numbers_kept() {
        let text = r#"{"v":1,"state":"done","by":"runner:a.b","round":1,"nonce":"n","new":3,"outcome":{"ok":{"structuredContent":{"n":123456789012345678901234567890}}}}"#;
        let record: Record = serde_json::from_str(text).unwrap();
        assert!(serde_json::to_string(&record).unwrap().contains("123456789012345678901234567890"));
    }
}
