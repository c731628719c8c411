//! The tools that a model sees of a large pool.

use crate::deferral::Deferral;
use std::fmt;
use std::sync::{Arc, Mutex};
use tool_runtime_core::pool::{Selector, SelectorError, Snapshot};
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::Tool;
use tool_runtime_core::tool::export::{ApiFormat, Export};

/// The tools that a model sees in one session: some always, others once a search found them. Clones
/// share the activated tools.
///
/// The set affects only the tools that a request to a model lists; permission to call them depends on the
/// pool and its restrictions.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::search::ActiveTools;
///
/// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
/// let pool = ToolPool::builder().add(tool("a")).add(tool("b")).add(tool("z")).build()?;
/// let active = ActiveTools::new(["z"])?;
/// active.activate(["b"]);
/// let visible = active.visible(&pool.snapshot());
/// let names: Vec<&str> = visible.iter().map(|tool| tool.name()).collect();
/// assert_eq!(names, ["z", "b"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ActiveTools(Arc<Inner>);

struct Inner {
    deferral: Deferral,
    /// In the order of their activation.
    activated: Mutex<Vec<String>>,
}

impl ActiveTools {
    /// Shows the tools that these selectors pick, and no others until they are activated.
    ///
    /// # Errors
    /// An invalid selector.
    pub fn new<S>(always: impl IntoIterator<Item = S>) -> Result<Self, SelectorError>
    where
        S: TryInto<Selector, Error: Into<SelectorError>>,
    {
        Ok(Self::deferring(Deferral::new().keep(always)?.max_tools(0)))
    }

    /// Shows the tools that are not deferred, and the others once they are activated.
    pub fn deferring(deferral: Deferral) -> Self {
        Self(Arc::new(Inner { deferral, activated: Mutex::default() }))
    }

    /// Shows these tools from now on. A tool that is shown already keeps its position.
    pub fn activate<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) {
        let names: Vec<String> = names.into_iter().map(Into::into).collect();
        let mut activated = lock(&self.0.activated);
        for name in names {
            if !activated.contains(&name) {
                activated.push(name);
            }
        }
    }

    /// The names of the activated tools, in the order of their activation.
    pub fn activated(&self) -> Vec<String> {
        lock(&self.0.activated).clone()
    }

    /// The tools of a snapshot to show: those that are not deferred, sorted by name, then the
    /// activated ones in the order of their activation. So an activation only appends to a list
    /// of definitions, and a model's prompt cache stays valid.
    pub fn visible(&self, snapshot: &Snapshot) -> Vec<Tool> {
        let visible = self.0.deferral.visible(snapshot);
        let is_new =
            |tool: &&Tool| visible.binary_search_by(|other| other.name().cmp(tool.name())).is_err();
        let activated = self.activated();
        let activated = activated.iter().filter_map(|name| snapshot.get(name)).filter(is_new);
        visible.iter().copied().chain(activated).cloned().collect()
    }

    /// The tools to show in the format of a model's API, in the order of [`Self::visible`].
    ///
    /// ```
    /// use tool_runtime::export::Api;
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::search::{ActiveTools, ToolSearch};
    ///
    /// let active = ActiveTools::new(["tool_search"])?;
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let search = ToolSearch::new().activating(&active).into_tool();
    /// let pool = ToolPool::builder().add(ping).add(search).build()?;
    /// let names = || {
    ///     let export = active.export(&pool.snapshot(), Api::Anthropic);
    ///     let names = export.definitions().iter().map(|definition| definition["name"].clone());
    ///     names.collect::<Vec<_>>()
    /// };
    /// assert_eq!(names(), ["tool_search"]);
    /// active.activate(["ping"]);
    /// assert_eq!(names(), ["tool_search", "ping"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn export(&self, snapshot: &Snapshot, format: impl ApiFormat) -> Export {
        let visible = self.visible(snapshot);
        let definitions: Vec<_> =
            visible.iter().filter_map(|tool| snapshot.definition(tool.name())).collect();
        Export::new(format, &definitions)
    }
}

impl fmt::Debug for ActiveTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let activated = self.activated();
        f.debug_struct("ActiveTools").field("activated", &activated).finish_non_exhaustive()
    }
}
