//! From a location to the file that it means, through symbolic links, by handles of directories.

use crate::workspace::{Location, Root, open_file, real_path};
use cap_std::fs::{Dir, File, Metadata};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tool_runtime::ToolError;

/// Links that are followed at the end of a path.
const MAX_LINKS: usize = 40;

/// An entry of a directory, which is not a link.
#[derive(Debug)]
pub(super) struct DirEntry {
    /// The directory, opened: renaming it meanwhile changes nothing.
    pub(super) parent: Dir,
    pub(super) name: OsString,
    /// One spelling for every path that means this entry.
    pub(super) key: PathBuf,
    /// The name for models: as they wrote it.
    pub(super) display_path: String,
    root: Arc<Root>,
}

/// The entry that a location means.
#[derive(Debug)]
pub(super) enum Target {
    File(DirEntry),
    /// Its location without links.
    Directory(Location),
    /// Where it would be created.
    Missing(Location),
}

/// Finds the entry of a location.
///
/// # Errors
/// A link leads out of the root, or the entry is neither file nor directory.
pub(super) fn find(location: &Location) -> Result<Target, ToolError> {
    let display_path = location.to_string();
    let mut location = location.clone();
    for _ in 0..MAX_LINKS {
        let Some((entry, metadata)) = lookup(&location, &display_path)? else {
            return Ok(Target::Missing(location));
        };
        match metadata.file_type() {
            kind if kind.is_dir() => return Ok(Target::Directory(location)),
            kind if kind.is_file() => return Ok(Target::File(entry)),
            kind if kind.is_symlink() => location = follow(&location, &entry)?,
            _ => return Err(special(&display_path)),
        }
    }
    Err(ToolError::user(format!("`{display_path}` leads through too many symbolic links")))
}

/// The entry itself, also if it is a link. `None` if it does not exist.
///
/// # Errors
/// A link leads out of the root, or the location is a root.
pub(super) fn lookup(
    location: &Location,
    display_path: &str,
) -> Result<Option<(DirEntry, Metadata)>, ToolError> {
    let dir = location.root().dir();
    let Some((parent, name)) = split(location.path()) else {
        let metadata =
            dir.metadata(location.path()).map_err(|error| describe(display_path, &error))?;
        let parent = dir.try_clone()?;
        let (root, key) = (location.root().clone(), location.root().canonical_path().to_owned());
        let entry =
            DirEntry { parent, name: ".".into(), key, display_path: display_path.to_owned(), root };
        return Ok(Some((entry, metadata)));
    };
    let missing = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(describe(display_path, &error)),
    };
    let opened = dir.open_dir(parent).and_then(|opened| {
        let real =
            if parent == Path::new(".") { PathBuf::new() } else { dir.canonicalize(parent)? };
        let metadata = opened.symlink_metadata(name)?;
        Ok((opened, location.root().canonical_path().join(real).join(name), metadata))
    });
    match opened {
        Ok((parent, key, metadata)) => {
            let (name, root) = (name.to_owned(), location.root().clone());
            let entry = DirEntry { parent, name, key, display_path: display_path.to_owned(), root };
            Ok(Some((entry, metadata)))
        }
        Err(error) => missing(error),
    }
}

/// Directory and name of a path. `None` for a root, and for a path that ends with `..`.
fn split(path: &Path) -> Option<(&Path, &OsStr)> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    Some((parent.unwrap_or(Path::new(".")), path.file_name()?))
}

/// The location that a link leads to.
fn follow(location: &Location, link: &DirEntry) -> Result<Location, ToolError> {
    let target = link.parent.read_link_contents(&link.name)?;
    let root = location.root();
    let next = if target.is_absolute() {
        location.with_path(root.below(&target).ok_or_else(|| leads_out(&link.display_path))?)
    } else {
        let parent = split(location.path()).map_or(Path::new("."), |(parent, _)| parent);
        location.with_path(parent.join(target))
    };
    Ok(next.through_absolute_links())
}

