//! Conditions of rules about everything but arguments.

use crate::facts::Facts;
use crate::names::{SourcePattern, Wildcard};
use crate::predicate::Predicate;
use crate::schedule::Schedule;
use crate::touches::TouchedFiles;
use crate::truth::Truth;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;
use tool_runtime_core::govern::Risk;
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::{Principal, ToolAnnotations};

/// One condition of a rule.
#[derive(Debug)]
pub(crate) enum Condition {
    Sources(Vec<SourcePattern>),
    Tags(Vec<String>),
    Hint(Hint, bool),
    Trusted(bool),
    Labels(BTreeMap<String, String>),
    Principals(Vec<Wildcard>),
    Scopes(Vec<String>),
    Claims(Map<String, Value>),
    Anonymous(bool),
    Risks(Vec<Risk>),
    /// The number of steps before the call, at least and at most.
    Steps(u64, u64),
    LongerThan(Duration),
    ShorterThan(Duration),
    Schedules(Vec<Schedule>),
    Argument(Box<Predicate>),
    Touches(TouchedFiles),
}

/// A hint about the effects of a tool, with MCP's default where a tool does not say, and for tools
/// whose source is not trusted.
///
/// ```
/// use tool_runtime::policy::Hint;
/// use tool_runtime::ToolAnnotations;
///
/// assert!(Hint::Destructive.is_true_for(&ToolAnnotations::default()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Hint {
    /// The tool changes nothing.
    ReadOnly,
    /// The tool may destroy something.
    Destructive,
    /// A second equal call changes nothing more.
    Idempotent,
    /// The tool touches an open world, such as the web.
    OpenWorld,
}

impl Hint {
    pub(crate) const ALL: [(&'static str, Self); 4] = [
        ("read_only", Self::ReadOnly),
        ("destructive", Self::Destructive),
        ("idempotent", Self::Idempotent),
        ("open_world", Self::OpenWorld),
    ];

    pub(crate) fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, hint)| *hint == self).map_or("", |(name, _)| name)
    }

    /// Whether a tool with these annotations has the hint.
    pub fn is_true_for(self, annotations: &ToolAnnotations) -> bool {
        match self {
            Self::ReadOnly => annotations.is_read_only(),
            Self::Destructive => annotations.is_destructive(),
            Self::Idempotent => annotations.is_idempotent(),
            Self::OpenWorld => annotations.is_open_world(),
        }
    }
}

impl Condition {
    pub(crate) fn truth(&self, facts: &Facts<'_>) -> Truth {
        match self {
            Self::Sources(patterns) => match facts.source {
                Some(source) => patterns.iter().any(|pattern| pattern.matches(source)).into(),
                None => Truth::Unknown,
            },
            Self::Tags(tags) => has_tag(tags, facts.tags, facts.is_trusted),
            Self::Hint(hint, wanted) => (hint.is_true_for(&facts.annotations) == *wanted).into(),
            Self::Trusted(wanted) => (facts.is_trusted == *wanted).into(),
            Self::Labels(labels) => match facts.labels {
                Some(own) => labels.iter().all(|(name, value)| own.get(name) == Some(value)).into(),
                None => Truth::Unknown,
            },
            Self::Risks(risks) if risks.contains(&facts.risk) => Truth::Yes,
            Self::Risks(_) if facts.risk == Risk::Unknown => Truth::Unknown,
            Self::Risks(_) => Truth::No,
            Self::Steps(min, max) => known(facts.steps, |steps| (*min..=*max).contains(&steps)),
            Self::LongerThan(time) => known(facts.elapsed, |elapsed| elapsed > *time),
            Self::ShorterThan(time) => known(facts.elapsed, |elapsed| elapsed < *time),
            Self::Schedules(schedules) => {
                let now = facts.now();
                schedules.iter().any(|schedule| schedule.contains(now)).into()
            }
            Self::Argument(predicate) => predicate.truth(facts),
            Self::Touches(files) => files.truth(facts),
            Self::Principals(_) | Self::Scopes(_) | Self::Claims(_) | Self::Anonymous(_) => {
                self.truth_for(facts.principal)
            }
        }
    }

    /// The result of a condition about the caller.
    fn truth_for(&self, principal: &Principal) -> Truth {
        match self {
            Self::Principals(patterns) => {
                let is = |pattern: &Wildcard| pattern.matches(principal.id());
                (!principal.is_anonymous() && patterns.iter().any(is)).into()
            }
            Self::Scopes(scopes) => scopes.iter().all(|scope| principal.has_scope(scope)).into(),
            Self::Claims(claims) => {
                let own = principal.claims();
                Truth::all(claims.iter().map(|(name, value)| match own.get(name) {
                    Some(own) => (own == value).into(),
                    None => Truth::Unknown,
                }))
            }
            Self::Anonymous(wanted) => (principal.is_anonymous() == *wanted).into(),
            _ => Truth::Unknown,
        }
    }

