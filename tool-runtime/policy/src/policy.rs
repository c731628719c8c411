//! Policies: rules, and the decision about a call.

use crate::builder::PolicyBuilder;
use crate::case::{Case, SampleCall};
use crate::condition::Condition;
use crate::explain::Explanation;
use crate::facts::Facts;
use crate::index::Index;
use crate::read::{self, Format, PolicyError, Text};
use crate::risk::SecurityAnalyzer;
use crate::rule::Rule;
use crate::truth::Truth;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use tool_runtime_core::govern::{Approvers, CallView, Decision, Effect, PolicyEngine};
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::Principal;

/// A policy: rules, of which the first that matches decides about a call. Calls that no rule matches
/// are denied, unless the default says otherwise.
///
/// A rule matches if all its conditions hold. If a condition cannot be evaluated, the stricter
/// result counts: a rule that denies denies, one that allows does not allow, and one that asks makes
/// the outcome of later rules a question at least.
///
/// ```
/// # #[cfg(feature = "yaml")] {
/// use tool_runtime::policy::{Format, Policy};
/// use tool_runtime::prelude::*;
///
/// let policy = Policy::parse(
///     "
/// rules:
///   - id: search
///     when: {tools: [\"web.*\"]}
///     then: allow
/// ",
///     Format::Yaml,
/// )?;
/// let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
/// let pool = ToolPool::builder()
///     .add(tool("web.search"))
///     .add(tool("fs.remove"))
///     .install(policy)
///     .build()?;
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// assert!(!pool.call(ToolCall::new("web.search", "")).await.is_error());
/// let denied = pool.call(ToolCall::new("fs.remove", "")).await;
/// assert_eq!(denied.error().unwrap().class(), ErrorClass::Denied);
/// # });
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Policy {
    pub(crate) name: String,
    /// In the order of evaluation.
    pub(crate) rules: Vec<Rule>,
    pub(crate) default: (Effect, Option<String>),
    pub(crate) cases: Vec<Case>,
    pub(crate) text: Option<Text>,
    pub(crate) analyzer: Option<Arc<dyn SecurityAnalyzer>>,
    pub(crate) hides: bool,
    pub(crate) index: Index,
}

/// The result of the rules for a call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome<'p> {
    pub(crate) effect: Effect,
    /// `None`: the default decided.
    pub(crate) rule: Option<&'p Rule>,
    /// Whether the rule counts although it could not be evaluated.
    pub(crate) is_uncertain: bool,
}

impl Policy {
    /// A policy in code.
    pub fn builder() -> PolicyBuilder {
        PolicyBuilder::default()
    }

    /// Reads a policy.
    ///
    /// # Errors
    /// All mistakes of the text, with their lines.
    pub fn parse(text: &str, format: Format) -> Result<Self, PolicyError> {
        Self::of_text(Text::new(text, format))
    }

