//! Everything that is found out about a configuration, each with its place.

use super::fault::Fault;
use super::problem::{McpConfigError, McpConfigProblem};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// A place in a configuration.
#[derive(Clone, Debug)]
pub(super) struct Place {
    file: Option<Arc<Path>>,
    server: Option<Arc<str>>,
    /// The path of the key.
    key: String,
}

impl Place {
    /// The whole of a file, or of what came from none.
    pub(super) fn of(file: Option<&Path>) -> Self {
        Self { file: file.map(Arc::from), server: None, key: String::new() }
    }

    /// Whether it came from no file.
    pub(super) fn is_text(&self) -> bool {
        self.file.is_none()
    }

    /// The entry of a server, which stands here.
    pub(super) fn server(&self, name: &str) -> Self {
        Self { server: Some(name.into()), ..self.key(name) }
    }

    /// The place of a key below this one.
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

    /// The place of a list item, counted from 0.
    pub(super) fn index(&self, index: usize) -> Self {
        Self { key: format!("{}[{index}]", self.key), ..self.clone() }
    }

    /// The file, or what to call what came from none.
    pub(super) fn origin(&self) -> String {
        let file = self.file.as_ref().map(|file| format!("`{}`", file.display()));
        file.unwrap_or_else(|| "another input".to_owned())
    }

    /// The folder that the file is in.
    pub(super) fn folder(&self) -> Option<&Path> {
        self.file.as_deref().and_then(Path::parent)
    }

    pub(super) fn server_name(&self) -> Option<&str> {
        self.server.as_deref()
    }

    pub(super) fn problem(&self, fault: Fault) -> McpConfigProblem {
        McpConfigProblem {
            file: self.file.as_deref().map(Path::to_owned),
            server: self.server.as_deref().map(str::to_owned),
            key: self.key.clone(),
            text: fault.text,
            help: fault.help,
        }
    }
}

/// Problems and warnings.
#[derive(Default)]
pub(super) struct Findings {
    pub(super) problems: Vec<McpConfigProblem>,
    pub(super) warnings: Vec<McpConfigProblem>,
    /// The servers whose entries say `required`.
    pub(super) required: BTreeSet<String>,
}

impl Findings {
    pub(super) fn wrong(
        &mut self,
        place: &Place,
        text: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.fault(place, Fault::new(text, help));
    }

    pub(super) fn fault(&mut self, place: &Place, fault: Fault) {
        self.problems.push(place.problem(fault));
    }

    pub(super) fn warn(&mut self, place: &Place, text: impl Into<String>, help: impl Into<String>) {
        self.warnings.push(place.problem(Fault::new(text, help)));
    }

    /// The value, or what was wrong with it.
    pub(super) fn sound<T>(&mut self, place: &Place, value: Result<T, Fault>) -> Option<T> {
        value.map_err(|fault| self.fault(place, fault)).ok()
    }

    /// The warnings, if nothing is wrong.
    pub(super) fn conclude(self) -> Result<Vec<McpConfigProblem>, McpConfigError> {
        if self.problems.is_empty() {
            Ok(self.warnings)
        } else {
            Err(McpConfigError { problems: self.problems })
        }
    }
}
