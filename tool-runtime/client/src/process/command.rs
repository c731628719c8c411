//! The command of a configuration entry.

use super::environment::environment;
use super::error::SpawnError;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use tool_runtime_config::seam::find_program;
use tool_runtime_core::seam::Redactor;

/// A program with its arguments and environment.
#[derive(Clone, Default)]
pub(crate) struct Command {
    /// A name, looked up in `PATH`, or a path, relative to `cwd`.
    pub(crate) program: String,
    /// Arguments, passed without a shell.
    pub(crate) args: Vec<String>,
    /// Variables that are added to the inherited ones and override them.
    pub(crate) env: BTreeMap<String, String>,
    /// Working directory. Default: that of this process.
    pub(crate) cwd: Option<PathBuf>,
    /// Removes the secrets of the entry from the child's output.
    pub(crate) redactor: Arc<Redactor>,
}

impl Command {
    /// A program without arguments.
    pub(crate) fn new(program: impl Into<String>) -> Self {
        Self { program: program.into(), ..Self::default() }
    }

    /// The command for `std`: the resolved program with exactly its environment.
    pub(super) fn to_std(&self) -> Result<process::Command, SpawnError> {
        let environment = environment(&self.env);
        let mut command = process::Command::new(self.find_program(&environment)?);
        command.args(&self.args).env_clear().envs(environment);
        if let Some(cwd) = &self.cwd {
            command.current_dir(cwd);
        }
        Ok(command)
    }

    fn find_program(
        &self,
        environment: &BTreeMap<OsString, OsString>,
    ) -> Result<PathBuf, SpawnError> {
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
