//! Patches of several files: all or nothing.

mod apply;
mod begin_end;
mod unified;

use super::Files;
use super::change::{Applied, decoded, encode};
use super::commit::{Before, Change, Freshness};
use super::diff;
use super::edit::Step;
use super::snapshot::hex;
use super::text::Text;
use crate::shown::Shown;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write as _;
use tool_runtime::{Access, ToolContext, ToolError};

/// Limit on the bytes of all files before and after, which are in memory together.
const MAX_BYTES: usize = 2 * super::snapshot::MAX_CHANGED as usize;

/// A patch of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FilePatch {
    Add { path: String, content: String },
    Delete { path: String },
    Update { path: String, move_to: Option<String>, hunks: Vec<Hunk> },
}

/// Lines of a file and their replacement.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Lines after which the place is, outermost first: `@@ fn main() {`.
    pub(super) scopes: Vec<String>,
    pub(super) old: String,
    pub(super) new: String,
    /// Whether the place is at the end of the file.
    pub(super) at_end: bool,
}

/// The changed files.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct PatchOutput {
    /// The changes, in the order of the patch.
    pub files: Vec<PatchedFile>,
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
    /// The changes as a unified diff.
    pub diff: String,
    /// The least strict rule by which old lines were found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matched_with: Option<Step>,
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

/// The patches in a text of either format.
///
/// # Errors
/// The text is not a patch; with the line.
pub(super) fn parse(patch: &str) -> Result<Vec<FilePatch>, String> {
    let patch = super::edit::lf(patch);
    let parsed = if patch.lines().any(|line| line.trim() == begin_end::BEGIN) {
        begin_end::parse(&patch)?
    } else if patch.lines().any(|line| line.starts_with("--- ") || line.starts_with("diff --git "))
    {
        unified::parse(&patch)?
    } else {
        return Err(format!(
            "the patch begins neither with `{}` nor as a unified diff with `--- a/path`",
            begin_end::BEGIN
        ));
    };
    let merged = merged(parsed)?;
    if merged.is_empty() { Err("the patch changes no file".to_owned()) } else { Ok(merged) }
}

/// Several updates of one file are one.
fn merged(patches: Vec<FilePatch>) -> Result<Vec<FilePatch>, String> {
    let mut result: Vec<FilePatch> = Vec::new();
    for patch in patches {
        let known = result.iter_mut().find(|other| other.path() == patch.path());
        match (known, patch) {
            (
                Some(FilePatch::Update { move_to: None, hunks, .. }),
                FilePatch::Update { move_to: None, hunks: more, .. },
            ) => hunks.extend(more),
            (Some(_), patch) => {
                return Err(format!("the patch changes `{}` in two ways", patch.path()));
            }
            (None, patch) => result.push(patch),
        }
    }
    Ok(result)
}

impl FilePatch {
    fn path(&self) -> &str {
        match self {
            Self::Add { path, .. } | Self::Delete { path } | Self::Update { path, .. } => path,
        }
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
    changes: Vec<Change>,
    file: PatchedFile,
}

impl Files {
    /// Applies a patch to all its files, or to none.
    pub(super) fn patch_files(
        &self,
        patch: &str,
        context: &ToolContext,
    ) -> Result<Shown<PatchOutput>, ToolError> {
        let patches = parse(patch).map_err(ToolError::user)?;
        let nothing =
            |error: ToolError| ToolError::user(format!("nothing was changed: {}", error.message()));
        let (changes, mut files): (Vec<_>, Vec<_>) = self
            .plan_all(patches, context)
            .map_err(nothing)?
            .into_iter()
            .map(|plan| (plan.changes, plan.file))
            .unzip();
        let counts: Vec<usize> = changes.iter().map(Vec::len).collect();
        let hashes = self.commit(changes.into_iter().flatten().collect(), context)?;
        let mut hashes = hashes.into_iter();
        for (file, count) in files.iter_mut().zip(counts) {
            // The new file is the last change.
            file.sha256 = hashes.by_ref().take(count).last().flatten().as_ref().map(hex);
        }
        Ok(Shown::new(text_of(&files), PatchOutput { files }))
    }

