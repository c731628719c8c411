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
    not(any(feature = "files", feature = "search", feature = "shell")),
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
}

impl Builtins {
    /// An extension without families.
    pub fn new(workspace: Workspace) -> Self {
        let profiles = vec![Profile::default()];
        Self { workspace, prefix: String::new(), profiles, families: Vec::new() }
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

    /// Adds the tools that run commands.
    #[cfg(feature = "shell")]
    pub fn shell(self) -> Self {
        self.family(tools_of::<crate::shell::Shell>)
    }

    #[cfg(any(feature = "files", feature = "search", feature = "shell"))]
    fn family(mut self, tools: MakeTools) -> Self {
        self.families.push(tools);
        self
    }
}

/// The tools of a family that the profiles offer.
#[cfg(any(feature = "files", feature = "search", feature = "shell"))]
fn tools_of<F: Family>(builtins: &Builtins) -> Vec<Tool> {
    let names = builtins.profiles.iter().flat_map(|profile| F::tools_of(*profile));
    let names: Vec<&str> = names.copied().collect();
    let is_offered = |tool: &Tool| {
        let name = tool.name();
        names.contains(&name.rsplit_once('.').map_or(name, |(_, own)| own))
    };
    let tools = Tool::of_toolset(Some(&builtins.prefix), F::over(builtins.workspace().clone()));
    tools.into_iter().filter(is_offered).collect()
}

impl PoolExtension for Builtins {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        let add = |builder: ToolPoolBuilder<S>, tools: &MakeTools| {
            builder.add_from(&Source::Custom, tools(&self))
        };
        self.families.iter().fold(builder, add)
    }
}
