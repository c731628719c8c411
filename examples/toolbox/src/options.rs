//! Options about the pool. They may stand anywhere on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;
use tool_runtime_builtins::schedule::{Schedule, Settings};
use tool_runtime_builtins::shell::{Sandbox, ShellParams};
use tool_runtime_builtins::{Builtins, Profile, Workspace};

pub(crate) type BoxError = Box<dyn std::error::Error>;

#[derive(Default)]
pub(crate) struct Options {
    roots: Vec<PathBuf>,
    families: Option<String>,
    pub(crate) policy: Option<PathBuf>,
    shell: ShellParams,
    profile: Profile,
    schedule: Option<PathBuf>,
    min_interval: Option<Duration>,
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
                "--policy" => options.policy = Some(value()?.into()),
                "--sandbox" => options.shell.sandbox = sandbox(&value()?.to_string_lossy())?,
                "--no-network" => options.shell.network = false,
                "--schedule-file" => options.schedule = Some(value()?.into()),
                "--min-interval" => {
                    options.min_interval = Some(seconds(&value()?.to_string_lossy())?);
                }
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
        let workspace = workspace.build()?;
        let mut builtins = Builtins::new(workspace.clone()).profiles([self.profile]);
        for family in self.families.as_deref().unwrap_or("files,search").split(',') {
            builtins = match family.trim() {
                "files" => builtins.files(),
                "search" => builtins.search(),
                "shell" => builtins.shell(self.shell.clone()),
                "schedule" => self.schedule(builtins, &workspace)?,
                other => {
                    return Err(format!(
                        "`{other}` is not a family of tools; write `files`, `search`, `shell` or `schedule`"
                    )
                    .into());
                }
            };
        }
        Ok(builtins)
    }

    /// Jobs and settings in one file.
    fn schedule(&self, builtins: Builtins, workspace: &Workspace) -> Result<Builtins, BoxError> {
        let (mut schedule, mut settings) = (Schedule::builder(workspace), Settings::builder());
        if let Some(file) = &self.schedule {
            (schedule, settings) = (schedule.file(file), settings.file(file));
        }
        if let Some(interval) = self.min_interval {
            schedule = schedule.min_interval(interval);
        }
        Ok(builtins.schedule(&schedule.open()?).settings(&settings.open()?))
    }
}

fn sandbox(name: &str) -> Result<Sandbox, BoxError> {
    match name {
        "landlock" => Ok(Sandbox::Landlock),
        "bubblewrap" => Ok(Sandbox::Bubblewrap),
        _ => Err(format!("`{name}` is not a sandbox; write `landlock` or `bubblewrap`").into()),
    }
}

fn seconds(text: &str) -> Result<Duration, BoxError> {
    let number = text.strip_suffix('s').unwrap_or(text).parse();
    let wrong = |_| format!("`{text}` is not a number of seconds; write for instance `60s`");
    Ok(Duration::from_secs(number.map_err(wrong)?))
}
