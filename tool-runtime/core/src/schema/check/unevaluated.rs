//! The keyword `unevaluatedProperties`.

use serde_json::{Map, Value};

use crate::schema::check::findings::Findings;
use crate::schema::check::location::Location;
use crate::schema::check::names::{self, Known};
use crate::schema::check::walk::Walker;
use crate::schema::check::{object, parts};

/// Checks the properties that no adjacent keyword has evaluated.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    object: &'v Map<String, Value>,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    let Some(rest) = schema.get("unevaluatedProperties") else {
        return;
    };
    let left = object.iter().filter(|(name, _)| !found.evaluated.contains(name.as_str()));
    let left: Vec<(&String, &Value)> = left.collect();
    if rest == &Value::Bool(false) && !left.is_empty() {
        let known = declared_properties(walker, schema, &left);
        for (name, _) in &left {
            found.add(names::unknown("unevaluatedProperties", name, &known, object, at));
        }
    }
    for (name, value) in left {
        if rest != &Value::Bool(false) {
            let at = at.entry(name, walker.is_secret(value));
            object::check_property(walker, rest, value, &at, found);
        }
        found.evaluated.insert(name);
    }
}

/// The properties that any schema for the object declares, without those that are `left`: these may belong to an
/// alternative that does not apply.
fn declared_properties<'s>(
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
