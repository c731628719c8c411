//! The keywords `unevaluatedProperties` and `unevaluatedItems`.

use serde_json::{Map, Value};

use crate::schema::Issue;
use crate::schema::check::findings::Findings;
use crate::schema::check::object::{self, Rules};
use crate::schema::check::place::Place;
use crate::schema::check::walk::Walker;
use crate::schema::check::{array, parts, unknown};

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
    let left: Vec<&String> = object
        .keys()
        .filter(|name| !found.seen.has_name(name))
        .collect();
    if let Value::Bool(false) = rest
        && !left.is_empty()
    {
        let rules = Rules::of(walker, schema);
        let known = known_names(walker.root(), schema, &left);
        for name in &left {
            found.add(unknown::issue(
                "unevaluatedProperties",
                name,
                &known,
                &rules,
                object,
                at,
            ));
        }
    } else {
        for name in &left {
            let value = &object[*name];
            object::step(
                walker,
                rest,
                value,
                &at.entry(name, walker.is_secret(value)),
                found,
            );
        }
    }
    for name in left {
        found.seen.name(name);
    }
}

/// The names that any schema for the object declares. Those that are `left` may belong to an alternative that does not
/// apply, so they are no advice.
fn known_names<'s>(
    root: &'s Value,
    schema: &'s Map<String, Value>,
    left: &[&String],
) -> Vec<&'s str> {
    let mut names = Vec::new();
    let parts = parts::possible_next(root, schema)
        .into_iter()
        .flat_map(|part| parts::possible(root, part));
    for part in std::iter::once(schema).chain(parts) {
        for (name, _) in part
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if !names.contains(&name.as_str()) && !left.contains(&name) {
                names.push(name.as_str());
            }
        }
    }
    names
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
