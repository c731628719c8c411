//! Selects tools by ids, tags, hints or sources.

use crate::tool::tool::Tool;
use crate::tool::tool::source::Source;
use crate::vocabulary::annotations::ToolAnnotations;
use crate::vocabulary::matching::pattern::{PatternError, ToolPattern};
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// Picks tools of a pool, in a filter.
///
/// | Written | Picks |
/// |---|---|
/// | `add` | the tool of that id |
/// | `fs.*` | ids that a glob matches; a regular expression is given as a [`ToolPattern`] |
/// | `tag:search` | tools with that tag |
/// | `hint:read_only`, `hint:!destructive` | tools with that hint, or without it; hints that a tool does not set have MCP's defaults: not read-only, destructive, not idempotent, open world; so do the hints of a server that is not trusted |
/// | `source:linked`, `source:custom`, `source:owner`, `source:mcp`, `source:mcp:github`, `source:runner`, `source:runner:search` | tools of that source |
///
/// ```
/// use tool_runtime::pool::Selector;
///
/// let selector: Selector = "tag:search".parse()?;
/// assert_eq!(selector.to_string(), "tag:search");
/// let error = "hint:readonly".parse::<Selector>().unwrap_err();
/// assert!(error.to_string().contains("did you mean `read_only`?"));
/// # Ok::<(), tool_runtime::pool::SelectorError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Selector(Kind);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Id(ToolPattern),
    Tag(String),
    Hint { hint: Hint, is_wanted: bool },
    Source(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Hint {
    ReadOnly,
    Destructive,
    Idempotent,
    OpenWorld,
}

impl Selector {
    /// Whether the selector picks a tool.
    pub(super) fn picks(&self, tool: &Tool, source: &Source) -> bool {
        let definition = tool.definition();
        match &self.0 {
            Kind::Id(pattern) => pattern.matches(tool.name()),
            Kind::Tag(tag) => definition.tags.contains(tag),
            Kind::Hint { hint, is_wanted } => {
                hint.is_given(&definition.effective_annotations()) == *is_wanted
            }
            Kind::Source(text) => source.matches(text),
        }
    }
}

impl Hint {
    const ALL: [(&'static str, Self); 4] = [
        ("read_only", Self::ReadOnly),
        ("destructive", Self::Destructive),
        ("idempotent", Self::Idempotent),
        ("open_world", Self::OpenWorld),
    ];

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, hint)| *hint == self).map_or("", |(name, _)| name)
    }

    fn is_given(self, annotations: &ToolAnnotations) -> bool {
        match self {
            Self::ReadOnly => annotations.is_read_only(),
            Self::Destructive => annotations.is_destructive(),
            Self::Idempotent => annotations.is_idempotent(),
            Self::OpenWorld => annotations.is_open_world(),
        }
    }
}

impl From<ToolPattern> for Selector {
    fn from(pattern: ToolPattern) -> Self {
        Self(Kind::Id(pattern))
    }
}

impl From<Infallible> for SelectorError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

/// The reason why a string is not a valid [`Selector`].
///
/// ```
/// use tool_runtime::pool::Selector;
///
/// let error = "label:x".parse::<Selector>().unwrap_err();
/// assert!(error.to_string().starts_with("`label:x` picks nothing; write"));
/// ```
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectorError {
    /// A bad glob or regular expression.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// A regular expression as text.
    #[error(
        "`{text}` is a regular expression, and filters that are written as text support only globs; write one as `fs.*`, or give a `ToolPattern::regex`"
    )]
    Regex {
        /// The whole text.
        text: String,
    },
    /// An unknown kind.
    #[error(
        "`{text}` picks nothing; write an id, a glob as `fs.*`, `tag:NAME`, `hint:read_only`, or `source:linked`, `source:custom`, `source:owner:NAME`, `source:mcp:NAME`, `source:runner:NAME`"
    )]
    Kind {
        /// The whole text.
        text: String,
    },
    /// An unknown hint.
    #[error("unknown hint `{name}`; {help}")]
    Hint {
        /// The hint.
        name: String,
        /// The nearest hint, or all of them.
        help: String,
    },
}

crate::debug_as_message!(SelectorError);

impl FromStr for Selector {
    type Err = SelectorError;

    fn from_str(text: &str) -> Result<Self, SelectorError> {
        let kind = match text.split_once(':') {
            _ if text.starts_with('/') => {
                return Err(SelectorError::Regex { text: text.to_owned() });
            }
            None => Kind::Id(ToolPattern::glob(text)?),
            Some(("tag", tag)) if !tag.is_empty() => Kind::Tag(tag.to_owned()),
            Some(("hint", hint)) => hinted(hint)?,
            Some(("source", source)) if Source::is_known(source) => Kind::Source(source.to_owned()),
            Some(_) => {
                return Err(SelectorError::Kind { text: text.to_owned() });
            }
        };
        Ok(Self(kind))
    }
}

fn hinted(hint: &str) -> Result<Kind, SelectorError> {
    let (name, is_wanted) = hint.strip_prefix('!').map_or((hint, true), |name| (name, false));
    let known = Hint::ALL.iter().find(|(known, _)| *known == name);
    let Some((_, hint)) = known else {
        let names = Hint::ALL.iter().map(|(name, _)| *name);
        let near = crate::schema::nearest::nearest(name, names, 1);
        let help = near.first().map_or_else(
            || "the hints are `read_only`, `destructive`, `idempotent`, `open_world`".to_owned(),
            |near| format!("did you mean `{near}`?"),
        );
        return Err(SelectorError::Hint { name: name.to_owned(), help });
    };
    Ok(Kind::Hint { hint: *hint, is_wanted })
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Id(pattern) => write!(f, "{pattern}"),
            Kind::Tag(tag) => write!(f, "tag:{tag}"),
            Kind::Hint { hint, is_wanted: true } => write!(f, "hint:{}", hint.name()),
            Kind::Hint { hint, is_wanted: false } => write!(f, "hint:!{}", hint.name()),
            Kind::Source(source) => write!(f, "source:{source}"),
        }
    }
}

impl TryFrom<&str> for Selector {
    type Error = SelectorError;

    fn try_from(text: &str) -> Result<Self, SelectorError> {
        text.parse()
    }
}

impl TryFrom<String> for Selector {
    type Error = SelectorError;

    fn try_from(text: String) -> Result<Self, SelectorError> {
        text.parse()
    }
}

impl From<Selector> for String {
    fn from(selector: Selector) -> Self {
        selector.to_string()
    }
}
