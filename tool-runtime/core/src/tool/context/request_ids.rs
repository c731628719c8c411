//! The ids of the request of a client that a call belongs to, for the log.

use super::ToolContext;
use crate::vocabulary::Principal;
use std::sync::Arc;

/// The ids of a request, besides its own, which is the id of the call.
#[doc(hidden)]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestIds {
    /// The MCP session, as its header has it.
    pub session: Option<String>,
    /// The trace of W3C Trace Context, 32 hexadecimal digits.
    pub trace: Option<String>,
}

impl RequestIds {
    /// The trace of a `traceparent`: `00-TRACE-SPAN-FLAGS`.
    pub fn trace_of(traceparent: &str) -> Option<String> {
        let trace = traceparent.split('-').nth(1)?;
        let is_id = trace.len() == 32 && trace.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_id.then(|| trace.to_owned())
    }
}

impl ToolContext {
    #[doc(hidden)]
    #[must_use]
    pub fn with_request_ids(mut self, ids: RequestIds) -> Self {
        self.parts().request_ids =
            Some(ids).filter(|ids| *ids != RequestIds::default()).map(Arc::new);
        self
    }

    pub(crate) fn request_ids(&self) -> Option<&RequestIds> {
        self.0.request_ids.as_deref()
    }

    /// The caller, if it is known.
    pub(crate) fn known_principal(&self) -> Option<&Principal> {
        self.0.principal.as_deref().filter(|principal| !principal.is_anonymous())
    }
}

#[cfg(test)]
mod tests {
    use super::RequestIds;

    #[test]
    fn a_trace_is_read_from_its_header() {
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        let header = format!("00-{trace}-00f067aa0ba902b7-01");
        assert_eq!(RequestIds::trace_of(&header).as_deref(), Some(trace));
        assert_eq!(RequestIds::trace_of("00-x-y-01"), None);
    }
}
