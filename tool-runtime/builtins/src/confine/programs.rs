//! Where programs are looked for: outside what tools may change, who could put another one there.

use super::Confinement;
use crate::workspace::Environment;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The reason why there is no program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoProgram {
    Missing,
    /// It is in a directory that tools may change.
    Changeable(PathBuf),
}

impl NoProgram {
    /// A message, with what to do if the program is missing.
    pub(crate) fn message(&self, program: &Path, install: &str) -> String {
        let program = program.display();
        match self {
            Self::Missing => format!("`{program}` is missing; {install}"),
            Self::Changeable(file) => format!(
                "`{program}` is `{}` alone, which tools may change; install it outside their directories",
                file.display()
            ),
        }
    }
}

impl Confinement {
    /// The file of a program: a path that the operator chose, or a name that is looked up in the directories of `PATH`.
    ///
    /// # Errors
    /// There is none outside the directories that tools may change.
    pub(crate) fn find_program(
        &self,
        program: &Path,
        environment: &Environment,
    ) -> Result<PathBuf, NoProgram> {
        if program.components().count() > 1 {
            return match is_executable(program) {
                true => Ok(program.to_owned()),
                false => Err(NoProgram::Missing),
            };
        }
        let path = environment.get(OsStr::new("PATH")).ok_or(NoProgram::Missing)?;
        self.look_up(program, path)
    }

    pub(super) fn look_up(&self, name: &Path, path: &OsStr) -> Result<PathBuf, NoProgram> {
        let mut changeable = None;
        for directory in std::env::split_paths(path).filter(|directory| directory.is_absolute()) {
            let file = directory.join(name);
            if !is_executable(&file) {
                continue;
            }
            match file.canonicalize() {
                Ok(real) if !self.may_change(&real) && !self.may_change(&file) => return Ok(file),
                Ok(_) => changeable = changeable.or(Some(file)),
                Err(_) => {}
            }
        }
        Err(changeable.map_or(NoProgram::Missing, NoProgram::Changeable))
    }

    /// Whether tools may change a file. Without a sandbox, commands may change all files of the user.
    fn may_change(&self, file: &Path) -> bool {
        let others = self.others.iter().filter(|_| self.is_on());
        self.roots.iter().chain(others).any(|directory| file.starts_with(&directory.path))
    }
}

fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}
