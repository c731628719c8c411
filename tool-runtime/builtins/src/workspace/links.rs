//! Directories behind links with absolute targets.
//!
//! A handle of a directory refuses every absolute link, also one that leads to a path below it. Here the path is
//! written without such links. That grants nothing: files are opened by the new path through the same handle.

use super::Location;
use std::io;
use std::path::{Component, PathBuf};

/// Links that are followed.
const MAX_LINKS: usize = 40;

impl Location {
    /// The location with the directories that absolute links lead to instead of these links. Unchanged if one leads out
    /// of the root. A link at the end of the path stays.
    pub(crate) fn through_absolute_links(self) -> Self {
        self.through_links(false)
    }

    /// The location with the directories that all absolute links lead to, that at the end of the path included.
    #[cfg(feature = "search")]
    pub(crate) fn followed(self) -> Self {
        self.through_links(true)
    }

    fn through_links(self, with_last: bool) -> Self {
        let mut location = self.clone();
        for _ in 0..MAX_LINKS {
            if !location.is_refused(with_last) {
                return location;
            }
            let Some(next) = location.without_first_link(with_last) else { return self };
            location = next;
        }
        self
    }

    /// Whether a link on the way leads out of the root, as its handle sees it.
    fn is_refused(&self, with_last: bool) -> bool {
        let dir = self.root().dir();
        let metadata = match with_last {
            true => dir.metadata(self.path()),
            false => dir.symlink_metadata(self.path()),
        };
        // The error of cap-std has no number of the system.
        metadata.is_err_and(|error| {
            error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none()
        })
    }

    /// The path with the target of its first part that is a link.
    fn without_first_link(&self, with_last: bool) -> Option<Self> {
        let mut before = PathBuf::new();
        let mut rest = self.path().components();
        while let Some(component) = rest.next() {
            let is_last = rest.as_path().as_os_str().is_empty();
            let link = before.join(component);
            let target = match component {
                Component::Normal(_) if with_last || !is_last => {
                    self.root().dir().read_link_contents(&link).ok()
                }
                _ => None,
            };
            match target {
                Some(target) if target.is_absolute() => {
                    return Some(self.with_path(self.root().below(&target)?.join(rest)));
                }
                Some(target) => return Some(self.with_path(before.join(target).join(rest))),
                None => before = link,
            }
        }
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use crate::workspace::Workspace;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    #[test]
    fn directories_behind_absolute_links_are_reached_inside_of_the_root() {
        let folder = std::env::temp_dir().canonicalize().unwrap();
        let folder = folder.join(format!("workspace-{}-absolute", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(folder.join("root/a/b")).unwrap();
        fs::create_dir_all(folder.join("out/b")).unwrap();
        let root = folder.join("root");
        symlink(root.join("a"), root.join("link")).unwrap();
        symlink("link/b", root.join("chain")).unwrap();
        symlink(root.join("chain"), root.join("twice")).unwrap();
        symlink(folder.join("out"), root.join("out")).unwrap();
        symlink(root.join("loop"), root.join("loop")).unwrap();
        symlink(root.join("../out"), root.join("climbing")).unwrap();
        let workspace = Workspace::builder().root(&root).build().unwrap();
        let found = |path: &str| workspace.resolve(path).unwrap().path().to_owned();
        assert_eq!(found("link/x"), Path::new("a/x"));
        assert_eq!(found("chain/x"), Path::new("a/b/x"));
        assert_eq!(found("twice/new/x"), Path::new("a/b/new/x"));
        // A link itself is an entry of its directory.
        assert_eq!(found("link"), Path::new("link"));
        for path in ["out/b", "out/new", "loop/x", "climbing/b"] {
            let location = workspace.resolve(path).unwrap();
            assert_eq!(location.path(), Path::new(path));
            assert!(location.root().dir().metadata(path).is_err(), "{path}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
