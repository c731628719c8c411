//! The calls under test.

/// A call under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Two integers; the answer is their sum, as text.
    Add,
    /// The heavier call: a string, a number with a default, a list, a nested struct. The
    /// answer is a structured value, with its JSON as text beside it, as MCP requires and
    /// most tools with more than a sentence of output do.
    Search,
    /// The same arguments; the answer is text.
    SearchText,
}

impl Case {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Add, Self::Search, Self::SearchText];

    /// The tool's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Add => "add",
            Self::Search => "search",
            Self::SearchText => "search_text",
        }
    }

    /// The arguments, as a model writes them.
    pub fn arguments(self) -> &'static str {
        match self {
            Self::Add => r#"{"a": 1234, "b": 40}"#,
            Self::Search | Self::SearchText => {
                r#"{"query": "how do I write a \"macro\"?", "limit": 25, "tags": ["rust", "macros", "procedural"], "filter": {"from": "2026-01-01", "to": "2026-06-30", "authors": ["Ada Lovelace", "Grace Hopper"]}}"#
            }
        }
    }
}
