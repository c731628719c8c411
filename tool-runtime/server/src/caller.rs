//! The caller of a request in the same process.

use std::sync::Arc;
use tool_runtime_core::Principal;

/// Who calls, in the extensions of each of their requests.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Checked by whoever makes the requests.
    pub principal: Option<Arc<Principal>>,
    /// What a request over HTTP would bring.
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
