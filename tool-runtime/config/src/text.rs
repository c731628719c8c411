//! A text of a configuration, and its printable form.

use super::url;
use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use tool_runtime_core::seam::printable;

/// A text of an entry: a command, a directory, an address, the name of a variable or of a header.
///
/// [`redacted`](Self::redacted) is the printable form: the text as written in the file, with `${HOME}` and the like
/// unexpanded, and of an address neither user information nor query. Strings are compared by their expanded
/// values.
///
/// ```
/// use tool_runtime::mcp::McpText;
///
/// let url = McpText::from("https://ada:8fQm2x@example.com/mcp?key=1vXk9p");
/// assert_eq!(url.redacted(), "https://..@example.com/mcp?..");
/// assert_eq!(url.as_str(), "https://ada:8fQm2x@example.com/mcp?key=1vXk9p");
/// ```
#[derive(Clone)]
pub struct McpText {
    value: String,
    /// `None` if the text itself is printable.
    redacted: Option<String>,
}

impl McpText {
    /// The expanded text, which may be a secret. Print [`redacted`](Self::redacted).
    pub fn as_str(&self) -> &str {
        &self.value
    }

    /// The printable form.
    pub fn redacted(&self) -> &str {
        self.redacted.as_deref().unwrap_or(&self.value)
    }

    /// An expanded text, and the text in its file.
    pub(super) fn expanded(value: String, written: &str) -> Self {
        let redacted =
            if written.contains("://") { url::redact(written) } else { written.to_owned() };
        Self::with_redacted(value, &redacted)
    }

    /// An address, valid or not.
    pub(super) fn url(value: String, written: &str) -> Self {
        Self::with_redacted(value, &url::redact(written))
    }

    fn with_redacted(value: String, redacted: &str) -> Self {
        let redacted = printable(redacted);
        Self { redacted: (redacted != value).then_some(redacted), value }
    }
}

impl fmt::Debug for McpText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.redacted().fmt(f)
    }
}

impl From<String> for McpText {
    fn from(text: String) -> Self {
        let written = text.clone();
        Self::expanded(text, &written)
    }
}

impl From<&str> for McpText {
    fn from(text: &str) -> Self {
        Self::expanded(text.to_owned(), text)
    }
}

impl Borrow<str> for McpText {
    fn borrow(&self) -> &str {
        &self.value
    }
}

impl PartialEq for McpText {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl Eq for McpText {}

impl PartialOrd for McpText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for McpText {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}
