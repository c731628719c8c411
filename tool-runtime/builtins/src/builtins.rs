//! The extension that adds families of tools to a pool.

use crate::workspace::Workspace;
use tool_runtime::{PoolExtension, Source, Tool, ToolPoolBuilder, Toolset};

/// The names and arguments under which tools are offered. The code behind them is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// `Read`, `Edit`, `Grep`, `Bash`: the names that most models know.
    #[default]
    Standard,
    /// `file_editor`, `glob`, `grep`, `terminal`: the names of OpenHands.
    OpenHands,
}

/// A toolset whose tools belong to profiles.
#[cfg_attr(
    not(any(feature = "files", feature = "search")),
    allow(dead_code, reason = "without a family")
)]
pub(crate) trait Family: Toolset {
    /// Its value over a workspace.
    fn over(workspace: Workspace) -> Self;

    /// Names of the tools that a profile offers, without prefix.
    fn tools_of(profile: Profile) -> &'static [&'static str];
}

/// Makes the tools of a family, with their prefix.
type MakeTools = fn(&Builtins) -> Vec<Tool>;

/// Families of tools over one [`Workspace`], as an extension of a pool.
///
/// A family is added by its method, in the [`Profile`] of the extension. The tools have tags:
/// `core`, `advanced` or `specialist` by how often agents need them, which filters know.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime_builtins::{Builtins, Profile, Workspace};
///
/// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
/// let builtins = Builtins::new(workspace).profiles([Profile::OpenHands]).prefix("fs").files();
/// let pool = ToolPool::builder().install(builtins).build()?;
/// assert!(pool.tools().iter().any(|tool| tool.name() == "fs.file_editor"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "an extension does nothing until it is installed"]
pub struct Builtins {
    workspace: Workspace,
    prefix: String,
    profiles: Vec<Profile>,
    families: Vec<MakeTools>,
    #[cfg(feature = "search")]
    tool_search: Option<tool_runtime::search::ToolSearch>,
    #[cfg(all(feature = "shell", unix))]
    shell: Option<crate::shell::ShellParams>,
    #[cfg(feature = "schedule")]
    schedule: Option<crate::schedule::Schedule>,
    #[cfg(feature = "schedule")]
    settings: Option<crate::schedule::Settings>,
}

impl Builtins {
    /// An extension without families.
    pub fn new(workspace: Workspace) -> Self {
        let profiles = vec![Profile::default()];
        Self {
            workspace,
            prefix: String::new(),
            profiles,
            families: Vec::new(),
            #[cfg(feature = "search")]
            tool_search: None,
            #[cfg(all(feature = "shell", unix))]
            shell: None,
            #[cfg(feature = "schedule")]
            schedule: None,
            #[cfg(feature = "schedule")]
            settings: None,
        }
    }

    /// The workspace of the tools.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Sets a prefix of all names: `fs` makes `fs.Read` of `Read`. Default: none.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// Sets the profiles. Two profiles offer most actions twice, which models confuse. Default: [`Profile::Standard`].
    pub fn profiles(mut self, profiles: impl IntoIterator<Item = Profile>) -> Self {
        self.profiles = profiles.into_iter().collect();
        self
    }

    /// Adds the tools for files: read, write, edit, patch, list, move, delete, undo.
    #[cfg(feature = "files")]
    pub fn files(self) -> Self {
        self.family(tools_of::<crate::files::Files>)
    }

    /// Adds the tools that find files by name and by content.
    #[cfg(feature = "search")]
    pub fn search(self) -> Self {
        self.family(tools_of::<crate::search::Search>)
    }

    /// Adds `ToolSearch`, by which a model finds tools of the pool and activates them. Give it to pools with
    /// more tools than a request to a model should list.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::search::ActiveTools;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let active = ActiveTools::new(["ToolSearch"])?;
    /// let builtins = Builtins::new(workspace).search().tool_search(&active);
    /// let pool = ToolPool::builder().install(builtins).build()?;
    /// assert_eq!(active.visible(&pool.snapshot()).len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "search")]
    pub fn tool_search(mut self, active: &tool_runtime::search::ActiveTools) -> Self {
        self.tool_search = Some(tool_runtime::search::ToolSearch::new().activating(active));
        self
    }

    /// Adds the tools that run commands. If a program is missing, or the system lacks the sandbox, they are hidden,
    /// and the pool's report says what to install.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::shell::{Sandbox, ShellParams};
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let params = ShellParams { sandbox: Sandbox::Landlock, ..ShellParams::default() };
    /// let pool = ToolPool::builder().install(Builtins::new(workspace).shell(params)).allow_empty().build()?;
    /// println!("{}", pool.report());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(all(feature = "shell", unix))]
    pub fn shell(mut self, params: crate::shell::ShellParams) -> Self {
        self.shell = Some(params);
        self
    }

