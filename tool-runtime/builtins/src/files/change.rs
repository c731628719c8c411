//! The tools that change one file: their rules and results.

use super::Files;
use super::commit::{Before, Change, Freshness};
use super::diff;
use super::dir_entry;
use super::edit::{self, EditError, MatchRule, Replace, Replaced};
use super::snapshot::Hash;
use super::text::{Eol, LfView, Text};
use crate::tool_output::ToolOutput;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::time::Instant;
use tool_runtime::__seam::hex;
use tool_runtime::{ContentBlock, ToolContext, ToolError};

/// The argument of `Edit` and `MultiEdit` that quotes text.
pub(super) const OLD_STRING: &str = "old_string";

/// Ends an error about text that is not in the file.
const NOTEBOOK: &str = "\nthe file is a notebook: its JSON is edited, which `Grep` shows, not the cells that were read";

/// A change of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ChangeOutput {
    /// Path of the file.
    pub path: String,
    /// Whether the file is new.
    pub created: bool,
    /// The changes as a unified diff.
    pub diff: String,
    /// How many matches were replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replacements: Option<usize>,
    /// The rule by which the old text was found: the least strict one of several edits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_with: Option<MatchRule>,
    /// SHA-256 of the file now; absent if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The encoding of the file, if it was guessed from its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed_encoding: Option<String>,
    /// A remark, if the file was written in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// One of several edits.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EditOperation {
    /// The text to replace, quoted from the file with the lines around it that make it unique.
    #[serde(alias = "old_str")]
    pub old_string: String,
    /// The text to replace it with.
    #[serde(alias = "new_str")]
    pub new_string: String,
    /// Replace all matches instead of the only one.
    #[serde(default)]
    pub replace_all: bool,
}

/// How a change came about, for its result.
#[derive(Clone, Copy, Default)]
pub(super) struct Applied {
    pub(super) replacements: usize,
    pub(super) step: Option<MatchRule>,
    /// The encoding, if it was guessed.
    pub(super) assumed_encoding: Option<&'static str>,
}

impl Applied {
    pub(super) fn add(&mut self, replaced: &Replaced) {
        self.replacements += replaced.lines.len();
        self.step = self.step.max(Some(replaced.step));
    }
}

impl Files {
    /// Creates or replaces a file.
    pub(super) fn write_whole(
        &self,
        path: &str,
        content: &str,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        let before = self.read_to_change(path, Freshness::ReadWhole, context)?;
        let old = decode_text(&before).unwrap_or_else(|_| Some(Text::new("")));
        let content = match &old {
            Some(old) => with_eol_of(&old.content, content),
            None => content.to_owned(),
        };
        self.change(before, old, Some(content), Applied::default(), context)
    }

    /// Makes edits one after another. Edits of a new file start with an empty `old_string`, which is `quoted_by` the
    /// argument of this name.
    pub(super) fn edit_file(
        &self,
        path: &str,
        edits: &[EditOperation],
        freshness: Freshness,
        quoted_by: &str,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        let before = self.read_to_change(path, freshness, context)?;
        let text = decode_text(&before)?;
        let mut content = text.as_ref().map(|text| Cow::Borrowed(text.content.as_str()));
        let mut applied = Applied::default();
        let deadline = edit::deadline();
        for (number, edit) in edits.iter().enumerate() {
            content = match (content, edit.old_string.as_str()) {
                (None, "") => Some(Cow::Owned(edit.new_string.clone())),
                (None, _) => return Err(dir_entry::missing(before.location())),
                (Some(content), "") if content.is_empty() => {
                    Some(Cow::Owned(edit.new_string.clone()))
                }
                (Some(content), _) => {
                    let replaced = replace(&content, edit, deadline).map_err(|error| {
                        let which = match edits.len() {
                            1 => format!("`{quoted_by}`"),
                            _ => {
                                format!("nothing was changed: `{quoted_by}` of edit {}", number + 1)
                            }
                        };
                        edit_error(&before, &which, &error)
                    })?;
                    applied.add(&replaced);
                    Some(Cow::Owned(replaced.content))
                }
            };
        }
        let content = content.map(Cow::into_owned);
        self.change(before, text, content, applied, context)
    }

