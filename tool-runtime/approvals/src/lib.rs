//! Approval of calls by people: the caller of a served pool, an inbox that survives the process, and
//! answers that count for later calls.
//!
//! Each part is an [`Approver`], and takes others:
//!
//! ```
//! use tool_runtime::approvals::{AskCaller, Inbox, MemoryStore, Remembering};
//! use tool_runtime::prelude::*;
//! use tool_runtime::hook::{Before, Hook};
//!
//! // The user of the client if it shows forms, else a person who reads the inbox.
//! let inbox = Inbox::new(MemoryStore::new());
//! let approver = Remembering::new(AskCaller::new().or(inbox));
//! let pool = ToolPool::builder()
//!     .hook(Hook::before("mail.*", |_| async { Before::ask("Send the mail?") }))
//!     .approver(approver)
//!     .allow_empty()
//!     .build()?;
//! # Ok::<(), tool_runtime::pool::PoolError>(())
//! ```
//!
//! [`Approver`]: tool_runtime_core::govern::Approver

#[cfg(feature = "cli")]
mod command;
mod digest;
mod file_store;
#[cfg(feature = "http")]
mod http;
mod inbox;
mod memory_store;
mod remembered;
mod remembering;
mod store;
#[cfg(test)]
mod tests;

#[cfg(feature = "cli")]
pub use command::ApprovalCommands;
pub use file_store::FileStore;
#[cfg(feature = "http")]
pub use http::{InboxRoutes, router};
pub use inbox::Inbox;
pub use memory_store::MemoryStore;
pub use remembered::RememberedApproval;
pub use remembering::Remembering;
pub use store::{ApprovalAnswer, ApprovalStore, PendingApproval, StoreError, StoredApproval};
pub use tool_runtime_core::govern::{AskCaller, Or};
