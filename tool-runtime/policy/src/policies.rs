//! Several policies of one pool, with their limits.

use crate::explain::effect_name;
use crate::limits::LimitKeeper;
use crate::live::LivePolicy;
use crate::policy::Policy;
use std::fmt;
use std::sync::Arc;
use tool_runtime_core::govern::{CallView, Decision, Effect, PolicyEngine};
use tool_runtime_core::pool::{PoolExtension, ToolPoolBuilder};

/// Several policies for one pool, and what keeps their limits. Deny beats ask beats allow. If several ask, each
/// question is put to the people that its policy names, and those to the same people are one.
///
/// A [`Policy`] or a [`LivePolicy`] that is installed by itself does the same.
///
/// ```
/// use tool_runtime::policy::{PermissionMode, Permissions, Policies, Policy, Rule};
/// use tool_runtime::ToolPool;
///
/// let house = Policy::builder().rule(Rule::deny("no-admin").tool("admin.*")).allow_by_default();
/// let policies = Policies::new()
///     .policy(house.build()?)
///     .engine(Permissions::new(PermissionMode::AcceptEdits))
///     .dry_run();
/// let pool = ToolPool::builder().install(policies).allow_empty().build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct Policies {
    engines: Vec<Arc<dyn PolicyEngine>>,
    keeper: LimitKeeper,
    has_limits: bool,
    is_dry_run: bool,
}

impl Policies {
    /// No policies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a policy.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.has_limits |= policy.has_limits();
        self.engine(policy)
    }

    /// Adds a policy that is read again when its file changes.
    #[must_use]
    pub fn live(mut self, policy: LivePolicy) -> Self {
        // A later version may have limits.
        self.has_limits = true;
        self.engine(policy)
    }

    /// Adds another engine.
    #[must_use]
    pub fn engine(mut self, engine: impl PolicyEngine) -> Self {
        self.engines.push(Arc::new(engine));
        self
    }

    /// Sets what keeps limits. Default: one in memory.
    #[must_use]
    pub fn limits(mut self, keeper: LimitKeeper) -> Self {
        self.keeper = keeper;
        self.has_limits = true;
        self
    }

    /// Lets every call run, and logs the decisions that would have stopped it, as warnings with the
    /// target `tool_runtime_policy::policies`. Recorders get them as the rule: `dry-run: deny by no-keys`. Limits do
    /// not count.
    #[must_use]
    pub fn dry_run(mut self) -> Self {
        self.is_dry_run = true;
        self
    }
}

impl PoolExtension for Policies {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        if self.is_dry_run {
            return builder.policy(DryRun(self.engines));
        }
        // One by one: the question of each is asked, and answered by the people that it names.
        let builder = self.engines.into_iter().fold(builder, ToolPoolBuilder::policy);
        match self.has_limits {
            true => builder.limiter(self.keeper.clone()).recorder(self.keeper),
            false => builder,
        }
    }

    #[cfg(feature = "cli")]
    fn prepare<S>(builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        crate::command::add_commands(builder)
    }
}

impl PoolExtension for Policy {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        Policies::new().policy(self).install(builder)
    }

    #[cfg(feature = "cli")]
    fn prepare<S>(builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        Policies::prepare(builder)
    }
}

impl PoolExtension for LivePolicy {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        Policies::new().live(self).install(builder)
    }

    #[cfg(feature = "cli")]
    fn prepare<S>(builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        Policies::prepare(builder)
    }
}

/// Logs what would have happened.
struct DryRun(Vec<Arc<dyn PolicyEngine>>);

impl PolicyEngine for DryRun {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        let decisions = self.0.iter().map(|engine| engine.decide(call));
        let decision = decisions.reduce(Decision::and).unwrap_or_else(Decision::allow);
        let rule = decision.rule().unwrap_or("default");
        let (tool, reason, effect) = (call.name(), decision.reason(), decision.effect());
        match effect {
            Effect::Allow => tracing::debug!(tool, rule, "dry run: the call is allowed"),
            Effect::Ask => tracing::warn!(tool, rule, "dry run: a person would be asked: {reason}"),
            _ => tracing::warn!(tool, rule, "dry run: the call would be denied: {reason}"),
        }
        Decision::allow().with_rule(format!("dry-run: {} by {rule}", effect_name(effect)))
    }

    fn reads_risk(&self) -> bool {
        self.0.iter().any(|engine| engine.reads_risk())
    }

    /// It lets all calls run.
    fn reads_files(&self) -> bool {
        false
    }
}

impl fmt::Debug for Policies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policies")
            .field("engines", &self.engines.len())
            .field("is_dry_run", &self.is_dry_run)
            .finish_non_exhaustive()
    }
}
