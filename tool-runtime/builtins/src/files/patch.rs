//! Patches of several files: all or nothing.

mod apply;
mod begin_end;
mod unified;

use super::Files;
use super::change::{Applied, assumption, decode_text, encode};
use super::commit::{Before, Change, Freshness};
use super::diff;
use super::edit::{MatchRule, deadline};
use super::text::Text;
use crate::tool_output::ToolOutput;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::time::Instant;
use tool_runtime::__seam::hex;
use tool_runtime::{Access, ToolContext, ToolError};

/// Limit on the bytes of all files before and after, which are in memory together.
const MAX_BYTES: usize = 2 * super::snapshot::MAX_CHANGED as usize;

/// Limit on the bytes of all diffs of a result, which is within the default limits on results of a pool.
const MAX_DIFFS: usize = 50_000;

/// A patch of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FilePatch {
    Add {
        path: String,
        content: String,
    },
    /// A deletion and an addition of one path.
    Replace {
        path: String,
        content: String,
    },
    /// The hunks of a unified diff, which must remove the whole text; none in the other format.
    Delete {
        path: String,
        hunks: Option<Vec<Hunk>>,
    },
    Update {
        path: String,
        move_to: Option<String>,
        hunks: Vec<Hunk>,
    },
}

/// Lines of a file and their replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Lines after which the hunk is, outermost first: `@@ fn main() {`.
    pub(super) scopes: Vec<String>,
    pub(super) old: String,
    pub(super) new: String,
    pub(super) anchor: Anchor,
}

/// The part of a file where a hunk belongs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Anchor {
    #[default]
    Anywhere,
    /// Lines without context are the first of the file.
    Start,
    /// The last line of the hunk is the last of the file.
    End,
}

/// The changed files.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PatchOutput {
    /// The changes, in the order of the patch.
    pub files: Vec<PatchedFile>,
    /// A remark about files that were written in place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A changed file.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PatchedFile {
    /// Path of the file.
    pub path: String,
    /// The change.
    pub action: PatchAction,
    /// Where the file is now, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<String>,
    /// The changes as a unified diff, or a notice if the diffs of the patch are too long together.
    pub diff: String,
    /// The least strict rule by which old lines were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_with: Option<MatchRule>,
    /// The encoding of the file, if it was guessed from its bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub assumed_encoding: Option<String>,
    /// SHA-256 of the file now; absent if it was deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}

/// The change of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum PatchAction {
    /// The file is new.
    Added,
    /// The file has other content, and perhaps another name.
    Updated,
    /// The file is gone.
    Deleted,
}

/// The patches in a string of either format.
///
/// # Errors
/// The text is not a patch; with the line.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let patch = super::edit::lf(patch);
    let patch = without_fence(&patch);
    let parsed = if patch.lines().any(|line| line.trim() == begin_end::BEGIN) {
        begin_end::parse(patch)?
    } else if patch.lines().any(|line| line.starts_with("--- ") || line.starts_with("diff --git "))
    {
        unified::parse(patch)?
    } else {
        return Err(format!(
            "the patch begins neither with `{}` nor as a unified diff with `--- a/path`",
            begin_end::BEGIN
        ));
    };
    let merged = merge(parsed)?;
    if merged.is_empty() {
        return Err("the patch changes no file".to_owned());
    }
    match merged.iter().find(|patch| patch.is_empty()) {
        Some(patch) => Err(format!(
            "the patch has no lines for `{}`; write hunks with `-` and `+`, or remove the section",
            patch.path()
        )),
        None => Ok(merged),
    }
}

/// The patch without the lines of Markdown around it: a line that begins with three backticks, and one that is these.
fn without_fence(patch: &str) -> &str {
    let inner = patch.trim_start().strip_prefix("```").and_then(|rest| rest.split_once('\n'));
    let inner = inner.and_then(|(_, inner)| inner.trim_end().strip_suffix("```"));
    inner.filter(|inner| inner.is_empty() || inner.ends_with('\n')).unwrap_or(patch)
}

/// Several updates of one file are one, and so are its deletion and addition.
fn merge(patches: Vec<FilePatch>) -> Result<Vec<FilePatch>, String> {
    let mut result: Vec<FilePatch> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for patch in patches {
        let index = known.get(patch.path()).copied();
        match (index.and_then(|index| result.get_mut(index)), patch) {
            (
                Some(FilePatch::Update { move_to: None, hunks, .. }),
                FilePatch::Update { move_to: None, hunks: more, .. },
            ) => hunks.extend(more),
            (
                Some(deletion @ FilePatch::Delete { hunks: None, .. }),
                FilePatch::Add { path, content },
            ) => *deletion = FilePatch::Replace { path, content },
            (Some(_), patch) => {
                return Err(two_sections(patch.path()));
            }
            (None, patch) => {
                known.insert(patch.path().to_owned(), result.len());
                result.push(patch);
            }
        }
    }
    Ok(result)
}

