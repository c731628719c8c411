//! The assembled set of tools.
//!
//! One pure function (`offer`) decides about all tools that were ever offered, at the build and at each
//! change: name conflicts, filters, usability, quarantine. Visible tools form a [`Snapshot`], which is
//! swapped atomically. A handle has a scope with a stack of restrictions; the stack applied to a
//! snapshot is another snapshot, made when it is first needed. A call keeps the snapshot that it began
//! with: a removed tool ends with its last call.
//!
//! A context holds its pool weakly. State that holds its own pool keeps it alive until it is closed.
//!
//! Prompts and resources live in the same snapshot, in a catalog that a change replaces as a whole;
//! filters and restrictions do not apply to them. A [`Watcher`] gathers changes as flags and a set, not
//! as a queue: a burst is one piece of news, and it cannot grow.

mod builder;
mod catalog;
mod change;
mod claim;
mod core;
mod filter;
mod governance;
mod offer;
mod offerings;
mod problem;
mod report;
mod runtime;
mod scope;
mod selector;
mod session;
mod snapshot;
mod source;
mod watch;

pub use builder::ToolPoolBuilder;
pub use change::{PoolChange, PoolChanges};
pub use filter::Filter;
pub use governance::CallRequest;
pub(crate) use governance::Governance;
#[cfg(feature = "tower")]
pub(crate) use governance::Layered;
pub use problem::{PoolError, PoolProblem};
pub use report::{AbsentSource, PoolReport, ToolReport, ToolStatus};
pub use scope::Restriction;
pub use selector::{Selector, SelectorError};
pub use session::PoolSession;
pub use snapshot::Snapshot;
pub use source::Source;

pub use self::core::Absence;
use self::core::Core;
pub use self::watch::{News, Watcher};
use crate::context::ToolContext;
use crate::error::CallError;
use crate::prompt::Prompt;
use crate::resource::Resource;
use crate::tool::Tool;
pub use claim::Claim;
pub(crate) use scope::Scope;
use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Weak};
use tokio_util::sync::CancellationToken;

/// The assembled set of tools: lists, describes and calls them. Cheap to clone.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// Add two integers.
/// #[tool(read_only)]
/// async fn add(
///     /// First addend.
///     a: i64,
///     /// Second addend.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().tool::<AddAction>().build()?;
/// let json = pool.call_json("add", r#"{"a": 2, "b": 40}"#).await;
/// assert_eq!(json, r#"{"content":[{"type":"text","text":"42"}]}"#);
/// # Ok::<(), tool_runtime::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ToolPool(Arc<Scope>);

impl ToolPool {
    /// Starts an empty pool.
    pub fn builder() -> ToolPoolBuilder {
        ToolPoolBuilder::default()
    }

    fn scoped(core: Arc<Core>, parent: Option<Arc<Scope>>, context: &ToolContext) -> Self {
        Self(Arc::new_cyclic(|scope: &Weak<Scope>| {
            core.watch(scope.clone());
            Scope::new(core, parent, context.clone().with_host(scope.clone()))
        }))
    }

