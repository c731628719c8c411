//! A handle on a pool.

mod attached;
mod restrict;

use super::claim::Claim;
use super::core::{Absence, Core, View};
use super::governance::Governance;
use super::problem::PoolProblem;
use super::report::{PoolReport, ToolStatus};
use super::scope::Scope;
use super::snapshot::Snapshot;
use super::watch::Watcher;
use crate::govern::hook::PooledTool;
use crate::govern::{PolicyEngine, StepStore};
use crate::tool::context::ToolContext;
use crate::tool::offering::prompt::Prompt;
use crate::tool::offering::resource::Resource;
use crate::tool::tool::Tool;
use crate::tool::tool::definition::ToolDefinition;
use crate::tool::tool::source::Source;
use crate::vocabulary::error::CallError;
use crate::vocabulary::principal::Principal;
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
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ToolPool(pub(super) Arc<Scope>);

impl ToolPool {
    pub(super) fn scoped(
        core: Arc<Core>,
        parent: Option<Arc<Scope>>,
        context: &ToolContext,
    ) -> Self {
        Self(Arc::new_cyclic(|scope: &Weak<Scope>| {
            core.add_scope(scope.clone() as Weak<dyn View>);
            Scope::new(core, parent, context.clone().with_host(scope.clone()))
        }))
    }

