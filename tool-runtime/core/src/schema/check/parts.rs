//! The schemas that apply to the same value.

use crate::schema::check::survey;
use fluent_uri::pct_enc::EStr;
use fluent_uri::pct_enc::encoder::Fragment;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashSet;

/// Limit on the schemas of one value. They affect only the wording and the speed of a check, not its result.
const MAX_PARTS: usize = 256;

/// The schema and those that hold whenever it holds: through `$ref` and `allOf`.
pub(super) fn certain<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Map<String, Value>> {
    collect(root, schema, certain_next)
}

/// The schema and all schemas that may apply to the same value.
pub(super) fn possible<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Map<String, Value>> {
    collect(root, schema, possible_next)
}

/// The schemas that hold whenever `part` holds, one step away.
fn certain_next<'s>(root: &'s Value, part: &'s Map<String, Value>) -> Vec<&'s Value> {
    target(root, part).into_iter().chain(list_of(part, "allOf")).collect()
}

/// The schemas that may apply to the same value as `part`, one step away.
pub(super) fn possible_next<'s>(root: &'s Value, part: &'s Map<String, Value>) -> Vec<&'s Value> {
    let conditional = ["if", "then", "else"].into_iter().filter_map(|keyword| part.get(keyword));
    certain_next(root, part)
        .into_iter()
        .chain(list_of(part, "anyOf"))
        .chain(list_of(part, "oneOf"))
        .chain(conditional)
        .collect()
}

/// The schemas in the list that a keyword holds.
pub(super) fn list_of<'s>(
    part: &'s Map<String, Value>,
    keyword: &str,
) -> impl Iterator<Item = &'s Value> {
    part.get(keyword).and_then(Value::as_array).into_iter().flatten()
}

/// Follows `next` from schema to schema, in document order, each once.
fn collect<'s>(
    root: &'s Value,
    schema: &'s Value,
    next: fn(&'s Value, &'s Map<String, Value>) -> Vec<&'s Value>,
) -> Vec<&'s Map<String, Value>> {
    let mut parts = Vec::new();
    let mut known = HashSet::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        if let Value::Object(part) = schema
            && known.insert(std::ptr::from_ref(part))
        {
            parts.push(part);
            waiting.extend(next(root, part).into_iter().rev());
        }
        if parts.len() >= MAX_PARTS {
            break;
        }
    }
    parts
}

/// The target of a schema's own `$ref`: the document, a JSON pointer or an anchor in it.
///
/// References to other documents lead nowhere: nothing is fetched.
pub(super) fn target<'s>(root: &'s Value, schema: &Map<String, Value>) -> Option<&'s Value> {
    let fragment = fragment(schema)?;
    if fragment.is_empty() { Some(root) } else { resolve(root.as_object()?, &fragment) }
}

/// Like [`target`], for a document that is an object. `None` also for a reference to the document itself.
pub(crate) fn target_below<'s>(
    root: &'s Map<String, Value>,
    schema: &Map<String, Value>,
) -> Option<&'s Value> {
    resolve(root, &fragment(schema)?)
}

/// The fragment of a schema's `$ref`, decoded.
fn fragment(schema: &Map<String, Value>) -> Option<Cow<'_, str>> {
    schema.get("$ref")?.as_str()?.strip_prefix('#').map(decoded)
}

fn resolve<'s>(root: &'s Map<String, Value>, fragment: &str) -> Option<&'s Value> {
    let Some(pointer) = fragment.strip_prefix('/') else {
        let is_it = |value: &&Value| value.get("$anchor").is_some_and(|anchor| anchor == fragment);
        return root.values().flat_map(survey::everything).find(is_it);
    };
    let (key, rest) = pointer.split_at(pointer.find('/').unwrap_or(pointer.len()));
    root.get(&key.replace("~1", "/").replace("~0", "~"))?.pointer(rest)
}

/// The fragment without percent encoding; unchanged if its encoding is invalid.
fn decoded(fragment: &str) -> Cow<'_, str> {
    let encoded = EStr::<Fragment>::new(fragment);
    encoded.and_then(|encoded| encoded.decode().to_string().ok()).unwrap_or(fragment.into())
}
