//! Tests of MCP servers: an in-process client, and snapshots of definitions.
//!
//! [`TestClient`] speaks JSON-RPC through memory to the code that serves a pool over stdio. It works with tokio's
//! paused clock, too.
//!
//! ```
//! use serde_json::json;
//! use tool_runtime::prelude::*;
//! use tool_runtime::testing::{ProtocolVersion, Reply, TestClient};
//! use tool_runtime::peer::Answer;
//!
//! /// Delete a file.
//! #[tool(destructive)]
//! async fn delete(
//!     /// The file.
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
//! for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
//!     let client = TestClient::builder(&pool)
//!         .protocol_version(version)
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
//! [`assert_snapshot`] compares the definitions of a pool with a file, so that no change goes unnoticed.

mod breaking;
mod builder;
mod call;
mod client;
mod connection;
mod json_rpc;
mod message;
mod question;
mod rounds;
mod snapshot;
mod task;

pub use builder::TestClientBuilder;
pub use call::{CallRecord, StartedCall, TestCall};
pub use client::TestClient;
pub use connection::ProtocolVersion;
pub use message::Notification;
pub use question::{Question, Reply};
pub use snapshot::{assert_snapshot, snapshot};
