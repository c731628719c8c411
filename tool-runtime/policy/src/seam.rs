//! Items that the other crates of `tool-runtime` share with this one. Not for users: they change with every version.

use crate::read::{DocumentPath, PolicyProblem, Text};
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

    /// The line of the value at a path such as `http.jwt.issuer` or `tools.roots[0]`, or of the innermost value around it that
    /// is there.
    pub fn line(&self, path: &str) -> Option<usize> {
        let mut steps = steps(path);
        while !steps.is_empty() {
            let path = steps.iter().fold(DocumentPath::default(), |path, step| match step {
                Step::Key(key) => path.key(key),
                Step::Index(index) => path.index(*index),
            });
            if let Some(line) = self.0.line(&path) {
                return Some(line);
            }
            steps.pop();
        }
        None
    }

    /// The file.
    pub fn file(&self) -> &Path {
        self.0.file.as_deref().unwrap_or(Path::new(""))
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
