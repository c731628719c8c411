//! The audit log of calls. Users depend on `tool-runtime`, which exports everything public here as
//! `tool_runtime::audit`.
//!
//! ```no_run
//! use tool_runtime::prelude::*;
//! use tool_runtime::audit::EventLog;
//!
//! let pool = ToolPool::builder().linked().recorder(EventLog::open("calls.db")?).build()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every call leaves a record of each of its stages: proposed, decided, asked, approved, started, ended;
//! also calls that are denied, limited, invalid, or of tools that do not exist. Records are numbered
//! without gaps, hold no secrets, and each has the SHA-256 of the one before it: [`LogReader::verify`]
//! names records that were changed, removed or moved.
//!
//! | Module | Topic |
//! |---|---|
//! | `event_log`, `builder` | the handle of a log; its options |
//! | `event`, `encode`, `secret_arguments` | events of calls; records made from them, without secrets |
//! | `record`, `chain` | records; hashes |
//! | `writer`, `retention` | the thread that writes batches; removal of old records |
//! | `backend`, `sqlite`, `jsonl`, `memory` | places of logs |
//! | `steps` | the state of a step of a repeated run |
//! | `calls`, `run` | calls and runs put together from their records, for people |
//! | `command` | the commands `log show` and so on, feature `cli` |
//! | `reader`, `verify`, `head_file` | readers; checks; the head outside of the log |

mod backend;
mod builder;
mod calls;
mod chain;
#[cfg(feature = "cli")]
mod command;
mod encode;
mod error;
mod event;
mod event_log;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "commands read head files"))]
mod head_file;
mod jsonl;
mod memory;
mod reader;
mod record;
mod retention;
mod run;
mod secret_arguments;
mod sqlite;
mod steps;
#[cfg(test)]
mod testing;
mod verify;
mod writer;

pub use backend::{LogBackend, LogRead, PruneChain};
pub use builder::{EventLogBuilder, OnFailure};
pub use calls::LoggedCall;
pub use chain::{Head, LogLine};
pub use error::{LogError, LogErrorKind};
pub use event_log::{EventLog, Resolution};
pub use reader::{LogReader, Records};
pub use record::{LogRecord, RecordKind, ResultDigest};
pub use run::{RunState, RunSummary, ToolSummary};
pub use verify::{LogProblem, Verification};
pub use writer::LogStatus;
