//! Constraints on one value.

use super::folding::{Folded, FoldedTexts, folded};
use super::paths::{Reading, reading};
use super::patterns::Patterns;
use crate::facts::CommandOfLine;
use crate::truth::Truth;
use regex::Regex;
use serde_json::{Number, Value};
use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;
use tool_runtime_core::vocabulary::matching::{ArgumentMatch, ArgumentPart, MatchAs};

pub(crate) use crate::read::kind;

/// The way in which a value is compared.
#[derive(Clone, Copy)]
pub(crate) struct Comparison<'f> {
    pub(crate) ignores_case: bool,
    pub(crate) folded: &'f FoldedTexts,
    /// The command that is judged, if the value is a line of several.
    pub(crate) command: Option<&'f CommandOfLine>,
}

/// A constraint on one value.
#[derive(Debug)]
pub(crate) enum Constraint {
    /// Present, and not an empty text.
    Required,
    Present(bool),
    /// Found anywhere in the text, or matching the whole of it.
    Pattern(Regex, bool),
    OneOf(Vec<Value>),
    Contains(String),
    Min(Number),
    Max(Number),
    /// Characters of a string.
    Length(u64, u64),
    /// Items of a list.
    Items(u64, u64),
    Matches(Patterns),
    Not(Vec<Constraint>),
}

impl Constraint {
    pub(crate) fn truth(&self, value: &Value, by: Comparison<'_>) -> Truth {
        match (self, value) {
            (Self::Required, Value::String(text)) => (!text.is_empty()).into(),
            (Self::Required, _) => Truth::Yes,
            (Self::Present(wanted), _) => (*wanted).into(),
            (Self::Pattern(regex, _), Value::String(text)) => {
                folding(text, by, |text| regex.is_match(text))
            }
            (Self::Contains(part), Value::String(text)) => {
                folding(text, by, |text| match by.ignores_case {
                    true => text.to_lowercase().contains(&part.to_lowercase()),
                    false => text.contains(part.as_str()),
                })
            }
            (Self::OneOf(values), Value::String(text)) => one_of(values, text, by),
            (Self::OneOf(values), value) => Truth::any(values.iter().map(|own| equal(own, value))),
            (Self::Min(min), Value::Number(number)) => (compare(number, min).is_ge()).into(),
            (Self::Max(max), Value::Number(number)) => (compare(number, max).is_le()).into(),
            (Self::Length(min, max), Value::String(text)) => {
                (*min..=*max).contains(&(text.chars().count() as u64)).into()
            }
            (Self::Items(min, max), Value::Array(items)) => {
                (*min..=*max).contains(&(items.len() as u64)).into()
            }
            (Self::Matches(patterns), Value::String(text)) => {
                patterns.truth(patterns.judged(text, by), by)
            }
            (Self::Not(constraints), value) => {
                Truth::all(constraints.iter().map(|it| it.truth(value, by))).not()
            }
            _ => Truth::Unknown,
        }
    }

    /// The patterns of commands, within `not` as well.
    pub(super) fn commands(&self) -> Option<&Patterns> {
        match self {
            Self::Matches(patterns) if patterns.kind == MatchAs::Shell => Some(patterns),
            Self::Not(constraints) => constraints.iter().find_map(Self::commands),
            _ => None,
        }
    }

    pub(super) fn cost(&self) -> u8 {
        match self {
            Self::Matches(patterns) if patterns.kind == MatchAs::Shell => 2,
            Self::Matches(_) | Self::Pattern(..) => 1,
            Self::Not(constraints) => constraints.iter().map(Self::cost).max().unwrap_or_default(),
            _ => 0,
        }
    }

    /// The reason why the result is unknown, as a phrase about the value. `None` if it is known.
    pub(super) fn doubt(&self, value: &Value, by: Comparison<'_>) -> Option<String> {
        if self.truth(value, by) != Truth::Unknown {
            return None;
        }
        match (self, value) {
            (Self::Not(constraints), value) => {
                constraints.iter().find_map(|it| it.doubt(value, by))
            }
            (Self::Matches(patterns), Value::String(text)) => {
                patterns.doubt(patterns.judged(text, by), by)
            }
            (Self::Pattern(..) | Self::Contains(_) | Self::OneOf(_), Value::String(text))
                if reading(text) != Reading::Plain =>
            {
                Some("is a path in another form; write it without `.`, `..`, `//` and `/` at its end".to_owned())
            }
            (Self::Pattern(..) | Self::Contains(_) | Self::OneOf(_), Value::String(text)) => {
                Some(format!("{}, or is of another type", look_alikes(&by.folded.for_text(text))))
            }
            (_, value) => Some(format!("is {}, which the rule does not expect", kind(value))),
        }
    }
}

