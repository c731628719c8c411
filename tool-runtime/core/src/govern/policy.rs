//! Policies: whether a call may run, and which tools a caller sees.

use super::call_view::CallView;
use super::limiter::Limit;
use crate::govern::approval::Approvers;
use crate::tool::tool::definition::ToolDefinition;
use crate::vocabulary::principal::Principal;
use std::sync::Arc;
use std::time::Duration;

/// Decides which calls may run, and which tools a caller sees.
///
/// A pool asks all its engines about each call, after its arguments were validated and again after
/// each rewriting, by a hook or by the person who approves it. The strictest decision counts: denied
/// before asked before allowed. A denial is final; whether a person is asked depends on the arguments
/// as they will run.
///
/// Engines are asked on the thread of the call: no I/O. One that panics denies the call, and hides
/// the tool.
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::Principal;
/// use tool_runtime::govern::{CallView, Decision, PolicyEngine};
///
/// struct AdminsOnly;
///
/// impl PolicyEngine for AdminsOnly {
///     fn decide(&self, call: &CallView<'_>) -> Decision {
///         if call.annotations().is_read_only() || call.principal().has_scope("admin") {
///             return Decision::allow();
///         }
///         Decision::ask(format!("Let {} run?", call.name())).with_rule("writes")
///     }
///
///     fn visible(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
///         !tool.name.starts_with("admin.") || principal.has_scope("admin")
///     }
/// }
///
/// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
/// let pool = ToolPool::builder()
///     .add(tool("ping"))
///     .add(tool("admin.ping"))
///     .policy(AdminsOnly)
///     .build()?;
/// assert_eq!(pool.tools().len(), 1);
/// let admin = pool.for_principal(Principal::new("ada").with_scopes(["admin"]));
/// assert_eq!(admin.tools().len(), 2);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
pub trait PolicyEngine: Send + Sync + 'static {
    /// Decides about a call whose arguments are valid.
    fn decide(&self, call: &CallView<'_>) -> Decision;

    /// Whether a caller sees the tool in lists. Calls of a tool that a caller does not see are
    /// denied. Default: every tool is visible.
    fn visible(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        let _ = (tool, principal);
        true
    }

    /// The people who may answer its questions, each with the rule that asks. A pool is not built if its approver reaches
    /// none of them. Default: none are known before a call.
    fn questions(&self) -> Vec<(String, Approvers)> {
        Vec::new()
    }

    /// Whether it decides by [the risk of a call](CallView::risk). The tools of the pool then have a parameter for it,
    /// see [`MetaParameters`](crate::govern::MetaParameters). Default: no.
    fn reads_risk(&self) -> bool {
        false
    }

    /// Whether it decides by [the files that a call touches](CallView::access). A search then asks it about each file.
    /// Default: yes.
    fn reads_files(&self) -> bool {
        true
    }
}

/// An engine that several pools share.
impl<E: PolicyEngine + ?Sized> PolicyEngine for Arc<E> {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        (**self).decide(call)
    }

    fn visible(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        (**self).visible(tool, principal)
    }

    fn questions(&self) -> Vec<(String, Approvers)> {
        (**self).questions()
    }

    fn reads_risk(&self) -> bool {
        (**self).reads_risk()
    }

    fn reads_files(&self) -> bool {
        (**self).reads_files()
    }
}

/// The effect of a [`Decision`], from the loosest to the strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Effect {
    /// The call may run.
    Allow,
    /// A person is asked.
    Ask,
    /// The call does not run.
    Deny,
}

impl Effect {
    /// The effect as a word: `allow`, `ask`, `deny`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The decision of a [`PolicyEngine`] about a call.
///
/// ```
/// use tool_runtime::govern::{Decision, Effect};
///
/// let decision = Decision::deny("not on production").with_rule("no-prod");
/// assert_eq!(decision.effect(), Effect::Deny);
/// assert_eq!(decision.rule(), Some("no-prod"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    effect: Effect,
    reason: String,
    rule: Option<Arc<str>>,
    limits: Vec<Limit>,
    forbids_asking: bool,
    approvers: Approvers,
    expiry: Option<Duration>,
    time_limit: Option<Duration>,
}

impl Decision {
    /// The call may run.
    pub fn allow() -> Self {
        Self::new(Effect::Allow, "")
    }

    /// The pool's [`Approver`](crate::govern::Approver) is asked this question.
    pub fn ask(question: impl Into<String>) -> Self {
        Self::new(Effect::Ask, question)
    }

