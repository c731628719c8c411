//! The result of the tool.

use super::operation::LspOperation;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;

/// The response of a language server.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LspOutput {
    /// The question.
    pub operation: LspOperation,
    /// The language whose server responded.
    pub language: String,
    /// Locations, symbols or diagnostics.
    pub items: Vec<LspItem>,
    /// Number of items that the server found, of which `items` has the first ones.
    pub total: usize,
    /// Type and documentation, for `hover`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hover: Option<String>,
    /// Changes as a unified diff, for `renamePreview`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Limits of the response.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

/// A location in a file. Lines and characters are counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct LspItem {
    /// Path of the file.
    pub path: String,
    /// First line.
    pub line: usize,
    /// First character of it.
    pub character: usize,
    /// Last line.
    pub end_line: usize,
    /// Character after the last one.
    pub end_character: usize,
    /// The first line's text. Absent for files outside the workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Name of the symbol, or of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Kind of the symbol: `function`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Symbol that contains this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<String>,
    /// Severity of a diagnostic: `error`, `warning`, `information` or `hint`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// Text of a diagnostic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl fmt::Display for LspItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}:", self.path, self.line, self.character)?;
        if let (Some(name), Some(kind)) = (&self.name, &self.kind) {
            write!(f, " [{kind} {name}")?;
            self.container.iter().try_for_each(|container| write!(f, " in {container}"))?;
            f.write_str("]")?;
        }
        if let Some(message) = &self.message {
            write!(f, " {}: {message}\n   ", self.severity.as_deref().unwrap_or("error"))?;
        }
        self.text.iter().try_for_each(|text| write!(f, " {text}"))
    }
}

impl fmt::Display for LspOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let items = self.items.iter().map(LspItem::to_string);
        let items = match self.operation {
            // The diff has them.
            LspOperation::RenamePreview => Vec::new(),
            _ => items.collect(),
        };
        let strings = self.hover.iter().chain(&self.diff).cloned();
        let notices = self.notices.iter().map(|notice| format!("[{notice}]"));
        let parts: Vec<String> = items.into_iter().chain(strings).chain(notices).collect();
        f.write_str(&parts.join("\n"))
    }
}
