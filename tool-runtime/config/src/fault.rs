//! An error in one value, before its place is known.

/// A problem of one value, and the remedy. It never holds the value itself.
pub(super) struct Fault {
    pub(super) text: String,
    pub(super) help: String,
}

impl Fault {
    pub(super) fn new(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { text: text.into(), help: help.into() }
    }
}
