//! Declarations of tools, as agents and skills write them.

mod list;

#[cfg(test)]
mod tests;

pub use list::Declarations;

use crate::vocabulary::matching::pattern::ToolPattern;
use std::fmt;

/// One entry of a list of tools, as agents and skills write it.
///
/// | Written | Meaning |
/// |---|---|
/// | `Read` | the tool of that name |
/// | `Bash(git *)`, `Bash(git:*)` | its calls whose argument matches the pattern |
/// | `WebFetch(domain:example.com)` | the same with a pattern of URLs |
/// | `mcp__github__search` | a tool of the MCP server `github` |
/// | `mcp__github`, `mcp__github__*` | all tools of that server |
/// | `fs.*` | tools whose names a glob matches |
///
/// A name is the id of a tool, its name for model APIs (`fs__read`), or a tool of an MCP server as
/// above. An exact match has priority; otherwise case is ignored. The pattern `*` matches any call.
///
/// Every text is a declaration. One that is malformed matches nothing; [`Self::problem`] says why.
///
/// ```
/// use tool_runtime::matching::Declaration;
///
/// let git = Declaration::from("Bash(git diff:*)");
/// assert_eq!((git.name(), git.pattern()), ("Bash", Some("git diff:*")));
/// assert_eq!(git.to_string(), "Bash(git diff:*)");
///
/// let open = Declaration::from("Bash(git *");
/// assert_eq!(open.problem(), Some("the parenthesis is not closed; write `Bash(PATTERN)`"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Declaration {
    text: String,
    /// The name, which is at the start of the text.
    name: String,
    pattern: Option<String>,
    /// The name as a glob, if it is one.
    glob: Option<ToolPattern>,
    problem: Option<String>,
}

impl Declaration {
    /// The name before the parenthesis.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The pattern between the parentheses, if there is one.
    pub fn pattern(&self) -> Option<&str> {
        self.pattern.as_deref()
    }

    /// The reason why the text is not a valid declaration.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The pattern, unless it matches every call.
    pub(crate) fn limit(&self) -> Option<&str> {
        self.pattern().map(str::trim).filter(|pattern| *pattern != "*")
    }

    /// Whether the name can be read, even if the rest cannot.
    pub(crate) fn has_name(&self) -> bool {
        let is_plain = |c: char| !c.is_whitespace() && !"*?[]{},()".contains(c);
        !self.name.is_empty() && self.name.chars().all(is_plain)
    }

    pub(crate) fn glob(&self) -> Option<&ToolPattern> {
        self.glob.as_ref()
    }
}

impl From<&str> for Declaration {
    fn from(text: &str) -> Self {
        let open = text.find('(');
        let name = text[..open.unwrap_or(text.len())].trim().to_owned();
        let pattern = open.and_then(|open| text[open + 1..].trim_end().strip_suffix(')'));
        let pattern = pattern.map(str::to_owned);
        let glob = name.contains(['*', '?', '[', '{']).then(|| ToolPattern::glob(name.clone()));
        let problem = malformed(text, &name, pattern.as_deref()).or_else(|| match &glob {
            Some(Err(error)) => Some(error.to_string()),
            _ => None,
        });
        let glob = glob.and_then(Result::ok);
        Self { text: text.to_owned(), name, pattern, glob, problem }
    }
}

/// The first mistake in the syntax of a declaration.
fn malformed(text: &str, name: &str, pattern: Option<&str>) -> Option<String> {
    if name.is_empty() {
        return Some("it has no name; write `NAME` or `NAME(PATTERN)`".to_owned());
    }
    if name.contains(|c: char| c.is_whitespace() || c == ',') {
        return Some("its name contains a separator; write one declaration".to_owned());
    }
    let Some(open) = text.find('(') else {
        return text.contains(')').then(|| "the parenthesis is not opened".to_owned());
    };
    match closing(&text[open..]) {
        None => Some(format!("the parenthesis is not closed; write `{name}(PATTERN)`")),
        Some(end) if !text[open + end + 1..].trim().is_empty() => {
            Some("text follows the parenthesis; separate declarations by commas".to_owned())
        }
        Some(_) if pattern.is_none_or(|pattern| pattern.trim().is_empty()) => {
            Some(format!("its pattern is empty; write `{name}` for every call"))
        }
        Some(_) => None,
    }
}

/// The position of the parenthesis that closes the first one.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (index, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 1 => return Some(index),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

impl fmt::Display for Declaration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
