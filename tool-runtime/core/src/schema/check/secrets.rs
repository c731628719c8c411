//! The keyword `writeOnly`, which marks values that no message may show.

use std::collections::HashSet;

use serde_json::{Map, Value};

use crate::schema::check::parts;
use crate::schema::engine::{Engine, Pattern};

/// Limit on the pairs of schema and value. Beyond it, and if patterns for names cannot be compiled, everything is
/// secret.
const MAX_PAIRS: usize = 1_000_000;

/// The values, by address, that a schema marks as write-only, with everything inside.
///
/// Secrets are found before the walk, because a later schema may mark a value that an earlier one describes. Every schema
/// that may apply counts, even that of an alternative that does not match.
#[derive(Debug, Default)]
pub(super) struct Secrets {
    addresses: HashSet<*const Value>,
    /// The strings among them, which are secret everywhere.
    strings: HashSet<String>,
    all: bool,
}

impl Secrets {
    /// All secrets in `arguments` by the schema `root`.
    pub(super) fn find(root: &Value, arguments: &Value, engine: Option<&'static Engine>) -> Self {
        Self::search(root, arguments, engine, &mut |_, _| {})
    }

    /// Tells `seen` of every schema with a value that it may apply to.
    pub(super) fn search<'s>(
        root: &'s Value,
        arguments: &Value,
        engine: Option<&'static Engine>,
        seen: &mut dyn FnMut(&'s Map<String, Value>, &Value),
    ) -> Self {
        let mut secrets = Self::default();
        let mut known = HashSet::new();
        let mut waiting = vec![(root, arguments)];
        while let Some((schema, value)) = waiting.pop() {
            let pair = (std::ptr::from_ref(schema), std::ptr::from_ref(value));
            let Value::Object(schema) = schema else {
                continue;
            };
            if !known.insert(pair) {
                continue;
            }
            let is_unreadable = engine.is_none() && schema.contains_key("patternProperties");
            if known.len() > MAX_PAIRS || is_unreadable {
                secrets.all = true;
                break;
            }
            seen(schema, value);
            if is_secret(schema) {
                secrets.addresses.insert(value);
                secrets.strings.extend(value.as_str().map(str::to_owned));
            }
            waiting.extend(
                parts::possible_next(root, schema).into_iter().map(|schema| (schema, value)),
            );
            add_below(schema, value, engine, &mut waiting);
        }
        secrets
    }

    /// Whether a schema marks this value as write-only.
    pub(super) fn marks(&self, value: &Value) -> bool {
        self.all || self.addresses.contains(&std::ptr::from_ref(value))
    }

    /// Whether a schema marks this value, or another with the same text, as write-only.
    pub(super) fn contain(&self, value: &Value) -> bool {
        self.marks(value) || value.as_str().is_some_and(|text| self.strings.contains(text))
    }
}

/// Whether a schema marks its value as write-only.
pub(super) fn is_secret(schema: &Map<String, Value>) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
}

/// The parts of a value, each with the schemas for it.
fn add_below<'s, 'v>(
    schema: &'s Map<String, Value>,
    value: &'v Value,
    engine: Option<&'static Engine>,
    waiting: &mut Vec<(&'s Value, &'v Value)>,
) {
    match value {
        Value::Array(items) => add_items(schema, items, waiting),
        Value::Object(object) => add_properties(schema, object, engine, waiting),
        _ => {}
    }
}

/// The items of an array, each with the schemas for it.
fn add_items<'s, 'v>(
    schema: &'s Map<String, Value>,
    items: &'v [Value],
    waiting: &mut Vec<(&'s Value, &'v Value)>,
) {
    waiting.extend(parts::list_of(schema, "prefixItems").zip(items));
    let first = parts::list_of(schema, "prefixItems").count().min(items.len());
    if let Some(schema) = schema.get("items") {
        waiting.extend(items[first..].iter().map(|item| (schema, item)));
    }
}

/// The properties of an object, each with the schemas for it.
fn add_properties<'s, 'v>(
    schema: &'s Map<String, Value>,
    object: &'v Map<String, Value>,
    engine: Option<&'static Engine>,
    waiting: &mut Vec<(&'s Value, &'v Value)>,
) {
    let declared = schema.get("properties").and_then(Value::as_object);
    let by_pattern = patterns(schema, engine);
    for (name, value) in object {
        let own = declared.and_then(|declared| declared.get(name));
        let matching = by_pattern
            .iter()
            .filter(|(pattern, _)| pattern.is_match(name))
            .map(|(_, schema)| *schema);
        let before = waiting.len();
        waiting.extend(own.into_iter().chain(matching).map(|schema| (schema, value)));
        if waiting.len() == before {
            let others = ["additionalProperties", "unevaluatedProperties"];
            waiting
                .extend(others.iter().filter_map(|keyword| Some((schema.get(*keyword)?, value))));
        }
    }
}

/// The patterns of `patternProperties` that compile, with their schemas.
fn patterns<'s>(
    schema: &'s Map<String, Value>,
    engine: Option<&'static Engine>,
) -> Vec<(Pattern, &'s Value)> {
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    let pairs = patterns.into_iter().flatten();
    pairs.filter_map(|(pattern, schema)| Some((engine?.compile(pattern).ok()?, schema))).collect()
}