    fn plan_all(
        &self,
        patches: Vec<FilePatch>,
        context: &ToolContext,
    ) -> Result<Vec<Planned>, ToolError> {
        let (mut size, count) = (0, patches.len());
        let plan = |(number, patch): (usize, FilePatch)| {
            if context.is_cancelled() {
                return Err(ToolError::user("the call was cancelled"));
            }
            let planned = self.plan(patch)?;
            context.progress(number + 1, 2 * count, "files patched, not written yet");
            size += planned.changes.iter().map(Change::size).sum::<usize>();
            if size > MAX_BYTES {
                return Err(ToolError::user(format!(
                    "the files of the patch have more than {MAX_BYTES} bytes; send a patch for each"
                )));
            }
            Ok(planned)
        };
        patches.into_iter().enumerate().map(plan).collect()
    }

    fn plan(&self, patch: FilePatch) -> Result<Planned, ToolError> {
        let before = self.read_to_change(patch.path(), Freshness::UnchangedIfRead)?;
        let path = before.location().to_string();
        match patch {
            FilePatch::Add { content, .. } if before.snapshot().is_none() => {
                let file = PatchedFile::new(path, PatchAction::Added, None, Some(&content));
                Ok(Planned { changes: vec![Change::new(before, Some(content.into()))], file })
            }
            FilePatch::Add { .. } => Err(ToolError::user(format!(
                "`{path}` exists already; update it instead of adding it"
            ))),
            _ if before.snapshot().is_none() => Err(super::place::missing(before.location())),
            FilePatch::Delete { .. } => {
                let old = decoded(&before).ok().flatten().map(|text| text.content);
                let file = PatchedFile::new(path, PatchAction::Deleted, old.as_deref(), None);
                Ok(Planned { changes: vec![Change::new(before, None)], file })
            }
            FilePatch::Update { move_to, hunks, .. } => self.plan_update(before, move_to, &hunks),
        }
    }

    fn plan_update(
        &self,
        before: Before,
        move_to: Option<String>,
        hunks: &[Hunk],
    ) -> Result<Planned, ToolError> {
        let path = before.location().to_string();
        let text = decoded(&before)?.unwrap_or_else(|| Text::new(""));
        let (content, applied) =
            apply::hunks(&text.content, hunks).map_err(|(number, error)| {
                ToolError::user(format!("`{path}`: the old text of hunk {} {error}", number + 1))
            })?;
        let bytes = encode(&path, Some(&text), &content)?;
        let mut file =
            PatchedFile::new(path, PatchAction::Updated, Some(&text.content), Some(&content));
        file.matched_with = applied.step;
        let Some(move_to) = move_to else {
            return Ok(Planned { changes: vec![Change::new(before, Some(bytes))], file });
        };
        let target = self.read_to_change(&move_to, Freshness::UnchangedIfRead)?;
        if target.snapshot().is_some() {
            return Err(ToolError::user(format!(
                "`{move_to}` exists already; move to another name"
            )));
        }
        file.moved_to = Some(target.location().to_string());
        let permissions = before.snapshot().map(|snapshot| snapshot.permissions.clone());
        let moved = Change { before: target, after: Some(bytes), permissions };
        Ok(Planned { changes: vec![Change::new(before, None), moved], file })
    }
}

impl PatchedFile {
    fn new(path: String, action: PatchAction, old: Option<&str>, new: Option<&str>) -> Self {
        let diff = diff::unified(&path, old, new);
        Self { path, action, moved_to: None, diff, matched_with: None, sha256: None }
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
            Some(step) if step != Step::Exact => format!(" (found by {})", step.name()),
            _ => String::new(),
        };
        let _ = writeln!(text, "{verb} `{}`{to}{how}", file.path);
    }
    text
}