    /// Adds the tools that call tools at set times and send webhooks, and the command `schedule`, which runs what they
    /// set. Without declared targets `RemoteTrigger` is hidden, and the pool's report says what to declare.
    ///
    /// See [`Schedule`](crate::schedule::Schedule) for an example.
    #[cfg(feature = "schedule")]
    pub fn schedule(mut self, schedule: &crate::schedule::Schedule) -> Self {
        self.schedule = Some(schedule.clone());
        self
    }

    /// Adds the tool for settings of callers.
    ///
    /// See [`Settings`](crate::schedule::Settings) for an example.
    #[cfg(feature = "schedule")]
    pub fn settings(mut self, settings: &crate::schedule::Settings) -> Self {
        self.settings = Some(settings.clone());
        self
    }

    /// The tools whose names without prefix belong to the profiles.
    #[cfg(any(feature = "files", feature = "search", feature = "shell", feature = "schedule"))]
    fn offered(
        &self,
        tools: Vec<Tool>,
        names: fn(Profile) -> &'static [&'static str],
    ) -> Vec<Tool> {
        let names: Vec<&str> =
            self.profiles.iter().flat_map(|profile| names(*profile)).copied().collect();
        let is_offered = |tool: &Tool| {
            let name = tool.name();
            names.contains(&name.rsplit_once('.').map_or(name, |(_, own)| own))
        };
        tools.into_iter().filter(is_offered).collect()
    }

    /// A name with the prefix.
    #[cfg(any(feature = "search", feature = "schedule"))]
    fn named(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }

    #[cfg(any(feature = "files", feature = "search"))]
    fn family(mut self, tools: MakeTools) -> Self {
        self.families.push(tools);
        self
    }
}

/// The tools of a family that the profiles offer.
#[cfg(any(feature = "files", feature = "search"))]
fn tools_of<F: Family>(builtins: &Builtins) -> Vec<Tool> {
    let tools = Tool::of_toolset(Some(&builtins.prefix), F::over(builtins.workspace().clone()));
    builtins.offered(tools, F::tools_of)
}

/// The tools that run commands, hidden if they are not usable.
#[cfg(all(feature = "shell", unix))]
fn shell_tools(builtins: &Builtins, params: crate::shell::ShellParams) -> Vec<Tool> {
    use crate::shell::Shell;
    let prefix = Some(builtins.prefix.as_str());
    let tools = match Shell::is_usable(&params) {
        Ok(()) => Tool::of_toolset(prefix, Shell::new(builtins.workspace().clone(), params)),
        Err(reason) => Tool::of_unusable_toolset::<Shell>(prefix, &reason),
    };
    builtins.offered(tools, Shell::tools_of)
}

/// The tools for jobs, and that for webhooks, which is hidden if it is not usable.
#[cfg(feature = "schedule")]
fn schedule_tools(builtins: &Builtins, schedule: &crate::schedule::Schedule) -> Vec<Tool> {
    use crate::schedule::{CronTools, TriggerTools};
    let prefix = Some(builtins.prefix.as_str());
    schedule.set_trigger_tool(builtins.named("RemoteTrigger"));
    let triggers = match TriggerTools::new(schedule) {
        Ok(triggers) => Tool::of_toolset(prefix, triggers),
        Err(reason) => Tool::of_unusable_toolset::<TriggerTools>(prefix, &reason),
    };
    let jobs = Tool::of_toolset(prefix, CronTools::new(schedule));
    let mut tools = builtins.offered(jobs, CronTools::tools_of);
    tools.extend(builtins.offered(triggers, TriggerTools::tools_of));
    tools
}

impl PoolExtension for Builtins {
    #[cfg_attr(
        not(any(feature = "search", feature = "shell", feature = "schedule")),
        allow(unused_mut, reason = "without tools that have parameters")
    )]
    fn install<S>(mut self, mut builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        #[cfg(feature = "search")]
        if let Some(search) = self.tool_search.take() {
            let tool = search.name(self.named("ToolSearch")).tags(["core"]).into_tool();
            builder = builder.add_from(&Source::Custom, [tool]);
        }
        #[cfg(all(feature = "shell", unix))]
        if let Some(params) = self.shell.take() {
            builder = builder.add_from(&Source::Custom, shell_tools(&self, params));
        }
        #[cfg(feature = "schedule")]
        if let Some(schedule) = self.schedule.take() {
            builder = builder.add_from(&Source::Custom, schedule_tools(&self, &schedule));
            builder = builder.command(crate::schedule::ScheduleCommand(schedule));
        }
        #[cfg(feature = "schedule")]
        if let Some(settings) = self.settings.take() {
            use crate::schedule::ConfigTools;
            let tools = Tool::of_toolset(Some(&self.prefix), ConfigTools::new(&settings));
            let tools = self.offered(tools, ConfigTools::tools_of);
            builder = builder.add_from(&Source::Custom, tools);
        }
        let add = |builder: ToolPoolBuilder<S>, tools: &MakeTools| {
            builder.add_from(&Source::Custom, tools(&self))
        };
        self.families.iter().fold(builder, add)
    }
}
