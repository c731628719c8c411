//! Declarations of the caller about itself and the call.

use super::Peer;
use crate::tool::context::ToolContext;
use crate::vocabulary::trace::{TraceMembers, current_trace, trace_id};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// Name and version of a client, as it claims; not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerInfo {
    /// The name of the client, for programs.
    pub name: String,
    /// The version of the client.
    pub version: String,
    /// The name of the client, for display.
    pub title: Option<String>,
}

impl PeerInfo {
    /// A client by its name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self { name: name.into(), version: version.into(), title: None }
    }
}

/// The trace that a call belongs to: the headers of W3C Trace Context and Baggage, which MCP carries
/// in `_meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TraceContext<'a> {
    /// `traceparent`.
    pub parent: &'a str,
    /// `tracestate`.
    pub state: Option<&'a str>,
    /// `baggage`.
    pub baggage: Option<&'a str>,
}

impl ToolContext {
    /// Sets the caller. Default: a caller that answers nothing.
    #[must_use]
    pub fn with_peer(mut self, peer: Arc<dyn Peer>) -> Self {
        self.set_peer(peer);
        self
    }

    /// Name and version of the client, if it sends them.
    pub fn client(&self) -> Option<PeerInfo> {
        self.peer()?.info()
    }

    /// A value of the request's MCP metadata, `_meta`.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// assert_eq!(ToolContext::default().meta("com.example/tenant"), None);
    /// ```
    pub fn meta(&self, key: &str) -> Option<&Value> {
        self.peer()?.meta()?.get(key)
    }

    /// The valid members of the trace that the caller has sent: in the metadata of its request, else as headers.
    #[doc(hidden)]
    pub fn sent_trace(&self) -> Option<TraceMembers> {
        let meta = |name| self.meta(name)?.as_str().map(Cow::Borrowed);
        TraceMembers::of_request(meta, |name| self.header(name))
    }

    /// The id of the trace that the call belongs to: of the current span if it is exported, else as the caller has sent it.
    #[doc(hidden)]
    pub fn trace_id(&self) -> Option<String> {
        let trace = current_trace().or_else(|| self.sent_trace())?;
        trace_id(&trace.parent).map(str::to_owned)
    }

    /// The trace that the call belongs to, if its client sends it.
    pub fn trace(&self) -> Option<TraceContext<'_>> {
        let text = |key| self.meta(key).and_then(Value::as_str);
        Some(TraceContext {
            parent: text("traceparent")?,
            state: text("tracestate"),
            baggage: text("baggage"),
        })
    }

    /// A header of the HTTP request that the call came with, by its name in any case. `None` over
    /// stdio, and for values that are not text.
    pub fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.peer()?.header(name)
    }
}
