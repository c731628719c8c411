//! The extension that adds families of tools to a pool.

use crate::workspace::Workspace;
use tool_runtime::pool::{PoolExtension, Source};
use tool_runtime::tool::Requirement;
use tool_runtime::{Tool, ToolPoolBuilder, Toolset};

/// The names and arguments under which tools are offered. The code behind them is the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Profile {
    /// `Read`, `Edit`, `Grep`, `Bash`: the names that most models use.
    #[default]
    Standard,
    /// `file_editor`, `glob`, `grep`, `terminal`: the names of OpenHands.
    OpenHands,
}

/// A toolset whose tools belong to profiles.
pub(crate) trait Family: Toolset {
    /// Names of the tools that a profile offers, without prefix.
    fn tools_of(profile: Profile) -> &'static [&'static str];

    /// Names of the tools that leave out the files which a call may not read.
    const FILE_CHECKS: &[&str] = &[];

    /// Names by which models call a tool, besides its own.
    fn other_names(_tool: &str) -> &'static [&'static str] {
        &[]
    }
}

/// Adds a family to a pool.
type AddFamily = Box<dyn FnOnce(&Builtins, ToolPoolBuilder) -> ToolPoolBuilder + Send>;

/// Families of tools over one [`Workspace`], as an extension of a pool.
///
/// A family is added by its method, in the [`Profile`] of the extension. The tools have tags:
/// `core`, `advanced` or `specialist` by how often agents need them, for filters.
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
    /// Names of tools without prefix, each with what the program adds.
    requirements: Vec<(String, Requirement)>,
    families: Vec<AddFamily>,
}

impl Builtins {
    /// An extension without families.
    pub fn new(workspace: Workspace) -> Self {
        let profiles = vec![Profile::default()];
        Self {
            workspace,
            prefix: String::new(),
            profiles,
            requirements: Vec::new(),
            families: Vec::new(),
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

    /// Sets the profiles. Two profiles offer most actions twice, which models confuse. Of names that differ only in case,
    /// as `Glob` and `glob`, the first profile's is offered, since a pool refuses both. Default: [`Profile::Standard`].
    pub fn profiles(mut self, profiles: impl IntoIterator<Item = Profile>) -> Self {
        self.profiles = profiles.into_iter().collect();
        self
    }

    /// Adds what a tool needs of the program, by the tool's name without prefix: an option, a file. The pool's report
    /// shows it, and a [missing](Requirement::missing) one hides the tool.
    ///
    /// ```
    /// use tool_runtime::tool::Requirement;
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_builtins::{Builtins, Workspace};
    ///
    /// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
    /// let writable = Requirement::missing("--writable", "files are not changed without it");
    /// let builtins = Builtins::new(workspace).requires("Write", writable).files();
    /// let pool = ToolPool::builder().install(builtins).build()?;
    /// assert!(pool.get("Write").is_none());
    /// assert!(pool.report().to_string().contains("`--writable` is missing"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn requires(mut self, tool: impl Into<String>, requirement: Requirement) -> Self {
        self.requirements.push((tool.into(), requirement));
        self
    }
}

#[allow(dead_code, reason = "each family uses some of them")]
impl Builtins {
    /// Adds a family.
    pub(crate) fn family(
        mut self,
        add: impl FnOnce(&Self, ToolPoolBuilder) -> ToolPoolBuilder + Send + 'static,
    ) -> Self {
        self.families.push(Box::new(add));
        self
    }

    /// Adds a family of tools that need nothing else.
    pub(crate) fn family_of_tools(
        self,
        tools: impl FnOnce(&Self) -> Vec<Tool> + Send + 'static,
    ) -> Self {
        self.family(|builtins, pool| pool.add_from(&Source::Custom, tools(builtins)))
    }

    /// The tools of a toolset that the profiles offer, or hidden ones with the reason why it has no value. Relative
    /// paths in their keys begin at the first root.
    pub(crate) fn tools<F: Family>(&self, value: Result<F, String>) -> Vec<Tool> {
        let prefix = Some(self.prefix.as_str());
        let mut tools = match value {
            Ok(value) => Tool::of_toolset(prefix, value),
            Err(reason) => Tool::of_unusable_toolset::<F>(prefix, &reason),
        };
        tools.retain(|tool| self.is_offered::<F>(tool.name()));
        let root = self.workspace.roots()[0].path();
        let tools = tools.into_iter().map(|tool| tool.resolve_keys_in(root));
        let tools = tools.map(|tool| match F::FILE_CHECKS.contains(&own_name(tool.name())) {
            true => tool.checks_files(),
            false => tool,
        });
        let tools = tools.map(|tool| {
            let names = F::other_names(own_name(tool.name()));
            tool.with_other_names(names)
        });
        tools.map(|tool| self.with_requirements(tool)).collect()
    }

    /// A tool with what the program says that it needs.
    fn with_requirements(&self, tool: Tool) -> Tool {
        let own = own_name(tool.name());
        let of_tool = self.requirements.iter().filter(|(name, _)| name == own);
        let of_tool: Vec<Requirement> = of_tool.map(|(_, it)| it.clone()).collect();
        tool.requires(of_tool)
    }

    /// Whether the profiles offer a tool of a family.
    pub(crate) fn is_offered<F: Family>(&self, name: &str) -> bool {
        let own = own_name(name);
        let mut offered = self.profiles.iter().flat_map(|profile| F::tools_of(*profile));
        offered.find(|offered| offered.eq_ignore_ascii_case(own)).is_some_and(|name| *name == own)
    }

    /// A name with the prefix.
    pub(crate) fn named(&self, name: &str) -> String {
        if self.prefix.is_empty() { name.to_owned() } else { format!("{}.{name}", self.prefix) }
    }
}

/// A name without its prefix.
fn own_name(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(_, own)| own)
}

impl PoolExtension for Builtins {
    fn install<S>(mut self, pool: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        let families = std::mem::take(&mut self.families);
        pool.apply(|pool| families.into_iter().fold(pool, |pool, add| add(&self, pool)))
    }
}