    /// The call does not run, for a reason that the model reads: say what is not allowed and what to
    /// do instead.
    pub fn deny(reason: impl Into<String>) -> Self {
        Self::new(Effect::Deny, reason)
    }

    fn new(effect: Effect, reason: impl Into<String>) -> Self {
        Self {
            effect,
            reason: reason.into(),
            rule: None,
            limits: Vec::new(),
            forbids_asking: false,
            approvers: Approvers::default(),
            expiry: None,
            time_limit: None,
        }
    }

    /// Sets the rule that decided, for records. Default: none.
    #[must_use]
    pub fn with_rule(mut self, rule: impl Into<Arc<str>>) -> Self {
        self.rule = Some(rule.into());
        self
    }

    /// Adds a limit that the call counts against. The pool's [`Limiter`](crate::govern::Limiter) keeps it;
    /// without one the call is denied.
    #[must_use]
    pub fn with_limit(mut self, limit: Limit) -> Self {
        self.limits.push(limit);
        self
    }

    /// Denies the call if any policy or hook would ask a person about it. Default: a person is asked.
    ///
    /// ```
    /// use tool_runtime::govern::{CallView, Decision, PolicyEngine};
    ///
    /// /// Denies writes at night.
    /// struct Unattended;
    ///
    /// impl PolicyEngine for Unattended {
    ///     fn decide(&self, _: &CallView<'_>) -> Decision {
    ///         Decision::allow().without_asking()
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn without_asking(mut self) -> Self {
        self.forbids_asking = true;
        self
    }

    /// Sets who may answer the question. Default: everyone whom the pool's approver asks, the user of the caller as well.
    #[must_use]
    pub fn approved_by(mut self, approvers: Approvers) -> Self {
        self.approvers = approvers;
        self
    }

    /// Sets the time after which the question is denied. Default: as long as the call may take.
    #[must_use]
    pub fn with_expiry(mut self, expiry: Duration) -> Self {
        self.expiry = Some(expiry);
        self
    }

    /// Sets a time limit for the tool, if the call runs. The shortest of this, the tool's or the pool's limit, and
    /// those of other policies counts. Default: none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tool_runtime::govern::Decision;
    ///
    /// let short = Decision::allow().with_time_limit(Duration::from_secs(5));
    /// let both = short.and(Decision::ask("Let it run?").with_time_limit(Duration::from_secs(60)));
    /// assert_eq!(both.time_limit(), Some(Duration::from_secs(5)));
    /// ```
    #[must_use]
    pub fn with_time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// The time limit for the tool.
    pub fn time_limit(&self) -> Option<Duration> {
        self.time_limit
    }

    /// The people who may answer the question.
    pub fn approvers(&self) -> &Approvers {
        &self.approvers
    }

    /// The time after which the question is denied.
    pub fn expiry(&self) -> Option<Duration> {
        self.expiry
    }

    /// The effect.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// The reason of a denial, or the question. Empty for an allowed call.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The rule that decided.
    pub fn rule(&self) -> Option<&str> {
        self.rule.as_deref()
    }

    /// The limits that the call counts against.
    pub fn limits(&self) -> &[Limit] {
        &self.limits
    }

    /// Whether questions of other policies and of hooks are denials.
    pub fn forbids_asking(&self) -> bool {
        self.forbids_asking
    }

    pub(super) fn shared_rule(&self) -> Option<Arc<str>> {
        self.rule.clone()
    }

    /// An allowance by the same rule.
    pub(super) fn allowed(&self) -> Self {
        Self { rule: self.rule.clone(), ..Self::allow() }
    }

    /// The stricter of two decisions, the first of equals, with the limits of both and the shorter time limit. If both
    /// ask, the people of both may approve, and the question has the shorter expiry.
    #[must_use]
    pub fn and(mut self, mut other: Self) -> Self {
        let mut limits = std::mem::take(&mut self.limits);
        limits.append(&mut other.limits);
        let forbids_asking = self.forbids_asking || other.forbids_asking;
        let time_limit = self.time_limit.into_iter().chain(other.time_limit).min();
        if self.effect == Effect::Ask && other.effect == Effect::Ask {
            self.approvers = self.approvers.intersection(&other.approvers);
            self.expiry = self.expiry.into_iter().chain(other.expiry).min();
        }
        let stricter = if other.effect > self.effect { other } else { self };
        Self { limits, forbids_asking, time_limit, ..stricter }
    }
}
