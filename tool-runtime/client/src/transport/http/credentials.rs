//! Headers of a request, and why there are none.

use reqwest::header::{HeaderName, HeaderValue};
use std::collections::HashMap;
use std::fmt;

pub(super) type HeaderMap = HashMap<HeaderName, HeaderValue>;

/// What was refused, and what the server said.
#[derive(Clone)]
pub(super) struct Refused {
    pub(super) status: u16,
    /// The header `WWW-Authenticate`, or nothing.
    pub(super) challenge: String,
    /// The token that the request had, if it had one.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "only OAuth asks"))]
    pub(super) token: Option<String>,
}

/// Why there are no headers for a request.
#[derive(Clone, Debug)]
pub(super) enum NoHeaders {
    /// Somebody has to do something first.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "only OAuth waits"))]
    Unauthorized(String),
    /// They may be there when they are asked for again.
    Failed(String),
    /// There are none but those that were refused.
    #[cfg_attr(not(feature = "oauth"), expect(dead_code, reason = "only OAuth knows"))]
    Same,
}

impl fmt::Display for NoHeaders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unauthorized(text) | Self::Failed(text) => f.write_str(text),
            Self::Same => f.write_str("there are no other headers"),
        }
    }
}
