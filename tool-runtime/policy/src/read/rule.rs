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
use crate::rule::{Rule, tool_pattern};
use crate::schedule::Schedule;
use std::time::Duration;
use tool_runtime_core::govern::{Approvers, Effect, Measure, Refill, Risk};
use tool_runtime_core::seam::nearest;

/// Reads a rule. `None` if it has no id or no effect.
pub(super) fn rule(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Rule> {
    let mut object = at.object(mistakes)?;
    let id = required(&mut object, "id", mistakes).and_then(|at| at.text(mistakes));
    object.take(&["description"], mistakes).and_then(|at| at.text(mistakes));
    let priority = object.take(&["priority"], mistakes).and_then(|at| at.integer(mistakes));
    let when = object.take(&["when"], mistakes);
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
        let help = "remove it, or allow the calls within the limit";
        mistakes.add(&at.place, "a rule that denies has a limit", help);
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
    let member = object.take(&[name], mistakes);
    if member.is_none() {
        let help = match name {
            "id" => "give the rule a name of its own, as in `id: read-only`",
            _ => "write `then: allow`, `then: ask` or `then: deny`",
        };
        mistakes.add(&object.place, format!("the key `{name}` is missing"), help);
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
    let decision = object.take(&["decision"], mistakes);
    if decision.is_none() {
        let help = "write `decision: allow`, `ask` or `deny`";
        mistakes.add(&at.place, "the key `decision` is missing", help);
    }
    let effect = decision.and_then(|at| outcome_name(&at, mistakes));
    let reason = object.take(&["reason"], mistakes).and_then(|at| at.text(mistakes));
    let time_limit = time_limit(&mut object, mistakes);
    let asked = object.take(&["approval", "approval_config"], mistakes);
    let Approval { message, approvers, expiry } =
        asked.map(|at| approval(&at, effect, mistakes)).unwrap_or_default();
    let limits = limits(&mut object, mistakes);
    object.finish(mistakes);
    let reason = message.or(reason);
    Some(Outcome { effect: effect?, reason, approvers, expiry, time_limit, limits })
}

/// `time_limit: 5s`, or `timeout_ms: 5000`, where 0 is none.
fn time_limit(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Option<Duration> {
    let millis = object.take(&["timeout_ms"], mistakes).and_then(|at| at.millis(mistakes));
    let Some(at) = object.take(&["time_limit"], mistakes) else {
        return millis.filter(|limit| !limit.is_zero());
    };
    if millis.is_some() {
        mistakes.add(&at.place, "there are two time limits", "remove `timeout_ms`");
    }
    at.duration(mistakes)
}

/// An effect by its name.
pub(super) fn outcome_name(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Effect> {
    let text = at.text(mistakes)?;
    let effect = match text.as_str() {
        "allow" => Effect::Allow,
        "deny" => Effect::Deny,
        "ask" | "require_approval" => Effect::Ask,
        _ => {
            let help = did_you_mean(&text, &["allow", "ask", "deny"]);
            mistakes.add(&at.place, format!("unknown decision `{text}`"), help);
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
    let names = ["tools", "tool_ids", "tool_id", "targets", "target"];
    if let Some(at) = object.take(&names, mistakes) {
        rule.tools = at.parsed(mistakes, tool_pattern);
    }
    if let Some(at) = object.take(&["resources", "resource"], mistakes) {
        rule.resources = at.parsed(mistakes, |uri| Ok(Wildcard::new(uri)));
    }
    if let Some(at) = object.take(&["prompts", "prompt"], mistakes) {
        rule.prompts = at.parsed(mistakes, |name| Ok(Wildcard::new(name)));
    }
    let mut all = kinds(&mut object, mistakes);
    all.extend(of_tool(&mut object, mistakes));
    all.extend(of_caller(&mut object, mistakes));
    all.extend(of_run(&mut object, mistakes));
    if let Some(at) = object.take(&["touches"], mistakes) {
        all.extend(touches::touches(&at, mistakes).map(Condition::Touches));
    }
    if let Some(at) = object.take(&["arguments"], mistakes) {
        let predicates = predicate::arguments(&at, mistakes).into_iter();
        all.extend(predicates.map(|predicate| Condition::Argument(Box::new(predicate))));
    }
    object.finish(mistakes);
    rule.conditions = all;
    rule
}

/// The kinds of steps that other systems know: rules about others never match calls of tools.
fn kinds(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<Condition> {
    let mut all = Vec::new();
    let kinds: [(&'static str, &str, &[&str]); 2] = [
        ("action", "tool.invoke", &["tool.invoke"]),
        ("step_kind", "tool_call", &["tool_call", "llm_call", "local"]),
    ];
    for (name, own, known) in kinds {
        let Some(at) = object.take(&[name], mistakes) else { continue };
        match at.text(mistakes) {
            Some(text) if text == own => {}
            Some(text) if known.contains(&text.as_str()) => {
                all.push(Condition::Never("the step is not a call of a tool"));
            }
            Some(text) => {
                let help = did_you_mean(&text, known);
                mistakes.add(&at.place, format!("unknown {name} `{text}`"), help);
            }
            None => {}
        }
    }
    all
}

fn of_tool(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<Condition> {
    let mut all = Vec::new();
    if let Some(at) = object.take(&["sources", "source"], mistakes) {
        all.push(Condition::Sources(at.parsed(mistakes, SourcePattern::parse)));
    }
    if let Some(at) = object.take(&["tags", "tag"], mistakes) {
        all.push(Condition::Tags(at.parsed(mistakes, |tag| Ok(tag.to_owned()))));
    }
    if let Some(at) = object.take(&["annotations"], mistakes)
        && let Some(mut hints) = at.filled_object(mistakes)
    {
        for (name, hint) in Hint::ALL {
            if let Some(at) = hints.take(&[name], mistakes) {
                all.extend(at.flag(mistakes).map(|flag| Condition::Hint(hint, flag)));
            }
        }
        hints.finish(mistakes);
    }
    if let Some(at) = object.take(&["trusted"], mistakes) {
        all.extend(at.flag(mistakes).map(Condition::Trusted));
    }
    if let Some(at) = object.take(&["risk"], mistakes) {
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
    let names = ["principals", "principal", "agent_ids", "agent_id"];
    if let Some(at) = object.take(&names, mistakes) {
        all.push(Condition::Principals(at.parsed(mistakes, |id| Ok(Wildcard::new(id)))));
    }
    if let Some(at) = object.take(&["scopes", "scope"], mistakes) {
        all.push(Condition::Scopes(at.parsed(mistakes, |scope| Ok(scope.to_owned()))));
    }
    if let Some(at) = object.take(&["claims"], mistakes)
        && let Some(claims) = at.filled_object(mistakes)
    {
        let claims = claims.members().map(|(name, at)| (name.to_owned(), at.value.clone()));
        all.push(Condition::Claims(claims.collect()));
    }
    if let Some(at) = object.take(&["anonymous"], mistakes) {
        all.extend(at.flag(mistakes).map(Condition::Anonymous));
    }
    all
}

fn of_run(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<Condition> {
    let mut all = Vec::new();
    if let Some(at) = object.take(&["labels"], mistakes)
        && let Some(labels) = at.filled_object(mistakes)
    {
        let labels = labels.members().collect::<Vec<_>>().into_iter();
        let labels = labels.filter_map(|(name, at)| Some((name.to_owned(), at.text(mistakes)?)));
        all.push(Condition::Labels(labels.collect()));
    }
    let min = object.take(&["min_step_count"], mistakes).and_then(|at| at.whole(mistakes));
    let max = object.take(&["max_step_count"], mistakes).and_then(|at| at.whole(mistakes));
    if min.is_some() || max.is_some() {
        all.push(Condition::Steps(min.unwrap_or(0), max.unwrap_or(u64::MAX)));
    }
    // Both mean "longer than": the first name misled, and was replaced by the second.
    if let Some(at) = object.take(&["max_duration_ms", "min_duration_ms"], mistakes) {
        match at.millis(mistakes) {
            Some(time) if time.is_zero() => {
                mistakes.add(&at.place, "the time is zero", "write a number of milliseconds");
            }
            time => all.extend(time.map(Condition::LongerThan)),
        }
    }
    if let Some(at) = object.take(&["longer_than"], mistakes) {
        all.extend(at.duration(mistakes).map(Condition::LongerThan));
    }
    if let Some(at) = object.take(&["shorter_than"], mistakes) {
        all.extend(at.duration(mistakes).map(Condition::ShorterThan));
    }
    if let Some(at) = object.take(&["schedule", "schedules"], mistakes) {
        all.push(Condition::Schedules(at.parsed(mistakes, Schedule::parse)));
    }
    all
}

/// Takes `rate_limit` and `budget`.
fn limits(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<LimitRule> {
    let mut all = Vec::new();
    if let Some(at) = object.take(&["rate_limit", "rate_limits"], mistakes) {
        let items = at.one_or_more(mistakes);
        all.extend(items.iter().filter_map(|at| rate(at, mistakes)));
    }
    if let Some(at) = object.take(&["budget", "budgets"], mistakes) {
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
    let max = object.take(&["max", "max_calls", "calls"], mistakes);
    let window = object.take(&["window"], mistakes);
    if max.is_none() || window.is_none() {
        let help = "write both, as in `{max: 10, window: 1m}`";
        mistakes.add(&at.place, "`max` or `window` is missing", help);
    }
    let max = max.and_then(|at| at.whole(mistakes));
    let window = window.and_then(|at| at.duration(mistakes));
    let kind = object.take(&["kind"], mistakes).and_then(|at| is_bucket(&at, mistakes));
    // Per caller and tool, unless it says otherwise.
    let per = shares(&mut object, mistakes).unwrap_or_else(|| vec![Share::Tool, Share::Principal]);
    on_error(&mut object, mistakes);
    object.finish(mistakes);
    let refill = match kind.unwrap_or_default() {
        true => Refill::Steady(window?),
        false => Refill::Window(window?),
    };
    let limit = LimitRule::new(max?, Measure::Calls, refill, per);
    (before == mistakes.0.len()).then(|| mistakes.valid(&at.place, limit)).flatten()
}

fn is_bucket(at: &At<'_>, mistakes: &mut Mistakes) -> Option<bool> {
    let text = at.text(mistakes)?;
    match text.as_str() {
        "sliding" => Some(false),
        "bucket" => Some(true),
        _ => {
            let help = did_you_mean(&text, &["sliding", "bucket"]);
            mistakes.add(&at.place, format!("unknown kind `{text}`"), help);
            None
        }
    }
}

/// `on_limiter_error: deny` is how limits are kept; a limiter can be told otherwise, a rule cannot.
fn on_error(object: &mut Object<'_>, mistakes: &mut Mistakes) {
    if let Some(at) = object.take(&["on_limiter_error"], mistakes)
        && at.text(mistakes).is_some_and(|text| text != "deny")
    {
        let help = "remove it, and use `LimitKeeper::allow_on_store_error`";
        mistakes.add(&at.place, "a limit that cannot be checked denies", help);
    }
}

fn shares(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Option<Vec<Share>> {
    let at = object.take(&["per", "per_what"], mistakes)?;
    let names = ["rule", "global", "tool", "principal", "agent", "session", "execution"];
    let share = |text: &str| match text {
        "rule" | "global" => Ok(None),
        "tool" => Ok(Some(Share::Tool)),
        "principal" | "agent" => Ok(Some(Share::Principal)),
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
        if let Some(at) = object.take(&[name], mistakes) {
            amounts.extend(at.whole(mistakes).map(|amount| (at.place, amount, measure)));
        }
    }
    if let Some(at) = object.take(&["time"], mistakes)
        && let Some(time) = at.duration(mistakes)
    {
        amounts.push((at.place, time.as_millis() as u64, Measure::Milliseconds));
    }
    if let Some(at) = object.take(&["cost"], mistakes)
        && let Some(cost) = at.number(mistakes)
    {
        let micros = cost.as_f64().unwrap_or_default().max(0.0) * 1e6;
        amounts.push((at.place, micros as u64, Measure::Micros));
    }
    if amounts.is_empty() {
        let help = "write `calls`, `time`, `tokens` or `cost`";
        mistakes.add(&at.place, "the budget has no amount", help);
    }
    let per = shares(&mut object, mistakes).unwrap_or_default();
    object.finish(mistakes);
    let limit = |(place, amount, measure)| {
        let limit = LimitRule::new(amount, measure, Refill::Never, per.clone());
        mistakes.valid(&place, limit)
    };
    amounts.into_iter().filter_map(limit).collect()
}
