//! Headers that the host provides for each request.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex};
use tool_runtime_core::seam::lock;
use tool_runtime_core::vocabulary::{BoxFuture, Secret};

/// The request that needs headers: one to a server over HTTP.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct McpHeaderRequest {
    /// The server's name.
    pub server: String,
    /// The address of the server's entry, without user information, query and fragment. The name may later
    /// refer to another server.
    pub url: String,
    /// The value of the header `WWW-Authenticate` with which the server rejected the last headers (status
    /// 401), or an empty text. The request is sent again with the new headers. Default: `None`, nothing
    /// was rejected.
    pub rejected: Option<String>,
}

/// Returns the headers of one request.
pub(crate) type HeaderSource = dyn Fn(
        McpHeaderRequest,
    ) -> BoxFuture<'static, Result<Vec<(String, Secret)>, Box<dyn Error + Send + Sync>>>
    + Send
    + Sync;

/// Header sources by server name.
#[derive(Clone, Default)]
pub(crate) struct HeaderSources(Arc<Mutex<HashMap<String, Arc<HeaderSource>>>>);

impl HeaderSources {
    pub(crate) fn set(&self, server: &str, source: Arc<HeaderSource>) {
        lock(&self.0).insert(server.to_owned(), source);
    }

    pub(super) fn get(&self, server: &str) -> Option<Arc<HeaderSource>> {
        lock(&self.0).get(server).cloned()
    }
}
