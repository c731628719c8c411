//! The keywords about arrays.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::issue::Issue;
use crate::schema::check::findings::Findings;
use crate::schema::check::place::Place;
use crate::schema::check::text::limit;
use crate::schema::check::walk::Walker;
use crate::schema::check::{describe, equal, parts, received, wording};

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
    let got = received::got_count(items.len(), at);
    let message =
        format!("{} must have {words} {}{got}", at.subject(), wording::counted(limit, "item"));
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
            let which = match at.is_secret() {
                true => String::new(),
                false => format!(", but items {first} and {index} are equal"),
            };
            let message = format!("{} must not repeat an item{which}", at.subject());
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
    let first = parts::listed(schema, "prefixItems").count();
    for (index, (schema, item)) in parts::listed(schema, "prefixItems").zip(items).enumerate() {
        step(walker, schema, index, item, at, found);
    }
    found.seen.items_before(first.min(items.len()));
    match schema.get("items") {
        None => {}
        Some(Value::Bool(false)) if items.len() > first => {
            found.add(count_issue("items", "at most", first as u64, items, at));
        }
        Some(schema) => {
            for (index, item) in items.iter().enumerate().skip(first) {
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
    found.add_all(wrong_count(walker.root(), schema, wanted, count, at));
}

/// The issue, if too few or too many items are what the array must contain.
fn wrong_count(
    root: &Value,
    schema: &Map<String, Value>,
    wanted: &Value,
    count: usize,
    at: &Place<'_>,
) -> Option<Issue> {
    let fewest = limit(schema, "minContains");
    let most = limit(schema, "maxContains").filter(|most| count as u64 > *most);
    let (rule, words, limit) = match (fewest, most) {
        (Some(fewest), _) if (count as u64) < fewest => ("minContains", "at least", fewest),
        (None, _) if count == 0 => ("contains", "at least", 1),
        (_, Some(most)) => ("maxContains", "at most", most),
        _ => return None,
    };
    let kind = describe::phrase(root, wanted);
    let kind = kind.map(|kind| format!(" that must be {kind}")).unwrap_or_default();
    let (items, got) = (wording::counted(limit, "item"), received::got_count(count, at));
    let message = format!("{} must contain {words} {items}{kind}{got}", at.subject());
    Some(Issue::new(at.path(), rule, message))
}
