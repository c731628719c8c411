//! From a path of a model to a root and a path below it.
//!
//! Only names are compared here, to find the root that is meant. No access depends on it: files are opened through
//! the handle of the root, which no path and no link leaves.

use super::Root;
use super::names::rendered;
use std::fmt;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
#[cfg(any(feature = "files", feature = "search"))]
use tool_runtime::ToolContext;
use tool_runtime::ToolError;

/// A path below a root.
#[derive(Clone, Debug)]
pub struct Location {
    root: Arc<Root>,
    path: PathBuf,
    /// Whether models see its relative path.
    is_in_working_directory: bool,
}

impl Location {
    /// The root.
    pub fn root(&self) -> &Arc<Root> {
        &self.root
    }

    /// The path relative to the root, `.` for the root itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The absolute path, for display and for child processes. Open the file through [`Root::dir`] instead.
    pub fn absolute(&self) -> PathBuf {
        match self.path.to_str() {
            Some(".") => self.root.path().to_owned(),
            _ => self.root.path().join(&self.path),
        }
    }

    /// The absolute path without symbolic links and `..`, if it exists.
    #[cfg(any(feature = "files", feature = "search"))]
    pub(crate) fn canonical(&self) -> PathBuf {
        self.root.canonical(&self.path)
    }

    /// Whether a call may read a file of the same root: the operator does not protect it, and no policy denies it. The path
    /// is a [canonical](Self::canonical) one.
    #[cfg(any(feature = "files", feature = "search"))]
    pub(crate) fn lets_read(&self, canonical: &Path, context: &ToolContext) -> bool {
        self.root.protected().hides(canonical).is_none() && context.may_read_resolved(canonical)
    }

    /// Another path below the same root.
    pub fn with_path(&self, path: impl Into<PathBuf>) -> Self {
        Self { path: or_dot(path.into()), ..self.clone() }
    }
}

/// The path as models write it: relative in the first root, otherwise absolute, with escapes for characters that are
/// invisible or end the line.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_in_working_directory {
            return f.write_str(&rendered(&self.path));
        }
        f.write_str(&rendered(self.absolute()))
    }
}

pub(super) fn resolve(roots: &[Arc<Root>], path: &str) -> Result<Location, ToolError> {
    if path.is_empty() || path.contains('\0') {
        return Err(ToolError::user(
            "the path is empty or contains a NUL byte; give a file's path",
        ));
    }
    let given = Path::new(path);
    // A shell would mean the home directory.
    if given.components().next() == Some(Component::Normal("~".as_ref()))
        && roots[0].dir().symlink_metadata("~").is_err()
    {
        let text =
            "`~` is not expanded; give a path inside a root, or `./~` for a file of that name";
        return Err(ToolError::user(text));
    }
    let absolute = roots[0].path().join(given);
    // First as written, since `..` after a link means the parent of its target.
    let found = inside(roots, &absolute).or_else(|| inside(roots, &without_parents(&absolute)));
    let (index, path) = found.ok_or_else(|| outside(roots, given))?;
    Ok(at(roots, index, path).through_absolute_links())
}

fn at(roots: &[Arc<Root>], index: usize, path: PathBuf) -> Location {
    Location { root: Arc::clone(&roots[index]), path, is_in_working_directory: index == 0 }
}

/// The innermost root that contains the path, and the path relative to it.
fn inside(roots: &[Arc<Root>], path: &Path) -> Option<(usize, PathBuf)> {
    let below = |(index, root): (usize, &Arc<Root>)| {
        let spellings = root.spellings().into_iter();
        let rest = spellings.filter_map(|spelling| path.strip_prefix(spelling).ok()).next()?;
        (!climbs_out(rest)).then(|| (index, or_dot(rest.to_owned())))
    };
    let found = roots.iter().enumerate().filter_map(below);
    found.min_by_key(|(_, rest)| rest.components().count())
}

/// Whether a relative path has more `..` than names before them.
fn climbs_out(path: &Path) -> bool {
    let mut depth = 0_usize;
    !path.components().all(|component| match component {
        Component::ParentDir => depth.checked_sub(1).map(|less| depth = less).is_some(),
        Component::Normal(_) => {
            depth += 1;
            true
        }
        _ => true,
    })
}

fn without_parents(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(plain.pop()),
            other => plain.push(other),
        }
    }
    plain
}

fn or_dot(path: PathBuf) -> PathBuf {
    if path.as_os_str().is_empty() { PathBuf::from(".") } else { path }
}

fn outside(roots: &[Arc<Root>], path: &Path) -> ToolError {
    let names: Vec<_> = roots.iter().map(|root| format!("`{}`", root.path().display())).collect();
    ToolError::user(format!(
        "`{}` is outside the workspace; give a path inside {}",
        rendered(path),
        names.join(" or ")
    ))
}

#[cfg(test)]
mod tests {
    use crate::workspace::Workspace;
    use std::fs;
    use std::path::{Path, PathBuf};

    fn folder(name: &str) -> PathBuf {
        let name = format!("workspace-{}-{name}", std::process::id());
        let folder = std::env::temp_dir().canonicalize().unwrap().join(name);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("a/inner")).unwrap();
        fs::create_dir_all(folder.join("b")).unwrap();
        folder
    }

    #[test]
    fn paths_are_found_below_the_innermost_root() {
        let folder = folder("innermost");
        let workspace = Workspace::builder()
            .root(folder.join("a"))
            .root(folder.join("b"))
            .root(folder.join("a/inner"))
            .build()
            .unwrap();
        let found = |path: &str| {
            let location = workspace.resolve(path).unwrap();
            (location.root().path().to_owned(), location.path().to_owned(), location.to_string())
        };
        let root = |name: &str| folder.join(name);
        let expect = |path: &str, name: &str, rest: &str, display_path: &str| {
            assert_eq!(found(path), (root(name), rest.into(), display_path.to_owned()), "{path}");
        };
        let b = folder.join("b").display().to_string();
        expect("x/y", "a", "x/y", "x/y");
        expect("./x", "a", "x", "x");
        expect(".", "a", ".", ".");
        expect("x/../y", "a", "x/../y", "x/../y");
        expect(&format!("{b}/z"), "b", "z", &format!("{b}/z"));
        expect("../b/z", "b", "z", &format!("{b}/z"));
        expect(&b, "b", ".", &b);
        let inner = folder.join("a/inner/x").display().to_string();
        expect("inner/x", "a/inner", "x", &inner);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn paths_outside_are_errors_that_name_the_roots() {
        let folder = folder("outside");
        let workspace = Workspace::builder().root(folder.join("a")).build().unwrap();
        let sibling = folder.join("ab").display().to_string();
        for path in ["..", "../b", "x/../../b", "/etc/passwd", &sibling] {
            let error = workspace.resolve(path).unwrap_err();
            let root = folder.join("a");
            let expected = format!(
                "`{path}` is outside the workspace; give a path inside `{}`",
                root.display()
            );
            assert_eq!(error.message(), expected);
        }
        assert!(workspace.resolve("").is_err());
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_root_that_is_a_link_has_two_spellings() {
        let folder = folder("link");
        std::os::unix::fs::symlink(folder.join("a"), folder.join("link")).unwrap();
        let workspace = Workspace::builder().root(folder.join("link")).build().unwrap();
        for root in ["a", "link"] {
            let path = folder.join(root).join("x");
            let location = workspace.resolve(path.to_str().unwrap()).unwrap();
            assert_eq!(location.path(), Path::new("x"));
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
