//! Remote runners of `tool-runtime`: tools of a pool that run in other processes, at the same call site.
//!
//! A [`Runner`] serves the tools of its pool to others; [`Remote`] adds the tools of all runners to a pool. Between them is a
//! [`Board`]: an engine that keeps a record of each step and passes on jobs and messages. Users depend on `tool-runtime`.
//!
//! Every remote call is a step with one record, changed only by compare-and-set. The record is the judge: who writes `done`
//! first decides the outcome, who writes `started` first may run a tool that may run at most once. Everything else (the
//! queue, deliveries, presence, progress, cancellation) may be lost or doubled, and is repaired by reading the record.
//!
//! `docs/protocol.md` of this crate describes the messages for programs in other languages.
//!
//! | Module | Topic |
//! |---|---|
//! | `board`, `listener` | the interface of an engine |
//! | `names`, `message`, `payload`, `outcome`, `version`, `catalogue` | messages and their parts |
//! | `record`, `transition` | the record of a step, and the decisions that follow from it, without I/O |
//! | `local` | a board inside the process |
//! | `hub` | the engine of one machine, over HTTP |
//! | `http` | the client of a hub |
//! | `protocol` | the requests and answers between hub and client

mod backoff;
mod board;
mod caller;
mod catalogue;
mod crash_point;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "hub")]
mod hub;
mod listener;
mod local;
mod message;
mod names;
#[cfg(feature = "nats")]
mod nats;
mod outcome;
mod payload;
#[cfg(test)]
#[path = "../../core/property.rs"]
mod property;
#[cfg(any(feature = "hub", feature = "http"))]
mod protocol;
mod random;
mod record;
mod roster;
mod runner;
#[doc(hidden)]
pub mod seam;
#[cfg(test)]
mod tests;
mod transition;
mod version;

use std::time::Duration;

pub use board::{Board, BoardError, BoardState, Claim, Depth, Reach, Swap, Topic};
pub use caller::{Nobody, QueueStatus, Remote, RemoteBuilder, RemoteStatus, RunnerStatus};
#[cfg(feature = "http")]
pub use http::{HttpBoard, HttpBoardOptions};
#[cfg(feature = "hub")]
pub use hub::{Hub, HubError, HubServer};
pub use listener::{Heard, Listener, Speaker};
#[cfg(feature = "hub")]
pub use local::SqliteStore;
pub use local::{Engine, LocalBoard, MemoryStore, RecordStore};
pub use message::Job;
pub use names::{CallerName, NameError, Queue, RunnerId, StepKey};
#[cfg(feature = "nats")]
pub use nats::{NatsBoard, NatsKey, NatsOptions, NatsServerConfig};
pub use payload::{BlobRef, Digest, Json, MAX_BLOB, MAX_INLINE, Payload};
pub use record::{Author, Ended, Record, Revised, Revision, State};
pub use runner::{Runner, RunnerNews};

/// The time between two signs of life of a runner: its presence, and for each call a note, a renewal of the claim and a look
/// at the record.
pub const BEAT: Duration = Duration::from_secs(5);

/// The time after its last sign of life from which a runner counts as gone, and its claims lapse: three beats and a bit.
pub const LEASE: Duration = Duration::from_secs(16);

/// The longest time of a call.
pub(crate) const LONGEST: Duration = Duration::from_secs(3600);

/// The time for which a record is kept. An outcome that nobody will ask for again stays longer than all jobs of its step, which
/// end with the time that is left for the call: a job that comes again without it would run. All other records stay a day.
pub(crate) fn keep(record: &Record, in_execution: bool, left: Duration) -> Duration {
    match record.is_done() && !in_execution {
        true => Duration::from_secs(10 * 60).max(left.min(LONGEST) + Duration::from_secs(60)),
        false => Duration::from_secs(24 * 3600),
    }
}