    /// Reads a file: `.yaml`, `.yml`, `.toml` or `.json`. Its name without the extension is the name
    /// of the policy.
    ///
    /// # Errors
    /// The file cannot be read, or all mistakes in it, with their lines.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, PolicyError> {
        let path = path.as_ref();
        let text = Text::read(path).map_err(|problem| PolicyError::new(vec![problem]))?;
        let name = path.file_stem().map(|name| name.to_string_lossy().into_owned());
        Ok(Self { name: name.unwrap_or_default(), ..Self::of_text(text)? })
    }

    fn of_text(text: Text) -> Result<Self, PolicyError> {
        let mut problems = Vec::new();
        let document = read::read(&text, &mut problems);
        let Some(document) = document else { return Err(PolicyError::new(problems)) };
        let builder = PolicyBuilder { default: document.default, ..Self::builder() };
        let policy = document.rules.into_iter().fold(builder, PolicyBuilder::positioned).build()?;
        Ok(Self { text: Some(text), cases: document.cases, ..policy })
    }

    /// The name; empty unless it is of a file or [`PolicyBuilder::name`] sets one.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The rules, in the order of evaluation.
    pub fn rules(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// Judges calls by an analyzer: conditions about risk read its result. Default: the model's own
    /// judgement.
    #[must_use]
    pub fn analyzer(mut self, analyzer: impl SecurityAnalyzer) -> Self {
        self.analyzer = Some(Arc::new(analyzer));
        self
    }

    /// Hides the tools from lists that a caller may not call with any arguments. Default: they are
    /// listed, and their calls are denied with the reason of the rule.
    #[must_use]
    pub fn hide_denied(mut self) -> Self {
        self.hides = true;
        self
    }

    /// Whether a rule sets limits.
    pub(crate) fn has_limits(&self) -> bool {
        self.rules.iter().any(|rule| !rule.limits.is_empty())
    }

    /// The decision about a sample call. Nothing runs, and no limit is used.
    pub fn try_call(&self, call: &SampleCall) -> Decision {
        self.decision(&call.facts())
    }

    /// The decision about a call, with the rules that led to it and what would change it.
    pub fn explain(&self, call: &SampleCall) -> Explanation {
        Explanation::new(self, &call.facts())
    }

    /// The outcome of the rules, and those of all rules before it that ask because they could not be evaluated.
    pub(crate) fn outcomes(&self, facts: &Facts<'_>) -> (Outcome<'_>, Vec<Outcome<'_>>) {
        let mut uncertain = Vec::new();
        for position in &*self.index.for_tool(facts.tool, &self.rules) {
            let rule = &self.rules[*position as usize];
            let is_uncertain = match rule.truth(facts) {
                Truth::No => continue,
                Truth::Yes => false,
                Truth::Unknown => true,
            };
            let outcome = Outcome { effect: rule.effect, rule: Some(rule), is_uncertain };
            match (is_uncertain, rule.effect) {
                (true, Effect::Allow) => {}
                (true, Effect::Ask) => uncertain.push(outcome),
                _ => return (outcome, uncertain),
            }
        }
        (Outcome { effect: self.default.0, rule: None, is_uncertain: false }, uncertain)
    }

    /// The decision: the strictest about the commands of the call.
    pub(crate) fn decision(&self, facts: &Facts<'_>) -> Decision {
        let outcomes = self.outcomes_of_commands(facts);
        let decisions = outcomes
            .iter()
            .map(|it| self.decision_of(it.outcome, &it.facts, it.command.as_deref()));
        decisions.reduce(Decision::and).unwrap_or_else(|| Decision::deny("the call has no command"))
    }

    fn decision_of(
        &self,
        outcome: Outcome<'_>,
        facts: &Facts<'_>,
        command: Option<&str>,
    ) -> Decision {
        let reason = || {
            let of_command = command.map(|command| format!("`{command}` of the line: "));
            format!("{}{}", of_command.unwrap_or_default(), self.reason(outcome, facts))
        };
        let decision = match outcome.effect {
            Effect::Allow => Decision::allow(),
            Effect::Ask => Decision::ask(reason()),
            _ => Decision::deny(reason()),
        };
        let Some(rule) = outcome.rule else { return decision };
        let mut decision = decision.with_rule(Arc::clone(&rule.id));
        if outcome.effect != Effect::Deny {
            decision = rule.time_limit.into_iter().fold(decision, Decision::with_time_limit);
        }
        if outcome.effect == Effect::Ask {
            decision = decision.approved_by(rule.approvers.clone());
            decision = rule.expiry.into_iter().fold(decision, Decision::with_expiry);
        }
        let limits = rule.limits.iter().enumerate();
        let policy = rule.merged_from.as_deref().unwrap_or(&self.name);
        limits.fold(decision, |decision, (number, limit)| {
            decision.with_limit(limit.limit(policy, &rule.id, number, facts))
        })
    }

    /// The reason of a denial, or the question.
    fn reason(
        &self,
        Outcome { effect, rule, is_uncertain }: Outcome<'_>,
        facts: &Facts<'_>,
    ) -> String {
        let Some(rule) = rule else { return self.reason_of_default(facts) };
        let id = &rule.id;
        let mut text = match (&rule.reason, effect) {
            (Some(reason), _) => format!("{reason} (rule `{id}`)"),
            (None, Effect::Ask) => format!("Let `{}` run? (rule `{id}`)", facts.tool),
            (None, _) => format!("rule `{id}` denies it; do it in another way"),
        };
        if is_uncertain {
            let mut unknown = rule.conditions.iter();
            let unknown = unknown.find(|condition| condition.truth(facts) == Truth::Unknown);
            let why = unknown.map(|condition| condition.uncertainty(facts)).unwrap_or_default();
            text = format!("{text}; the rule counts because {why}");
        }
        text
    }

    /// The reason of the default, and why a rule that may allow the call does not.
    fn reason_of_default(&self, facts: &Facts<'_>) -> String {
        let text = match (&self.default.1, self.default.0) {
            (Some(reason), _) => reason.clone(),
            (None, Effect::Ask) => format!("Let `{}` run?", facts.tool),
            (None, _) => {
                "no rule of the policy allows it; use another tool, or ask for permission".into()
            }
        };
        match self.uncertain_allowance(facts) {
            Some((rule, why)) => format!("{text}; rule `{rule}` does not allow it because {why}"),
            None => text,
        }
    }

    /// The first rule that allows nothing because a condition about an argument is uncertain, and the reason.
    fn uncertain_allowance(&self, facts: &Facts<'_>) -> Option<(&str, String)> {
        self.index.for_tool(facts.tool, &self.rules).iter().find_map(|position| {
            let rule = &self.rules[*position as usize];
            let is_it = rule.effect == Effect::Allow && rule.truth(facts) == Truth::Unknown;
            let mut conditions = rule.conditions.iter().filter(|_| is_it);
            let unknown = conditions.find(|condition| {
                matches!(condition, Condition::Argument(_))
                    && condition.truth(facts) == Truth::Unknown
            })?;
            Some((&*rule.id, unknown.uncertainty(facts)))
        })
    }
}

