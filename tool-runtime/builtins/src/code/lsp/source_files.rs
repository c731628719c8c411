//! From locations of a server to items for models.

use super::documents;
use super::hits::Hit;
use super::output::LspItem;
use super::position::{Encoding, Lines};
use super::uri;
use crate::workspace::Workspace;
use std::collections::HashMap;
use std::sync::Arc;

/// Characters of a line, a name and a message that are shown.
pub(super) const MAX_LINE: usize = 200;
const MAX_MESSAGE: usize = 2000;

/// The files of locations, each read once.
pub(super) struct SourceFiles<'w> {
    workspace: &'w Workspace,
    encoding: Encoding,
    files: HashMap<String, Arc<File>>,
}

/// A file that a server named.
pub(super) struct File {
    /// The path for models.
    pub(super) path: String,
    /// Its lines, if it is in the workspace and can be read.
    pub(super) lines: Option<Lines>,
    pub(super) text: Option<Arc<str>>,
}

impl<'w> SourceFiles<'w> {
    pub(super) fn new(workspace: &'w Workspace, encoding: Encoding) -> Self {
        Self { workspace, encoding, files: HashMap::new() }
    }

    /// The file of a URI.
    pub(super) fn file(&mut self, uri: &str) -> Arc<File> {
        if let Some(file) = self.files.get(uri) {
            return Arc::clone(file);
        }
        let path = uri::path(uri);
        let display_path =
            path.as_ref().map_or_else(|| uri.to_owned(), |path| path.display().to_string());
        let location = path.is_some().then(|| self.workspace.resolve(&display_path).ok()).flatten();
        let text =
            location.as_ref().and_then(|found| documents::read(found.root(), found.path()).ok());
        let path = location.map_or(display_path, |location| location.to_string());
        let lines = text.clone().map(Lines::from_text);
        let file = Arc::new(File { path, lines, text });
        self.files.insert(uri.to_owned(), Arc::clone(&file));
        file
    }

    /// The item of a location.
    pub(super) fn item(&mut self, hit: Hit) -> LspItem {
        let file = self.file(&hit.uri);
        let counted = |position| match &file.lines {
            Some(lines) => lines.line_and_character(position, self.encoding),
            // The text decides about characters; without it the units of the server count.
            None => (position.line as usize + 1, position.character as usize + 1),
        };
        let (line, character) = counted(hit.range.start);
        let (end_line, end_character) = counted(hit.range.end);
        LspItem {
            path: file.path.clone(),
            line,
            character,
            end_line,
            end_character,
            text: file.lines.as_ref().map(|lines| shorten(lines.line(line - 1), MAX_LINE)),
            name: hit.name.map(|name| shorten(&name, MAX_LINE)),
            kind: hit.kind,
            container: hit.container.map(|name| shorten(&name, MAX_LINE)),
            severity: hit.severity,
            message: hit.message.map(|message| shorten(&message, MAX_MESSAGE)),
        }
    }
}

pub(super) fn shorten(text: &str, length: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}..", &text[..end]),
        None => text.to_owned(),
    }
}
