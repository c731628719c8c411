//! Conditions about one argument.

mod constraint;
mod field;
mod folding;
mod patterns;

pub(crate) use constraint::Constraint;
pub(crate) use field::Field;
pub(crate) use folding::folded;
pub(crate) use patterns::{paths, regex, shell, urls};

use crate::facts::{Argument, ArgumentFacts};
use crate::truth::Truth;
use field::Segment;
use serde_json::Value;

/// The help where another name may stand for what a rule is about.
const LISTED: &str = "write it as the schema of the tool does";

/// A condition about one argument.
#[derive(Debug)]
pub(crate) struct Predicate {
    pub(crate) field: Field,
    pub(crate) constraints: Vec<Constraint>,
    /// Whether texts are compared without regard to case.
    pub(crate) ignores_case: bool,
    /// The result if the argument is absent. Default: it cannot be evaluated.
    pub(crate) if_absent: Option<bool>,
}

impl Predicate {
    pub(crate) fn truth(&self, arguments: &ArgumentFacts<'_>) -> Truth {
        let (name, path) = self.field.parts();
        match arguments.get(name) {
            Argument::Given(value) => self.truth_at(value, path, arguments),
            Argument::Absent => self.absent(),
            Argument::Uncertain | Argument::Doubtful => Truth::Unknown,
        }
    }

    fn truth_at(&self, value: &Value, path: &[Segment], arguments: &ArgumentFacts<'_>) -> Truth {
        let Some((first, rest)) = path.split_first() else {
            return match arguments.is_doubtful(value) {
                true => Truth::Unknown,
                false => self.truth_of(value),
            };
        };
        let inner = |inner: Option<&Value>| match inner {
            None if arguments.is_doubtful(value) => Truth::Unknown,
            None | Some(Value::Null) => self.absent(),
            Some(inner) => self.truth_at(inner, rest, arguments),
        };
        match (first, value) {
            (Segment::Key(key), Value::Object(members)) => inner(members.get(key)),
            (Segment::Index(index), Value::Array(items)) => inner(items.get(*index)),
            (Segment::Each, Value::Array(items)) if items.is_empty() => self.absent(),
            (Segment::Each, Value::Array(items)) => {
                Truth::same(items.iter().map(|item| inner(Some(item))))
            }
            _ => Truth::Unknown,
        }
    }

    fn truth_of(&self, value: &Value) -> Truth {
        Truth::all(self.constraints.iter().map(|it| it.truth(value, self.ignores_case)))
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
    pub(crate) fn uncertainty(&self, arguments: &ArgumentFacts<'_>) -> String {
        let field = &self.field;
        match arguments.get(field.parts().0) {
            Argument::Absent => format!("`{field}` is absent; write it"),
            Argument::Uncertain => {
                format!("`{field}` is given more than once, or the arguments are not an object")
            }
            Argument::Doubtful => format!("`{field}` may be given by another name; {LISTED}"),
            Argument::Given(value) => {
                let mut reason = None;
                self.explain_at(value, field.parts().1, arguments, &mut reason);
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
        arguments: &ArgumentFacts<'_>,
        reason: &mut Option<String>,
    ) {
        if reason.is_some() {
            return;
        }
        if arguments.is_doubtful(value) {
            *reason = Some(format!(
                "has a name or a value that the schema of the tool does not list; {LISTED}"
            ));
            return;
        }
        let Some((first, rest)) = path.split_first() else {
            *reason = self.constraints.iter().find_map(|it| it.doubt(value, self.ignores_case));
            return;
        };
        match (first, value) {
            (Segment::Key(key), Value::Object(members)) => {
                if let Some(value) = members.get(key) {
                    self.explain_at(value, rest, arguments, reason);
                }
            }
            (Segment::Index(index), Value::Array(items)) => {
                if let Some(value) = items.get(*index) {
                    self.explain_at(value, rest, arguments, reason);
                }
            }
            (Segment::Each, Value::Array(items)) => {
                items.iter().for_each(|item| self.explain_at(item, rest, arguments, reason));
            }
            (_, other) => {
                *reason = Some(format!("cannot be looked up in {}", constraint::kind(other)));
            }
        }
    }
}
