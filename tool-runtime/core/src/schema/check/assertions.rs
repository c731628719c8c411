//! Finds assertions of a schema that decoding does not enforce, or that are not checked at all.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::schema::check::text::limit;
use crate::schema::check::{number, parts};
use crate::schema::format;

/// Keywords that decoding never enforces.
const NEVER_DECODED: &[&str] = &[
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minProperties",
    "maxProperties",
    "not",
    "if",
];

/// Keywords that hold one schema.
const ONE_SCHEMA: &[&str] = &["items", "additionalProperties", "unevaluatedProperties"];

/// Keywords that assert something and are not checked here. Neither schemars nor a common schema library emits them.
const UNCHECKED: &[&str] =
    &["contains", "propertyNames", "dependentRequired", "dependentSchemas", "unevaluatedItems"];

/// Keywords that hold schemas by name.
const NAMED_SCHEMAS: &[&str] = &["properties", "patternProperties"];

/// Patterns of schemars for the keys of maps from integers, which serde parses more strictly.
const INTEGER_KEYS: &[&str] = &[r"^\d+$", r"^-?\d+$"];

/// Whether `schema`, or one it reaches in the document `root`, asserts more than decoding does.
///
/// Assertions that serde's derive enforces (types, names, values of enums, required and unknown fields) do not count.
/// Assertions that schemars writes both for a type and for an attribute count: `minimum: 1` is `NonZeroU8` or
/// `range(min = 1)`, a length of one is `char` or `length(equal = 1)`, equal `minItems` and `maxItems` are an array or a
/// `Vec` of fixed length.
pub(crate) fn asserts_more_than_types(root: &Value, schema: &Value) -> bool {
    any(root, schema, |schema| asserts_itself(schema) || asserts_format(schema))
}

/// The same about values that are written: each type with a format writes it.
pub(crate) fn asserts_more_than_written(root: &Value, schema: &Value) -> bool {
    any(root, schema, asserts_itself)
}

/// Whether the document has patterns of texts or names.
pub(crate) fn has_patterns(root: &Value) -> bool {
    any(root, root, |schema| schema.contains_key("pattern") || asserts_names(schema))
}

/// Whether a schema that `schema` reaches, or itself, fulfils a condition.
fn any<'s>(
    root: &'s Value,
    schema: &'s Value,
    mut is_it: impl FnMut(&'s Map<String, Value>) -> bool,
) -> bool {
    let mut found = false;
    visit(root, schema, |schema| {
        found = is_it(schema);
        !found
    });
    found
}

/// The problem of a schema with keywords that are not checked, or of a struct with two fields of one name.
pub(crate) fn problem(schema: &Map<String, Value>, kind: &str) -> Option<String> {
    let root = Value::Object(schema.clone());
    let mut problem = None;
    visit(&root, &root, |schema| {
        problem = unchecked(schema).or_else(|| repeated(schema));
        problem.is_none()
    });
    problem.map(|problem| format!("its {kind} schema {problem}"))
}

fn unchecked(schema: &Map<String, Value>) -> Option<String> {
    let keyword = UNCHECKED.iter().find(|keyword| schema.contains_key(**keyword))?;
    Some(format!(
        "uses `{keyword}`, which is not checked; remove it, and check the value in the tool"
    ))
}

/// serde lets two fields have one name; then no value has both.
fn repeated(schema: &Map<String, Value>) -> Option<String> {
    let names = schema.get("required")?.as_array()?;
    let (_, name) = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name))?;
    let name = name.as_str()?;
    Some(format!(
        "requires `{name}` twice: two fields of a struct have this name; rename one of them"
    ))
}

/// Visits `schema` and the schemas that it reaches in the document `root`, each once, while `proceed` returns true.
fn visit<'s>(
    root: &'s Value,
    schema: &'s Value,
    mut proceed: impl FnMut(&'s Map<String, Value>) -> bool,
) {
    let mut known = HashSet::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        let Value::Object(schema) = schema else {
            continue;
        };
        if !known.insert(std::ptr::from_ref(schema)) {
            continue;
        }
        if !proceed(schema) {
            return;
        }
        waiting.extend(parts::possible_next(root, schema));
        waiting.extend(ONE_SCHEMA.iter().filter_map(|keyword| schema.get(*keyword)));
        waiting.extend(parts::list_of(schema, "prefixItems"));
        let named = NAMED_SCHEMAS.iter().filter_map(|keyword| schema.get(*keyword)?.as_object());
        waiting.extend(named.flat_map(Map::values));
    }
}

/// Whether the schema's own keywords, but for its format, assert more than types.
fn asserts_itself(schema: &Map<String, Value>) -> bool {
    NEVER_DECODED.iter().any(|keyword| schema.contains_key(*keyword))
        || schema.get("uniqueItems") == Some(&Value::Bool(true))
        || asserts_bound(schema)
        || asserts_length(schema)
        || asserts_names(schema)
}

/// Whether a number has other bounds than those of its type.
fn asserts_bound(schema: &Map<String, Value>) -> bool {
    let format = schema.get("format").and_then(Value::as_str);
    let (lowest, highest) = format.and_then(number::limits_of).unzip();
    let is_own = |keyword: &str, bound: Option<i128>| match schema.get(keyword) {
        Some(limit) => {
            bound.is_none() || limit.as_number().and_then(|limit| limit.as_i128()) != bound
        }
        None => false,
    };
    is_own("minimum", lowest) || is_own("maximum", highest)
}

/// Whether the number of items is limited, except by a tuple or an empty array.
fn asserts_length(schema: &Map<String, Value>) -> bool {
    let (fewest, most) = (limit(schema, "minItems"), limit(schema, "maxItems"));
    let tuple = schema.get("prefixItems").and_then(Value::as_array).map(|items| items.len() as u64);
    let bare = tuple.is_none() && !schema.contains_key("items");
    match (fewest, most) {
        (None, None) => false,
        (None, Some(0)) if bare => false,
        _ => tuple.is_none() || fewest != tuple || most != tuple,
    }
}

/// Whether a string must have an enforced format.
fn asserts_format(schema: &Map<String, Value>) -> bool {
    let format = schema.get("format").and_then(Value::as_str);
    format.is_some_and(|format| format::ENFORCED.contains(&format))
}

/// Whether names must match a pattern that is not implied by a type of key.
fn asserts_names(schema: &Map<String, Value>) -> bool {
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    patterns.is_some_and(|patterns| {
        patterns.keys().any(|pattern| !INTEGER_KEYS.contains(&pattern.as_str()))
    })
}