impl Patterns {
    pub(crate) fn parts<'t>(&self, text: &'t str) -> Vec<ArgumentPart<'t>> {
        self.matchers.first().map(|matcher| matcher.parts(text)).unwrap_or_default()
    }

    /// The command that is judged, or the whole text.
    fn judged<'t>(&self, text: &'t str, by: Comparison<'t>) -> &'t str {
        let command = by.command.filter(|_| self.kind == MatchAs::Shell);
        command.filter(|of| of.line == text).map_or(text, |of| &of.command)
    }

    fn truth(&self, text: &str, by: Comparison<'_>) -> Truth {
        if self.is_url_of_file(text) {
            return Truth::Unknown;
        }
        let as_written = self.compared(text);
        match &*self.folded(text, by) {
            Folded::Same => as_written,
            // File systems of macOS take composed and decomposed letters for the same.
            Folded::Other(folded) => Truth::same([as_written, self.compared(folded)]),
            Folded::TooLarge => Truth::Unknown,
        }
    }

    /// A command is not remembered: its text is only of one line.
    fn folded(&self, text: &str, by: Comparison<'_>) -> Rc<Folded> {
        match self.kind {
            MatchAs::Shell => Rc::new(folded(text)),
            _ => by.folded.for_text(text),
        }
    }

    pub(crate) fn compared(&self, text: &str) -> Truth {
        Truth::any(self.matchers.iter().map(|matcher| match matcher.matches(text) {
            ArgumentMatch::Yes => Truth::Yes,
            ArgumentMatch::No => Truth::No,
            ArgumentMatch::Undecidable(_) => Truth::Unknown,
        }))
    }

    /// Some tools take `file:///etc` and `file:/etc` for a path from the root.
    fn is_url_of_file(&self, text: &str) -> bool {
        let is_file = || text.get(..5).is_some_and(|scheme| scheme.eq_ignore_ascii_case("file:"));
        self.kind == MatchAs::Path && (text.contains("://") || is_file())
    }

    fn doubt(&self, text: &str, by: Comparison<'_>) -> Option<String> {
        if self.is_url_of_file(text) {
            return Some("is a URL; write a path".to_owned());
        }
        let undecidable = self.matchers.iter().find_map(|matcher| match matcher.matches(text) {
            ArgumentMatch::Undecidable(reason) => Some(format!("is uncertain: {reason}")),
            _ => None,
        });
        undecidable.or_else(|| Some(look_alikes(&self.folded(text, by)).to_owned()))
    }
}

/// Whether a string has a property, also in the forms in which it may be read: without characters that look like others, and
/// as a path.
fn folding(text: &str, by: Comparison<'_>, holds: impl Fn(&str) -> bool) -> Truth {
    let read = |text: &str| match reading(text) {
        Reading::Plain => holds(text).into(),
        Reading::Other(plain) => Truth::same([holds(text).into(), holds(&plain).into()]),
        Reading::Uncertain => Truth::Unknown,
    };
    match &*by.folded.for_text(text) {
        Folded::Same => read(text),
        Folded::Other(folded) => Truth::same([read(text), read(folded)]),
        Folded::TooLarge => Truth::Unknown,
    }
}

/// The reason why a string is uncertain to say something, as a phrase about it.
fn look_alikes(folded: &Folded) -> &'static str {
    match folded {
        Folded::TooLarge => "is large, and contains characters that look like others",
        _ => "contains characters that look like others",
    }
}

/// Whether a string is one of these values. One that is written as a value is, in whatever form that is.
fn one_of(values: &[Value], text: &str, by: Comparison<'_>) -> Truth {
    let is_same = |own: &str, text: &str| match by.ignores_case {
        true => own.to_lowercase() == text.to_lowercase(),
        false => own == text,
    };
    if values.iter().any(|own| own.as_str().is_some_and(|own| own == text)) {
        return Truth::Yes;
    }
    let strings = || values.iter().filter_map(Value::as_str);
    let found = folding(text, by, |text| strings().any(|own| is_same(own, text)));
    // Values of different types are not comparable.
    match values.iter().all(Value::is_string) {
        true => found,
        false => Truth::any([found, Truth::Unknown]),
    }
}

/// Whether two values that are no strings are equal. Values of different types are not comparable.
fn equal(own: &Value, value: &Value) -> Truth {
    match (own, value) {
        (Value::Number(own), Value::Number(number)) => (compare(own, number).is_eq()).into(),
        (own, value) if std::mem::discriminant(own) == std::mem::discriminant(value) => {
            (own == value).into()
        }
        _ => Truth::Unknown,
    }
}

/// Compares numbers by their values, whole ones exactly.
fn compare(one: &Number, other: &Number) -> Ordering {
    match (one.as_i128(), other.as_i128()) {
        (Some(one), Some(other)) => one.cmp(&other),
        _ => {
            let float = |number: &Number| number.as_f64().unwrap_or(f64::MAX);
            float(one).partial_cmp(&float(other)).unwrap_or(Ordering::Equal)
        }
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Required => f.write_str("is given and not empty"),
            Self::Present(true) => f.write_str("is given"),
            Self::Present(false) => f.write_str("is absent"),
            Self::Pattern(regex, false) => write!(f, "matches /{regex}/"),
            Self::Pattern(regex, true) => write!(f, "as a whole matches /{regex}/"),
            Self::OneOf(values) => match &values[..] {
                [value] => write!(f, "is {value}"),
                values => write!(f, "is one of {}", Value::Array(values.to_vec())),
            },
            Self::Contains(part) => write!(f, "contains `{part}`"),
            Self::Min(min) => write!(f, "is at least {min}"),
            Self::Max(max) => write!(f, "is at most {max}"),
            Self::Length(min, max) => write!(f, "has {} characters", Range(*min, *max)),
            Self::Items(min, max) => write!(f, "has {} items", Range(*min, *max)),
            Self::Matches(patterns) => {
                let kind = match patterns.kind {
                    MatchAs::Path => "is a path in",
                    MatchAs::Url => "is a URL of",
                    _ => "is a command as",
                };
                write!(f, "{kind} `{}`", patterns.sources.join("`, `"))
            }
            Self::Not(constraints) => {
                let negated: Vec<String> = constraints.iter().map(ToString::to_string).collect();
                write!(f, "not: {}", negated.join(" and "))
            }
        }
    }
}

struct Range(u64, u64);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self(0, max) => write!(f, "at most {max}"),
            Self(min, u64::MAX) => write!(f, "at least {min}"),
            Self(min, max) => write!(f, "{min} to {max}"),
        }
    }
}
