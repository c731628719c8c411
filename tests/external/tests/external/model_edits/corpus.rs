//! Differences between versions of crates.

use similar::{ChangeTag, TextDiff};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A hunk of a difference.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    /// The file before, and with this hunk alone.
    pub(crate) before: String,
    pub(crate) after: String,
    /// Lines with their side: ` `, `-` or `+`.
    pub(crate) lines: Vec<(char, String)>,
    /// Number of the first line, counted from 1.
    pub(crate) first: usize,
}

/// A crate of the corpus whose sources cargo does not have: without them the corpus would be another one.
pub(crate) fn missing() -> Option<String> {
    let names = duplicates().into_iter().flat_map(|(name, versions)| {
        versions.into_iter().map(move |version| format!("{name}-{version}"))
    });
    names.into_iter().find(|name| source(name).is_none())
}

/// Edits from all over the corpus.
pub(crate) fn edits(most: usize) -> Vec<Edit> {
    let mut edits: Vec<Edit> = pairs().iter().flat_map(|(old, new)| of_file(old, new)).collect();
    let step = (edits.len() / most).max(1);
    let mut number = 0;
    edits.retain(|_| {
        number += 1;
        (number - 1) % step == 0
    });
    edits.truncate(most);
    edits
}

/// The hunks of a file, with up to three lines of context.
fn of_file(old: &Path, new: &Path) -> Vec<Edit> {
    let (Ok(before), Ok(after)) = (fs::read_to_string(old), fs::read_to_string(new)) else {
        return Vec::new();
    };
    if before.contains('\r') || before.len() > 200_000 {
        return Vec::new();
    }
    let diff = TextDiff::from_lines(&before, &after);
    let old_lines: Vec<&str> = before.split_inclusive('\n').collect();
    let hunk = |group: Vec<similar::DiffOp>| {
        let changes: Vec<_> = group.iter().flat_map(|op| diff.iter_changes(op)).collect();
        let side = |tag| match tag {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
        };
        let lines: Vec<(char, String)> = changes
            .iter()
            .map(|change| (side(change.tag()), change.value().trim_end_matches('\n').to_owned()))
            .collect();
        let start = group.first()?.old_range().start;
        let end = group.last()?.old_range().end;
        let new: String = lines
            .iter()
            .filter(|(side, _)| *side != '-')
            .flat_map(|(_, line)| [line.as_str(), "\n"])
            .collect();
        let after = old_lines[..start].concat() + &new + &old_lines[end..].concat();
        let is_plain = lines.len() < 60
            && lines.iter().any(|(side, _)| *side != '+')
            && changes.iter().all(|change| !change.missing_newline());
        is_plain.then(|| Edit { before: before.clone(), after, lines, first: start + 1 })
    };
    diff.grouped_ops(3).into_iter().filter_map(hunk).collect()
}

/// Files of the same name in two versions.
fn pairs() -> Vec<(PathBuf, PathBuf)> {
    let mut pairs = Vec::new();
    for (name, versions) in duplicates() {
        let Some((old, new)) = versions.first().zip(versions.last()) else { continue };
        let (Some(old), Some(new)) =
            (source(&format!("{name}-{old}")), source(&format!("{name}-{new}")))
        else {
            continue;
        };
        let mut files = Vec::new();
        sources(&old.join("src"), &mut files);
        files.sort();
        let same = files.into_iter().filter_map(|file| {
            let other = new.join(file.strip_prefix(&old).ok()?);
            other.exists().then_some((file, other))
        });
        pairs.extend(same);
    }
    pairs
}

/// The crates that the lock file has in several versions, except bindings.
fn duplicates() -> BTreeMap<String, Vec<String>> {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    let lock = fs::read_to_string(lock).unwrap_or_default();
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let value = |line: &str, key: &str| {
        Some(line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')?.to_owned())
    };
    let mut name = String::new();
    for line in lock.lines() {
        if let Some(found) = value(line, "name") {
            name = found;
        } else if let Some(version) = value(line, "version") {
            all.entry(name.clone()).or_default().push(version);
        }
    }
    all.retain(|name, versions| versions.len() > 1 && !name.starts_with("windows"));
    all
}

/// The directory of a crate in the registry of cargo.
fn source(name: &str) -> Option<PathBuf> {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")))?;
    let registries = fs::read_dir(home.join("registry/src")).ok()?;
    registries.filter_map(|entry| Some(entry.ok()?.path().join(name))).find(|path| path.exists())
}

fn sources(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}
