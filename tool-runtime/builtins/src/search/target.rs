//! The directory or file that a search begins at.

use super::newest::Hit;
use crate::workspace::{Location, Workspace};
use std::cmp::Reverse;
use std::io::{self, ErrorKind};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use tool_runtime::ToolError;

/// The target of a search, which exists.
pub(super) enum Target {
    Directory(Location),
    File(Location),
}

impl Target {
    pub(super) fn location(&self) -> &Location {
        match self {
            Self::Directory(location) | Self::File(location) => location,
        }
    }

    /// The target that a path means; the first root without one.
    pub(super) fn find(workspace: &Workspace, path: Option<&str>) -> Result<Self, ToolError> {
        let path = path.filter(|path| !path.is_empty()).unwrap_or(".");
        let location = workspace.resolve(path)?.followed();
        let metadata = location.root().dir().metadata(location.path());
        match metadata.map_err(|error| cannot_search(path, &error))? {
            metadata if metadata.is_dir() => Ok(Self::Directory(location)),
            metadata if metadata.is_file() => Ok(Self::File(location)),
            _ => Err(ToolError::user(format!("`{path}` is neither a file nor a directory"))),
        }
    }
}

fn cannot_search(path: &str, error: &io::Error) -> ToolError {
    match error.kind() {
        ErrorKind::NotFound => ToolError::user(format!(
            "`{path}` does not exist; leave it out to search the whole workspace"
        )),
        _ if leads_out(error) => ToolError::user(format!(
            "`{path}` leads out of the workspace by a symbolic link; give a path inside it"
        )),
        _ => ToolError::user(format!("cannot search `{path}`: {error}")),
    }
}

/// Whether a path would leave its root: this error of cap-std has no number of the system.
pub(super) fn leads_out(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied && error.raw_os_error().is_none()
}

/// A file that was found, with its time. `None` if it is not a file below the root any more: a link out of the root,
/// or a directory behind a link.
pub(super) fn hit(location: &Location, path: PathBuf, count: u64) -> Option<Hit> {
    let metadata =
        location.root().dir().metadata(&path).ok().filter(|metadata| metadata.is_file())?;
    let modified = metadata.modified().map_or(UNIX_EPOCH, cap_std::time::SystemTime::into_std);
    Some(Hit { modified: SystemTime::min(modified, SystemTime::now()), path: Reverse(path), count })
}
