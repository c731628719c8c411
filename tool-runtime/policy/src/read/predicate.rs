//! Reads conditions about arguments: as a list of objects with `field`, or as a map from field to
//! constraints.

use super::object::{At, Mistakes, Object};
use super::problem::Fault;
use crate::argument::{Part, no_constraint};
use crate::predicate::{Constraint, Field, Predicate};
use serde_json::{Number, Value};

/// Reads `arguments`.
pub(super) fn arguments(at: &At<'_>, mistakes: &mut Mistakes) -> Vec<Predicate> {
    match at.value {
        Value::Array(_) => {
            let items = at.one_or_more(mistakes);
            items.iter().filter_map(|item| listed(item, mistakes)).collect()
        }
        Value::Object(members) if members.is_empty() => {
            mistakes.add(&at.path, "the object is empty", "write an argument, or remove the key");
            Vec::new()
        }
        _ => {
            let Some(object) = at.object(mistakes) else { return Vec::new() };
            let members: Vec<_> = object.members().collect();
            members.iter().filter_map(|(name, at)| named(name, at, mistakes)).collect()
        }
    }
}

/// `{field: path, inside: /work}`.
fn listed(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Predicate> {
    let mut object = at.object(mistakes)?;
    let field = match object.take("field") {
        Some(field) => field_of(&field, mistakes),
        None => {
            let help = "write the name of the argument, as in `field: path`";
            mistakes.add(&at.path, "the key `field` is missing", help);
            None
        }
    };
    predicate(field, object, mistakes)
}

/// `path: {inside: /work}`, or `path: a.txt` for a value that it equals.
fn named(name: &str, at: &At<'_>, mistakes: &mut Mistakes) -> Option<Predicate> {
    let field = mistakes.valid(&at.path, Field::parse(name));
    if matches!(at.value, Value::Object(_)) {
        return predicate(field, at.object(mistakes)?, mistakes);
    }
    let constraints = vec![Constraint::OneOf(vec![scalar(at, mistakes)?])];
    Some(Predicate { field: field?, constraints, ignores_case: false, if_absent: None })
}

fn field_of(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Field> {
    if matches!(at.value, Value::Array(_)) {
        let keys = at.strings(mistakes).into_iter().map(|(_, key)| key).collect();
        return Field::keys(keys);
    }
    let text = at.text(mistakes)?;
    mistakes.valid(&at.path, Field::parse(&text))
}

fn predicate(
    field: Option<Field>,
    mut object: Object<'_>,
    mistakes: &mut Mistakes,
) -> Option<Predicate> {
    let ignores_case = object.take("ignore_case").and_then(|at| at.flag(mistakes)).unwrap_or(false);
    let if_absent = object.take("if_absent").and_then(|at| match_result(&at, mistakes));
    let before = mistakes.0.len();
    let constraints = constraints(&mut object, ignores_case, mistakes);
    if constraints.is_empty() && before == mistakes.0.len() {
        mistakes.0.push((object.path.clone(), no_constraint()));
    }
    object.finish(mistakes);
    Some(Predicate { field: field?, constraints, ignores_case, if_absent })
}

/// `match` or `no_match`.
pub(super) fn match_result(at: &At<'_>, mistakes: &mut Mistakes) -> Option<bool> {
    match at.text(mistakes)?.as_str() {
        "match" => Some(true),
        "no_match" => Some(false),
        _ => {
            mistakes.add(&at.path, "not a result", "write `match` or `no_match`");
            None
        }
    }
}

/// Takes the keys that are constraints.
fn constraints(
    object: &mut Object<'_>,
    ignores_case: bool,
    mistakes: &mut Mistakes,
) -> Vec<Constraint> {
    let mut all = plain(object, mistakes);
    all.extend(range(object, mistakes));
    for (path, part) in patterns(object, mistakes) {
        all.extend(mistakes.valid(&path, part.compile(ignores_case)));
    }
    if let Some(at) = object.take("not")
        && let Some(mut inner) = at.object(mistakes)
    {
        let inside = constraints(&mut inner, ignores_case, mistakes);
        if inside.is_empty() {
            mistakes.0.push((inner.path.clone(), no_constraint()));
        }
        inner.finish(mistakes);
        all.push(Constraint::Not(inside));
    }
    all
}

fn plain(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<Constraint> {
    let mut all = Vec::new();
    if let Some(at) = object.take("required")
        && at.flag(mistakes) == Some(true)
    {
        all.push(Constraint::Required);
    }
    if let Some(at) = object.take("present") {
        all.extend(at.flag(mistakes).map(Constraint::Present));
    }
    if let Some(at) = object.take("equals") {
        all.extend(scalar(&at, mistakes).map(|value| Constraint::OneOf(vec![value])));
    }
    if let Some(at) = object.take("one_of") {
        let items = match at.value {
            Value::Array(_) => at.one_or_more(mistakes),
            _ => at.items(mistakes),
        };
        let values: Vec<Value> = items.iter().filter_map(|at| scalar(at, mistakes)).collect();
        all.push(Constraint::OneOf(values));
    }
    if let Some(at) = object.take("contains") {
        all.extend(at.text(mistakes).map(Constraint::Contains));
    }
    all
}

/// A value that arguments are compared with.
fn scalar(at: &At<'_>, mistakes: &mut Mistakes) -> Option<Value> {
    if matches!(at.value, Value::Array(_) | Value::Object(_) | Value::Null) {
        let help = "write a string, a number or a boolean; for parts of a value, write their path";
        mistakes.add(&at.path, "this value cannot be compared", help);
        return None;
    }
    Some(at.value.clone())
}

fn range(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Vec<Constraint> {
    let min = object.take("min").and_then(|at| at.number(mistakes));
    let max = object.take("max").and_then(|at| at.number(mistakes));
    let is_empty = |min: &Number, max: &Number| min.as_f64() > max.as_f64();
    if let (Some(min), Some(max)) = (&min, &max)
        && is_empty(min, max)
    {
        let help = "write the smaller number as `min`";
        mistakes.add(&object.path, "`min` is larger than `max`", help);
    }
    let mut all: Vec<Constraint> =
        min.map(Constraint::Min).into_iter().chain(max.map(Constraint::Max)).collect();
    all.extend(lengths(object, ["min_length", "max_length"], Constraint::Length, mistakes));
    all.extend(lengths(object, ["min_items", "max_items"], Constraint::Items, mistakes));
    all
}

fn lengths(
    object: &mut Object<'_>,
    [min, max]: [&'static str; 2],
    constraint: fn(u64, u64) -> Constraint,
    mistakes: &mut Mistakes,
) -> Option<Constraint> {
    let least = object.take(min).and_then(|at| at.whole(mistakes));
    let most = object.take(max).and_then(|at| at.whole(mistakes));
    if least > most && most.is_some() {
        let text = format!("`{min}` is larger than `{max}`");
        mistakes.add(&object.path, text, "write the smaller number as the first");
    }
    (least.is_some() || most.is_some())
        .then(|| constraint(least.unwrap_or(0), most.unwrap_or(u64::MAX)))
}

type Patterns = Vec<(super::DocumentPath, Part)>;

fn patterns(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Patterns {
    let mut all = Vec::new();
    for (name, is_whole) in [("pattern", false), ("matches", true)] {
        if let Some(at) = object.take(name)
            && let Some(text) = at.text(mistakes)
        {
            all.push((at.path, Part::Pattern(text, is_whole)));
        }
    }
    let relative_to = object.take("relative_to");
    let relative_to = relative_to.and_then(|at| at.text(mistakes));
    for (name, is_inside) in [("inside", true), ("outside", false)] {
        if let Some(at) = object.take(name) {
            let directories = strings(&at, mistakes);
            let relative_to = relative_to.clone();
            all.push((at.path, Part::Paths { directories, relative_to, is_inside }));
        }
    }
    all.extend(urls(object, mistakes));
    if let Some(at) = object.take("command") {
        all.push((at.path.clone(), Part::Commands(strings(&at, mistakes))));
    }
    all
}

fn urls(object: &mut Object<'_>, mistakes: &mut Mistakes) -> Option<(super::DocumentPath, Part)> {
    let scheme = object.take("scheme");
    let host = object.take("host");
    let path = host.as_ref().or(scheme.as_ref())?.path.clone();
    let schemes = scheme.map(|at| strings(&at, mistakes)).unwrap_or_default();
    let hosts = host.map(|at| strings(&at, mistakes)).unwrap_or_default();
    if !schemes.is_empty() && hosts.iter().any(|host| host.contains("://")) {
        let fault = Fault::new("a host has a scheme, too", "write it as `host` or `scheme` alone");
        mistakes.0.push((path.clone(), fault));
        return None;
    }
    Some((path, Part::Urls { schemes, hosts }))
}

fn strings(at: &At<'_>, mistakes: &mut Mistakes) -> Vec<String> {
    at.strings(mistakes).into_iter().map(|(_, text)| text).collect()
}