    /// The currently visible tools, after filter and restrictions, and without those that a policy
    /// hides from the principal of this handle.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.0.listing()
    }

    /// The tools that can be called for some principal: those of [`Self::snapshot`] before policies.
    #[doc(hidden)]
    pub fn callable(&self) -> Arc<Snapshot> {
        Arc::clone(&self.0.snapshot())
    }

    /// The limits on the size of results.
    #[doc(hidden)]
    pub fn output_limits(&self) -> Option<&crate::govern::limits::OutputLimits> {
        self.governance().limits.as_ref()
    }

    /// Whether policies, limits or records apply to calls.
    #[doc(hidden)]
    pub fn has_governors(&self) -> bool {
        !self.governance().governors.is_empty()
    }

    /// Why calls cannot be recorded at present.
    #[doc(hidden)]
    pub fn recording_problem(&self) -> Option<String> {
        self.governance().governors.recorders.iter().find_map(|recorder| recorder.problem())
    }

    /// Where calls that ran are looked up.
    #[doc(hidden)]
    pub fn step_store(&self) -> Option<Arc<dyn StepStore>> {
        self.governance().governors.steps.clone()
    }

    /// Whether a principal sees a tool. `None` if all principals see all tools.
    #[doc(hidden)]
    pub fn visibility(&self) -> Option<impl Fn(&ToolDefinition, &Principal) -> bool + '_> {
        self.0.visibility()
    }

    /// The scopes of a tool that a principal lacks.
    #[doc(hidden)]
    pub fn missing_scopes(&self, tool: &str, principal: &Principal) -> Vec<String> {
        let snapshot = self.0.snapshot();
        let tool = if snapshot.has_scopes() { snapshot.find(tool) } else { None };
        let missing = |found: PooledTool| {
            principal.missing_scopes(found.tool().definition()).map(str::to_owned).collect()
        };
        tool.map(missing).unwrap_or_default()
    }

    /// The visible tools of this moment, sorted by name.
    pub fn tools(&self) -> Vec<Tool> {
        self.0.listing().tools().to_vec()
    }

    /// A visible tool by its exact name.
    pub fn get(&self, name: &str) -> Option<Tool> {
        self.0.listing().get(name).cloned()
    }

    /// All definitions as one JSON array of MCP tools, see [`Snapshot::definitions_json`].
    pub fn definitions_json(&self) -> Arc<str> {
        Arc::clone(self.0.listing().definitions_json())
    }

    /// The prompts of this moment, sorted by name.
    pub fn prompts(&self) -> Vec<Prompt> {
        self.0.snapshot().prompts().to_vec()
    }

    /// The resources of this moment, the most specific first: those of one URI, then templates.
    pub fn resources(&self) -> Vec<Resource> {
        self.0.snapshot().resources().to_vec()
    }

    /// The questions of a policy that may become one of this pool and that its approver cannot put to anyone.
    #[doc(hidden)]
    pub fn unanswerable(&self, policy: &dyn PolicyEngine) -> Vec<PoolProblem> {
        self.governance().unanswerable_by(policy)
    }

    /// The status of every tool that was ever offered: which are visible, and why the others
    /// are not.
    pub fn report(&self) -> PoolReport {
        let mut report = self.0.core.report();
        for tool in &mut report.tools {
            if tool.status == ToolStatus::Visible
                && let Some(by) = self.restriction(&tool.name)
            {
                tool.status = ToolStatus::Restricted { by };
            }
        }
        report
    }

    /// Closes the pool for all its handles and scopes. New calls are rejected. Running calls of
    /// custom executors and host programs are cancelled. Running calls of toolsets are interrupted,
    /// and cancelled if they do not end within five seconds. Then every toolset and executor is
    /// closed, the last one first.
    ///
    /// Closes each exactly once, also when called twice. One that takes longer than ten
    /// seconds is abandoned. Dropping the pool closes them, too, but does not wait. At last the recorders store what they have.
    pub async fn close(&self) {
        for tool in self.0.core.close() {
            tool.close().await;
        }
        for recorder in &self.governance().governors.recorders {
            recorder.flush().await;
        }
    }

    /// Cancelled when the pool is closed.
    #[doc(hidden)]
    pub fn closing(&self) -> &CancellationToken {
        self.0.core.closing()
    }

    /// Whether the pool is being closed, or was.
    pub(crate) fn is_closing(&self) -> bool {
        self.0.core.is_closing()
    }

    /// A context over the pool's state that nothing cancels.
    pub(crate) fn shared_context(&self) -> &ToolContext {
        &self.0.context
    }

    /// A caller's context for a call through this handle: nested calls see what this handle sees.
    /// The caller has [checked](ToolContext::check_nesting) the context.
    pub(crate) fn hosting<'a>(&self, context: Cow<'a, ToolContext>) -> Cow<'a, ToolContext> {
        if std::ptr::eq(&*context, self.shared_context()) {
            return context;
        }
        let context = context.into_owned().passed_on().started();
        if context.is_hosted_by(&self.0) {
            return Cow::Owned(context);
        }
        let host: Weak<Scope> = Arc::downgrade(&self.0);
        Cow::Owned(context.with_host(host))
    }

    pub(crate) fn current(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.0.snapshot()
    }

    /// Watches for changes until the returned watcher is dropped.
    #[doc(hidden)]
    pub fn watch(&self) -> Arc<Watcher> {
        let watcher = Arc::new(Watcher::default());
        self.0.core.add_watcher(Arc::downgrade(&watcher));
        watcher
    }

    /// The rules for calls, besides the tools themselves.
    pub(crate) fn governance(&self) -> &Governance {
        self.0.core.governance()
    }

    /// A handle on an existing scope.
    pub(crate) fn of_scope(scope: Arc<Scope>) -> Self {
        Self(scope)
    }

    /// Registers an explanation of absent tools.
    #[doc(hidden)]
    pub fn ask_of_absence(&self, absence: std::sync::Weak<dyn Absence>) {
        self.0.core.add_absence(absence);
    }

    /// The registered explanations of a type.
    #[doc(hidden)]
    pub fn absences_of<T: std::any::Any + Send + Sync>(&self) -> Vec<Arc<T>> {
        self.0.core.absences_of()
    }

    /// Waits for external servers that are still being connected to, for a limited time.
    #[doc(hidden)]
    pub async fn settled(&self) {
        self.0.core.settled().await;
    }

    /// The exclusive right to set the tools of a source, unless it is taken.
    #[doc(hidden)]
    pub fn claim(&self, source: &Source) -> Option<Claim> {
        let core = &self.0.core;
        core.reserve(source).then(|| Claim::new(std::sync::Arc::downgrade(core), source.clone()))
    }

    /// The reason why the tool of that name is absent, if known.
    pub(crate) fn why_absent(&self, name: &str) -> Option<CallError> {
        self.0.core.why_absent(name)
    }

    /// A tool of the pool, whether or not this handle may see it.
    pub(crate) fn find_any(&self, name: &str) -> Option<PooledTool> {
        self.0.core.snapshot().load().find(name)
    }

    /// The restriction that keeps a tool of the pool from this handle, as text.
    pub(crate) fn restriction(&self, name: &str) -> Option<String> {
        self.0.restriction(self.find_any(name)?.tool())
    }
}

impl fmt::Debug for ToolPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPool").field("tools", &*self.current()).finish_non_exhaustive()
    }
}
