//! Programs that the tools start: where they are, and how they end with all that they started.

use crate::process_tree::{MARK, Tree};
use crate::random;
use crate::workspace::Environment;
use process_wrap::tokio::{ChildWrapper, CommandWrap, ProcessSession};
use rustix::process::Pid;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use tokio::process::Command;

/// A program that runs, as the leader of a session.
pub(crate) struct Started {
    pub(crate) child: Box<dyn ChildWrapper>,
    pub(crate) tree: Tree,
}

/// Starts a program in a session of its own, by which all its descendants are found.
pub(crate) fn start(mut command: Command) -> io::Result<Started> {
    let mark = format!("{}.", random::hex(16));
    command.env(MARK, &mark).kill_on_drop(true);
    let mut command = CommandWrap::from(command);
    command.wrap(ProcessSession);
    // The wrapper would wait for the whole session.
    let child = command.spawn()?.into_inner();
    let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    Ok(Started { child, tree: Tree { leader, mark } })
}

/// The file of a program: a path, or a name that is looked up in the directories of `PATH`.
pub(crate) fn find_program(program: &Path, environment: &Environment) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return is_executable(program).then(|| program.to_owned());
    }
    let path = environment.get(OsStr::new("PATH"))?;
    std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
