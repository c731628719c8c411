//! Options about the pool. They may stand anywhere on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use tool_runtime::policy::{PermissionMode, Permissions};
use tool_runtime_builtins::people::PeopleParams;
use tool_runtime_builtins::shell::{Sandbox, ShellParams};
use tool_runtime_builtins::tasks::{TaskStore, TasksParams};
use tool_runtime_builtins::{Builtins, Profile, Workspace};

pub(crate) type BoxError = Box<dyn std::error::Error>;

#[derive(Default)]
pub(crate) struct Options {
    roots: Vec<PathBuf>,
    families: Option<String>,
    pub(crate) policy: Option<PathBuf>,
    tasks: Option<PathBuf>,
    shell: ShellParams,
    profile: Profile,
}

impl Options {
    /// Takes the options out of the arguments and returns the others.
    pub(crate) fn parse(
        arguments: impl IntoIterator<Item = OsString>,
    ) -> Result<(Self, Vec<OsString>), BoxError> {
        let (mut options, mut others) = (Self::default(), Vec::new());
        let mut arguments = arguments.into_iter();
        while let Some(argument) = arguments.next() {
            let text = argument.to_string_lossy().into_owned();
            let (name, value) = match text.split_once('=') {
                Some((name, value)) => (name, Some(OsString::from(value))),
                None => (text.as_str(), None),
            };
            let mut value = || {
                let value = value.clone().or_else(|| arguments.next());
                value.ok_or_else(|| BoxError::from(format!("`{name}` needs a value")))
            };
            match name {
                "--root" => options.roots.push(value()?.into()),
                "--families" => options.families = Some(value()?.to_string_lossy().into_owned()),
                "--tasks" => options.tasks = Some(value()?.into()),
                "--policy" => options.policy = Some(value()?.into()),
                "--sandbox" => options.shell.sandbox = sandbox(&value()?.to_string_lossy())?,
                "--no-network" => options.shell.network = false,
                "--open-hands" => options.profile = Profile::OpenHands,
                _ => others.push(argument),
            }
        }
        Ok((options, others))
    }

    /// The families over the roots.
    pub(crate) fn builtins(&self) -> Result<Builtins, BoxError> {
        let roots =
            if self.roots.is_empty() { vec![PathBuf::from(".")] } else { self.roots.clone() };
        let workspace =
            roots.into_iter().fold(Workspace::builder(), |builder, root| builder.root(root));
        let mut builtins = Builtins::new(workspace.build()?).profiles([self.profile]);
        for family in self.families.as_deref().unwrap_or("files,search").split(',') {
            builtins = match family.trim() {
                "files" => builtins.files(),
                "search" => builtins.search(),
                "shell" => builtins.shell(self.shell.clone()),
                // Plan mode alone restricts calls.
                "people" => builtins.people(
                    PeopleParams::new().permissions(Permissions::new(PermissionMode::Bypass)),
                ),
                "tasks" => {
                    let file = self.tasks.as_ref().ok_or("`tasks` needs `--tasks FILE`")?;
                    builtins.tasks(TasksParams::new(TaskStore::open(file)?))
                }
                other => {
                    return Err(format!(
                        "`{other}` is not a family of tools; write `files`, `search`, `shell`, `people` or `tasks`"
                    )
                    .into());
                }
            };
        }
        Ok(builtins)
    }
}

fn sandbox(name: &str) -> Result<Sandbox, BoxError> {
    match name {
        "landlock" => Ok(Sandbox::Landlock),
        "bubblewrap" => Ok(Sandbox::Bubblewrap),
        _ => Err(format!("`{name}` is not a sandbox; write `landlock` or `bubblewrap`").into()),
    }
}