    /// The result as far as it is the same for all calls of a tool by a caller.
    pub(crate) fn truth_of_all(&self, tool: &ToolDefinition, principal: &Principal) -> Truth {
        match self {
            Self::Tags(tags) => has_tag(tags, &tool.tags, !tool.untrusted_annotations),
            Self::Hint(hint, wanted) => {
                (hint.is_true_for(&tool.effective_annotations()) == *wanted).into()
            }
            Self::Trusted(wanted) => (tool.untrusted_annotations != *wanted).into(),
            other => other.truth_for(principal),
        }
    }

    /// The position of the condition in the order of evaluation: cheap ones come first.
    pub(crate) fn cost(&self) -> u8 {
        match self {
            Self::Argument(predicate) => 2 + predicate.cost(),
            Self::Touches(_) => 2,
            Self::Schedules(_) => 1,
            _ => 0,
        }
    }

    /// A description of the condition, for people.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Sources(patterns) => format!("the source is {}", list(patterns)),
            Self::Tags(tags) => format!("the tool has the tag {}", list(tags)),
            Self::Hint(hint, is_true) => {
                let not = if *is_true { "" } else { "not " };
                // What is not said has MCP's default, which is the dangerous one.
                let is_default = matches!(hint, Hint::Destructive | Hint::OpenWorld) == *is_true;
                let by = if is_default { "" } else { " by a trusted hint" };
                format!("the tool is {not}`{}`{by}", hint.name())
            }
            Self::Trusted(true) => "the source of the tool is trusted".to_owned(),
            Self::Trusted(false) => "the source of the tool is not trusted".to_owned(),
            Self::Labels(labels) => {
                let labels = labels.iter().map(|(name, value)| format!("{name}={value}"));
                format!(
                    "the execution has the labels `{}`",
                    labels.collect::<Vec<_>>().join("`, `")
                )
            }
            Self::Principals(patterns) => format!("the caller is {}", list(patterns)),
            Self::Scopes(scopes) => format!("the caller has the scopes {}", list(scopes)),
            Self::Claims(claims) => format!("the claims are {}", Value::Object(claims.clone())),
            Self::Anonymous(true) => "the caller is anonymous".to_owned(),
            Self::Anonymous(false) => "the caller is authenticated".to_owned(),
            Self::Risks(risks) => format!("the risk is {}", list(risks)),
            Self::Steps(min, u64::MAX) => format!("at least {min} calls ran before"),
            Self::Steps(0, max) => format!("at most {max} calls ran before"),
            Self::Steps(min, max) => format!("{min} to {max} calls ran before"),
            Self::LongerThan(time) => format!("the execution runs for more than {time:?}"),
            Self::ShorterThan(time) => format!("the execution runs for less than {time:?}"),
            Self::Schedules(schedules) => format!("the time is in {}", list(schedules)),
            Self::Argument(predicate) => predicate.describe(),
            Self::Touches(files) => files.describe(),
        }
    }

    /// The reason why the condition cannot be evaluated, for a model.
    pub(crate) fn uncertainty(&self, facts: &Facts<'_>) -> String {
        match self {
            Self::Argument(predicate) => predicate.uncertainty(facts),
            Self::Touches(files) => files.uncertainty(facts),
            Self::Labels(_) => "the call is not part of an execution with labels".to_owned(),
            Self::Steps(..) | Self::LongerThan(_) | Self::ShorterThan(_) => {
                "the call is not part of an execution".to_owned()
            }
            Self::Risks(_) => "the risk of the call is not known".to_owned(),
            Self::Claims(_) => "the caller lacks a claim".to_owned(),
            Self::Tags(_) => "the tags are of a source that is not trusted".to_owned(),
            _ => "the origin of the tool is not known".to_owned(),
        }
    }
}

/// A tag that an untrusted source gives its tool is uncertain.
fn has_tag(wanted: &[String], own: &[String], is_trusted: bool) -> Truth {
    match wanted.iter().any(|tag| own.contains(tag)) {
        true if !is_trusted => Truth::Unknown,
        has => has.into(),
    }
}

fn known<T>(value: Option<T>, holds: impl Fn(T) -> bool) -> Truth {
    value.map_or(Truth::Unknown, |value| holds(value).into())
}

fn list<T: ToString>(items: &[T]) -> String {
    let items: Vec<String> = items.iter().map(|item| format!("`{}`", item.to_string())).collect();
    items.join(" or ")
}
