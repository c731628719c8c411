//! Testing a server: an MCP client in the same process, and snapshots of what is offered.
//!
//! [`TestClient`] speaks JSON-RPC to the very code that serves a pool over stdio, through memory
//! instead of a pipe: what passes here ships. It works on tokio's paused clock too.
//!
//! ```
//! use serde_json::json;
//! use tool_runtime::prelude::*;
//! use tool_runtime::testing::{Era, Reply, TestClient};
//! use tool_runtime::Answer;
//!
//! /// Delete a file.
//! #[tool(destructive)]
//! async fn delete(
//!     /// Which file.
//!     path: String,
//!     context: &ToolContext,
//! ) -> Result<String, ToolError> {
//!     match context.ask::<bool>("sure", format!("Delete {path}?")).await? {
//!         Answer::Accepted(true) => Ok(format!("{path} is deleted")),
//!         _ => Ok(format!("{path} stays")),
//!     }
//! }
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
//! let pool = ToolPool::builder().tool::<DeleteAction>().build()?;
//! for era in [Era::Modern, Era::Legacy] {
//!     let client = TestClient::builder(&pool)
//!         .era(era)
//!         .answer(|_| async { Reply::accept(json!({ "sure": true })) })
//!         .connect()
//!         .await;
//!     let result = client.call("delete", json!({ "path": "a.txt" })).await?;
//!     assert_eq!(result.to_text(), "a.txt is deleted");
//!     client.close().await;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # }).unwrap();
//! ```
//!
//! [`assert_snapshot`] keeps what a model sees of a pool in a file, so that nobody changes it
//! without noticing.

mod breaking;
mod builder;
mod call;
mod client;
mod exchange;
mod filter;
mod following;
mod link;
mod message;
mod question;
mod snapshot;
mod wire;

pub use builder::TestClientBuilder;
pub use call::{CallRecord, StartedCall, TestCall};
pub use client::TestClient;
pub use link::Era;
pub use message::Notification;
pub use question::{Question, Reply};
pub use snapshot::{assert_snapshot, snapshot};
