//! The keywords that apply further schemas to the same value.

use serde_json::{Map, Value};

use crate::issue::Issue;
use crate::schema::check::findings::Findings;
use crate::schema::check::object::Rules;
use crate::schema::check::place::Place;
use crate::schema::check::walk::Walker;
use crate::schema::check::{describe, literal, parts, reference, union, wording};

/// Checks a value against what a schema refers to, combines, excludes and makes dependent.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &'v Value,
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    if let Some(target) = reference::target(walker.root(), schema)
        && let Some(at) = at.through(target)
    {
        walker.walk(target, value, &at, found);
    }
    for schema in parts::listed(schema, "allOf") {
        walker.walk(schema, value, &at.same(), found);
    }
    union::check(walker, schema, value, at, found);
    conditional(walker, schema, value, at, found);
    found.add_all(excluded(walker, schema, value, at));
    if let Value::Object(object) = value {
        dependent(walker, schema, value, object, at, found);
    }
}

/// `if`, `then` and `else`.
fn conditional<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &'v Value,
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    let Some(condition) = schema.get("if") else {
        return;
    };
    let outcome = walker.probe(condition, value, &at.same());
    let consequence = if outcome.is_clean() { "then" } else { "else" };
    if outcome.is_clean() {
        found.seen.merge(outcome.seen);
    }
    if let Some(schema) = schema.get(consequence) {
        walker.walk(schema, value, &at.same(), found);
    }
}

/// The issue, if the value is what the schema excludes by `not`.
fn excluded<'s>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &Value,
    at: &Place<'_>,
) -> Option<Issue> {
    let excluded = schema.get("not")?;
    if !walker.probe(excluded, value, &at.same()).is_clean() {
        return None;
    }
    // Of a secret, what it must not be is what it is.
    let what = if at.is_secret() { None } else { exclusion(walker.root(), excluded) };
    let what = what.unwrap_or_else(|| "be what `not` excludes".to_owned());
    Some(Issue::new(at.path(), "not", format!("{} must not {what}", at.subject())))
}

/// What a value must not, if it can be said in a few words.
fn exclusion(root: &Value, excluded: &Value) -> Option<String> {
    let schema = excluded.as_object()?;
    if let Some(values) = literal::of_schema(schema) {
        return Some(format!("be {}", literal::choice(&values)));
    }
    if let Some(about) = describe::first_line(root, excluded) {
        return Some(format!("be: {about}"));
    }
    match schema.iter().next().map(|(keyword, value)| (keyword.as_str(), value))? {
        _ if schema.len() > 1 => None,
        ("required", Value::Array(names)) => {
            let names: Vec<String> =
                names.iter().filter_map(Value::as_str).map(wording::name).collect();
            let together = if names.len() > 1 { " together" } else { "" };
            Some(format!("have {}{together}", wording::both(&names)))
        }
        ("pattern", Value::String(pattern)) => Some(format!("match the pattern `{pattern}`")),
        ("type", _) => Some(format!("be {}", describe::phrase(root, excluded)?)),
        _ => None,
    }
}

/// `dependentSchemas`: those of the properties that are given.
fn dependent<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &'v Value,
    object: &Map<String, Value>,
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    let Some(Value::Object(schemas)) = schema.get("dependentSchemas") else {
        return;
    };
    let rules = Rules::of(walker, schema);
    for (_, schema) in schemas.iter().filter(|(name, _)| rules.is_given(name, object)) {
        walker.walk(schema, value, &at.same(), found);
    }
}
