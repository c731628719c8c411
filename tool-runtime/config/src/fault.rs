//! An error in one value, before its place is known.

/// What is wrong with one value, and what to do. The value itself is never in it.
pub(super) struct Fault {
    pub(super) text: String,
    pub(super) help: String,
}

impl Fault {
    pub(super) fn new(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { text: text.into(), help: help.into() }
    }
}