impl PolicyEngine for Policy {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        let risk = match &self.analyzer {
            Some(analyzer) => crate::risk::analyzed(&**analyzer, call),
            None => call.risk(),
        };
        self.decision(&Facts::from_call(call, risk))
    }

    fn questions(&self) -> Vec<(String, Approvers)> {
        let asking = self.rules.iter().filter(|rule| rule.effect == Effect::Ask);
        asking.map(|rule| (rule.id.to_string(), rule.approvers.clone())).collect()
    }

    fn reads_risk(&self) -> bool {
        let judges = self.analyzer.as_ref().is_none_or(|analyzer| analyzer.reads_model_risk());
        judges && self.rules.iter().any(Rule::reads_risk)
    }

    fn reads_files(&self) -> bool {
        self.rules.iter().any(Rule::reads_files)
    }

    fn visible(&self, tool: &ToolDefinition, principal: &Principal) -> bool {
        if !self.hides {
            return true;
        }
        for position in &*self.index.for_tool(&tool.name, &self.rules) {
            let rule = &self.rules[*position as usize];
            match (rule.truth_of_all(tool, principal), rule.effect) {
                (Truth::No, _) | (Truth::Unknown, Effect::Deny) => {}
                (_, effect) => return effect != Effect::Deny,
            }
        }
        self.default.0 != Effect::Deny
    }
}

/// A part of another configuration: its mistakes have keys, and no lines.
impl<'de> Deserialize<'de> for Policy {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = serde_json::Value::deserialize(deserializer)?;
        let parsed = Self::parse(&value.to_string(), Format::Json);
        parsed.map(|policy| Self { text: None, ..policy }).map_err(|error| {
            let problems = error.into_problems().into_iter();
            let lines = problems.map(|problem| read::PolicyProblem { line: None, ..problem });
            D::Error::custom(PolicyError::new(lines.collect()))
        })
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("name", &self.name)
            .field("rules", &self.rules.len())
            .field("default", &self.default.0)
            .finish_non_exhaustive()
    }
}