    /// Commits the new content of one file. `text` is its state before.
    pub(super) fn change(
        &self,
        before: Before,
        text: Option<Text>,
        content: Option<String>,
        mut applied: Applied,
        context: &ToolContext,
    ) -> Result<ToolOutput<ChangeOutput>, ToolError> {
        applied.assumed_encoding = text.as_ref().and_then(|text| text.encoding.assumed());
        let path = before.location().to_string();
        let old = text.as_ref().map(|text| text.content.as_str());
        let bytes = content.as_deref().map(|content| encode(&path, text.as_ref(), content));
        let bytes = bytes.transpose()?;
        let diff = diff::unified(&path, before.snapshot().and(old), content.as_deref());
        let created = before.snapshot().is_none();
        let committed = self.commit(vec![Change::new(before, bytes)], context)?;
        let hash = committed.hashes.into_iter().next().flatten();
        Ok(output_of(path, created, diff, applied, hash).with_notice(committed.notice))
    }
}

/// The result of a change.
pub(super) fn output_of(
    path: String,
    created: bool,
    diff: String,
    applied: Applied,
    hash: Option<Hash>,
) -> ToolOutput<ChangeOutput> {
    let verb = match (created, &hash) {
        (true, _) => "created",
        (false, Some(_)) => "changed",
        (false, None) => "deleted",
    };
    let how = match applied.step {
        Some(step) if step != MatchRule::Exact => format!(" (found by {})", step.name()),
        _ => String::new(),
    };
    let encoding = applied.assumed_encoding.map(assumption).unwrap_or_default();
    let text = format!("{verb} `{path}`{how}\n{diff}{encoding}");
    let value = ChangeOutput {
        path,
        created,
        diff,
        replacements: applied.step.map(|_| applied.replacements),
        matched_with: applied.step,
        sha256: hash.as_ref().map(|hash| hex(hash)),
        assumed_encoding: applied.assumed_encoding.map(str::to_owned),
        notice: None,
    };
    ToolOutput::new(text, value)
}

impl ToolOutput<ChangeOutput> {
    /// Adds a remark about a file that was written in place.
    pub(super) fn with_notice(mut self, notice: Option<String>) -> Self {
        if let Some(notice) = &notice {
            self.blocks.push(ContentBlock::text(format!("[{notice}]")));
        }
        self.value.notice = notice;
        self
    }
}

/// The notice for an encoding that was guessed.
pub(super) fn assumption(encoding: &str) -> String {
    format!(
        "[the encoding is assumed to be {encoding}; if that is wrong, convert the file to UTF-8, as by `iconv`]\n"
    )
}

/// The text of a file that exists.
///
/// # Errors
/// It is not text.
pub(super) fn decode_text(before: &Before) -> Result<Option<Text>, ToolError> {
    let decode = |bytes: &[u8]| {
        Text::decode(bytes)
            .map_err(|binary| ToolError::user(format!("`{}` {binary}", before.location())))
    };
    before.snapshot().map(|snapshot| decode(&snapshot.bytes)).transpose()
}

/// The bytes of new content, in the encoding of the file.
pub(super) fn encode(path: &str, text: Option<&Text>, content: &str) -> Result<Vec<u8>, ToolError> {
    let new = Text::new("");
    let text = text.unwrap_or(&new);
    text.encode(content).map_err(|character| {
        ToolError::user(format!(
            "`{path}` is encoded in {}, which lacks `{character}`; write it without this character",
            text.encoding.name()
        ))
    })
}

/// New content with the line endings of the old one, unless the new one has `\r\n` itself.
fn with_eol_of(old: &str, content: &str) -> String {
    match Eol::from_text(old) {
        _ if content.contains('\r') => content.to_owned(),
        Eol::Crlf | Eol::Cr => LfView::from_raw(old).with_newlines(content, 0),
        Eol::Mixed => edit::rewritten(old, content),
        _ => content.to_owned(),
    }
}

fn replace(content: &str, edit: &EditOperation, deadline: Instant) -> Result<Replaced, EditError> {
    let EditOperation { old_string, new_string, replace_all } = edit;
    let edit = Replace { old: old_string, new: new_string, all: *replace_all };
    edit::replace(content, edit, deadline)
}

fn edit_error(before: &Before, which: &str, error: &EditError) -> ToolError {
    let path = before.location();
    let is_notebook = before.is_notebook() && matches!(error, EditError::NotFound(_));
    let hint = if is_notebook { NOTEBOOK } else { "" };
    ToolError::user(format!("`{path}`: {which} {error}{hint}"))
}
