//! The arguments of a `tools/call` as the client wrote them.
//!
//! They are an extension of the request, because rmcp's own field only holds objects: arguments
//! that are a list, a string or `null` reach the dispatcher too, which answers them with a tool result.

use bytes::Bytes;
use serde_json::value::RawValue;

/// JSON text. Absent when the client sent no `arguments`.
#[derive(Clone, Debug)]
pub(super) struct RawArguments(Bytes);

impl RawArguments {
    /// A copy of the arguments in a line.
    pub(super) fn new(arguments: &RawValue) -> Self {
        Self(Bytes::copy_from_slice(arguments.get().as_bytes()))
    }

    /// The arguments in the body of an HTTP request, without a copy.
    #[cfg(feature = "http")]
    pub(super) fn within(body: &Bytes, arguments: &RawValue) -> Self {
        Self(body.slice_ref(arguments.get().as_bytes()))
    }

    /// The range of bytes in the body.
    #[cfg(feature = "http")]
    pub(super) fn range(&self, body: &Bytes) -> std::ops::Range<usize> {
        let start = self.0.as_ptr().addr() - body.as_ptr().addr();
        start..start + self.0.len()
    }

    pub(super) fn get(&self) -> &str {
        // The constructors take text.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}
