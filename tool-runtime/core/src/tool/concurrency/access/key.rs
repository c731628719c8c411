//! One spelling for every key, so that keys are compared as text.

use super::directory::from_directory;
use compact_str::{CompactString, format_compact};
use std::ffi::OsString;
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};

const FILE: &str = "file:";

/// Limit on the length of a resolved path. Systems cannot open longer ones, so their ancestors are
/// not looked up.
const MAX_PATH_LENGTH: usize = 4096;

/// The normalized key, for comparison.
pub(super) fn normalize(key: CompactString) -> CompactString {
    let Some(path) = key.strip_prefix(FILE) else { return key };
    match std::path::absolute(from_directory(path)) {
        Ok(path) => format_compact!("{FILE}{}", normal_path(&path).display()),
        // The path is empty, or the current directory is unknown.
        Err(_) => key,
    }
}

/// Resolves links first, because `..` after a link is the parent of its target, and again
/// afterwards, because removing `..` after a missing component may expose another link.
fn normal_path(path: &Path) -> PathBuf {
    // Removes `.` and a trailing separator, which would require a directory.
    let path = join_components(path.components());
    resolve(&lexical(&resolve(&path)))
}

/// Limit on the broken links that are followed, as that of Linux on links.
const MAX_LINKS: usize = 40;

/// The path with its links resolved, also broken ones, by which files are created.
fn resolve(path: &Path) -> PathBuf {
    let mut path = resolve_existing(path);
    for _ in 0..MAX_LINKS {
        match behind_broken_link(&path) {
            Some(next) => path = resolve_existing(&lexical(&next)),
            None => break,
        }
    }
    path
}

/// The path behind its first broken link.
fn behind_broken_link(path: &Path) -> Option<PathBuf> {
    let ancestors = path.ancestors().filter(|path| path.as_os_str().len() < MAX_PATH_LENGTH);
    let link = ancestors.into_iter().find(|ancestor| ancestor.is_symlink())?;
    let target = link.parent()?.join(link.read_link().ok()?);
    Some(target.join(path.strip_prefix(link).ok()?))
}

/// The path with the links of its longest existing ancestor resolved.
fn resolve_existing(path: &Path) -> PathBuf {
    let ancestors = path.ancestors().filter(|path| path.as_os_str().len() < MAX_PATH_LENGTH);
    let ancestors: Vec<&Path> = ancestors.collect();
    // Searches from the root, so that the first missing part ends the search.
    let existing = ancestors.into_iter().rev().take_while(|ancestor| ancestor.exists()).last();
    let real = existing.and_then(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
    match real.and_then(|(ancestor, real)| Some((real, path.strip_prefix(ancestor).ok()?))) {
        // Joining an empty path would append a separator.
        Some((real, rest)) if rest.as_os_str().is_empty() => real,
        Some((real, rest)) => real.join(rest),
        None => path.to_owned(),
    }
}

/// The path without `..`.
fn lexical(path: &Path) -> PathBuf {
    let mut normal = Vec::new();
    for component in path.components() {
        match component {
            Component::ParentDir if matches!(normal.last(), Some(Component::Normal(_))) => {
                normal.pop();
            }
            Component::ParentDir | Component::CurDir => {}
            other => normal.push(other),
        }
    }
    join_components(normal.into_iter())
}

/// The path that has these components. Collecting into a `PathBuf` takes quadratic time for a path that begins with
/// `\\?\`.
fn join_components<'a>(components: impl Iterator<Item = Component<'a>>) -> PathBuf {
    let (mut path, mut is_open) = (OsString::new(), false);
    for component in components {
        if is_open {
            path.push(MAIN_SEPARATOR_STR);
        }
        path.push(component);
        is_open = !matches!(component, Component::Prefix(_) | Component::RootDir);
    }
    path.into()
}

#[cfg(test)]
mod tests {
    use super::super::directory::in_directory;
    use super::*;
    use std::sync::Arc;

    fn file(path: &str) -> CompactString {
        normalize(format_compact!("file:{path}"))
    }

    #[test]
    fn spellings_of_a_path_give_one_key() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let expected = format!("file:{}", here.join("missing").display());
        for path in ["missing", "./missing", "b/../missing", "b//..//.//missing/", "src/../missing"]
        {
            assert_eq!(file(path), expected, "{path}");
        }
        assert_eq!(file(&here.join("missing").display().to_string()), expected);
        assert_eq!(file("src"), format!("file:{}", here.join("src").display()));
    }

    #[test]
    fn relative_paths_begin_at_the_directory_of_the_tool() {
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        let source: Arc<Path> = here.join("src").into();
        let absolute = here.join("src/a").display().to_string();
        let keys = |path: &str| (file(path), in_directory(Some(&source), || file(path)));
        assert_eq!(keys("a").1, keys(&absolute).0);
        assert_eq!(keys("../a").1, keys("a").0);
        assert_eq!(keys(&absolute).1, keys(&absolute).0);
        assert_eq!(keys("").1, keys("").0);
        let panicked = std::panic::catch_unwind(|| in_directory(Some(&source), || panic!("keys")));
        assert!(panicked.is_err());
        assert_eq!(file("a"), format!("file:{}", here.join("a").display()));
    }

    #[cfg(unix)]
    #[test]
    fn parent_segments_stop_at_the_root() {
        assert_eq!(file("/../../missing"), "file:/missing");
        assert_eq!(file("///missing//a"), "file:/missing/a");
        assert_eq!(file("/missing/../.."), "file:/");
    }

    #[test]
    fn other_schemes_and_empty_paths_are_unchanged() {
        for key in ["db:./a", "", "file", "file:", "FILE:a/../b"] {
            assert_eq!(normalize(key.into()), key);
        }
    }

    #[test]
    fn a_long_path_is_not_resolved_by_segments() {
        let long = "a/".repeat(100_000);
        let end = ["", "a", "a"].join(MAIN_SEPARATOR_STR);
        assert!(file(&long).ends_with(&end));
    }

    #[cfg(unix)]
    #[test]
    fn symbolic_links_are_resolved() {
        let folder = std::env::temp_dir().join(format!("access-key-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("real/inner")).unwrap();
        std::os::unix::fs::symlink(folder.join("real/inner"), folder.join("link")).unwrap();
        let key_of = |path: &str| file(&folder.join(path).display().to_string());
        assert_eq!(key_of("link/new"), key_of("real/inner/new"));
        assert_eq!(key_of("link/../new"), key_of("real/new"));
        assert_eq!(key_of("missing/../link/new"), key_of("real/inner/new"));
        assert_eq!(key_of("link/"), key_of("real/inner"));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
