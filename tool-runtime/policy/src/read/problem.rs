//! Mistakes in policies.

use std::fmt;
use std::path::PathBuf;

/// A mistake in a policy: the path, the mistake and the remedy.
///
/// ```
/// # #[cfg(feature = "yaml")] {
/// use tool_runtime::policy::{Format, Policy};
///
/// let text = "rules:\n  - id: search\n    when: {toolz: [\"web.*\"]}\n    then: allow\n";
/// let error = Policy::parse(text, Format::Yaml).unwrap_err();
/// let problem = &error.problems()[0];
/// assert_eq!((problem.line, &*problem.key), (Some(3), "rules[0].when.toolz"));
/// assert_eq!(problem.help, "did you mean `tools`?");
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PolicyProblem {
    /// The file, if there is one.
    pub file: Option<PathBuf>,
    /// The line in the file or text, from 1, if it is known.
    pub line: Option<usize>,
    /// The path of the key, as in `rules[0].when.tools`; empty for the whole document.
    pub key: String,
    /// The mistake.
    pub text: String,
    /// The remedy.
    pub help: String,
}

impl fmt::Display for PolicyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, self.line) {
            (Some(file), Some(line)) => write!(f, "{}:{line}: ", file.display())?,
            (Some(file), None) => write!(f, "{}: ", file.display())?,
            (None, Some(line)) => write!(f, "line {line}: ")?,
            (None, None) => {}
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        write!(f, "{}; {}", self.text, self.help)
    }
}

/// A policy that cannot be used, with all its mistakes.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("the policy cannot be used:{}", problems.iter().map(|it| format!("\n- {it}")).collect::<String>())]
pub struct PolicyError {
    problems: Vec<PolicyProblem>,
}

tool_runtime_core::debug_as_message!(PolicyError);

impl PolicyError {
    pub(crate) fn new(problems: Vec<PolicyProblem>) -> Self {
        Self { problems }
    }

    /// All mistakes, in the order of the document; never empty.
    pub fn problems(&self) -> &[PolicyProblem] {
        &self.problems
    }

    pub(crate) fn into_problems(self) -> Vec<PolicyProblem> {
        self.problems
    }
}

/// A mistake in one value, and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) text: String,
    pub(crate) help: String,
}

impl Fault {
    pub(crate) fn new(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { text: text.into(), help: help.into() }
    }

    /// The mistake of a policy that has no text.
    pub(crate) fn of_code(self, key: String) -> PolicyProblem {
        PolicyProblem { file: None, line: None, key, text: self.text, help: self.help }
    }
}
