//! Any sequence of changes of content with undo restores all files: bytes, permissions, links.
#![cfg(unix)]

use crate::support::{Folder, Tools, edit};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::{Path, PathBuf};
use tool_runtime::ToolResult;

/// A step of a sequence.
#[derive(Clone, Debug)]
enum Step {
    Write(&'static str, String),
    Insert(&'static str, usize, String),
    Edit(&'static str, usize, usize, String),
    MultiEdit(&'static str, usize, usize, String),
    Patch(Vec<Patched>),
    Delete(&'static str),
}

/// A file of a patch: updated or deleted if it exists, otherwise added.
#[derive(Clone, Debug)]
struct Patched {
    path: &'static str,
    line: String,
    is_deleted: bool,
}

/// Files, directories, and links to both.
const NAMES: [&str; 11] = ["a", "b", "d/a", "d/b", "d", "e", "l", "k", "k/a", "n/m/x", "e/y"];

fn name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(NAMES.to_vec())
}

fn text() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a", "  b", "\tc ", "“d”", "", "a b", "}"]);
    let end = prop::sample::select(vec!["\n", "\r\n", "\n\n"]);
    prop::collection::vec((line, end), 0..6)
        .prop_map(|lines| lines.into_iter().flat_map(|(line, end)| [line, end]).collect())
}

fn patched() -> impl Strategy<Value = Patched> {
    (name(), "[a-z]{1,3}", prop::bool::weighted(0.2)).prop_map(|(path, line, is_deleted)| Patched {
        path,
        line,
        is_deleted,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let range = || (0_usize..40, 1_usize..12);
    prop_oneof![
        3 => (name(), text()).prop_map(|(name, text)| Step::Write(name, text)),
        2 => (name(), 0_usize..6, text()).prop_map(|(name, line, text)| Step::Insert(name, line, text)),
        4 => (name(), range(), text()).prop_map(|(name, (at, length), text)| Step::Edit(name, at, length, text)),
        2 => (name(), range(), text()).prop_map(|(name, (at, length), text)| Step::MultiEdit(name, at, length, text)),
        3 => prop::collection::vec(patched(), 1..3).prop_map(Step::Patch),
        // The others are links and directories, whose deletion is not undone.
        3 => prop::sample::select(vec!["a", "b", "d/a", "d/b", "k/a", "n/m/x", "e/y"]).prop_map(Step::Delete),
    ]
}

/// An entry of the tree.
#[derive(Debug, PartialEq)]
enum Entry {
    File(Vec<u8>, u32),
    Link(PathBuf),
    Directory(u32),
}

fn tree(folder: &Folder) -> BTreeMap<PathBuf, Entry> {
    let mut tree = BTreeMap::new();
    add(&folder.path(""), Path::new(""), &mut tree);
    tree
}

fn add(directory: &Path, prefix: &Path, tree: &mut BTreeMap<PathBuf, Entry>) {
    for entry in fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let (path, name) = (entry.path(), prefix.join(entry.file_name()));
        let metadata = entry.metadata().unwrap();
        let found = if metadata.is_symlink() {
            Entry::Link(fs::read_link(&path).unwrap())
        } else if metadata.is_dir() {
            add(&path, &name, tree);
            Entry::Directory(metadata.mode())
        } else {
            Entry::File(fs::read(&path).unwrap(), metadata.mode())
        };
        tree.insert(name, found);
    }
}

impl Step {
    /// The call of a step on the current tree.
    fn call(&self, folder: &Folder) -> (&'static str, Value) {
        let content = |path: &str| fs::read_to_string(folder.path(path)).unwrap_or_default();
        let part = |path: &str, at: usize, length: usize| -> String {
            content(path).chars().skip(at).take(length).collect()
        };
        match self {
            Self::Write(path, text) => ("Write", json!({ "file_path": path, "content": text })),
            Self::Insert(path, line, text) => (
                "file_editor",
                json!({ "command": "insert", "path": path, "insert_line": line, "new_str": text }),
            ),
            Self::Edit(path, at, length, text) => {
                ("Edit", edit(path, &part(path, *at, *length), text))
            }
            Self::MultiEdit(path, at, length, text) => {
                let first = json!({ "old_string": part(path, *at, *length), "new_string": format!("{text}!") });
                let second = json!({ "old_string": format!("{text}!"), "new_string": text });
                ("MultiEdit", json!({ "file_path": path, "edits": [first, second] }))
            }
            Self::Patch(files) => {
                let body: String =
                    files.iter().map(|file| file.body(&folder.path(file.path))).collect();
                let patch = format!("*** Begin Patch\n{body}*** End Patch\n");
                ("apply_patch", json!({ "patch": patch }))
            }
            Self::Delete(path) => ("Delete", json!({ "path": path })),
        }
    }

    /// The paths whose last changes are those of the step, the last one first.
    fn changed(&self, result: &ToolResult) -> Vec<String> {
        match self {
            Self::Write(path, _)
            | Self::Insert(path, ..)
            | Self::Edit(path, ..)
            | Self::MultiEdit(path, ..)
            | Self::Delete(path) => vec![(*path).to_owned()],
            Self::Patch(_) => {
                let files = result.observation().structured().unwrap()["files"].clone();
                let files = files.as_array().unwrap().iter();
                let mut paths: Vec<String> =
                    files.map(|file| file["path"].as_str().unwrap().to_owned()).collect();
                paths.reverse();
                paths
            }
        }
    }
}

impl Patched {
    fn body(&self, path: &Path) -> String {
        let Self { path: name, line, is_deleted } = self;
        match fs::read_to_string(path) {
            Ok(_) if *is_deleted => format!("*** Delete File: {name}\n"),
            Ok(content) => {
                let old = content.lines().next().unwrap_or_default();
                format!("*** Update File: {name}\n@@\n-{old}\n+{line}\n")
            }
            Err(_) => format!("*** Add File: {name}\n+{line}\n"),
        }
    }
}

fn folder() -> Folder {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let program = folder.put("a", "#!/bin/sh\r\necho “x”\n");
    fs::set_permissions(program, fs::Permissions::from_mode(0o755)).unwrap();
    let secret = folder.put("d/a", "1\n2\n");
    fs::set_permissions(secret, fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir(folder.path("e")).unwrap();
    fs::set_permissions(folder.path("e"), fs::Permissions::from_mode(0o750)).unwrap();
    symlink("a", folder.path("l")).unwrap();
    symlink(folder.path("d"), folder.path("k")).unwrap();
    folder
}

async fn sequence(steps: &[Step]) -> Result<(), TestCaseError> {
    let folder = folder();
    let tools = Tools::over(folder.path(""));
    let mut done = Vec::new();
    for step in steps {
        let before = tree(&folder);
        for path in NAMES {
            tools.call("Read", json!({ "file_path": path })).await;
        }
        let (tool, arguments) = step.call(&folder);
        let result = tools.call(tool, arguments).await;
        if result.is_error() {
            prop_assert_eq!(tree(&folder), before);
        } else {
            done.push((before, step.changed(&result)));
        }
    }
    for (before, paths) in done.into_iter().rev() {
        for path in paths {
            let undone = tools.call("UndoEdit", json!({ "file_path": path })).await;
            prop_assert!(!undone.is_error(), "{}", undone.observation().to_text());
        }
        // Directories that a change created stay.
        let is_kept = |(path, entry): &(PathBuf, Entry)| {
            !matches!(entry, Entry::Directory(_)) || before.contains_key(path)
        };
        let now: BTreeMap<_, _> = tree(&folder).into_iter().filter(is_kept).collect();
        prop_assert_eq!(now, before);
    }
    Ok(())
}

proptest! {
    #![proptest_config(crate::property::cases(64))]

    #[test]
    fn undo_restores_all_files(steps in prop::collection::vec(step(), 1..10)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(sequence(&steps))?;
    }
}
