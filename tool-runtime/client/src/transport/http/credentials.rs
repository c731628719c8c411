//! Headers of a request.

use reqwest::header::{HeaderName, HeaderValue};
use std::collections::HashMap;

pub(super) type HeaderMap = HashMap<HeaderName, HeaderValue>;

/// A rejected request.
#[derive(Clone)]
pub(super) struct RejectedRequest {
    pub(super) status: u16,
    /// The header `WWW-Authenticate`, or nothing.
    pub(super) challenge: String,
    /// The token that the request had, if it had one.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "only OAuth reads it"))]
    pub(super) token: Option<String>,
}

/// The reason why the headers of a request cannot be built.
#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum NoHeaders {
    /// A user has to authorize this program first.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "only OAuth creates it"))]
    #[error("{0}")]
    Unauthorized(String),
    /// A temporary failure: a later request may succeed.
    #[error("{0}")]
    Failed(String),
    /// The only available headers are the rejected ones.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "only OAuth creates it"))]
    #[error("no other headers are available")]
    Same,
}
