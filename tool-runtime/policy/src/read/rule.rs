//! Reads rules.

use super::approval::{Approval, approval};
use super::object::{At, Mistakes, Object};
use super::predicate;
use super::problem::Fault;
use super::touches;
use crate::Share;
use crate::condition::{Condition, Hint};
use crate::limits::LimitRule;
use crate::names::{SourcePattern, Wildcard};
use crate::rule::{Rule, limit_of_denial, tool_pattern};
use crate::schedule::Schedule;
use std::time::Duration;
use tool_runtime_core::govern::{Approvers, Effect, Measure, Refill, Risk};
use tool_runtime_core::seam::nearest;

/// Reads a rule. `None` if it has no id or no effect.
pub(super) fn rule(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Rule> {
    let mut object = at.object(mistakes)?;
    let id = required(&mut object, "id", mistakes).and_then(|at| at.text(mistakes));
    object.take("description").and_then(|at| at.text(mistakes));
    let priority = object.take("priority").and_then(|at| at.integer(mistakes));
    let when = object.take("when");
    let then = required(&mut object, "then", mistakes);
    let outcome = then.and_then(|at| outcome(&at, mistakes));
    let mut limits = limits(&mut object, mistakes);
    object.finish(mistakes);
    let mut rule = Rule::new(id.unwrap_or_default(), Effect::Deny);
    if let Some(when) = when {
        rule = self::when(&when, rule, mistakes);
    }
    let outcome = outcome?;
    limits.extend(outcome.limits);
    if outcome.effect == Effect::Deny && !limits.is_empty() {
        mistakes.0.push((at.path.clone(), limit_of_denial()));
    }
    rule.conditions.sort_by_key(Condition::cost);
    let priority = priority.unwrap_or_default();
    let Outcome { effect, reason, approvers, expiry, time_limit, .. } = outcome;
    let rule = Rule { effect, priority, reason, approvers, expiry, time_limit, limits, ..rule };
    (!rule.id.is_empty()).then_some(rule)
}

fn required<'v>(
    object: &mut Object<'v>,
    name: &'static str,
    mistakes: &mut Mistakes,
) -> Option<At<'v>> {
    let member = object.take(name);
    if member.is_none() {
        let help = match name {
            "id" => "give the rule a name of its own, as in `id: read-only`",
            _ => "write `then: allow`, `then: ask` or `then: deny`",
        };
        mistakes.add(&object.path, format!("the key `{name}` is missing"), help);
    }
    member
}

/// The part of a rule after `then`, and the default of a policy.
pub(super) struct Outcome {
    pub(super) effect: Effect,
    pub(super) reason: Option<String>,
    pub(super) approvers: Approvers,
    pub(super) expiry: Option<Duration>,
    pub(super) time_limit: Option<Duration>,
    pub(super) limits: Vec<LimitRule>,
}

