//! The keywords about arrays.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::Issue;
use crate::schema::check::findings::Findings;
use crate::schema::check::place::Place;
use crate::schema::check::text::limit;
use crate::schema::check::walk::Walker;
use crate::schema::check::{describe, equal, wording};

/// Deeper items are not compared with each other.
const DEEPEST_COMPARED: u16 = 128;

/// Checks an array against the keywords of a schema.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    items: &'v [Value],
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    found.add_all(length(schema, items, at));
    found.add_all(repetition(walker, schema, items, at));
    each(walker, schema, items, at, found);
    contains(walker, schema, items, at, found);
}

/// The issue, if there are too few or too many items.
fn length(schema: &Map<String, Value>, items: &[Value], at: &Place<'_>) -> Option<Issue> {
    let count = items.len() as u64;
    let fewest = limit(schema, "minItems").filter(|fewest| count < *fewest);
    let most = limit(schema, "maxItems").filter(|most| count > *most);
    let (rule, words, limit) = match (fewest, most) {
        (Some(fewest), _) => ("minItems", "at least", fewest),
        (None, Some(most)) => ("maxItems", "at most", most),
        (None, None) => return None,
    };
    Some(count_issue(rule, words, limit, items, at))
}

/// The issue that an array has not the number of items that it should have.
fn count_issue(
    rule: &'static str,
    words: &str,
    limit: u64,
    items: &[Value],
    at: &Place<'_>,
) -> Issue {
    let got = wording::got_count(items.len(), at);
    let message = format!(
        "{} must have {words} {}{got}",
        at.subject(),
        wording::counted(limit, "item")
    );
    Issue::new(at.path(), rule, message)
}

/// The issue, if an item comes twice and must not.
fn repetition(
    walker: &Walker<'_>,
    schema: &Map<String, Value>,
    items: &[Value],
    at: &Place<'_>,
) -> Option<Issue> {
    if schema.get("uniqueItems") != Some(&Value::Bool(true)) {
        return None;
    }
    let mut known = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let Some(item) = equal::normal(item, DEEPEST_COMPARED) else {
            walker.give_up(&at.item(index, false), "nested too deeply");
            return None;
        };
        if let Some(first) = known.insert(item, index) {
            let message = format!(
                "{} must not repeat an item, but items {first} and {index} are equal",
                at.subject()
            );
            return Some(Issue::new(at.path(), "uniqueItems", message));
        }
    }
    None
}

/// Checks each item against the schema for its position, or that for all others.
fn each<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    items: &'v [Value],
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    let first: &[Value] = schema
        .get("prefixItems")
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice);
    for (index, (schema, item)) in first.iter().zip(items).enumerate() {
        step(walker, schema, index, item, at, found);
    }
    found.seen.items_before(first.len().min(items.len()));
    match schema.get("items") {
        None => {}
        Some(Value::Bool(false)) if items.len() > first.len() => {
            found.add(count_issue(
                "items",
                "at most",
                first.len() as u64,
                items,
                at,
            ));
        }
        Some(schema) => {
            for (index, item) in items.iter().enumerate().skip(first.len()) {
                if found.is_full() {
                    return;
                }
                step(walker, schema, index, item, at, found);
            }
            found.seen.items_before(items.len());
        }
    }
}

/// Checks one item.
pub(super) fn step<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Value,
    index: usize,
    item: &'v Value,
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    let at = at.item(index, walker.is_secret(item));
    found.descend(|found| walker.walk(schema, item, &at, found));
}

/// Checks how many items are of the kind that the array must contain.
fn contains<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    items: &'v [Value],
    at: &Place<'_>,
    found: &mut Findings<'v>,
) {
    let Some(wanted) = schema.get("contains") else {
        return;
    };
    let mut count = 0;
    for (index, item) in items.iter().enumerate() {
        let place = at.item(index, walker.is_secret(item));
        if walker.probe(wanted, item, &place).is_clean() {
            count += 1;
            found.seen.item(index);
        }
    }
    let fewest = limit(schema, "minContains").unwrap_or(1);
    let most = limit(schema, "maxContains").unwrap_or(u64::MAX);
    let (rule, words, limit) = match count {
        count if count < fewest && schema.contains_key("minContains") => {
            ("minContains", "at least", fewest)
        }
        count if count < fewest => ("contains", "at least", fewest),
        count if count > most => ("maxContains", "at most", most),
        _ => return,
    };
    let kind = describe::phrase(walker.root(), wanted);
    let kind = kind
        .map(|kind| format!(" that must be {kind}"))
        .unwrap_or_default();
    let got = wording::got_count(count as usize, at);
    let items = wording::counted(limit, "item");
    let message = format!("{} must contain {words} {items}{kind}{got}", at.subject());
    found.add(Issue::new(at.path(), rule, message));
}
