//! Patterns of sources and of callers.

use crate::read::Fault;
use std::fmt;
use tool_runtime_core::tool::Source;

/// A text in which `*` stands for any characters, and every other character for itself. A glob would read the `?` and `[` of
/// URIs and callers as syntax, and its `*` would end at a slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Wildcard(String);

impl Wildcard {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// Whether the whole text matches. Takes the first match of each part, so it is linear in both.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some((first, rest)) = self.0.split_once('*') else { return self.0 == text };
        let Some(mut text) = text.strip_prefix(first) else { return false };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        for part in middle.split('*').filter(|part| !part.is_empty()) {
            match text.find(part) {
                Some(at) => text = &text[at + part.len()..],
                None => return false,
            }
        }
        text.ends_with(last)
    }
}

impl fmt::Display for Wildcard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// `linked`, `custom`, `owner`, `owner:NAME`, `mcp`, `mcp:NAME`, `runner`, `runner:NAME`, with `*` in names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SourcePattern {
    Linked,
    Custom,
    Owner(Wildcard),
    Mcp(Wildcard),
    Runner(Wildcard),
}

impl SourcePattern {
    /// # Errors
    /// Not a source.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        match text.split_once(':').unwrap_or((text, "*")) {
            ("linked", "*") => Ok(Self::Linked),
            ("custom", "*") => Ok(Self::Custom),
            ("owner", name) if !name.is_empty() => Ok(Self::Owner(Wildcard::new(name))),
            ("mcp", name) if !name.is_empty() => Ok(Self::Mcp(Wildcard::new(name))),
            ("runner", name) if !name.is_empty() => Ok(Self::Runner(Wildcard::new(name))),
            _ => Err(Fault::new(
                format!("unknown source `{text}`"),
                "write `linked`, `custom`, `owner:NAME`, `mcp:NAME` or `runner:NAME`",
            )),
        }
    }

    pub(crate) fn matches(&self, source: &Source) -> bool {
        match (self, source) {
            (Self::Linked, Source::Linked) | (Self::Custom, Source::Custom) => true,
            (Self::Owner(own), Source::Owner(name))
            | (Self::Mcp(own), Source::Mcp(name))
            | (Self::Runner(own), Source::Runner(name)) => own.matches(name),
            _ => false,
        }
    }
}

impl fmt::Display for SourcePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linked => f.write_str("linked"),
            Self::Custom => f.write_str("custom"),
            Self::Owner(name) => write!(f, "owner:{name}"),
            Self::Mcp(name) => write!(f, "mcp:{name}"),
            Self::Runner(name) => write!(f, "runner:{name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        for (pattern, text, expected) in [
            ("ada", "ada", true),
            ("ada", "adam", false),
            ("bot-*", "bot-7", true),
            ("bot-*", "bot-", true),
            ("*@ops", "ada@ops", true),
            ("*@ops", "ada@ops.evil", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("*", "auth0|a/b", true),
            ("a**b", "ab", true),
        ] {
            assert_eq!(Wildcard::new(pattern).matches(text), expected, "{pattern} {text}");
        }
    }
}
