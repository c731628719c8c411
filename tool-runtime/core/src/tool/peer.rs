//! The peer: the caller of a tool, which receives progress and log entries and answers questions.

mod ask;
mod capability;
mod client_info;
mod error;
mod form;
pub(crate) mod form_types;
mod log;
mod progress;
mod request;
mod roots;
mod sampling;

pub use ask::Answer;
pub use capability::PeerCapability;
pub use client_info::{PeerInfo, TraceContext};
pub use error::PeerError;
pub use form_types::{Form, FormChoice, FormField};
pub use log::{LogEntry, LogLevel};
pub use progress::{Amount, Progress, Total};
pub use request::PeerRequest;
pub use roots::Root;
pub use sampling::{SamplingRequest, SamplingResult};

use crate::vocabulary::future::BoxFuture;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::future::ready;

/// The caller of a tool, which the tool can send requests to: an MCP client, or the program that
/// called the pool itself.
///
/// Every method has a default, which does nothing. The MCP server brings its
/// own; a program that calls a pool gives one to a call by [`ToolContext::with_peer`], to show
/// progress for instance. Tools use the methods of [`ToolContext`].
///
/// ```
/// use std::sync::{Arc, Mutex};
/// use tool_runtime::prelude::*;
/// use tool_runtime::peer::{Peer, Progress};
///
/// #[derive(Default)]
/// struct Bar(Mutex<Vec<f64>>);
///
/// impl Peer for Bar {
///     fn accepts_progress(&self) -> bool {
///         true
///     }
///
///     fn progress(&self, progress: Progress) {
///         self.0.lock().unwrap().push(progress.done);
///     }
/// }
///
/// /// Copy all files.
/// #[tool(progress)]
/// async fn copy(context: &ToolContext) {
///     for file in 1..=3 {
///         context.progress(file, 3, "copying");
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let bar = Arc::new(Bar::default());
/// let pool = ToolPool::builder().tool::<CopyAction>().build()?;
/// pool.call_with(ToolCall::new("copy", "{}"), &pool.context().with_peer(bar.clone())).await;
/// assert_eq!(*bar.0.lock().unwrap(), [1.0, 2.0, 3.0]);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
///
/// [`ToolContext`]: crate::tool::ToolContext
/// [`ToolContext::with_peer`]: crate::tool::ToolContext::with_peer
pub trait Peer: Send + Sync + 'static {
    /// Whether [`Self::progress`] does anything: if not, its message is not formatted.
    fn accepts_progress(&self) -> bool {
        false
    }

    /// Receives the progress of a call. Must not wait.
    fn progress(&self, progress: Progress) {
        drop(progress);
    }

    /// Whether [`Self::log`] does anything with entries of this level.
    fn accepts_log(&self, level: LogLevel) -> bool {
        let _ = level;
        false
    }

    /// Receives a log entry. Must not wait.
    fn log(&self, entry: LogEntry) {
        drop(entry);
    }

    /// Whether the client supports the capability that a request needs.
    fn can(&self, capability: PeerCapability) -> bool {
        let _ = capability;
        false
    }

    /// Answers a request of [`PeerRequest::method`] with the result that MCP defines for it. Only
    /// called for what it [can](Self::can) do. The future may never end: it is dropped with the call.
    ///
    /// ```
    /// use serde_json::{Value, json};
    /// use tool_runtime::BoxFuture;
    /// use tool_runtime::peer::{Peer, PeerCapability, PeerError, PeerRequest};
    ///
    /// /// Accepts every form.
    /// struct Agreeable;
    ///
    /// impl Peer for Agreeable {
    ///     fn can(&self, capability: PeerCapability) -> bool {
    ///         capability == PeerCapability::Elicitation
    ///     }
    ///
    ///     fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
    ///         Box::pin(async move {
    ///             println!("{}", request.params()["message"]);
    ///             Ok(json!({ "action": "accept", "content": { "sure": true } }))
    ///         })
    ///     }
    /// }
    /// ```
    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        Box::pin(ready(Err(PeerError::Unsupported(request.capability()))))
    }

    /// The name and version of the client.
    fn info(&self) -> Option<PeerInfo> {
        None
    }

    /// The MCP metadata of the request, `_meta`.
    fn meta(&self) -> Option<&Map<String, Value>> {
        None
    }

    /// The transport of the MCP request that the call answers, by the conventions of OpenTelemetry: `pipe` or `tcp`. `None`:
    /// the call answers no request.
    #[doc(hidden)]
    fn transport(&self) -> Option<&'static str> {
        None
    }

    /// A header of the HTTP request that the call came with, by its name in any case.
    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        let _ = name;
        None
    }
}
