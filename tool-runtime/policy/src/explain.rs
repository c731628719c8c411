//! Explanations of decisions, for people.

use crate::condition::Condition;
use crate::facts::Facts;
use crate::policy::Policy;
use crate::rule::Rule;
use crate::truth::Truth;
use serde_json::{Value, json};
use std::fmt;
use tool_runtime_core::govern::{Decision, Effect};

/// The most rules whose near misses are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// The decision about a call, the rules that were compared on the way, and what would change it.
///
/// ```
/// use tool_runtime::policy::{Argument, Policy, Rule, SampleCall};
///
/// let policy = Policy::builder()
///     .rule(Rule::allow("small").tool("pay").argument(Argument::new("amount").at_most(100)))
///     .build()?;
/// let call = SampleCall::new("pay").arguments(serde_json::json!({ "amount": 250 }));
/// let text = policy.explain(&call).to_string();
/// assert!(text.starts_with("deny by default"));
/// assert!(text.contains("`amount` is at most 100"));
/// # Ok::<(), tool_runtime::policy::PolicyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Explanation {
    decision: Decision,
    /// The strictest command of a line.
    command: Option<String>,
    by: String,
    rules: Vec<ComparedRule>,
    changes: Vec<String>,
}

/// A rule that was compared with a call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ComparedRule {
    /// The id.
    pub id: String,
    /// The effect.
    pub effect: Effect,
    /// The line of the rule in its file, if it is known.
    pub line: Option<usize>,
    /// Whether it matches.
    pub matches: Truth,
    /// A description of each condition, whether it holds, and why it could not be evaluated.
    pub conditions: Vec<(String, Truth, Option<String>)>,
}

impl Explanation {
    pub(crate) fn new(policy: &Policy, call: &Facts<'_>) -> Self {
        let (command, facts) = policy.strictest_command(call);
        let facts = &facts;
        let (decided, uncertain) = policy.outcomes(facts);
        let asked = uncertain.into_iter().next().filter(|_| decided.effect < Effect::Ask);
        let outcome = asked.unwrap_or(decided);
        let decision = policy.decision(call);
        let last = outcome.rule.map(|rule| &rule.id);
        let selected = policy.rules.iter().filter(|rule| rule.selects(facts.tool));
        let mut rules = Vec::new();
        for rule in selected.clone() {
            rules.push(ComparedRule::new(policy, rule, facts));
            if last == Some(&rule.id) && outcome.effect != Effect::Ask {
                break;
            }
        }
        let by = match outcome.rule {
            Some(rule) => format!("by rule `{}`{}", rule.id, Line(policy.line(rule))),
            None => "by default: no rule matches".to_owned(),
        };
        let changes = match outcome.rule {
            Some(rule) => changes_of(rule, facts),
            None => near_misses(selected.collect(), facts),
        };
        Self { decision, command, by, rules, changes }
    }

    /// The decision.
    pub fn decision(&self) -> &Decision {
        &self.decision
    }

    /// The rules that were compared, in order. Rules about other tools are left out.
    pub fn rules(&self) -> &[ComparedRule] {
        &self.rules
    }

    /// The explanation as JSON: `decision`, `by`, `reason`, `command`, `rules` with `id`, `effect`, `line`, `matches` and
    /// `conditions`, and `changes`. Whether something matches is `yes`, `no` or `uncertain`.
    pub fn to_json(&self) -> Value {
        let condition = |(text, truth, why): &(String, Truth, Option<String>)| json!({ "condition": text, "matches": word(*truth), "uncertainty": why });
        let rule = |rule: &ComparedRule| {
            let conditions: Vec<Value> = rule.conditions.iter().map(condition).collect();
            json!({
                "id": rule.id,
                "effect": effect_name(rule.effect),
                "line": rule.line,
                "matches": word(rule.matches),
                "conditions": conditions,
            })
        };
        let rules: Vec<Value> = self.rules.iter().map(rule).collect();
        json!({
            "decision": effect_name(self.decision.effect()),
            "rule": self.decision.rule(),
            "by": self.by,
            "reason": self.decision.reason(),
            "command": self.command,
            "rules": rules,
            "changes": self.changes,
        })
    }

