//! A pool under construction: everything that its builder collects. Not generic, so that users' crates
//! compile none of it.

use super::catalog::{self, Catalog, Entry, Item};
use super::core::Core;
use super::extras::Extras;
use super::governance::Governance;
use super::handle::ToolPool;
use super::offer::{Offer, Rules, nearest_help};
use super::problem::{PoolError, PoolProblem};
use crate::govern::Governors;
use crate::tool::context::ToolContext;
use crate::tool::tool::Tool;
use crate::tool::tool::source::Source;
use crate::tool::toolset::{self, New, Toolset};
#[cfg(feature = "linked")]
use crate::tool::toolset::{ToolsetError, ToolsetKind};
use crate::vocabulary::future::BoxFuture;
use std::any::TypeId;
use std::sync::Arc;

/// Creates tools from the state of the pool.
pub(crate) type Pending = Box<dyn FnOnce(ToolContext) -> BoxFuture<'static, Created> + Send>;

/// The tools that were created, or all reasons why there are none.
pub(crate) type Created = Result<Vec<Tool>, Vec<PoolProblem>>;

#[derive(Default)]
pub(super) struct Draft {
    pub(super) rules: Rules,
    pub(super) governance: Governance,
    pub(super) problems: Vec<PoolProblem>,
    pub(super) extras: Extras,
    /// Whether tools come while the pool runs.
    pub(super) allow_empty: bool,
    /// Whether linked tools were requested, and there are none.
    links_nothing: bool,
    pub(super) pending: Vec<Pending>,
    /// Whether every linked toolset is created that is not in `toolsets`.
    #[cfg(feature = "linked")]
    pub(super) links_toolsets: bool,
    /// The types of the toolsets in `pending`.
    toolsets: Vec<TypeId>,
    offers: Vec<Offer>,
    entries: Vec<Entry>,
    /// `Arc<T>` and the name of `T`, for each `T` given as state.
    shared_states: Vec<(TypeId, &'static str)>,
}

impl Draft {
    pub(super) fn offer(&mut self, source: &Source, tools: impl IntoIterator<Item = Tool>) {
        let offer = |tool| Offer::new(tool, source.clone());
        self.offers.extend(tools.into_iter().map(offer));
    }

    pub(super) fn entry(&mut self, source: Source, item: Item) {
        self.entries.push(Entry { item, source });
    }

    #[cfg(feature = "linked")]
    pub(super) fn link(&mut self) {
        let before = self.offers.len() + self.entries.len();
        self.offer(&Source::Linked, crate::tool::tool::registration::linked());
        self.link_offerings();
        let is_same = self.offers.len() + self.entries.len() == before;
        if is_same && crate::tool::tool::registration::linked_toolsets().is_empty() {
            self.links_nothing = true;
        }
    }

    #[cfg(feature = "linked")]
    pub(super) fn link_offerings(&mut self) {
        for prompt in crate::tool::tool::registration::linked_prompts() {
            self.entry(Source::Linked, Item::Prompt(prompt));
        }
        for resource in crate::tool::tool::registration::linked_resources() {
            self.entry(Source::Linked, Item::Resource(resource));
        }
    }

    pub(super) fn toolset<T: Toolset>(&mut self, prefix: Option<String>, params: T::Params) {
        self.toolsets.push(TypeId::of::<T>());
        self.pending.push(Box::new(|context| {
            Box::pin(async {
                let name = prefix.clone().unwrap_or_else(|| T::NAME.to_owned());
                let created = toolset::start::<T>(params, New { context, prefix }).await;
                created.map_err(|error| vec![not_created(&name, &error)])
            })
        }));
    }

    /// Records a problem if a part was given twice of which a pool has one.
    pub(super) fn note_repeated(&mut self, is_repeated: bool, method: &'static str) {
        if is_repeated {
            self.problems.push(PoolProblem::Repeated { method });
        }
    }

    pub(super) fn governors(&mut self) -> &mut Governors {
        Arc::make_mut(&mut self.governance.governors)
    }

    /// Records the type of a value that was inserted into the state.
    pub(super) fn note_state(&mut self, is_new: bool, shared: TypeId, type_name: &'static str) {
        if !is_new {
            self.problems.push(PoolProblem::DuplicateState { type_name });
        }
        self.shared_states.push((shared, type_name));
    }

    /// Creates the tools that need the state of the pool.
    pub(super) async fn create_pending(&mut self) {
        let context = ToolContext::with_state(self.rules.state.clone());
        for create in std::mem::take(&mut self.pending) {
            match create(context.clone()).await {
                Ok(tools) => self.offer(&Source::Custom, tools),
                Err(problems) => self.problems.extend(problems),
            }
        }
        #[cfg(feature = "linked")]
        if self.links_toolsets {
            for kind in crate::tool::tool::registration::linked_toolsets() {
                if !self.toolsets.contains(&kind.type_id()) {
                    self.create_linked(&kind, context.clone()).await;
                }
            }
        }
    }

