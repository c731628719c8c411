//! The keywords `unevaluatedProperties` and `unevaluatedItems`.

use serde_json::{Map, Value};

use crate::issue::Issue;
use crate::schema::check::findings::Findings;
use crate::schema::check::object;
use crate::schema::check::place::Place;
use crate::schema::check::unknown::{self, Known};
use crate::schema::check::walk::Walker;
use crate::schema::check::{array, parts};

/// Checks the properties and items that no keyword beside these has dealt with.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    value: &'v Value,
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    match value {
        Value::Object(object) => {
            if let Some(rest) = schema.get("unevaluatedProperties") {
                properties(walker, schema, rest, object, at, found);
            }
        }
        Value::Array(items) => {
            if let Some(rest) = schema.get("unevaluatedItems") {
                all_items(walker, rest, items, at, found);
            }
        }
        _ => {}
    }
}

/// Checks the properties that are left.
fn properties<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    rest: &'s Value,
    object: &'v Map<String, Value>,
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    let left = object.iter().filter(|(name, _)| !found.seen.has_name(name));
    let left: Vec<(&String, &Value)> = left.collect();
    if rest == &Value::Bool(false) && !left.is_empty() {
        let known = known(walker, schema, &left);
        for (name, _) in &left {
            found.add(unknown::issue("unevaluatedProperties", name, &known, object, at));
        }
    }
    for (name, value) in left {
        if rest != &Value::Bool(false) {
            let at = at.entry(name, walker.is_secret(value));
            object::step(walker, rest, value, &at, found);
        }
        found.seen.name(name);
    }
}

/// What any schema for the object declares. Names that are `left` may belong to an alternative that does not apply, so
/// they are no advice.
fn known<'s>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    left: &[(&String, &Value)],
) -> Known<'s> {
    let root = walker.root();
    let next = parts::possible_next(root, schema).into_iter();
    let others = next.flat_map(|part| parts::possible(root, part));
    let mut known = Known { names: Vec::new(), patterns: Vec::new() };
    for part in std::iter::once(schema).chain(others) {
        let declared = part.get("properties").and_then(Value::as_object).into_iter().flatten();
        for (name, _) in declared {
            if !known.names.contains(&name.as_str()) && !left.iter().any(|(left, _)| *left == name)
            {
                known.names.push(name);
            }
        }
        let patterns = part.get("patternProperties").and_then(Value::as_object);
        known.patterns.extend(patterns.into_iter().flatten().map(|(pattern, _)| pattern.as_str()));
    }
    known
}

/// Checks the items that are left.
fn all_items<'s, 'v>(
    walker: &Walker<'s>,
    rest: &'s Value,
    items: &'v [Value],
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    for (index, item) in items.iter().enumerate() {
        if found.seen.has_item(index) {
            continue;
        }
        if let Value::Bool(false) = rest {
            let at = at.item(index, true);
            let message = format!("{} must be left out", at.subject());
            found.add(Issue::new(at.path(), "unevaluatedItems", message));
        } else {
            array::step(walker, rest, index, item, at, found);
        }
    }
    found.seen.items_before(items.len());
}