fn two_sections(path: &str) -> String {
    format!("the patch has two sections for `{path}`; write one section with all of its hunks")
}

impl FilePatch {
    fn path(&self) -> &str {
        match self {
            Self::Add { path, .. }
            | Self::Replace { path, .. }
            | Self::Delete { path, .. }
            | Self::Update { path, .. } => path,
        }
    }

    /// Whether nothing is to be changed.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Update { move_to: None, hunks, .. } if hunks.is_empty())
    }
}

/// The files that a patch writes.
pub(super) fn access(patch: &str) -> Access {
    let patches = parse(patch).unwrap_or_default();
    patches.iter().fold(Access::none(), |access, patch| {
        let access = access.write(format!("file:{}", patch.path()));
        match patch {
            FilePatch::Update { move_to: Some(path), .. } => access.write(format!("file:{path}")),
            _ => access,
        }
    })
}

/// A patched file that is not written yet.
struct Planned {
    change: Change,
    file: PatchedFile,
}

impl Files {
    /// Applies a patch to all its files, or to none.
    pub(super) fn patch_files(
        &self,
        patch: &str,
        context: &ToolContext,
    ) -> Result<ToolOutput<PatchOutput>, ToolError> {
        let patches = parse(patch).map_err(ToolError::user)?;
        let nothing =
            |error: ToolError| ToolError::user(format!("nothing was changed: {}", error.message()));
        let (changes, mut files): (Vec<_>, Vec<_>) = self
            .plan_all(patches, context)
            .map_err(nothing)?
            .into_iter()
            .map(|plan| (plan.change, plan.file))
            .unzip();
        let committed = self.commit(changes, context)?;
        for (file, hash) in files.iter_mut().zip(committed.hashes) {
            file.sha256 = hash.as_ref().map(|hash| hex(hash));
        }
        limit_diffs(&mut files);
        let notice = committed.notice;
        let text = match &notice {
            Some(notice) => format!("{}\n[{notice}]", text_of(&files)),
            None => text_of(&files),
        };
        Ok(ToolOutput::new(text, PatchOutput { files, notice }))
    }

    fn plan_all(
        &self,
        patches: Vec<FilePatch>,
        context: &ToolContext,
    ) -> Result<Vec<Planned>, ToolError> {
        let (mut size, count) = (0, patches.len());
        let mut keys = HashSet::new();
        let deadline = deadline();
        let plan = |(number, patch): (usize, FilePatch)| {
            if context.is_cancelled() {
                return Err(ToolError::user("the call was cancelled"));
            }
            let planned = self.plan(patch, deadline, context)?;
            context.progress(number + 1, 2 * count, "files patched, not written yet");
            // A path may have several spellings.
            if !planned.change.keys().all(|key| keys.insert(key)) {
                return Err(ToolError::user(two_sections(&planned.file.path)));
            }
            size += planned.change.size();
            if size > MAX_BYTES {
                return Err(ToolError::user(format!(
                    "the files of the patch have more than {MAX_BYTES} bytes; send a patch for each"
                )));
            }
            Ok(planned)
        };
        patches.into_iter().enumerate().map(plan).collect()
    }

    fn plan(
        &self,
        patch: FilePatch,
        deadline: Instant,
        context: &ToolContext,
    ) -> Result<Planned, ToolError> {
        let before = self.read_to_change(patch.path(), Freshness::UnchangedIfRead, context)?;
        let path = before.location().to_string();
        // A link would be followed: its file would be deleted or created, not what the patch names.
        if !matches!(patch, FilePatch::Update { move_to: None, .. }) {
            self.check_no_link(patch.path())?;
        }
        match patch {
            FilePatch::Add { content, .. } if before.snapshot().is_none() => {
                let file = PatchedFile::new(path, PatchAction::Added, None, Some(&content));
                let change = Change::new(before, Some(content.into()));
                Ok(Planned { change, file })
            }
            FilePatch::Add { .. } => Err(ToolError::user(format!(
                "`{path}` exists already; update it instead of adding it"
            ))),
            FilePatch::Replace { content, .. } if before.snapshot().is_some() => {
                let old = decode_text(&before).ok().flatten().map(|text| text.content);
                let file =
                    PatchedFile::new(path, PatchAction::Updated, old.as_deref(), Some(&content));
                Ok(Planned { change: Change::new(before, Some(content.into())), file })
            }
            FilePatch::Replace { .. } => Err(super::dir_entry::missing(before.location())),
            _ if before.snapshot().is_none() => Err(super::dir_entry::missing(before.location())),
            FilePatch::Delete { hunks, .. } => {
                if let Some(hunks) = hunks {
                    check_deleted(&before, &hunks, deadline)?;
                }
                let old = decode_text(&before).ok().flatten().map(|text| text.content);
                let file = PatchedFile::new(path, PatchAction::Deleted, old.as_deref(), None);
                Ok(Planned { change: Change::new(before, None), file })
            }
            FilePatch::Update { move_to, hunks, .. } => {
                self.plan_update(before, move_to, &hunks, deadline, context)
            }
        }
    }

