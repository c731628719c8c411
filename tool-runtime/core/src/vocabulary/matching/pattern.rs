//! Patterns that select tools: an id, a glob or a regular expression.

mod glob;
mod problem;

#[cfg(test)]
mod tests;

pub use problem::PatternError;

use crate::vocabulary::regex::Regex;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;
use std::sync::Arc;

/// A pattern that selects tools by id: an exact id, a glob or a regular expression.
///
/// | Text | Means | Matches `fs.read` |
/// |---|---|---|
/// | `fs.read` | the one tool of this id | yes |
/// | `fs.*`, `fs.{read,write}`, `fs.[!w]*`, `??.read` | a glob over the whole id | yes |
/// | `/^fs\./` | a regular expression found anywhere in the id | yes |
///
/// `*` matches any characters, including dots, since ids have no segments. `?` matches one character,
/// `[a-z]` one of a class, `[!a-z]` one outside it, `{a,b}` either alternative. A regular expression
/// has the syntax of the `regex` crate and may match anywhere; anchor it with `^` and `$`.
///
/// Text that cannot match an id is an error when it is parsed: a rule that never applies is a mistake. Serialized as
/// its text.
///
/// ```
/// use tool_runtime::matching::ToolPattern;
///
/// let files: ToolPattern = "fs.*".parse()?;
/// assert!(files.matches("fs.read"));
/// assert!(!files.matches("web.search"));
/// assert_eq!(files.to_string(), "fs.*");
/// # Ok::<(), tool_runtime::matching::PatternError>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolPattern {
    text: String,
    kind: Kind,
}

#[derive(Clone)]
enum Kind {
    Exact,
    Glob,
    /// A compiled expression. `dyn`, because clippy would take the caches of a regex for interior mutability of
    /// map keys (`mutable_key_type`).
    Regex(Arc<Search>),
}

type Search = dyn Fn(&str) -> bool + Send + Sync;

impl ToolPattern {
    /// Matches the tool with exactly this id. The text is not checked; text that is not an id never matches.
    ///
    /// ```
    /// # use tool_runtime::matching::ToolPattern;
    /// let read = ToolPattern::exact("fs.read");
    /// assert!(read.matches("fs.read") && !read.matches("fs.read_all"));
    /// ```
    pub fn exact(id: impl Into<String>) -> Self {
        Self { text: id.into(), kind: Kind::Exact }
    }

    /// Matches tools by a glob over the whole id.
    ///
    /// # Errors
    /// If the text is empty, leaves a bracket open, has more than ten groups of braces, or contains
    /// a character that no id has. Escapes are not supported: no character of an id would need one.
    ///
    /// ```
    /// # use tool_runtime::matching::ToolPattern;
    /// assert!(ToolPattern::glob("fs.{read,list}*")?.matches("fs.read_all"));
    /// let error = ToolPattern::glob("fs.{read,list").unwrap_err();
    /// assert_eq!(error.to_string(), "`{` at character 4 of `fs.{read,list` is never closed; add `}`");
    /// # Ok::<(), tool_runtime::matching::PatternError>(())
    /// ```
    pub fn glob(glob: impl Into<String>) -> Result<Self, PatternError> {
        let text = glob.into();
        glob::check(&text)?;
        // A glob without wildcards equals the exact pattern of the same text.
        let kind = if glob::is_glob(&text) { Kind::Glob } else { Kind::Exact };
        Ok(Self { text, kind })
    }

    /// Matches tools whose id contains a match of a regular expression, given without the slashes of
    /// [`Display`](fmt::Display).
    ///
    /// # Errors
    /// If the text is empty or not a regular expression.
    ///
    /// ```
    /// # use tool_runtime::matching::ToolPattern;
    /// let reading = ToolPattern::regex("(read|list)$")?;
    /// assert!(reading.matches("fs.read") && !reading.matches("fs.read_all"));
    /// assert_eq!(reading.to_string(), "/(read|list)$/");
    /// # Ok::<(), tool_runtime::matching::PatternError>(())
    /// ```
    pub fn regex(regex: impl Into<String>) -> Result<Self, PatternError> {
        let text = regex.into();
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        match Regex::new(&text) {
            Ok(regex) => {
                let search = move |id: &str| regex.is_match(id);
                Ok(Self { text, kind: Kind::Regex(Arc::new(search)) })
            }
            Err(error) => Err(PatternError::Regex { pattern: text, reason: error }),
        }
    }

    /// Whether the pattern matches this id.
    ///
    /// ```
    /// # use tool_runtime::matching::ToolPattern;
    /// assert!(ToolPattern::glob("*")?.matches("fs.read"));
    /// # Ok::<(), tool_runtime::matching::PatternError>(())
    /// ```
    pub fn matches(&self, id: &str) -> bool {
        match &self.kind {
            Kind::Exact => self.text == id,
            Kind::Glob => fast_glob::glob_match(&self.text, id),
            Kind::Regex(search) => search(id),
        }
    }

    fn is_regex(&self) -> bool {
        matches!(self.kind, Kind::Regex(_))
    }

    /// The parts that equality and hash use, since a compiled expression has neither.
    fn identity(&self) -> (std::mem::Discriminant<Kind>, &str) {
        (std::mem::discriminant(&self.kind), &self.text)
    }
}

/// The text that parses to the same pattern, except for [`exact`](ToolPattern::exact) ids that no tool can have.
impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let slash = if self.is_regex() { "/" } else { "" };
        write!(f, "{slash}{}{slash}", self.text)
    }
}

impl fmt::Debug for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolPattern({self})")
    }
}

impl FromStr for ToolPattern {
    type Err = PatternError;

    fn from_str(text: &str) -> Result<Self, PatternError> {
        let Some(rest) = text.strip_prefix('/') else {
            return Self::glob(text);
        };
        match rest.strip_suffix('/') {
            Some(regex) => Self::regex(regex),
            None => Err(PatternError::Unclosed { pattern: text.to_owned(), at: 1, open: '/' }),
        }
    }
}

impl TryFrom<&str> for ToolPattern {
    type Error = PatternError;

    fn try_from(text: &str) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl TryFrom<String> for ToolPattern {
    type Error = PatternError;

    fn try_from(text: String) -> Result<Self, PatternError> {
        text.parse()
    }
}

impl From<ToolPattern> for String {
    fn from(pattern: ToolPattern) -> Self {
        pattern.to_string()
    }
}

impl PartialEq for ToolPattern {
    fn eq(&self, other: &Self) -> bool {
        self.identity() == other.identity()
    }
}

impl Eq for ToolPattern {}

impl Hash for ToolPattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity().hash(state);
    }
}