    /// Changes that would alter the decision.
    pub fn changes(&self) -> &[String] {
        &self.changes
    }
}

impl ComparedRule {
    fn new(policy: &Policy, rule: &Rule, facts: &Facts<'_>) -> Self {
        let condition = |condition: &Condition| {
            let truth = condition.truth(facts);
            let why = (truth == Truth::Unknown).then(|| condition.uncertainty(facts));
            (condition.describe(), truth, why)
        };
        Self {
            id: rule.id.to_string(),
            effect: rule.effect,
            line: policy.line(rule),
            matches: rule.truth(facts),
            conditions: rule.conditions.iter().map(condition).collect(),
        }
    }
}

/// The rule counts unless one of its conditions fails.
fn changes_of(rule: &Rule, facts: &Facts<'_>) -> Vec<String> {
    if rule.conditions.is_empty() {
        return vec![format!("rule `{}` has no conditions: change it, or one before it", rule.id)];
    }
    let change = |condition: &Condition| match condition.truth(facts) {
        Truth::Unknown => format!(
            "make it certain whether {}: {}",
            condition.describe(),
            condition.uncertainty(facts)
        ),
        _ => format!("rule `{}` does not count unless {}", rule.id, condition.describe()),
    };
    rule.conditions.iter().map(change).collect()
}

/// The rules that allow or ask, those with the fewest failing conditions first.
fn near_misses(rules: Vec<&Rule>, facts: &Facts<'_>) -> Vec<String> {
    let fails = |rule: &Rule| -> Vec<String> {
        let fails = rule.conditions.iter().filter(|it| it.truth(facts) != Truth::Yes);
        fails.map(Condition::describe).collect()
    };
    let loose = rules.into_iter().filter(|rule| rule.effect != Effect::Deny);
    let mut near: Vec<(&Rule, Vec<String>)> = loose.map(|rule| (rule, fails(rule))).collect();
    if near.is_empty() {
        return vec![format!("add a rule that allows `{}`", facts.tool)];
    }
    near.sort_by_key(|(_, fails)| fails.len());
    near.truncate(MAX_SUGGESTIONS);
    let change = |(rule, fails): (&Rule, Vec<String>)| {
        format!("rule `{}` counts if {}", rule.id, fails.join(", and "))
    };
    near.into_iter().map(change).collect()
}

struct Line(Option<usize>);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |line| write!(f, " (line {line})"))
    }
}

pub(crate) fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allow",
        Effect::Ask => "ask",
        _ => "deny",
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", effect_name(self.decision.effect()), self.by)?;
        if let Some(command) = &self.command {
            writeln!(f, "  for the command: {command}")?;
        }
        if !self.decision.reason().is_empty() {
            writeln!(f, "  reason: {}", self.decision.reason())?;
        }
        if let Some(limit) = self.decision.time_limit() {
            writeln!(f, "  time limit: {limit:?}")?;
        }
        for limit in self.decision.limits() {
            writeln!(f, "  limit: {} of {}", limit.amount, limit.key)?;
        }
        for rule in &self.rules {
            let (id, effect) = (&rule.id, effect_name(rule.effect));
            writeln!(f, "rule `{id}`{}, {effect}: {}", Line(rule.line), word(rule.matches))?;
            for (text, truth, why) in &rule.conditions {
                let why = why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
                writeln!(f, "  {:9} {text}{why}", word(*truth))?;
            }
        }
        writeln!(f, "to change it:")?;
        self.changes.iter().try_for_each(|change| writeln!(f, "  - {change}"))
    }
}

fn word(truth: Truth) -> &'static str {
    match truth {
        Truth::Yes => "yes",
        Truth::No => "no",
        Truth::Unknown => "uncertain",
    }
}
