//! Findings about a configuration, with their locations.

use super::problem::{McpConfigError, McpConfigProblem};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A problem of one value and its remedy, without the location and the value.
pub(super) struct ValueProblem {
    pub(super) text: String,
    pub(super) help: String,
}

impl ValueProblem {
    pub(super) fn new(text: impl Into<String>, help: impl Into<String>) -> Self {
        Self { text: text.into(), help: help.into() }
    }
}

/// A location in a configuration.
#[derive(Clone, Debug)]
pub(super) struct Location {
    file: Option<Arc<Path>>,
    server: Option<Arc<str>>,
    /// The path of the key.
    key: String,
}

impl Location {
    /// The location of a whole file, or of another input.
    pub(super) fn from_file(file: Option<&Path>) -> Self {
        Self { file: file.map(Arc::from), server: None, key: String::new() }
    }

    /// Whether the input is not a file.
    pub(super) fn is_text(&self) -> bool {
        self.file.is_none()
    }

    /// The location of a server's entry within this one.
    pub(super) fn server(&self, name: &str) -> Self {
        Self { server: Some(name.into()), ..self.key(name) }
    }

    /// This location, in the entry of a server.
    pub(super) fn of_server(&self, name: &str) -> Self {
        Self { server: Some(name.into()), ..self.clone() }
    }

    /// The location of a key within this one.
    pub(super) fn key(&self, key: &str) -> Self {
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/' | '@' | '$');
        let key = match !key.is_empty() && key.chars().all(is_plain) {
            true => key.to_owned(),
            false => format!("{key:?}"),
        };
        let key = if self.key.is_empty() { key } else { format!("{}.{key}", self.key) };
        Self { key, ..self.clone() }
    }

    /// The last key of the path.
    pub(super) fn last(&self) -> &str {
        self.key.rsplit('.').next().unwrap_or_default()
    }

    /// The location of a list item, counted from 0.
    pub(super) fn index(&self, index: usize) -> Self {
        Self { key: format!("{}[{index}]", self.key), ..self.clone() }
    }

    /// The name of the input.
    pub(super) fn origin(&self) -> String {
        let file = self.file.as_ref().map(|file| format!("`{}`", file.display()));
        file.unwrap_or_else(|| "another input".to_owned())
    }

    /// The directory of the file.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.file.as_deref().and_then(Path::parent)
    }

    pub(super) fn server_name(&self) -> Option<&str> {
        self.server.as_deref()
    }

    pub(super) fn locate(&self, problem: ValueProblem) -> McpConfigProblem {
        McpConfigProblem {
            file: self.file.as_deref().map(Path::to_owned),
            server: self.server.as_deref().map(str::to_owned),
            key: self.key.clone(),
            text: problem.text,
            help: problem.help,
        }
    }
}

/// Problems and warnings.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<McpConfigProblem>,
    pub(super) warnings: Vec<McpConfigProblem>,
    /// The servers whose entries are marked `required`.
    pub(super) required: BTreeSet<String>,
}

impl Findings {
    pub(super) fn problem(
        &mut self,
        location: &Location,
        text: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(location, ValueProblem::new(text, help));
    }

    pub(super) fn add(&mut self, location: &Location, problem: ValueProblem) {
        self.problems.push(location.locate(problem));
    }

    pub(super) fn warn(
        &mut self,
        location: &Location,
        text: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.warnings.push(location.locate(ValueProblem::new(text, help)));
    }

    /// Returns a valid value, or records the problem.
    pub(super) fn accept<T>(
        &mut self,
        location: &Location,
        value: Result<T, ValueProblem>,
    ) -> Option<T> {
        value.map_err(|problem| self.add(location, problem)).ok()
    }

    /// The warnings, unless problems were found.
    pub(super) fn conclude(self) -> Result<Vec<McpConfigProblem>, McpConfigError> {
        if self.problems.is_empty() {
            Ok(self.warnings)
        } else {
            Err(McpConfigError { problems: self.problems })
        }
    }
}
