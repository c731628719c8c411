//! The arguments of a `tools/call` as the client wrote them.
//!
//! They travel in the extensions of a request, since rmcp's own field holds nothing but objects:
//! arguments that are a list, a string or `null` reach the dispatcher too, which answers them with a
//! tool result.

#[cfg(feature = "http")]
use axum::{body::Bytes, http::request::Parts};
use serde_json::value::RawValue;

/// Out of a line. Absent when the client sent no `arguments`.
#[derive(Clone, Debug)]
pub(super) struct RawArguments(pub(super) Box<RawValue>);

/// Out of the body of an HTTP request, which keeps them without a copy.
#[cfg(feature = "http")]
#[derive(Clone, Debug)]
pub(super) struct BodyArguments(Bytes);

#[cfg(feature = "http")]
impl BodyArguments {
    /// Some part of a body.
    pub(super) fn within(body: &Bytes, arguments: &RawValue) -> Self {
        Self(body.slice_ref(arguments.get().as_bytes()))
    }

    /// Where they begin in the body, and how many bytes they have.
    pub(super) fn place(&self, body: &Bytes) -> (usize, usize) {
        (self.0.as_ptr().addr() - body.as_ptr().addr(), self.0.len())
    }

    /// JSON text. It was UTF-8 when it was found.
    fn text(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

/// The arguments of an HTTP request, unless rmcp is to read them.
#[cfg(feature = "http")]
pub(super) fn of(parts: &Parts) -> Option<&str> {
    parts.extensions.get().map(BodyArguments::text)
}
