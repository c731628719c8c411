//! The requests and answers between a hub and its clients over HTTP, below [`PREFIX`].

use crate::board::Topic;
use crate::message::Job;
use crate::names::{CallerName, Queue};
#[cfg(feature = "hub")]
use crate::names::{NameError, StepKey};
use crate::payload::{Digest, Json};
use crate::record::{Record, Revision};
use serde::{Deserialize, Serialize};
use tool_runtime_core::tool::StepId;

/// The path of everything but `/healthz`.
pub(crate) const PREFIX: &str = "/remote/v1";

/// The header for how long a job or a record is kept, in milliseconds. Default: a day.
pub(crate) const KEEP: &str = "x-keep";

/// The topic of all notes and records of the steps of a caller.
pub(crate) const MINE: &str = "mine";

/// The beginning of scopes that allow to call the tools of a queue, and to run them. The name of the queue follows, or `*`.
pub(crate) const CALL: &str = "call:";
#[cfg(feature = "hub")]
pub(crate) const RUN: &str = "run:";

/// The most bytes of a message, a job or a record.
pub(crate) const MAX_JSON: usize = 1024 * 1024;

/// The most jobs of one answer.
pub(crate) const MAX_CLAIMS: usize = 64;

/// A topic, as it is written in a query: `steps/QUEUE/CALLER/STEP`, `control/QUEUE`, `presence/QUEUE`, `presence`, `roll`.
#[cfg(feature = "http")]
pub(crate) fn topic(topic: &Topic) -> String {
    match topic {
        Topic::Step(step) => format!("steps/{step}"),
        Topic::Control(queue) => format!("control/{queue}"),
        Topic::Presence(queue) => format!("presence/{queue}"),
        Topic::AllPresence => "presence".to_owned(),
        Topic::Roll => "roll".to_owned(),
    }
}

/// Reads a topic.
///
/// # Errors
/// The text is none.
#[cfg(feature = "hub")]
pub(crate) fn read_topic(text: &str) -> Result<Topic, String> {
    let parts: Vec<&str> = text.split('/').collect();
    let queue = |name: &str| name.parse::<Queue>().map_err(|error| error.to_string());
    Ok(match parts[..] {
        ["steps", queue, caller, step] => Topic::Step(step_key(queue, caller, step)?),
        ["control", name] => Topic::Control(queue(name)?),
        ["presence", name] => Topic::Presence(queue(name)?),
        ["presence"] => Topic::AllPresence,
        ["roll"] => Topic::Roll,
        _ => {
            return Err(
                "unknown topic; write `steps/QUEUE/CALLER/STEP`, `control/QUEUE`, `presence/QUEUE`, `presence`, `roll` or `mine`"
                    .to_owned(),
            );
        }
    })
}

/// The key of a step.
///
/// # Errors
/// A part is not valid.
#[cfg(feature = "hub")]
pub(crate) fn step_key(queue: &str, caller: &str, step: &str) -> Result<StepKey, String> {
    let invalid = |error: NameError| error.to_string();
    let (queue, caller) = (queue.parse().map_err(invalid)?, caller.parse().map_err(invalid)?);
    Ok(StepKey::new(queue, caller, step_id(step)?))
}

/// The id of a step.
///
/// # Errors
/// The text is not valid.
#[cfg(feature = "hub")]
pub(crate) fn step_id(text: &str) -> Result<StepId, String> {
    let is_valid = (16..=128).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
    if is_valid {
        return Ok(StepId::new(text));
    }
    Err("the id of a step is not valid; it has 16 to 128 hexadecimal digits".to_owned())
}

/// The body of every answer that is an error.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) error: String,
}

/// `GET whoami`
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Whoami {
    pub(crate) name: CallerName,
    /// The scopes of the token. A hub of an earlier version does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scopes: Option<Vec<String>>,
}

/// The answer to `PUT steps/QUEUE/CALLER/STEP`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Written {
    pub(crate) revision: Revision,
}

/// `POST claims/QUEUE`
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClaimRequest {
    /// The most jobs.
    pub(crate) max: usize,
    /// The longest time to wait for the first one, in milliseconds.
    pub(crate) wait: u64,
    /// The name of the waiting: `DELETE claims/QUEUE/WAITER` ends it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) waiter: Option<String>,
}

/// A job that was claimed.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ClaimedJob {
    /// The id of the claim.
    pub(crate) claim: String,
    pub(crate) caller: CallerName,
    /// Whether it was claimed before.
    #[serde(default)]
    pub(crate) repeated: bool,
    pub(crate) job: Job,
}

/// `POST claims/QUEUE/ID`
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum ClaimOrder {
    Renew,
    Finish,
    Later {
        /// In milliseconds.
        delay: u64,
    },
}

/// The answer to `POST messages`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Sent {
    /// Whether somebody listens.
    pub(crate) heard: bool,
}

/// The answer to `PUT blobs/SHA256`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Put {
    pub(crate) sha256: Digest,
}

/// The event `record` of the topic `mine`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RecordEvent {
    pub(crate) queue: Queue,
    pub(crate) caller: CallerName,
    pub(crate) step: StepId,
    pub(crate) revision: Revision,
    pub(crate) record: Record,
}

/// The event `note` of the topic `mine`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct NoteEvent {
    pub(crate) queue: Queue,
    pub(crate) caller: CallerName,
    pub(crate) step: StepId,
    pub(crate) note: Json,
}

/// The names of events. A `message` of a topic is its JSON.
pub(crate) mod event {
    /// The first one: nothing that is sent from now on is missed.
    pub(crate) const READY: &str = "ready";
    pub(crate) const RECORD: &str = "record";
    pub(crate) const NOTE: &str = "note";
    pub(crate) const MESSAGE: &str = "message";
    /// Messages were lost.
    pub(crate) const GAP: &str = "gap";
}

#[cfg(all(test, feature = "hub", feature = "http"))]
mod tests {
    use super::*;

    #[test]
    fn topics_are_read_as_they_are_written() {
        let queue: Queue = "web".parse().unwrap();
        let step = step_key("web", "pool1", &"9f".repeat(16)).unwrap();
        for one in [
            Topic::Step(step),
            Topic::Control(queue.clone()),
            Topic::Presence(queue),
            Topic::AllPresence,
            Topic::Roll,
        ] {
            assert_eq!(read_topic(&topic(&one)).unwrap(), one);
        }
        for text in
            ["", "mine", "control", "control/a/b", "control/a b", "steps/web/pool1/9f", "roll/"]
        {
            assert!(read_topic(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_id_of_a_step_has_16_to_128_hexadecimal_digits() {
        for (id, is_valid) in [
            ("9f".repeat(8), true),
            ("9f".repeat(64), true),
            ("9f".repeat(7), false),
            ("9f".repeat(65), false),
            (format!("{}/2", "9f".repeat(8)), false),
            ("zz".repeat(8), false),
            (format!("{}é", "9f".repeat(8)), false),
        ] {
            assert_eq!(step_id(&id).is_ok(), is_valid, "{id}");
        }
    }
}
