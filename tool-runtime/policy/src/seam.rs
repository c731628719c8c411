//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with every version.

use crate::read::{DocumentPath, Fault, PolicyProblem, Text};
use serde_json::Value;
use std::path::Path;

/// A configuration file in JSON, YAML or TOML, whose mistakes are reported with their lines.
#[derive(Clone, Debug)]
pub struct Document(Text);

impl Document {
    /// Reads a file: the document, and its value.
    ///
    /// # Errors
    /// The file cannot be read, or its text has mistakes.
    pub fn read(path: &Path) -> Result<(Self, Value), Vec<PolicyProblem>> {
        let text = Text::read(path).map_err(|problem| vec![problem])?;
        let mut problems = Vec::new();
        match text.parse(&mut problems) {
            Some(value) if problems.is_empty() => Ok((Self(text), value)),
            _ => Err(problems),
        }
    }

    /// A mistake at a path such as `http.jwt.issuer` or `tools.roots[0]`, which is empty for the whole document. The line is
    /// that of the value, or of the innermost value around it that is there.
    pub fn problem(
        &self,
        path: &str,
        text: impl Into<String>,
        help: impl Into<String>,
    ) -> PolicyProblem {
        let mut problem = self.0.problem(&DocumentPath::default(), Fault::new(text, help));
        let mut steps = steps(path);
        let mut line = None;
        while line.is_none() && !steps.is_empty() {
            let path = steps.iter().fold(DocumentPath::default(), |path, step| match step {
                Step::Key(key) => path.key(key),
                Step::Index(index) => path.index(*index),
            });
            line = self.0.line(&path);
            steps.pop();
        }
        problem.line = line;
        problem.key = path.to_owned();
        problem
    }
}

enum Step {
    Key(String),
    Index(usize),
}

/// The steps of `a.b[2]["odd name"]`.
fn steps(path: &str) -> Vec<Step> {
    let (mut steps, mut rest) = (Vec::new(), path);
    while !rest.is_empty() {
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let (key, after) = quoted.split_once("\"]").unwrap_or((quoted, ""));
            steps.push(Step::Key(key.to_owned()));
            rest = after;
        } else if let Some(index) = rest.strip_prefix('[') {
            let (index, after) = index.split_once(']').unwrap_or((index, ""));
            steps.push(Step::Index(index.parse().unwrap_or_default()));
            rest = after;
        } else {
            let plain = rest.trim_start_matches('.');
            let end = plain.find(['.', '[']).unwrap_or(plain.len());
            steps.push(Step::Key(plain[..end].to_owned()));
            rest = &plain[end..];
        }
    }
    steps
}
