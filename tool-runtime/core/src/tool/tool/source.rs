//! Sources of a pool's tools.

use crate::tool::tool::Origin;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The origin and owner of a tool of a pool: only its own source replaces or removes
/// a tool while the pool runs.
///
/// If two tools have the same name, a linked one yields to any other of this process. A tool of an MCP server
/// replaces another one only if
/// [`ToolPoolBuilder::mcp_replaces`](crate::pool::ToolPoolBuilder::mcp_replaces) allows it, and a tool of a runner
/// replaces none. Any other collision is an error that names both, unless the filter leaves one of the two out.
///
/// `Display` writes `linked`, `custom`, `owner:NAME`, `mcp:NAME` or `runner:NAME`.
///
/// ```
/// use tool_runtime::pool::Source;
///
/// assert_eq!(Source::mcp("github").to_string(), "mcp:github");
/// assert_eq!(serde_json::to_string(&Source::Linked)?, r#""linked""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum Source {
    /// Registered at link time.
    Linked,
    /// Given to the builder of the pool.
    Custom,
    /// Added while the pool runs, by the part of the program of that name.
    Owner(String),
    /// The MCP server of that name.
    Mcp(String),
    /// The runners of the queue of that name, which run the tool in other processes.
    Runner(String),
}

impl Source {
    /// A part of the program that adds tools while the pool runs.
    pub fn owner(name: impl Into<String>) -> Self {
        Self::Owner(name.into())
    }

    /// An MCP server.
    pub fn mcp(name: impl Into<String>) -> Self {
        Self::Mcp(name.into())
    }

    /// The runners of a queue.
    pub fn runner(queue: impl Into<String>) -> Self {
        Self::Runner(queue.into())
    }

    /// Whether the tool comes from outside the program: of an MCP server, or of a runner. One that is invalid is
    /// quarantined instead of an error of the pool.
    ///
    /// ```
    /// use tool_runtime::pool::Source;
    ///
    /// assert!(Source::mcp("github").is_external() && Source::runner("search").is_external());
    /// assert!(!Source::owner("learnt").is_external());
    /// ```
    pub fn is_external(&self) -> bool {
        matches!(self, Self::Mcp(_) | Self::Runner(_))
    }

    /// The location of an item in the program's code, or else its source, for messages.
    pub(crate) fn location(&self, origin: Option<Origin>) -> String {
        match (origin, self) {
            (Some(origin), _) => format!("at {origin}"),
            (None, Self::Custom) => "added by hand".to_owned(),
            (None, source) => format!("of {source}"),
        }
    }

    /// The rank among equal names: higher ones shadow lower ones.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Linked => 0,
            Self::Custom | Self::Owner(_) => 1,
            Self::Mcp(_) | Self::Runner(_) => 2,
        }
    }

    /// Whether a selector's text matches this source: its own text, or `owner`, `mcp` or `runner` for all of that kind.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let kind = match self {
            Self::Owner(_) => "owner",
            Self::Mcp(_) => "mcp",
            Self::Runner(_) => "runner",
            Self::Linked | Self::Custom => "",
        };
        text == kind || text == self.to_string()
    }

    /// Whether a selector's text can match any source.
    pub(crate) fn is_known(text: &str) -> bool {
        matches!(text, "owner" | "mcp" | "runner") || Self::try_from(text.to_owned()).is_ok()
    }
}

impl fmt::Display for Source {
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

impl From<Source> for String {
    fn from(source: Source) -> Self {
        source.to_string()
    }
}

impl TryFrom<String> for Source {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "linked" => Ok(Self::Linked),
            None if text == "custom" => Ok(Self::Custom),
            Some(("owner", name)) if !name.is_empty() => Ok(Self::owner(name)),
            Some(("mcp", name)) if !name.is_empty() => Ok(Self::mcp(name)),
            Some(("runner", name)) if !name.is_empty() => Ok(Self::runner(name)),
            _ => Err(format!(
                "unknown source `{text}`; write `linked`, `custom`, `owner:NAME`, `mcp:NAME` or `runner:NAME`"
            )),
        }
    }
}
