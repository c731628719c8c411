//! Finds assertions of a schema that decoding does not enforce, or that are not checked at all.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::schema::check::text::limit;
use crate::schema::check::{number, parts};
use crate::schema::{engine, format};

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

/// Whether the document has patterns of strings or names.
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

/// The problem of a schema with keywords that are not checked.
pub(crate) fn problem(schema: &Map<String, Value>, kind: &str) -> Option<String> {
    first_problem(schema, unchecked).map(|problem| format!("its {kind} schema {problem}"))
}

/// The same for the input of a tool of this program, which is also wrong if no value can match it.
pub(crate) fn own_problem(schema: &Map<String, Value>) -> Option<String> {
    let rules = [unchecked, repeated, unknown_type, unusable_pattern, empty_bounds];
    let first = |schema: &Map<String, Value>| rules.iter().find_map(|rule| rule(schema));
    first_problem(schema, first).map(|problem| format!("its input schema {problem}"))
}

fn first_problem(
    schema: &Map<String, Value>,
    rule: impl Fn(&Map<String, Value>) -> Option<String>,
) -> Option<String> {
    let root = Value::Object(schema.clone());
    let mut problem = None;
    visit(&root, &root, |schema| {
        problem = rule(schema);
        problem.is_none()
    });
    problem
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

fn unknown_type(schema: &Map<String, Value>) -> Option<String> {
    const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "null"];
    let kind = schema.get("type")?.as_str()?;
    (!TYPES.contains(&kind))
        .then(|| format!("has the type `{kind}`; write one of `{}`", TYPES.join("`, `")))
}

fn unusable_pattern(schema: &Map<String, Value>) -> Option<String> {
    let pattern = schema.get("pattern")?.as_str()?;
    let error = engine::linked()?.compile(pattern).err()?;
    Some(format!("has the pattern `{pattern}`, which is not usable: {error}; write another"))
}

fn empty_bounds(schema: &Map<String, Value>) -> Option<String> {
    excludes_all(schema)
        .then(|| "has bounds with no value between; write the smaller end first".to_owned())
}

/// Whether two bounds of a schema exclude every value.
pub(crate) fn excludes_all(schema: &Map<String, Value>) -> bool {
    let number = |keyword: &str| schema.get(keyword).and_then(Value::as_f64);
    let pairs = [
        (number("minimum"), number("maximum"), false),
        (number("minimum"), number("exclusiveMaximum"), true),
        (number("minLength"), number("maxLength"), false),
        (number("minItems"), number("maxItems"), false),
        (number("minProperties"), number("maxProperties"), false),
    ];
    pairs.iter().any(|pair| match pair {
        (Some(low), Some(high), false) => low > high,
        (Some(low), Some(high), true) => low >= high,
        _ => false,
    })
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
