//! Answers without a language server: lines of files in which a name is declared or used.

use super::documents;
use super::operation::{LspOperation, Request};
use super::output::{LspItem, LspOutput};
use super::position::Lines;
use super::source_files::{MAX_LINE, shorten};
use crate::code::params::LanguageServer;
use crate::search::{FoundLine, find_lines};
use crate::workspace::{Location, Root, Workspace};
use regex::Regex;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tool_runtime::{ToolContext, ToolError};

/// Words before the name of a declaration, and the kind of symbol.
const DECLARATIONS: [(&str, &str); 27] = [
    ("fn", "function"),
    ("func", "function"),
    ("function", "function"),
    ("fun", "function"),
    ("def", "function"),
    ("sub", "function"),
    ("class", "class"),
    ("struct", "struct"),
    ("union", "struct"),
    ("record", "struct"),
    ("enum", "enum"),
    ("trait", "interface"),
    ("interface", "interface"),
    ("protocol", "interface"),
    ("type", "class"),
    ("typedef", "class"),
    ("object", "object"),
    ("mod", "module"),
    ("module", "module"),
    ("namespace", "namespace"),
    ("package", "package"),
    ("const", "constant"),
    ("static", "constant"),
    ("let", "variable"),
    ("var", "variable"),
    ("val", "variable"),
    ("#define", "constant"),
];
/// Lines of a result.
const MAX_LINES: usize = 50;
/// Declarations of a file.
const MAX_SYMBOLS: usize = 200;

/// A search instead of a question to a server.
pub(super) struct TextSearch<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) request: &'a Request,
    pub(super) location: &'a Location,
    pub(super) project: (&'a Root, &'a Path),
    /// The language, if the file has one that is known, and what is known of each.
    pub(super) language: Option<&'a str>,
    pub(super) servers: &'a BTreeMap<String, LanguageServer>,
    /// The reason why no server answers, with what to do about it.
    pub(super) reason: &'a str,
}

impl TextSearch<'_> {
    /// Searches the project, or for `documentSymbol` the file.
    ///
    /// # Errors
    /// The operation needs a language server, or there is no name at the position.
    pub(super) async fn run(&self, context: &ToolContext) -> Result<LspOutput, ToolError> {
        let operation = self.request.operation;
        let (pattern, limit) = self.pattern()?;
        let regex = Regex::new(&pattern).map_err(ToolError::internal)?;
        let in_file = operation == LspOperation::DocumentSymbol;
        let path = match in_file {
            true => self.location.absolute(),
            false => self.project.0.canonical_path().to_owned(),
        };
        let globs = if in_file { Vec::new() } else { self.globs() };
        let (lines, notice) = self.lines(pattern, path, globs, context).await?;
        let mut items: Vec<_> = lines.iter().filter_map(|line| item(line, &regex)).collect();
        items.sort_by(|one, other| (&one.path, one.line).cmp(&(&other.path, other.line)));
        let total = items.len();
        items.truncate(limit);
        let mut notices = vec![format!(
            "found by a search of the text, not by a language server: other symbols of the same name are not told apart; {}",
            self.reason
        )];
        notices.extend(notice);
        if total > items.len() {
            notices.push(format!("{} more are not shown", total - items.len()));
        }
        if items.is_empty() {
            notices.insert(0, "nothing was found".to_owned());
        }
        let language = self.language.unwrap_or("text").to_owned();
        Ok(LspOutput { operation, language, items, total, hover: None, diff: None, notices })
    }

    /// The pattern of the lines, and how many are returned.
    fn pattern(&self) -> Result<(String, usize), ToolError> {
        let request = self.request;
        Ok(match request.operation {
            LspOperation::GoToDefinition => (declaration(&escaped(&self.name()?)), MAX_LINES),
            LspOperation::GoToImplementation => {
                (implementation(&escaped(&self.name()?)), MAX_LINES)
            }
            LspOperation::FindReferences => {
                (format!(r"(?P<name>{})", whole(&escaped(&self.name()?))), MAX_LINES)
            }
            LspOperation::DocumentSymbol => (declaration(r"\w+"), MAX_SYMBOLS),
            LspOperation::WorkspaceSymbol => {
                let query = escaped(request.query.as_deref().unwrap_or_default());
                (declaration(&format!(r"\w*(?i:{query})\w*")), MAX_LINES)
            }
            operation => {
                let text =
                    format!("`{}` needs a language server; {}", operation.name(), self.reason);
                return Err(ToolError::user(text));
            }
        })
    }

    /// The files of the language, or those with the extension of the file.
    fn globs(&self) -> Vec<String> {
        let server = self.language.and_then(|language| self.servers.get(language));
        let own = self.location.path().extension().and_then(|extension| extension.to_str());
        let extensions: Vec<&str> = match server {
            Some(server) => server.extensions.keys().map(String::as_str).collect(),
            None => own.into_iter().collect(),
        };
        extensions.into_iter().map(|name| format!("*.{name}")).collect()
    }

    /// The name at the position.
    fn name(&self) -> Result<String, ToolError> {
        let (root, path) = self.project;
        let lines = Lines::from_text(documents::read(root, path)?);
        let (number, character) = self.request.checked_position(&lines)?;
        let line = lines.line(number - 1);
        word_at(line, character - 1).ok_or_else(|| {
            let path = &self.request.file_path;
            ToolError::user(format!(
                "there is no name at line {number}, character {character} of `{path}`: `{}`",
                shorten(line, MAX_LINE)
            ))
        })
    }

    async fn lines(
        &self,
        pattern: String,
        path: PathBuf,
        globs: Vec<String>,
        context: &ToolContext,
    ) -> Result<(Vec<FoundLine>, Option<String>), ToolError> {
        let (workspace, context) = (self.workspace.clone(), context.clone());
        let search =
            move || find_lines(&workspace, &pattern, &path.to_string_lossy(), globs, &context);
        tokio::task::spawn_blocking(search).await.map_err(ToolError::internal)?
    }
}

