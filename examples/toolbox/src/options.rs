//! Options about the pool. They may stand anywhere on the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use tool_runtime_builtins::shell::{Sandbox, ShellParams};
use tool_runtime_builtins::web::{SearchParams, WebParams};
use tool_runtime_builtins::{Builtins, Profile, Workspace};

pub(crate) type BoxError = Box<dyn std::error::Error>;

#[derive(Default)]
pub(crate) struct Options {
    roots: Vec<PathBuf>,
    families: Option<String>,
    pub(crate) policy: Option<PathBuf>,
    pub(crate) servers: Option<PathBuf>,
    shell: ShellParams,
    web: WebParams,
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
                "--policy" => options.policy = Some(value()?.into()),
                "--mcp-config" => options.servers = Some(value()?.into()),
                "--sandbox" => options.shell.sandbox = sandbox(&value()?.to_string_lossy())?,
                "--no-network" => options.shell.network = false,
                "--searxng" => {
                    let url = value()?.to_string_lossy().into_owned();
                    options.web.search = Some(SearchParams::Searxng { url });
                }
                "--allow-host" => {
                    options.web.allowed_hosts.push(value()?.to_string_lossy().into_owned());
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
        let mut builtins = Builtins::new(workspace.build()?).profiles([self.profile]);
        for family in self.families.as_deref().unwrap_or("files,search").split(',') {
            builtins = match family.trim() {
                "files" => builtins.files(),
                "search" => builtins.search(),
                "shell" => builtins.shell(self.shell.clone()),
                "web" => builtins.web(self.web()),
                "servers" => builtins.servers(),
                other => {
                    return Err(format!(
                        "`{other}` is not a family of tools; write `files`, `search`, `shell`, `web` or `servers`"
                    )
                    .into());
                }
            };
        }
        Ok(builtins)
    }

    /// The settings of the web, with a search engine whose key the environment has.
    fn web(&self) -> WebParams {
        let mut web = self.web.clone();
        let key = |name: &str| std::env::var_os(name).map(|_| name.to_owned());
        let brave =
            || key("BRAVE_API_KEY").map(|key_variable| SearchParams::Brave { key_variable });
        let tavily =
            || key("TAVILY_API_KEY").map(|key_variable| SearchParams::Tavily { key_variable });
        web.search = web.search.or_else(brave).or_else(tavily);
        web
    }
}

fn sandbox(name: &str) -> Result<Sandbox, BoxError> {
    match name {
        "landlock" => Ok(Sandbox::Landlock),
        "bubblewrap" => Ok(Sandbox::Bubblewrap),
        _ => Err(format!("`{name}` is not a sandbox; write `landlock` or `bubblewrap`").into()),
    }
}
