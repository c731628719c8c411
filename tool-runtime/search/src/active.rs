//! The tools that a model sees, when a pool is too big to show whole.

use std::fmt;
use std::sync::{Arc, Mutex};
use tool_runtime_core::seam::lock;
use tool_runtime_core::{Snapshot, Tool, ToolPattern};

/// The tools that a model is shown in one session: some always, others once a search found them.
/// Clones share the activated tools.
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
pub struct ActiveTools(Arc<Shared>);

struct Shared {
    always: Vec<ToolPattern>,
    /// In the order of their activation.
    activated: Mutex<Vec<String>>,
}

impl ActiveTools {
    /// Shows the tools that a pattern matches, and no others until they are activated.
    ///
    /// # Errors
    /// An invalid pattern.
    pub fn new<P>(always: impl IntoIterator<Item = P>) -> Result<Self, P::Error>
    where
        P: TryInto<ToolPattern>,
    {
        let always = always.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?;
        Ok(Self(Arc::new(Shared { always, activated: Mutex::default() })))
    }

    /// Shows these tools from now on. A tool that is shown already keeps its place.
    pub fn activate<N: Into<String>>(&self, names: impl IntoIterator<Item = N>) {
        let names = names.into_iter().map(Into::into).filter(|name| !self.is_always_on(name));
        let names: Vec<String> = names.collect();
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

    /// The tools of a snapshot to show: those that are always on, sorted by name, then the
    /// activated ones in the order of their activation. So an activation only appends to a list
    /// of definitions, and a model's prompt cache stays valid.
    pub fn visible(&self, snapshot: &Snapshot) -> Vec<Tool> {
        let always = snapshot.tools().iter().filter(|tool| self.is_always_on(tool.name()));
        let activated = self.activated();
        let activated = activated.iter().filter_map(|name| snapshot.get(name));
        always.chain(activated).cloned().collect()
    }

    fn is_always_on(&self, name: &str) -> bool {
        self.0.always.iter().any(|pattern| pattern.matches(name))
    }
}

impl fmt::Debug for ActiveTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let activated = self.activated();
        f.debug_struct("ActiveTools").field("activated", &activated).finish_non_exhaustive()
    }
}
