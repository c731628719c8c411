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
    not(any(feature = "files", feature = "search", feature = "servers")),
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
    #[cfg(feature = "web")]
    web: Option<crate::web::WebParams>,
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
            #[cfg(feature = "web")]
            web: None,
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

    /// Adds the tools that list and read the resources of the MCP servers that a manager connects to the pool.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let pool = ToolPool::builder().install(Builtins::new(workspace).servers()).build()?;
    /// assert!(pool.tools().iter().any(|tool| tool.name() == "ReadMcpResource"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "servers")]
    pub fn servers(self) -> Self {
        self.family(tools_of::<crate::servers::Servers>)
    }

    /// Adds the tools for the web. Without a search engine `WebSearch` is hidden, and the pool's report says what to set.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::web::WebParams;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let pool = ToolPool::builder().install(Builtins::new(workspace).web(WebParams::default())).build()?;
    /// assert_eq!(pool.tools().iter().map(|tool| tool.name()).collect::<Vec<_>>(), ["WebFetch"]);
    /// assert!(pool.report().to_string().contains("no search engine is configured"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(feature = "web")]
    pub fn web(mut self, params: crate::web::WebParams) -> Self {
        self.web = Some(params);
        self
    }

    /// The tools whose names without prefix belong to the profiles.
    #[cfg(any(
        feature = "files",
        feature = "search",
        feature = "servers",
        feature = "shell",
        feature = "web"
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
    #[cfg(feature = "search")]
    fn named(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }

    #[cfg(any(feature = "files", feature = "search", feature = "servers"))]
    fn family(mut self, tools: MakeTools) -> Self {
        self.families.push(tools);
        self
    }
}

/// The tools of a family that the profiles offer.
#[cfg(any(feature = "files", feature = "search", feature = "servers"))]
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

/// The tools for the web, hidden where they are not usable.
#[cfg(feature = "web")]
fn web_tools(builtins: &Builtins, params: crate::web::WebParams) -> Vec<Tool> {
    use crate::web::{Fetch, WebSearch};
    let prefix = Some(builtins.prefix.as_str());
    let search = match WebSearch::new(&params) {
        Ok(search) => Tool::of_toolset(prefix, search),
        Err(reason) => Tool::of_unusable_toolset::<WebSearch>(prefix, &reason),
    };
    let fetch = match Fetch::new(params) {
        Ok(fetch) => Tool::of_toolset(prefix, fetch),
        Err(reason) => Tool::of_unusable_toolset::<Fetch>(prefix, &reason),
    };
    let mut tools = builtins.offered(fetch, Fetch::tools_of);
    tools.extend(builtins.offered(search, WebSearch::tools_of));
    tools
}

impl PoolExtension for Builtins {
    #[cfg_attr(
        not(any(feature = "search", feature = "shell", feature = "web")),
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
        #[cfg(feature = "web")]
        if let Some(params) = self.web.take() {
            builder = builder.add_from(&Source::Custom, web_tools(&self, params));
        }
        let add = |builder: ToolPoolBuilder<S>, tools: &MakeTools| {
            builder.add_from(&Source::Custom, tools(&self))
        };
        self.families.iter().fold(builder, add)
    }
}
