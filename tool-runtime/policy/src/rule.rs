//! Rules: conditions, an effect, limits.

use crate::condition::{Condition, Hint};
use crate::facts::Facts;
use crate::limits::LimitRule;
use crate::names::{SourcePattern, Wildcard};
use crate::predicate::Predicate;
use crate::read::{Fault, PolicyProblem};
use crate::schedule::Schedule;
use crate::subject::Subject;
use crate::truth::Truth;
use crate::{Argument, Share, Touches};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::govern::{Approvers, Effect, Measure, Refill, Risk};
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::Principal;
use tool_runtime_core::vocabulary::matching::ToolPattern;

/// A rule of a policy: an effect for the calls that fulfil all its conditions.
///
/// Mistakes, such as an invalid glob, are reported by [`PolicyBuilder::build`](crate::PolicyBuilder::build).
///
/// ```
/// use tool_runtime::policy::{Argument, Policy, Rule};
///
/// let policy = Policy::builder()
///     .rule(
///         Rule::deny("no-keys")
///             .tool("fs.*")
///             .argument(Argument::new("path").matches(r".*\.pem"))
///             .reason("keys are private; read another file"),
///     )
///     .rule(Rule::allow("read").tool("fs.read").priority(10))
///     .build()?;
/// assert_eq!(policy.rules().count(), 2);
/// # Ok::<(), tool_runtime::policy::PolicyError>(())
/// ```
#[derive(Debug)]
pub struct Rule {
    pub(crate) id: Arc<str>,
    pub(crate) effect: Effect,
    pub(crate) priority: i64,
    pub(crate) reason: Option<String>,
    /// The people who answer the question, if the rule asks.
    pub(crate) approvers: Approvers,
    /// The time that the question waits.
    pub(crate) expiry: Option<Duration>,
    /// The time limit of the tool, if the call runs.
    pub(crate) time_limit: Option<Duration>,
    /// Without one of these: every tool, resource and prompt.
    pub(crate) tools: Vec<ToolPattern>,
    pub(crate) resources: Vec<Wildcard>,
    pub(crate) prompts: Vec<Wildcard>,
    pub(crate) conditions: Vec<Condition>,
    pub(crate) limits: Vec<LimitRule>,
    /// The position in the document, and the line if it is known.
    pub(crate) position: usize,
    /// The name of the policy that the rule was merged from, if it is another one.
    pub(crate) merged_from: Option<Arc<str>>,
    pub(crate) faults: Vec<(String, Fault)>,
}

impl Rule {
    /// A rule that lets calls run.
    pub fn allow(id: impl Into<Arc<str>>) -> Self {
        Self::new(id, Effect::Allow)
    }

    /// A rule that has a person asked.
    pub fn ask(id: impl Into<Arc<str>>) -> Self {
        Self::new(id, Effect::Ask)
    }

    /// A rule that denies calls.
    pub fn deny(id: impl Into<Arc<str>>) -> Self {
        Self::new(id, Effect::Deny)
    }

    pub(crate) fn new(id: impl Into<Arc<str>>, effect: Effect) -> Self {
        Self {
            id: id.into(),
            effect,
            priority: 0,
            reason: None,
            approvers: Approvers::default(),
            expiry: None,
            time_limit: None,
            tools: Vec::new(),
            resources: Vec::new(),
            prompts: Vec::new(),
            conditions: Vec::new(),
            limits: Vec::new(),
            position: 0,
            merged_from: None,
            faults: Vec::new(),
        }
    }

    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The effect.
    pub fn effect(&self) -> Effect {
        self.effect
    }

    /// Whether a condition is about the risk of the call.
    pub(crate) fn reads_risk(&self) -> bool {
        self.conditions.iter().any(|condition| matches!(condition, Condition::Risks(_)))
    }

    pub(crate) fn reads_files(&self) -> bool {
        self.conditions.iter().any(|condition| matches!(condition, Condition::Touches(_)))
    }

    /// Sets the priority: the rule of the lowest one that matches decides, and the first of equals.
    /// Default: 0.
    #[must_use]
    pub fn priority(mut self, priority: i64) -> Self {
        self.priority = priority;
        self
    }

    /// Sets the reason of a denial, which the model reads, or the question. Default: the rule's id.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Sets the people who may answer the question of a rule that asks. Default: everyone whom the pool's approver asks,
    /// the user of the caller as well.
    #[must_use]
    pub fn approved_by(mut self, approvers: Approvers) -> Self {
        self.approvers = approvers;
        self
    }

