//! The command of a configuration entry.

use super::environment::environment;
use super::error::SpawnError;
use crate::mask::Mask;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process;
use tool_runtime_config::seam::find_program;

/// A program with its arguments and surroundings.
#[derive(Clone, Default)]
pub(crate) struct Command {
    /// A name, looked up in `PATH`, or a path, relative to `cwd`.
    pub(crate) program: String,
    /// Handed on one by one; there is no shell.
    pub(crate) args: Vec<String>,
    /// What the child gets besides the little that every child gets; it wins over that.
    ///
    /// In what the child prints, these values are shown by their names.
    pub(crate) env: BTreeMap<String, String>,
    /// Our own working directory by default.
    pub(crate) cwd: Option<PathBuf>,
    /// More that the child knows and that must not be shown, after what is shown instead:
    /// variables that were expanded in arguments.
    pub(crate) secrets: Vec<(String, String)>,
}

impl Command {
    /// A program without arguments.
    pub(crate) fn new(program: impl Into<String>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// What `std` starts: the resolved program with exactly its environment.
    pub(super) fn prepared(&self) -> Result<process::Command, SpawnError> {
        let environment = environment(&self.env);
        let mut command = process::Command::new(self.checked(&environment)?);
        command.args(&self.args).env_clear().envs(environment);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        Ok(command)
    }

    /// What is kept out of what the child prints.
    pub(super) fn mask(&self) -> Mask {
        let env = self.env.iter().map(|(name, value)| (format!("${{{name}}}"), value.clone()));
        Mask::new(self.secrets.iter().cloned().chain(env))
    }

    fn checked(&self, environment: &BTreeMap<OsString, OsString>) -> Result<PathBuf, SpawnError> {
        if let Some(name) = self.env.keys().find(|name| !is_variable(name)) {
            return Err(SpawnError::Variable { name: name.clone() });
        }
        if let Some(cwd) = self.cwd.as_ref().filter(|cwd| !cwd.is_dir()) {
            return Err(SpawnError::NoDirectory { cwd: cwd.clone() });
        }
        let path = environment.get("PATH".as_ref() as &std::ffi::OsStr);
        let base = self.cwd.as_deref().unwrap_or(Path::new(""));
        Ok(find_program(&self.program, path.map(OsString::as_os_str), base)?)
    }
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains(['=', '\0'])
}

/// Names only: values may be secrets, and so may arguments.
impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Command")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("env", &self.env.keys())
            .field("cwd", &self.cwd)
            .finish_non_exhaustive()
    }
}