    /// The visible tools of this moment: what the filter and the restrictions leave.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.snapshot())
    }

    /// The visible tools of this moment, sorted by name.
    pub fn tools(&self) -> Vec<Tool> {
        self.0.snapshot().tools().to_vec()
    }

    /// A visible tool by its exact name.
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.0.snapshot().get(name).cloned()
    }

    /// All definitions as one JSON array of MCP tools, see [`Snapshot::definitions_json`].
    pub fn definitions_json(&self) -> Arc<str> {
        Arc::clone(self.0.snapshot().definitions_json())
    }

    /// The prompts of this moment, sorted by name.
    pub fn prompts(&self) -> Vec<Prompt> {
        self.0.snapshot().prompts().to_vec()
    }

    /// The resources of this moment, the most specific first: those of one URI, then templates.
    pub fn resources(&self) -> Vec<Resource> {
        self.0.snapshot().resources().to_vec()
    }

    /// What became of every tool that was ever offered: which are visible, and why the others
    /// are not.
    pub fn report(&self) -> PoolReport {
        let mut report = self.0.core.report();
        for tool in &mut report.tools {
            if tool.status == ToolStatus::Visible
                && let Some(by) = self.0.restriction(&tool.name)
            {
                tool.status = ToolStatus::Restricted { by };
            }
        }
        report
    }

    /// Ends the pool, for all its handles and scopes: no call is taken any more; running calls
    /// of custom executors and host programs are cancelled; those of toolsets are interrupted,
    /// and cancelled if they do not end within five seconds; then every toolset and executor is
    /// closed, the last one first.
    ///
    /// It closes each exactly once, also when it is called twice; one that takes longer than ten
    /// seconds is given up. A pool that is dropped closes them, too, but nobody can wait for
    /// that.
    pub async fn close(&self) {
        for tool in self.0.core.close() {
            tool.close().await;
        }
    }

    /// Cancelled when the pool is closed.
    #[doc(hidden)]
    pub fn closing(&self) -> &CancellationToken {
        self.0.core.closing()
    }

    /// A context over the pool's state that nothing cancels.
    pub(crate) fn shared_context(&self) -> &ToolContext {
        &self.0.context
    }

    /// A caller's context for a call of this very handle: what a tool calls itself is bounded by
    /// what bounds the call.
    ///
    /// # Errors
    /// It was handed on too often, in words for a model.
    pub(crate) fn hosting<'a>(
        &self,
        context: &'a ToolContext,
    ) -> Result<Cow<'a, ToolContext>, String> {
        if std::ptr::eq(context, self.shared_context()) {
            return Ok(Cow::Borrowed(context));
        }
        let context = context.handed_on()?.started();
        if context.is_hosted_by(&self.0) {
            return Ok(Cow::Owned(context));
        }
        let host: Weak<Scope> = Arc::downgrade(&self.0);
        Ok(Cow::Owned(context.with_host(host)))
    }

    pub(crate) fn current(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.0.snapshot()
    }

    /// News from now on, as long as somebody holds what is given back.
    #[doc(hidden)]
    pub fn watch(&self) -> Arc<Watcher> {
        let watcher = Arc::new(Watcher::default());
        self.0.core.inform(Arc::downgrade(&watcher));
        watcher
    }

    /// What a call of a tool goes by beside the tool itself.
    pub(crate) fn governance(&self) -> &Governance {
        self.0.core.governance()
    }

    /// The pool that a scope is of.
    pub(crate) fn of_scope(scope: Arc<Scope>) -> Self {
        Self(scope)
    }

    /// Asks it about tools that are not there from now on.
    #[doc(hidden)]
    pub fn ask_of_absence(&self, absence: std::sync::Weak<dyn Absence>) {
        self.0.core.ask_of_absence(absence);
    }

    /// Waits for external servers that are still being connected to, for a limited time.
    #[doc(hidden)]
    pub async fn settled(&self) {
        self.0.core.settled().await;
    }

    /// The right to set the tools of a source alone, if nobody has it.
    #[doc(hidden)]
    pub fn claim(&self, source: &Source) -> Option<Claim> {
        let core = &self.0.core;
        core.reserve(source).then(|| Claim::new(std::sync::Arc::downgrade(core), source.clone()))
    }

    /// Why there is no tool of that name, if anybody knows.
    pub(crate) fn why_absent(&self, name: &str) -> Option<CallError> {
        self.0.core.why_absent(name)
    }

    /// A tool of the pool, whether or not this handle may see it.
    pub(crate) fn known(&self, name: &str) -> Option<Tool> {
        self.0.core.snapshot().load().get(name).cloned()
    }

    /// What keeps a tool of the pool from this handle, as text.
    pub(crate) fn restriction(&self, name: &str) -> Option<String> {
        self.known(name)?;
        self.0.restriction(name)
    }
}

impl fmt::Debug for ToolPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPool").field("tools", &*self.current()).finish_non_exhaustive()
    }
}
