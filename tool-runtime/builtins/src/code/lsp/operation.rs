//! The operations of the tool, and what each needs.

use super::position::{Encoding, Lines};
use gen_lsp_types::Position;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tool_runtime::ToolError;

/// A question to a language server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum LspOperation {
    /// Where the symbol at a position is defined.
    GoToDefinition,
    /// Where the symbol at a position is used, with its declaration.
    FindReferences,
    /// Type and documentation of the symbol at a position.
    Hover,
    /// The symbols of a file.
    DocumentSymbol,
    /// The symbols of the project whose names match a query.
    WorkspaceSymbol,
    /// Where the interface or method at a position is implemented.
    GoToImplementation,
    /// The function at a position, as calls name it.
    PrepareCallHierarchy,
    /// The calls of the function at a position.
    IncomingCalls,
    /// The functions that the function at a position calls.
    OutgoingCalls,
    /// A diff of the changes that would rename the symbol at a position. Nothing is changed.
    RenamePreview,
    /// Errors and warnings of a file.
    Diagnostics,
}

impl LspOperation {
    /// The name in arguments.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::GoToDefinition => "goToDefinition",
            Self::FindReferences => "findReferences",
            Self::Hover => "hover",
            Self::DocumentSymbol => "documentSymbol",
            Self::WorkspaceSymbol => "workspaceSymbol",
            Self::GoToImplementation => "goToImplementation",
            Self::PrepareCallHierarchy => "prepareCallHierarchy",
            Self::IncomingCalls => "incomingCalls",
            Self::OutgoingCalls => "outgoingCalls",
            Self::RenamePreview => "renamePreview",
            Self::Diagnostics => "diagnostics",
        }
    }

    /// The capability that a server must have. Diagnostics are published without one.
    pub(super) fn capability(self) -> Option<&'static str> {
        Some(match self {
            Self::GoToDefinition => "definitionProvider",
            Self::FindReferences => "referencesProvider",
            Self::Hover => "hoverProvider",
            Self::DocumentSymbol => "documentSymbolProvider",
            Self::WorkspaceSymbol => "workspaceSymbolProvider",
            Self::GoToImplementation => "implementationProvider",
            Self::PrepareCallHierarchy | Self::IncomingCalls | Self::OutgoingCalls => {
                "callHierarchyProvider"
            }
            Self::RenamePreview => "renameProvider",
            Self::Diagnostics => return None,
        })
    }

    /// Whether a search of the text can answer it.
    pub(super) fn has_text_search(self) -> bool {
        matches!(
            self,
            Self::GoToDefinition
                | Self::GoToImplementation
                | Self::FindReferences
                | Self::DocumentSymbol
                | Self::WorkspaceSymbol
        )
    }

    fn needs_position(self) -> bool {
        !matches!(self, Self::DocumentSymbol | Self::WorkspaceSymbol | Self::Diagnostics)
    }
}

/// The arguments of a call.
pub(super) struct Request {
    pub(super) operation: LspOperation,
    pub(super) file_path: String,
    pub(super) line: Option<usize>,
    pub(super) character: Option<usize>,
    pub(super) query: Option<String>,
    pub(super) new_name: Option<String>,
}

impl Request {
    /// Whether all arguments are there that the operation needs.
    ///
    /// # Errors
    /// The arguments that are missing.
    pub(super) fn check(&self) -> Result<(), ToolError> {
        let operation = self.operation;
        let lacks_position =
            operation.needs_position() && (self.line.is_none() || self.character.is_none());
        let needed = match operation {
            _ if lacks_position => "`line` and `character`",
            LspOperation::WorkspaceSymbol if self.query.is_none() => "`query`",
            LspOperation::RenamePreview if self.new_name.is_none() => "`new_name`",
            _ => return Ok(()),
        };
        Err(ToolError::user(format!("`{}` needs {needed}", operation.name())))
    }

    /// The position for the server.
    ///
    /// # Errors
    /// The file has no such line or character.
    pub(super) fn position(
        &self,
        lines: &Lines,
        encoding: Encoding,
    ) -> Result<Position, ToolError> {
        let (line, character) = self.checked_position(lines)?;
        Ok(lines.position(line, character, encoding))
    }

    /// Line and character, counted from 1.
    ///
    /// # Errors
    /// The file has no such line or character.
    pub(super) fn checked_position(&self, lines: &Lines) -> Result<(usize, usize), ToolError> {
        let path = &self.file_path;
        let (line, character) = (self.line.unwrap_or(1), self.character.unwrap_or(1));
        if line > lines.count() {
            let count = lines.count();
            return Err(ToolError::user(format!(
                "`{path}` has {count} lines; there is no line {line}"
            )));
        }
        let length = lines.line(line - 1).chars().count();
        if character > length + 1 {
            return Err(ToolError::user(format!(
                "line {line} of `{path}` has {length} characters; there is no character {character}"
            )));
        }
        Ok((line, character))
    }

    /// Method and parameters of the request about a document.
    pub(super) fn message(&self, uri: &str, position: Position) -> (&'static str, Value) {
        let document = json!({"uri": uri});
        let at = json!({"textDocument": document, "position": position});
        match self.operation {
            LspOperation::GoToDefinition => ("textDocument/definition", at),
            LspOperation::GoToImplementation => ("textDocument/implementation", at),
            LspOperation::FindReferences => {
                let context = json!({"includeDeclaration": true});
                let params =
                    json!({"textDocument": document, "position": position, "context": context});
                ("textDocument/references", params)
            }
            LspOperation::Hover => ("textDocument/hover", at),
            LspOperation::DocumentSymbol => {
                ("textDocument/documentSymbol", json!({"textDocument": document}))
            }
            LspOperation::WorkspaceSymbol => ("workspace/symbol", json!({"query": self.query})),
            LspOperation::RenamePreview => {
                let params = json!({"textDocument": document, "position": position, "newName": self.new_name});
                ("textDocument/rename", params)
            }
            LspOperation::PrepareCallHierarchy
            | LspOperation::IncomingCalls
            | LspOperation::OutgoingCalls => ("textDocument/prepareCallHierarchy", at),
            LspOperation::Diagnostics => {
                ("textDocument/diagnostic", json!({"textDocument": document}))
            }
        }
    }

    /// The text at the position, for a message that nothing was found there.
    pub(super) fn text_at(&self, lines: &Lines) -> Option<String> {
        const SHOWN: usize = 30;
        let line = lines.line(self.line? - 1);
        let text: String = line.chars().skip(self.character? - 1).take(SHOWN).collect();
        self.operation.needs_position().then_some(text)
    }
}
