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
    #[cfg(feature = "code")]
    code: Option<crate::code::CodeParams>,
    #[cfg(feature = "people")]
    people: Option<crate::people::PeopleParams>,
    #[cfg(feature = "tasks")]
    tasks: Option<crate::tasks::TasksParams>,
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
            #[cfg(feature = "code")]
            code: None,
            #[cfg(feature = "people")]
            people: None,
            #[cfg(feature = "tasks")]
            tasks: None,
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

    /// Adds the tools for notebooks, worktrees of git and language servers. Tools whose program is missing are hidden,
    /// and the pool's report says what to install.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::code::CodeParams;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let builtins = Builtins::new(workspace).code(CodeParams::default());
    /// let pool = ToolPool::builder().install(builtins).build()?;
    /// assert!(pool.tools().iter().any(|tool| tool.name() == "NotebookEdit"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "code")]
    pub fn code(mut self, params: crate::code::CodeParams) -> Self {
        self.code = Some(params);
        self
    }

    /// Adds the tools that ask people, plan and keep lists, and `finish`. A plan is approved by the approver of the
    /// pool, such as [`AskCaller`](tool_runtime::approvals::AskCaller) or `TerminalApprover`. Without permissions the
    /// tools for plan mode are hidden.
    ///
    /// ```
    /// use tool_runtime::approvals::AskCaller;
    /// use tool_runtime::policy::{PermissionMode, Permissions};
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::people::PeopleParams;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let params = PeopleParams::new().permissions(Permissions::new(PermissionMode::AcceptEdits));
    /// let builtins = Builtins::new(workspace).people(params);
    /// let pool = ToolPool::builder().install(builtins).approver(AskCaller::new()).build()?;
    /// assert!(pool.get("ExitPlanMode").is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "people")]
    pub fn people(mut self, params: crate::people::PeopleParams) -> Self {
        self.people = Some(params);
        self
    }

    /// Adds the tools for tasks, teams and sub-agents. Agent loops over the pool receive the messages of teams. Without
    /// a spawner of agents the tools that start some are hidden.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::tasks::{TaskStore, TasksParams};
    /// use tool_runtime_builtins::{Builtins, Workspace};
    /// # let directory = tempfile::tempdir()?;
    /// # let file = directory.path().join("tasks.db");
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let params = TasksParams::new(TaskStore::open(file)?);
    /// let pool = ToolPool::builder().install(Builtins::new(workspace).tasks(params)).build()?;
    /// assert!(pool.get("TaskCreate").is_some());
    /// assert!(pool.report().to_string().contains("no spawner of agents"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "tasks")]
    pub fn tasks(mut self, params: crate::tasks::TasksParams) -> Self {
        self.tasks = Some(params);
        self
    }

    /// The tools whose names without prefix belong to the profiles.
    #[cfg(any(
        feature = "files",
        feature = "search",
        feature = "shell",
        feature = "people",
        feature = "tasks"
    ))]
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
    #[cfg(any(feature = "search", feature = "people"))]
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

/// The tools for code. Those whose programs are missing are hidden.
#[cfg(feature = "code")]
#[cfg_attr(not(unix), allow(unused, reason = "notebooks alone"))]
fn code_tools(builtins: &Builtins, params: crate::code::CodeParams) -> Vec<Tool> {
    let mut tools = tools_of::<crate::code::Notebooks>(builtins);
    #[cfg(unix)]
    {
        use crate::code::{LanguageServers, Worktrees};
        let workspace = || builtins.workspace().clone();
        let worktrees = Worktrees::new(workspace(), params.worktrees.clone());
        tools.extend(builtins.offered(usable(builtins, worktrees), Worktrees::tools_of));
        let servers = LanguageServers::new(workspace(), params);
        tools.extend(builtins.offered(usable(builtins, servers), LanguageServers::tools_of));
    }
    tools
}

