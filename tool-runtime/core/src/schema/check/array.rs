//! The keywords about arrays.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::check::findings::Findings;
use crate::schema::check::location::Location;
use crate::schema::check::text::limit;
use crate::schema::check::walk::Walker;
use crate::schema::check::{literal, parts, wording};
use crate::vocabulary::error::Issue;

/// Limit on the nesting of items that are compared with each other.
const MAX_COMPARED_DEPTH: u16 = 128;

/// Checks an array against the keywords of a schema.
pub(super) fn check<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    items: &'v [Value],
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    found.add_all(length(schema, items, at));
    found.add_all(repetition(walker, schema, items, at));
    each(walker, schema, items, at, found);
}

/// The issue, if there are too few or too many items.
fn length(schema: &Map<String, Value>, items: &[Value], at: &Location<'_>) -> Option<Issue> {
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

/// The issue about a wrong number of items.
fn count_issue(
    rule: &'static str,
    words: &str,
    limit: u64,
    items: &[Value],
    at: &Location<'_>,
) -> Issue {
    let got = wording::got_count(items.len(), at);
    let message =
        format!("{} must have {words} {}{got}", at.subject(), wording::pluralize(limit, "item"));
    Issue::new(at.path(), rule, message)
}

/// The issue about equal items where `uniqueItems` forbids them.
fn repetition(
    walker: &Walker<'_>,
    schema: &Map<String, Value>,
    items: &[Value],
    at: &Location<'_>,
) -> Option<Issue> {
    if schema.get("uniqueItems") != Some(&Value::Bool(true)) {
        return None;
    }
    let mut known = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let Some(item) = literal::normal(item, MAX_COMPARED_DEPTH) else {
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

/// Checks each item against the schema of its position, or the one for all other items.
fn each<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Map<String, Value>,
    items: &'v [Value],
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    let first = parts::list_of(schema, "prefixItems").count();
    for (index, (schema, item)) in parts::list_of(schema, "prefixItems").zip(items).enumerate() {
        check_item(walker, schema, index, item, at, found);
    }
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
                check_item(walker, schema, index, item, at, found);
            }
        }
    }
}

/// Checks one item.
fn check_item<'s, 'v>(
    walker: &Walker<'s>,
    schema: &'s Value,
    index: usize,
    item: &'v Value,
    at: &Location<'_>,
    found: &mut Findings<'v>,
) {
    let at = at.item(index, walker.is_secret(item));
    found.descend(|found| walker.walk(schema, item, &at, found));
}
