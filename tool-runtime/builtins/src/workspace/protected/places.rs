//! The places of a path: the symbolic links on the way to it, and what they lead to.

use std::path::{Component, Path, PathBuf};

/// The most links that are followed.
const MAX_LINKS: usize = 40;

/// The links on the way to a path and its end, each by its path without links. What does not exist yet is below the
/// innermost directory that does.
pub(super) fn places(path: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    let mut links = 0;
    // Of the whole path without links, so far.
    let mut here = PathBuf::new();
    let mut rest: Vec<PathBuf> = parts(path);
    while let Some(part) = rest.pop() {
        if part.as_os_str() == ".." {
            here.pop();
            continue;
        }
        here.push(&part);
        if let Ok(target) = std::fs::read_link(&here)
            && links < MAX_LINKS
        {
            links += 1;
            places.push(here.clone());
            here.pop();
            if target.is_absolute() {
                here = PathBuf::new();
            }
            rest.extend(parts(&target));
        }
    }
    places.push(here);
    places
}

/// The parts of a path, the first one last.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().filter(|part| !matches!(part, Component::CurDir));
    parts.rev().map(|part| PathBuf::from(part.as_os_str())).collect()
}

/// Whether a path is a directory's, or below it. File systems of other systems ignore case.
pub(super) fn is_within(path: &Path, directory: &Path) -> bool {
    if cfg!(target_os = "linux") {
        return path.starts_with(directory);
    }
    let mut parts = path.components();
    directory.components().all(|of_directory| {
        parts.next().is_some_and(|part| {
            let [part, of_directory] = [part, of_directory].map(|part| part.as_os_str());
            let lower = |text: &std::ffi::OsStr| text.to_string_lossy().to_lowercase();
            part == of_directory || lower(part) == lower(of_directory)
        })
    })
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_and_their_targets_are_places() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        std::fs::create_dir(top.join("v1")).unwrap();
        std::fs::write(top.join("v1/tokens"), "").unwrap();
        symlink("v1", top.join("data")).unwrap();
        symlink("data/tokens", top.join("tokens")).unwrap();
        let found = places(&top.join("tokens"));
        assert_eq!(found, ["tokens", "data", "v1/tokens"].map(|name| top.join(name)));
        assert_eq!(places(&top.join("later/file")), [top.join("later/file")]);
        symlink("self", top.join("self")).unwrap();
        assert_eq!(places(&top.join("self")).last(), Some(&top.join("self")));
    }
}