    /// # Errors
    /// A path is that of a symbolic link.
    fn check_no_link(&self, path: &str) -> Result<(), ToolError> {
        let entry = super::dir_entry::lookup(&self.workspace.resolve(path)?, path)?;
        match entry {
            Some((_, metadata)) if metadata.file_type().is_symlink() => {
                Err(ToolError::user(format!(
                    "`{path}` is a symbolic link, which patches do not add, delete or move; name the file that it leads to, or delete the link itself by `Delete`"
                )))
            }
            _ => Ok(()),
        }
    }

    fn plan_update(
        &self,
        before: Before,
        move_to: Option<String>,
        hunks: &[Hunk],
        deadline: Instant,
        context: &ToolContext,
    ) -> Result<Planned, ToolError> {
        let path = before.location().to_string();
        let text = decode_text(&before)?.unwrap_or_else(|| Text::new(""));
        let applied = apply::hunks(&text.content, hunks, deadline);
        let (content, applied) = applied.map_err(|error| hunk_error(&path, error))?;
        let bytes = encode(&path, Some(&text), &content)?;
        let mut file =
            PatchedFile::new(path, PatchAction::Updated, Some(&text.content), Some(&content));
        file.matched_with = applied.step;
        file.assumed_encoding = text.encoding.assumed().map(str::to_owned);
        let Some(move_to) = move_to else {
            return Ok(Planned { change: Change::new(before, Some(bytes)), file });
        };
        self.check_no_link(&move_to)?;
        let target = self.read_to_change(&move_to, Freshness::UnchangedIfRead, context)?;
        if target.snapshot().is_some() {
            return Err(ToolError::user(format!(
                "`{move_to}` exists already; move to another name"
            )));
        }
        file.moved_to = Some(target.location().to_string());
        Ok(Planned { change: Change::new(before, Some(bytes)).moved_to(target), file })
    }
}

/// Rejects a diff that does not delete all that the file has by now.
fn check_deleted(before: &Before, hunks: &[Hunk], deadline: Instant) -> Result<(), ToolError> {
    let path = before.location();
    let text = decode_text(before)?.unwrap_or_else(|| Text::new(""));
    let applied = apply::hunks(&text.content, hunks, deadline);
    let (rest, _) = applied.map_err(|error| hunk_error(&path.to_string(), error))?;
    if rest.is_empty() {
        return Ok(());
    }
    Err(ToolError::user(format!(
        "`{path}` has text that the patch does not delete; read it again, or use `Delete`"
    )))
}

fn hunk_error(path: &str, (number, error): apply::HunkError) -> ToolError {
    ToolError::user(format!("`{path}`: the old text of hunk {} {error}", number + 1))
}

impl PatchedFile {
    fn new(path: String, action: PatchAction, old: Option<&str>, new: Option<&str>) -> Self {
        let diff = diff::unified(&path, old, new);
        Self {
            path,
            action,
            moved_to: None,
            diff,
            matched_with: None,
            assumed_encoding: None,
            sha256: None,
        }
    }
}

/// Leaves out the diffs that the result has no room for.
fn limit_diffs(files: &mut [PatchedFile]) {
    let mut room = MAX_DIFFS;
    for PatchedFile { diff, .. } in files {
        if let Some(less) = room.checked_sub(diff.len()) {
            room = less;
        } else {
            let count = diff.lines().count();
            *diff = format!("[the {count} lines of the diff are not shown]\n");
        }
    }
}

fn text_of(files: &[PatchedFile]) -> String {
    let mut text = String::new();
    for file in files {
        let verb = match file.action {
            PatchAction::Added => "added",
            PatchAction::Updated => "updated",
            PatchAction::Deleted => "deleted",
        };
        let to = file.moved_to.as_ref().map_or(String::new(), |to| format!(", now `{to}`"));
        let how = match file.matched_with {
            Some(step) if step != MatchRule::Exact => format!(" (found by {})", step.name()),
            _ => String::new(),
        };
        let _ = writeln!(text, "{verb} `{}`{to}{how}", file.path);
        text.extend(file.assumed_encoding.as_deref().map(assumption));
    }
    text
}