impl DirEntry {
    /// Where a new file goes. Its directory exists.
    pub(super) fn of_new(location: &Location) -> Result<Self, ToolError> {
        let display_path = location.to_string();
        let Some((parent, name)) = split(location.path()) else {
            return Err(ToolError::user(format!("`{display_path}` is a directory")));
        };
        let dir = location.root().dir();
        let opened =
            dir.open_dir(parent).and_then(|opened| Ok((opened, dir.canonicalize(parent)?)));
        let (opened, real) = opened.map_err(|error| describe(&display_path, &error))?;
        let key = location.root().canonical_path().join(real).join(name);
        let (name, root) = (name.to_owned(), location.root().clone());
        Ok(Self { parent: opened, name, key, display_path, root })
    }

    /// Checks that tools may change the entry.
    ///
    /// # Errors
    /// It belongs to git, or the operator protects it.
    pub(super) fn check_changes(&self) -> Result<(), ToolError> {
        // The key may be that of another directory, if links changed before this one was opened.
        let real = real_path(&self.parent).map(|parent| parent.join(&self.name));
        let path = real.as_ref().unwrap_or(&self.key);
        let below = path.strip_prefix(self.root.canonical_path()).unwrap_or(path);
        match self.root.protected().keeps(path, below) {
            None => Ok(()),
            Some(reason) => Err(ToolError::user(format!("`{}` {reason}", self.display_path))),
        }
    }

    /// Whether a path without links is in the root of the file.
    pub(super) fn is_in_root(&self, path: &Path) -> bool {
        path.starts_with(self.root.canonical_path())
    }

    /// Whether the file is shown as the cells of a notebook.
    pub(super) fn is_notebook(&self) -> bool {
        self.key.extension().is_some_and(|extension| extension == "ipynb")
    }

    /// Opens the file for reading. A pipe that replaced it does not block.
    pub(super) fn open(&self) -> Result<(File, Metadata), ToolError> {
        let open = || {
            let file = open_file(&self.parent, &self.name)?;
            self.root.check_opened(&file, &self.key)?;
            let metadata = file.metadata()?;
            Ok((file, metadata))
        };
        let (file, metadata) = open().map_err(|error| describe(&self.display_path, &error))?;
        if metadata.is_file() { Ok((file, metadata)) } else { Err(special(&self.display_path)) }
    }
}

fn special(display_path: &str) -> ToolError {
    ToolError::user(format!("`{display_path}` is neither a file nor a directory; use another tool"))
}

fn leads_out(display_path: &str) -> ToolError {
    ToolError::user(format!(
        "`{display_path}` leads out of the workspace by a symbolic link; give a path inside it"
    ))
}

/// An error of the system about a path, for a model.
pub(super) fn describe(display_path: &str, error: &io::Error) -> ToolError {
    // The error of cap-std for a path that would leave its directory has no number of the system.
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return leads_out(display_path);
    }
    ToolError::user(format!("`{display_path}`: {error}"))
}

/// The error for a file that does not exist, with the names in its directory that are most like it.
pub(super) fn missing(location: &Location) -> ToolError {
    const SHOWN: usize = 3;
    let wanted = location.path().file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    let parent = split(location.path()).map_or(Path::new("."), |(parent, _)| parent);
    let Ok(entries) = location.root().dir().read_dir(parent) else {
        let parent = location.with_path(parent);
        return ToolError::user(format!(
            "`{location}` does not exist, nor does its directory `{parent}`"
        ));
    };
    let (root, canonical) = (location.root(), location.with_path(parent).canonical());
    let names = entries.take(10_000).flatten().map(|entry| entry.file_name());
    let names = names.filter(|name| root.protected().hides(&canonical.join(name)).is_none());
    let near = names.filter_map(|name| {
        let lower = name.to_string_lossy().to_lowercase();
        Some((distance(&wanted, &lower)?, name))
    });
    let mut near: Vec<(usize, OsString)> = near.collect();
    near.sort();
    let near: Vec<String> = near
        .into_iter()
        .take(SHOWN)
        .map(|(_, name)| format!("`{}`", location.with_path(location.path().with_file_name(name))))
        .collect();
    let hint =
        if near.is_empty() { String::new() } else { format!("; there is {}", near.join(", ")) };
    ToolError::user(format!("`{location}` does not exist{hint}"))
}

/// How far two names are apart, if they are alike.
fn distance(wanted: &str, name: &str) -> Option<usize> {
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    if !stem(wanted).is_empty() && stem(wanted) == stem(name) {
        return Some(0);
    }
    let distance = strsim::osa_distance(wanted, name);
    (distance * 3 <= wanted.chars().count()).then_some(distance)
}
