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
//! names records that were changed, removed or moved, and changes of the schema and the indexes of a database.
//!
//! # Files
//!
//! A log in a file is created when a pool with it is built, or by its first use; readers create no log. Its files, the
//! head file included, are only for their owner. One that exists keeps its rights, since an operator may have given
//! them to readers; a warning names files that everybody can use. A JSONL file has one writer, under whatever name it
//! is opened; it grows without end, and looks up no steps of repeated runs. A SQLite file may have many, but no second hard
//! link. A reader of a SQLite file that no one has open leaves SQLite's journals, `-wal` and `-shm`, behind.
//!
//! A file that is removed or renamed while it is open cannot be written: calls are handled as [`OnFailure`] says, until it is
//! back. What is written in the moment of the removal is lost with it.
//!
//! # Limits of the chain
//!
//! The hashes need no key, so whoever can write the log can compute them. `verify` finds the following only
//! with a [`Head`] that was kept where they cannot write ([`EventLogBuilder::head_file`],
//! [`EventLogBuilder::on_head`]):
//!
//! - a cut end, also by removing the write-ahead log of a database, and a log that was cut and continued;
//! - a changed record with all hashes after it computed anew, also of the last record only;
//! - another log instead of this one.
//!
//! It cannot find:
//!
//! - records added to the end, after the head: they look like those of the writer. So does a record that
//!   earlier ones were removed by the retention, which [`Verification::unproven_removal`] tells;
//! - anything, if the head is replaced together with the log: keep heads in several files or of several times;
//! - bytes that are not part of a record: free pages of a database, the beginning of a line after the last
//!   one of a JSONL file, which its writer may be in the middle of.
//!
//! | Module | Topic |
//! |---|---|
//! | `event_log`, `builder` | the handle of a log; its options |
//! | `event`, `encode` | events of calls; records made from them, without secrets |
//! | `record`, `chain` | records; hashes |
//! | `writer`, `retention` | the thread that writes batches; removal of old records |
//! | `backend`, `sqlite`, `jsonl`, `memory` | storage of logs |
//! | `file_log`, `open_file`, `owner_files` | files, created by their first use; files that are moved away; rights of files |
//! | `steps` | steps of repeated runs: their state, and what an operator states of them |
//! | `calls`, `run`, `time` | calls and runs put together from their records, for people; times that they read and write |
//! | `command` | the commands `log show` and so on, feature `cli` |
//! | `reader`, `verify`, `head_file` | readers; checks; the head outside the log |

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
mod file_log;
#[cfg_attr(not(feature = "cli"), allow(dead_code, reason = "commands read head files"))]
mod head_file;
mod jsonl;
mod memory;
mod open_file;
mod owner_files;
#[cfg(test)]
#[path = "../../core/property.rs"]
mod property;
mod reader;
mod record;
mod retention;
mod run;
mod sqlite;
mod steps;
#[cfg(test)]
mod testing;
mod time;
mod verify;
mod writer;

pub use backend::{LogBackend, LogRead, PruneChain};
pub use builder::{EventLogBuilder, OnFailure};
pub use calls::LoggedCall;
pub use chain::{Head, LogLine};
#[cfg(feature = "cli")]
pub use command::LogCommands;
pub use error::{LogError, LogErrorKind};
pub use event_log::{EventLog, Resolution};
pub use reader::{LogReader, Records};
pub use record::{LogRecord, RecordKind, ResultDigest};
pub use run::{RunState, RunSummary, ToolSummary};
pub use verify::{LogProblem, Verification};
pub use writer::LogStatus;
