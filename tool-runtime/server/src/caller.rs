//! The caller of a request in the same process.

use std::sync::Arc;
use tool_runtime_core::vocabulary::Principal;

/// The caller of a request, which is an extension of the request.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// The principal, authenticated by the client.
    pub principal: Option<Arc<Principal>>,
    /// The headers, as of an HTTP request.
    pub headers: Vec<(String, String)>,
}

impl Caller {
    /// A header by its name in any case.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}