/// The tools of a value, or hidden ones with the reason why there is none.
#[cfg(all(feature = "code", unix))]
fn usable<T: Toolset>(builtins: &Builtins, value: Result<T, String>) -> Vec<Tool> {
    let prefix = Some(builtins.prefix.as_str());
    match value {
        Ok(value) => Tool::of_toolset(prefix, value),
        Err(reason) => Tool::of_unusable_toolset::<T>(prefix, &reason),
    }
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

/// The tools that ask people, plan and keep lists, with what plan mode needs.
#[cfg(feature = "people")]
fn add_people<S>(
    builtins: &Builtins,
    params: crate::people::PeopleParams,
    builder: ToolPoolBuilder<S>,
) -> ToolPoolBuilder<S> {
    use crate::people::{Lists, People, Planning, finish, plan_approval};
    let prefix = Some(builtins.prefix.as_str());
    let mut people = Tool::of_toolset(prefix, People::new(&params));
    people.push(finish(builtins.named("finish"), params.answer.as_ref()));
    let mut tools = builtins.offered(people, People::tools_of);
    tools.extend(builtins.offered(Tool::of_toolset(prefix, Lists::new()), Lists::tools_of));
    let Some(permissions) = params.permissions else {
        let reason = "no permissions; give them by `PeopleParams::permissions`";
        let hidden = Tool::of_unusable_toolset::<Planning>(prefix, reason);
        tools.extend(builtins.offered(hidden, Planning::tools_of));
        return builder.add_from(&Source::Custom, tools);
    };
    let planning = Tool::of_toolset(prefix, Planning::new(permissions.clone()));
    tools.extend(builtins.offered(planning, Planning::tools_of));
    let approval = plan_approval(&builtins.named("ExitPlanMode"), permissions.clone());
    builder.add_from(&Source::Custom, tools).policy(permissions).hook(approval)
}

/// The tools for tasks, teams and sub-agents, and the mailbox of agent loops.
#[cfg(feature = "tasks")]
fn add_tasks<S>(
    builtins: &Builtins,
    params: crate::tasks::TasksParams,
    builder: ToolPoolBuilder<S>,
) -> ToolPoolBuilder<S> {
    use crate::tasks::{Agents, Board, Mailbox, Runner, Teams};
    use std::sync::Arc;
    let prefix = Some(builtins.prefix.as_str());
    let (store, runner) = (params.store.clone(), Runner::new(params.store));
    let board = Tool::of_toolset(prefix, Board::new(store.clone(), Arc::clone(&runner)));
    let mut tools = builtins.offered(board, Board::tools_of);
    tools.extend(
        builtins.offered(Tool::of_toolset(prefix, Teams::new(store.clone())), Teams::tools_of),
    );
    let agents = match params.agents {
        Some(spawner) => Tool::of_toolset(prefix, Agents::new(spawner, store.clone(), runner)),
        None => {
            let reason = "no spawner of agents; give one by `TasksParams::agents`";
            Tool::of_unusable_toolset::<Agents>(prefix, reason)
        }
    };
    tools.extend(builtins.offered(agents, Agents::tools_of));
    let mailbox: Arc<dyn tool_runtime::AgentMailbox> = Arc::new(Mailbox(store));
    builder.add_from(&Source::Custom, tools).state(mailbox)
}

impl PoolExtension for Builtins {
    #[cfg_attr(
        not(any(feature = "search", feature = "shell", feature = "people", feature = "tasks")),
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
        #[cfg(feature = "code")]
        if let Some(params) = self.code.take() {
            builder = builder.add_from(&Source::Custom, code_tools(&self, params));
        }
        #[cfg(feature = "people")]
        if let Some(params) = self.people.take() {
            builder = add_people(&self, params, builder);
        }
        #[cfg(feature = "tasks")]
        if let Some(params) = self.tasks.take() {
            builder = add_tasks(&self, params, builder);
        }
        let add = |builder: ToolPoolBuilder<S>, tools: &MakeTools| {
            builder.add_from(&Source::Custom, tools(&self))
        };
        self.families.iter().fold(builder, add)
    }
}
