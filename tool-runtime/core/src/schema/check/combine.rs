//! The keywords that apply other schemas to the same value.

use serde_json::{Map, Value};

use crate::schema::check::findings::Findings;
use crate::schema::check::location::Location;
use crate::schema::check::walk::Walker;
use crate::schema::check::{parts, union};
use crate::vocabulary::error::Issue;

/// Checks a value against the subschemas of `$ref`, `allOf`, `anyOf`, `oneOf`, `if` and `not`.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &'v Value,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    if let Some(target) = parts::target(walker.root(), schema)
        && let Some(at) = at.through(target)
    {
        walker.walk(target, value, &at, found);
    }
    for schema in parts::list_of(schema, "allOf") {
        walker.walk(schema, value, &at.same(), found);
    }
    union::check(walker, schema, value, at, found);
    conditional(walker, schema, value, at, found);
    found.add_all(excluded(walker, schema, value, at));
}

/// `if`, `then` and `else`.
fn conditional<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &'v Value,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    let Some(condition) = schema.get("if") else {
        return;
    };
    let outcome = walker.probe(condition, value, &at.same());
    let consequence = if outcome.is_clean() { "then" } else { "else" };
    if outcome.is_clean() {
        found.evaluated.extend(outcome.evaluated);
    }
    if let Some(schema) = schema.get(consequence) {
        walker.walk(schema, value, &at.same(), found);
    }
}

/// The issue for a value that matches the schema of `not`.
fn excluded<'s>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &Value,
    at: &Location<'_>,
) -> Option<Issue> {
    let excluded = schema.get("not")?;
    if !walker.probe(excluded, value, &at.same()).is_clean() {
        return None;
    }
    let message = format!("{} must not match the schema of `not`", at.subject());
    Some(Issue::new(at.path(), "not", message))
}