    /// Sets the time after which the question of a rule that asks is denied. Default: that of the approver.
    #[must_use]
    pub fn expiry(mut self, expiry: Duration) -> Self {
        self.expiry = Some(expiry);
        self
    }

    /// Sets a time limit for the calls that the rule lets run, counted from the start of the tool. A shorter limit of
    /// the tool or of the pool counts instead. Default: none.
    ///
    /// ```
    /// use std::time::Duration;
    /// use tool_runtime::policy::{Policy, Rule, SampleCall};
    ///
    /// let rule = Rule::allow("search").tool("web.*").time_limit(Duration::from_secs(5));
    /// let policy = Policy::builder().rule(rule).build()?;
    /// let decision = policy.try_call(&SampleCall::new("web.search"));
    /// assert_eq!(decision.time_limit(), Some(Duration::from_secs(5)));
    /// # Ok::<(), tool_runtime::policy::PolicyError>(())
    /// ```
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = Some(limit);
        self
    }

    /// Adds an id or a glob of tools. Default: every tool, resource and prompt, unless one of these is added.
    #[must_use]
    pub fn tool(mut self, pattern: &str) -> Self {
        match tool_pattern(pattern) {
            Ok(pattern) => self.tools.push(pattern),
            Err(fault) => self.faults.push(("when.tools".to_owned(), fault)),
        }
        self
    }

    /// Adds a URI of resources, in which `*` stands for any characters. No pattern of tools selects a resource.
    #[must_use]
    pub fn resource(mut self, uri: impl Into<String>) -> Self {
        self.resources.push(Wildcard::new(uri));
        self
    }

    /// Adds a name of prompts, in which `*` stands for any characters. No pattern of tools selects a prompt.
    #[must_use]
    pub fn prompt(mut self, name: impl Into<String>) -> Self {
        self.prompts.push(Wildcard::new(name));
        self
    }

    /// Requires that the tool is of a source: `linked`, `custom`, `owner:NAME`, `mcp:NAME`, `runner:NAME`.
    #[must_use]
    pub fn source(mut self, source: &str) -> Self {
        match SourcePattern::parse(source) {
            Ok(source) => self.with(Condition::Sources(vec![source])),
            Err(fault) => {
                self.faults.push(("when.sources".to_owned(), fault));
                self
            }
        }
    }

    /// Requires that the tool has a tag.
    #[must_use]
    pub fn tag(self, tag: impl Into<String>) -> Self {
        self.with(Condition::Tags(vec![tag.into()]))
    }

    /// Requires that the tool has a hint, or does not have it.
    #[must_use]
    pub fn hint(self, hint: Hint, is_given: bool) -> Self {
        self.with(Condition::Hint(hint, is_given))
    }

    /// Requires that the source of the tool is trusted, or is not.
    #[must_use]
    pub fn trusted(self, is_trusted: bool) -> Self {
        self.with(Condition::Trusted(is_trusted))
    }

    /// Requires a label of the execution.
    #[must_use]
    pub fn label(self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.with(Condition::Labels(BTreeMap::from([(name.into(), value.into())])))
    }

    /// Requires one of these callers. `*` stands for any characters; anonymous callers never match.
    #[must_use]
    pub fn principals<S: Into<String>>(self, ids: impl IntoIterator<Item = S>) -> Self {
        let ids = ids.into_iter().map(Wildcard::new).collect();
        self.with(Condition::Principals(ids))
    }

    /// Requires that the caller has a scope.
    #[must_use]
    pub fn scope(self, scope: impl Into<String>) -> Self {
        self.with(Condition::Scopes(vec![scope.into()]))
    }

    /// Requires one of these risks. A risk that is not known is uncertain, unless it is in the list.
    #[must_use]
    pub fn risk(self, risks: impl IntoIterator<Item = Risk>) -> Self {
        self.with(Condition::Risks(risks.into_iter().collect()))
    }

    /// Requires something of the files that the call touches.
    #[must_use]
    pub fn touches(mut self, files: Touches) -> Self {
        match files.compile() {
            Ok(files) => self.with(Condition::Touches(files)),
            Err(fault) => {
                self.faults.push(("when.touches".to_owned(), fault));
                self
            }
        }
    }

    /// Requires something of an argument.
    #[must_use]
    pub fn argument(mut self, argument: Argument) -> Self {
        let key = format!("when.arguments.{}", argument.name());
        match argument.into_predicate() {
            Ok(predicate) => self.with(Condition::Argument(Box::new(predicate))),
            Err(faults) => {
                self.faults.extend(faults.into_iter().map(|fault| (key.clone(), fault)));
                self
            }
        }
    }

    /// Requires that at least this number of calls of the execution started before.
    #[must_use]
    pub fn min_steps(self, steps: u64) -> Self {
        self.with(Condition::Steps(steps, u64::MAX))
    }

    /// Requires that the execution runs for longer.
    #[must_use]
    pub fn longer_than(self, time: Duration) -> Self {
        self.with(Condition::LongerThan(time))
    }

    /// Requires that the time is in a schedule: `mon-fri 09:00-17:00 Europe/Berlin`.
    #[must_use]
    pub fn schedule(mut self, schedule: &str) -> Self {
        match Schedule::parse(schedule) {
            Ok(schedule) => self.with(Condition::Schedules(vec![schedule])),
            Err(fault) => {
                self.faults.push(("when.schedule".to_owned(), fault));
                self
            }
        }
    }

    /// Limits the calls that the rule lets run: a number in a sliding window, for each share.
    #[must_use]
    pub fn rate(self, calls: u64, window: Duration, per: impl IntoIterator<Item = Share>) -> Self {
        self.limit(calls, Measure::Calls, Refill::Window(window), per)
    }

    /// Limits the calls that the rule lets run: an amount, for each share.
    #[must_use]
    pub fn limit(
        mut self,
        amount: u64,
        measure: Measure,
        refill: Refill,
        per: impl IntoIterator<Item = Share>,
    ) -> Self {
        match LimitRule::new(amount, measure, refill, per.into_iter().collect()) {
            Ok(limit) => self.limits.push(limit),
            Err(fault) => self.faults.push(("limit".to_owned(), fault)),
        }
        self
    }

    pub(crate) fn with(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// The mistakes that the methods noted, and those of the rule as a whole.
    pub(crate) fn take_problems(&mut self) -> Vec<PolicyProblem> {
        if self.effect == Effect::Deny && !self.limits.is_empty() {
            self.faults.push(("limit".to_owned(), limit_of_denial()));
        }
        let id = &self.id;
        let faults = self.faults.drain(..);
        faults.map(|(key, fault)| fault.of_code(format!("rule `{id}`: {key}"))).collect()
    }

    pub(crate) fn predicates(&self) -> impl Iterator<Item = &Predicate> {
        self.conditions.iter().filter_map(|condition| match condition {
            Condition::Argument(predicate) => Some(&**predicate),
            _ => None,
        })
    }

    /// Whether the rule is about calls of this name.
    pub(crate) fn selects(&self, name: &str) -> bool {
        let matches = |patterns: &[Wildcard], name| patterns.iter().any(|it| it.matches(name));
        self.is_about_all()
            || match Subject::from_name(name) {
                Subject::Tool(name) => self.tools.iter().any(|pattern| pattern.matches(name)),
                Subject::Resource(uri) => matches(&self.resources, uri),
                Subject::Prompt(name) => matches(&self.prompts, name),
            }
    }

    fn is_about_all(&self) -> bool {
        self.tools.is_empty() && self.resources.is_empty() && self.prompts.is_empty()
    }

    /// Whether the call fulfils the conditions, but for the one about the tool.
    pub(crate) fn truth(&self, facts: &Facts<'_>) -> Truth {
        Truth::all(self.conditions.iter().map(|condition| condition.truth(facts)))
    }

    /// Whether all calls of a tool by a caller fulfil the conditions, as far as that is known without a call.
    pub(crate) fn truth_of_all(&self, tool: &ToolDefinition, principal: &Principal) -> Truth {
        Truth::all(self.conditions.iter().map(|it| it.truth_of_all(tool, principal)))
    }
}

/// The mistake of a rule that limits what it denies.
pub(crate) fn limit_of_denial() -> Fault {
    Fault::new("a rule that denies has a limit", "remove it, or allow the calls within the limit")
}

/// # Errors
/// Not an id or a glob of ids.
pub(crate) fn tool_pattern(text: &str) -> Result<ToolPattern, Fault> {
    text.parse().map_err(|error: tool_runtime_core::vocabulary::matching::PatternError| {
        Fault::new(error.to_string(), "write an id, or a glob such as `fs.*`")
    })
}