    #[cfg(feature = "linked")]
    async fn create_linked(&mut self, kind: &ToolsetKind, context: ToolContext) {
        let new = New { context, prefix: None };
        match kind.create_with(serde_json::Map::new(), new).await {
            Ok(tools) => self.offer(&Source::Linked, tools),
            Err(error) => {
                let ToolsetError::Params(_) = &error else {
                    return self.problems.push(not_created(kind.name(), &error));
                };
                let reason = format!(
                    "it is linked in and needs parameters: {error}; write `.toolset::<T>(params)` on the pool, as in `main!(pool = |pool| pool.toolset::<T>(params))`, give them in a file of tools, or write `#[toolset(register = false)]` at {}",
                    kind.origin()
                );
                self.problems.push(not_created(kind.name(), &reason));
            }
        }
    }

    /// Notes recorders that cannot write, a store that cannot look up steps, and questions that nobody may answer.
    fn check_governance(&mut self) {
        let governors = &self.governance.governors;
        let prepared = governors.recorders.iter().map(|it| it.prepare());
        let mut failures: Vec<_> = prepared.filter_map(Result::err).collect();
        // One log is usually both, and fails once.
        if failures.is_empty() {
            failures.extend(governors.steps.iter().filter_map(|it| it.prepare().err()));
        }
        let reasons = failures.into_iter().map(|error| error.to_string());
        self.problems.extend(reasons.map(|reason| PoolProblem::Recorder { reason }));
        self.problems.extend(self.governance.unanswerable());
    }

    pub(super) fn build(mut self) -> Result<ToolPool, PoolError> {
        self.governance.ask_for_risk();
        self.check_governance();
        self.problems.extend(
            self.governance
                .hooks
                .problems()
                .map(|error| PoolProblem::InvalidPattern(error.clone().into())),
        );
        let state = &self.rules.state;
        let is_ambiguous = |(shared, _): &&(TypeId, _)| state.contains(*shared);
        let ambiguous = self.shared_states.iter().filter(is_ambiguous);
        self.problems
            .extend(ambiguous.map(|(_, type_name)| PoolProblem::AmbiguousState { type_name }));
        self.rules.hooks.clone_from(&self.governance.hooks);
        let mut decision = self.rules.decide(self.offers);
        let settled =
            catalog::settle(self.entries.clone(), &self.rules.state, &mut decision.problems);
        if let Some(mask) = &self.governance.mask {
            let secret_names = decision.secret_names(&**mask);
            decision.problems.extend(secret_names);
            decision.problems.extend(catalog::secret_names(&settled, &**mask));
        }
        let is_empty = decision.offers.is_empty() && self.entries.is_empty();
        if self.links_nothing && is_empty && !self.allow_empty {
            self.problems.push(PoolProblem::NoLinkedTools);
        }
        if !self.allow_empty {
            let idle = self.rules.idle_transforms(&decision.offers);
            decision.problems.extend(idle.into_iter().map(|selector| {
                let help = nearest_help(&selector, &decision.offers);
                PoolProblem::IdleTransform { selector, help }
            }));
        }
        decision.problems.splice(0..0, self.problems);
        decision.problems.dedup();
        let decision = decision.into_result()?;
        let context = ToolContext::with_state(self.rules.state.clone());
        let catalog = Catalog::after(&Catalog::default(), &settled);
        let may_be_idle = self.rules.may_be_idle();
        let core = Core::new(self.rules, self.governance, decision, self.entries, catalog)
            .with_extras(self.extras);
        let pool = ToolPool::scoped(Arc::new(core), None, &context);
        if !self.allow_empty && (may_be_idle || pool.current().tools().is_empty()) {
            warn_of_slips(&pool);
        }
        Ok(pool)
    }
}

pub(crate) fn not_created(name: &str, reason: &dyn std::fmt::Display) -> PoolProblem {
    PoolProblem::CreationFailed { name: name.to_owned(), reason: reason.to_string() }
}

/// Logs warnings about an empty pool and about rules that match no tool.
fn warn_of_slips(pool: &ToolPool) {
    let report = pool.report();
    let snapshot = pool.current();
    let has_others = !snapshot.prompts().is_empty() || !snapshot.resources().is_empty();
    if report.is_empty() && !has_others
        || !report.unmatched.is_empty()
        || !report.idle_hooks.is_empty()
    {
        tracing::warn!("{}", report.to_string().trim_end());
    }
}

#[cfg(all(test, feature = "linked"))]
mod tests {
    use super::*;

    #[test]
    fn a_pool_without_linked_tools_may_have_others() {
        let error = ToolPool::builder().linked().build().unwrap_err();
        assert_eq!(error.problems(), [PoolProblem::NoLinkedTools]);
        let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
        assert_eq!(ToolPool::builder().linked().add(ping).build().unwrap().tools().len(), 1);
    }
}
