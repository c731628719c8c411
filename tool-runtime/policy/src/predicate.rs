//! Conditions about one argument.

mod constraint;
mod field;
mod folding;
mod paths;
mod patterns;

pub(crate) use constraint::{Comparison, Constraint};
pub(crate) use field::Field;
pub(crate) use folding::FoldedTexts;
pub(crate) use patterns::{Patterns, paths, regex, shell, urls};

use crate::facts::Facts;
use crate::truth::Truth;
use field::Segment;
use serde_json::Value;
use tool_runtime_core::seam::EffectiveArgument;

/// The help where another name may stand for what a rule is about.
const LISTED: &str = "write it as the schema of the tool does";

/// A condition about one argument.
#[derive(Debug)]
pub(crate) struct Predicate {
    pub(crate) field: Field,
    pub(crate) constraints: Vec<Constraint>,
    /// Whether strings are compared without regard to case.
    pub(crate) ignores_case: bool,
    /// The result if the argument is absent. Default: it cannot be evaluated.
    pub(crate) if_absent: Option<bool>,
}

impl Predicate {
    pub(crate) fn truth(&self, facts: &Facts<'_>) -> Truth {
        let (name, path) = self.field.parts();
        match facts.arguments.effective().get(name) {
            EffectiveArgument::Given(value) => self.truth_at(value, path, facts),
            EffectiveArgument::Absent => match self.absent() {
                // A resource or a prompt does not have the arguments of tools.
                Truth::Unknown if !facts.is_about_tool() => Truth::No,
                absent => absent,
            },
            EffectiveArgument::Uncertain | EffectiveArgument::Doubtful => Truth::Unknown,
        }
    }

    fn comparison<'f>(&self, facts: &'f Facts<'_>) -> Comparison<'f> {
        Comparison {
            ignores_case: self.ignores_case,
            folded: &facts.arguments.folded,
            command: facts.command.as_deref(),
        }
    }

    /// The text of the argument and the patterns, if these are of commands.
    pub(crate) fn line<'f>(&self, facts: &'f Facts<'_>) -> Option<(&'f str, &Patterns)> {
        let patterns = self.constraints.iter().find_map(Constraint::commands)?;
        let (name, path) = self.field.parts();
        let EffectiveArgument::Given(value) = facts.arguments.effective().get(name) else {
            return None;
        };
        let inner = path.iter().try_fold(value, |value, segment| segment.find_in(value))?;
        Some((inner.as_str()?, patterns))
    }

    fn truth_at(&self, value: &Value, path: &[Segment], facts: &Facts<'_>) -> Truth {
        let arguments = facts.arguments.effective();
        let Some((first, rest)) = path.split_first() else {
            let is_doubtful = arguments.is_doubtful(value);
            return if is_doubtful { Truth::Unknown } else { self.truth_of(value, facts) };
        };
        let inner = |inner: Option<&Value>| match inner {
            None | Some(Value::Null) => self.absent(),
            Some(inner) => self.truth_at(inner, rest, facts),
        };
        match (first, value) {
            (Segment::Key(key), Value::Object(_)) if arguments.may_have(value, key) => {
                Truth::Unknown
            }
            (Segment::Key(key), Value::Object(members)) => inner(members.get(key)),
            (Segment::Index(index), Value::Array(items)) => inner(items.get(*index)),
            (Segment::Each, Value::Array(items)) if items.is_empty() => self.absent(),
            (Segment::Each, Value::Array(items)) => {
                Truth::same(items.iter().map(|item| inner(Some(item))))
            }
            _ => Truth::Unknown,
        }
    }

    fn truth_of(&self, value: &Value, facts: &Facts<'_>) -> Truth {
        let by = self.comparison(facts);
        Truth::all(self.constraints.iter().map(|it| it.truth(value, by)))
    }

    /// Whether the absence of the argument decides.
    pub(crate) fn is_certain_if_absent(&self) -> bool {
        self.absent() != Truth::Unknown
    }

    fn absent(&self) -> Truth {
        let present = self.constraints.iter().find_map(|constraint| match constraint {
            Constraint::Present(wanted) => Some(!wanted),
            _ => None,
        });
        match (present, self.if_absent) {
            (Some(is_true), _) | (None, Some(is_true)) => is_true.into(),
            (None, None) => Truth::Unknown,
        }
    }

    /// Patterns of commands are the dearest.
    pub(crate) fn cost(&self) -> u8 {
        self.constraints.iter().map(Constraint::cost).max().unwrap_or_default()
    }

    pub(crate) fn describe(&self) -> String {
        let constraints: Vec<String> = self.constraints.iter().map(ToString::to_string).collect();
        format!("`{}` {}", self.field, constraints.join(" and "))
    }

    /// The reason why the predicate cannot be evaluated, for a model.
    pub(crate) fn uncertainty(&self, facts: &Facts<'_>) -> String {
        let field = &self.field;
        match facts.arguments.effective().get(field.parts().0) {
            EffectiveArgument::Absent => format!("`{field}` is absent; write it"),
            EffectiveArgument::Uncertain => {
                format!("`{field}` is given more than once, or the arguments are not an object")
            }
            EffectiveArgument::Doubtful => {
                format!("`{field}` may be given by another name; {LISTED}")
            }
            EffectiveArgument::Given(value) => {
                let mut reason = None;
                self.explain_at(value, field.parts().1, facts, &mut reason);
                match reason {
                    Some(reason) => format!("`{field}` {reason}"),
                    None => format!("`{field}` is absent in a part, or parts of it differ"),
                }
            }
        }
    }

    fn explain_at(
        &self,
        value: &Value,
        path: &[Segment],
        facts: &Facts<'_>,
        reason: &mut Option<String>,
    ) {
        if reason.is_some() {
            return;
        }
        let arguments = facts.arguments.effective();
        let Some((first, rest)) = path.split_first() else {
            let by = self.comparison(facts);
            let doubt = || self.constraints.iter().find_map(|it| it.doubt(value, by));
            *reason = if arguments.is_doubtful(value) { Some(unlisted()) } else { doubt() };
            return;
        };
        match (first, value) {
            (Segment::Key(key), Value::Object(_)) if arguments.may_have(value, key) => {
                *reason = Some(unlisted());
            }
            (Segment::Key(key), Value::Object(members)) => {
                if let Some(value) = members.get(key) {
                    self.explain_at(value, rest, facts, reason);
                }
            }
            (Segment::Index(index), Value::Array(items)) => {
                if let Some(value) = items.get(*index) {
                    self.explain_at(value, rest, facts, reason);
                }
            }
            (Segment::Each, Value::Array(items)) => {
                items.iter().for_each(|item| self.explain_at(item, rest, facts, reason));
            }
            (_, other) => {
                *reason = Some(format!("cannot be looked up in {}", constraint::kind(other)));
            }
        }
    }
}

fn unlisted() -> String {
    format!("has a name or a value that the schema of the tool does not list; {LISTED}")
}