/// `allow`, or `{decision: allow, reason: ..}`.
pub(super) fn outcome(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Outcome> {
    if at.value.is_string() {
        let effect = outcome_name(at, mistakes)?;
        let (approvers, limits) = (Approvers::default(), Vec::new());
        let (expiry, time_limit) = (None, None);
        return Some(Outcome { effect, reason: None, approvers, expiry, time_limit, limits });
    }
    let mut object = at.object(mistakes)?;
    let decision = object.take("decision");
    if decision.is_none() {
        let help = "write `decision: allow`, `ask` or `deny`";
        mistakes.add(&at.path, "the key `decision` is missing", help);
    }
    let effect = decision.and_then(|at| outcome_name(&at, mistakes));
    let reason = object.take("reason").and_then(|at| at.text(mistakes));
    let time_limit = object.take("time_limit").and_then(|at| at.duration(mistakes));
    let asked = object.take("approval");
    let Approval { message, approvers, expiry } =
        asked.map(|at| approval(&at, effect, mistakes)).unwrap_or_default();
    let limits = limits(&mut object, mistakes);
    object.finish(mistakes);
    let reason = message.or(reason);
    Some(Outcome { effect: effect?, reason, approvers, expiry, time_limit, limits })
}

/// An effect by its name.
pub(super) fn outcome_name(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Effect> {
    let text = at.text(mistakes)?;
    let effect = match text.as_str() {
        "allow" => Effect::Allow,
        "deny" => Effect::Deny,
        "ask" => Effect::Ask,
        _ => {
            let help = did_you_mean(&text, &["allow", "ask", "deny"]);
            mistakes.add(&at.path, format!("unknown decision `{text}`"), help);
            return None;
        }
    };
    Some(effect)
}

pub(super) fn did_you_mean(text: &str, names: &[&str]) -> String {
    match nearest(text, names.iter().copied(), 1).first() {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("write one of `{}`", names.join("`, `")),
    }
}

fn when(at: &At<'_>, mut rule: Rule, mistakes: &mut Mistakes) -> Rule {
    let Some(mut object) = at.object(mistakes) else { return rule };
    if let Some(at) = object.take("tools") {
        rule.tools = at.parsed(mistakes, tool_pattern);
    }
    if let Some(at) = object.take("resources") {
        rule.resources = at.parsed(mistakes, |uri| Ok(Wildcard::new(uri)));
    }
    if let Some(at) = object.take("prompts") {
        rule.prompts = at.parsed(mistakes, |name| Ok(Wildcard::new(name)));
    }
    let mut all = of_tool(&mut object, mistakes);
    all.extend(of_caller(&mut object, mistakes));
    all.extend(of_run(&mut object, mistakes));
    if let Some(at) = object.take("touches") {
        all.extend(touches::touches(&at, mistakes).map(Condition::Touches));
    }
    if let Some(at) = object.take("arguments") {
        let predicates = predicate::arguments(&at, mistakes).into_iter();
        all.extend(predicates.map(|predicate| Condition::Argument(Box::new(predicate))));
    }
    object.finish(mistakes);
    rule.conditions = all;
    rule
}

fn of_tool(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<Condition> {
    let mut all = Vec::new();
    if let Some(at) = object.take("sources") {
        all.push(Condition::Sources(at.parsed(mistakes, SourcePattern::parse)));
    }
    if let Some(at) = object.take("tags") {
        all.push(Condition::Tags(at.parsed(mistakes, |tag| Ok(tag.to_owned()))));
    }
    if let Some(at) = object.take("annotations")
        && let Some(mut hints) = at.filled_object(mistakes)
    {
        for (name, hint) in Hint::ALL {
            if let Some(at) = hints.take(name) {
                all.extend(at.flag(mistakes).map(|flag| Condition::Hint(hint, flag)));
            }
        }
        hints.finish(mistakes);
    }
    if let Some(at) = object.take("trusted") {
        all.extend(at.flag(mistakes).map(Condition::Trusted));
    }
    if let Some(at) = object.take("risk") {
        all.push(Condition::Risks(at.parsed(mistakes, risk)));
    }
    all
}

pub(super) fn risk(text: &str) -> Result<Risk, Fault> {
    let all = [Risk::Low, Risk::Medium, Risk::High, Risk::Unknown];
    let found = all.into_iter().find(|risk| risk.as_str().eq_ignore_ascii_case(text));
    found.ok_or_else(|| {
        let help = did_you_mean(text, &["low", "medium", "high", "unknown"]);
        Fault::new(format!("unknown risk `{text}`"), help)
    })
}

fn of_caller(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<Condition> {
    let mut all = Vec::new();
    if let Some(at) = object.take("principals") {
        all.push(Condition::Principals(at.parsed(mistakes, |id| Ok(Wildcard::new(id)))));
    }
    if let Some(at) = object.take("scopes") {
        all.push(Condition::Scopes(at.parsed(mistakes, |scope| Ok(scope.to_owned()))));
    }
    if let Some(at) = object.take("claims")
        && let Some(claims) = at.filled_object(mistakes)
    {
        let claims = claims.members().map(|(name, at)| (name.to_owned(), at.value.clone()));
        all.push(Condition::Claims(claims.collect()));
    }
    if let Some(at) = object.take("anonymous") {
        all.extend(at.flag(mistakes).map(Condition::Anonymous));
    }
    all
}

fn of_run(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<Condition> {
    let mut all = Vec::new();
    if let Some(at) = object.take("labels")
        && let Some(labels) = at.filled_object(mistakes)
    {
        let labels = labels.members().collect::<Vec<_>>().into_iter();
        let labels = labels.filter_map(|(name, at)| Some((name.to_owned(), at.text(mistakes)?)));
        all.push(Condition::Labels(labels.collect()));
    }
    let min = object.take("min_step_count").and_then(|at| at.whole(mistakes));
    let max = object.take("max_step_count").and_then(|at| at.whole(mistakes));
    if min.is_some() || max.is_some() {
        all.push(Condition::Steps(min.unwrap_or(0), max.unwrap_or(u64::MAX)));
    }
    if let Some(at) = object.take("longer_than") {
        all.extend(at.duration(mistakes).map(Condition::LongerThan));
    }
    if let Some(at) = object.take("shorter_than") {
        all.extend(at.duration(mistakes).map(Condition::ShorterThan));
    }
    if let Some(at) = object.take("schedule") {
        all.push(Condition::Schedules(at.parsed(mistakes, Schedule::parse)));
    }
    all
}

/// Takes `rate_limit` and `budget`.
fn limits(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<LimitRule> {
    let mut all = Vec::new();
    if let Some(at) = object.take("rate_limit") {
        let items = at.one_or_more(mistakes);
        all.extend(items.iter().filter_map(|at| rate(at, mistakes)));
    }
    if let Some(at) = object.take("budget") {
        for item in at.one_or_more(mistakes) {
            all.extend(budget(&item, mistakes));
        }
    }
    all
}

/// `{max: 10, window: 1m, kind: sliding, per: [tool, principal]}`.
fn rate(at: &At<'_>, mistakes: &mut Mistakes) -> Option<LimitRule> {
    let before = mistakes.0.len();
    let mut object = at.object(mistakes)?;
    let max = object.take("max");
    let window = object.take("window");
    if max.is_none() || window.is_none() {
        let help = "write both, as in `{max: 10, window: 1m}`";
        mistakes.add(&at.path, "`max` or `window` is missing", help);
    }
    let max = max.and_then(|at| at.whole(mistakes));
    let window = window.and_then(|at| at.duration(mistakes));
    let kind = object.take("kind").and_then(|at| is_bucket(&at, mistakes));
    // Per caller and tool, unless it says otherwise.
    let per = shares(&mut object, mistakes).unwrap_or_else(|| vec![Share::Tool, Share::Principal]);
    object.finish(mistakes);
    let refill = match kind.unwrap_or_default() {
        true => Refill::Steady(window?),
        false => Refill::Window(window?),
    };
    let limit = LimitRule::new(max?, Measure::Calls, refill, per);
    (before == mistakes.0.len()).then(|| mistakes.valid(&at.path, limit)).flatten()
}

fn is_bucket(at: &At<'_>, mistakes: &mut Mistakes) -> Option<bool> {
    let text = at.text(mistakes)?;
    match text.as_str() {
        "sliding" => Some(false),
        "bucket" => Some(true),
        _ => {
            let help = did_you_mean(&text, &["sliding", "bucket"]);
            mistakes.add(&at.path, format!("unknown kind `{text}`"), help);
            None
        }
    }
}

fn shares(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Option<Vec<Share>> {
    let at = object.take("per")?;
    let names = ["rule", "tool", "principal", "session", "execution"];
    let share = |text: &str| match text {
        "rule" => Ok(None),
        "tool" => Ok(Some(Share::Tool)),
        "principal" => Ok(Some(Share::Principal)),
        "session" => Ok(Some(Share::Session)),
        "execution" => Ok(Some(Share::Execution)),
        _ => Err(Fault::new(format!("unknown share `{text}`"), did_you_mean(text, &names))),
    };
    Some(at.parsed(mistakes, share).into_iter().flatten().collect())
}

/// `{calls: 100, time: 10m, tokens: 50000, cost: 2.5, per: session}`.
fn budget(at: &At<'_>, mistakes: &mut Mistakes) -> Vec<LimitRule> {
    let Some(mut object) = at.object(mistakes) else { return Vec::new() };
    let mut amounts = Vec::new();
    for (name, measure) in [("calls", Measure::Calls), ("tokens", Measure::Tokens)] {
        if let Some(at) = object.take(name) {
            amounts.extend(at.whole(mistakes).map(|amount| (at.path, amount, measure)));
        }
    }
    if let Some(at) = object.take("time")
        && let Some(time) = at.duration(mistakes)
    {
        amounts.push((at.path, time.as_millis() as u64, Measure::Milliseconds));
    }
    if let Some(at) = object.take("cost")
        && let Some(cost) = at.number(mistakes)
    {
        let micros = cost.as_f64().unwrap_or_default().max(0.0) * 1e6;
        amounts.push((at.path, micros as u64, Measure::Micros));
    }
    if amounts.is_empty() {
        let help = "write `calls`, `time`, `tokens` or `cost`";
        mistakes.add(&at.path, "the budget has no amount", help);
    }
    let per = shares(&mut object, mistakes).unwrap_or_default();
    object.finish(mistakes);
    let limit = |(path, amount, measure)| {
        let limit = LimitRule::new(amount, measure, Refill::Never, per.clone());
        mistakes.valid(&path, limit)
    };
    amounts.into_iter().filter_map(limit).collect()
}