/// A declaration of a name, after receivers as in `func (r *Reader) Read`.
fn declaration(name: &str) -> String {
    let words = DECLARATIONS.map(|(word, _)| regex::escape(word)).join("|");
    format!(
        r"(?:^|[^\w.])(?P<kind>{words})\s+(?:\([^)]*\)\s*)?(?:mut\s+)?(?P<name>{})",
        whole(name)
    )
}

/// A type that says which interface or class it implements.
fn implementation(name: &str) -> String {
    let name = whole(name);
    format!(
        r"(?:\bimpl\b.*|\b(?:implements|extends)\b.*|\bclass\s+\w+\s*[(:].*|\bfunc\s+\([^)]*\)\s*|\b(?:fn|def|function)\s+)(?P<name>{name})"
    )
}

/// Names end where no letter, digit or `_` follows.
fn whole(name: &str) -> String {
    format!(r"\b{name}\b")
}

fn escaped(name: &str) -> String {
    regex::escape(name)
}

/// The name around a character of a line, or right before it.
fn word_at(line: &str, character: usize) -> Option<String> {
    let characters: Vec<char> = line.chars().collect();
    let is_part =
        |at: &usize| characters.get(*at).is_some_and(|c| c.is_alphanumeric() || *c == '_');
    let at = [Some(character), character.checked_sub(1)].into_iter().flatten().find(is_part)?;
    let start = (0..=at).rev().take_while(is_part).last()?;
    Some((start..).take_while(is_part).map(|at| characters[at]).collect())
}

/// The item of a line. `None` if the search cut the name off.
fn item(line: &FoundLine, regex: &Regex) -> Option<LspItem> {
    let found = regex.captures(&line.text)?;
    let name = found.name("name")?;
    let kind = found.name("kind").and_then(|word| {
        let known = DECLARATIONS.iter().find(|(known, _)| *known == word.as_str());
        known.map(|(_, kind)| (*kind).to_owned())
    });
    let character = line.text[..name.start()].chars().count() + 1;
    Some(LspItem {
        path: line.path.clone(),
        line: line.number,
        character,
        end_line: line.number,
        end_character: character + name.as_str().chars().count(),
        text: Some(shorten(&line.text, MAX_LINE)),
        name: kind.is_some().then(|| name.as_str().to_owned()),
        kind,
        ..LspItem::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_of_many_languages_are_found() {
        let regex = Regex::new(&declaration("parse")).unwrap();
        for line in [
            "pub(crate) async fn parse<T>(text: &str) -> T {",
            "    def parse(self):",
            "export function parse(text) {",
            "func (r *Reader) parse(text string) {",
            "export const parse = (text) => text;",
            "let mut parse = 1;",
            "#define parse 3",
            "class parse:",
        ] {
            assert!(regex.is_match(line), "{line}");
        }
        for line in ["parse(text)", "fn parser()", "fn reparse()", "return parse", "x.type parse"] {
            assert!(!regex.is_match(line), "{line}");
        }
    }

    #[test]
    fn the_name_at_a_position_is_whole() {
        for (character, expected) in [(0, Some("été_1")), (4, Some("été_1")), (5, Some("été_1"))]
        {
            assert_eq!(word_at("été_1 = 2", character).as_deref(), expected);
        }
        assert_eq!(word_at("a  = 2", 2), None);
        assert_eq!(word_at("", 0), None);
    }
}
