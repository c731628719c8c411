//! Possible targets of a schema's references.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::ptr;
use tool_runtime_core::seam::is_official_schema;

/// Possible targets of a schema's references.
pub(super) struct References<'a> {
    /// The schema itself and its subschemas with an id, with the last segment of the id.
    roots: Vec<(&'a str, &'a Map<String, Value>)>,
    anchors: HashMap<&'a str, Vec<&'a Map<String, Value>>>,
}

impl<'a> References<'a> {
    pub(super) fn from_schema(schema: &'a Map<String, Value>) -> Self {
        let mut references = Self { roots: vec![("", schema)], anchors: HashMap::new() };
        references.note(schema);
        schema.values().for_each(|value| references.walk(value));
        references
    }

    fn walk(&mut self, value: &'a Value) {
        match value {
            Value::Object(schema) => {
                self.note(schema);
                schema.values().for_each(|value| self.walk(value));
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item)),
            _ => {}
        }
    }

    fn note(&mut self, schema: &'a Map<String, Value>) {
        let text = |key: &&str| schema.get(*key).and_then(Value::as_str);
        for id in ["$id", "id"].iter().filter_map(text) {
            let (base, fragment) = id.split_once('#').unwrap_or((id, ""));
            if !base.is_empty() {
                self.roots.push((last_step(base), schema));
            }
            if !fragment.is_empty() {
                self.anchors.entry(fragment).or_default().push(schema);
            }
        }
        for anchor in ["$anchor", "$dynamicAnchor"].iter().filter_map(text) {
            self.anchors.entry(anchor).or_default().push(schema);
        }
    }

    /// All possible targets of a reference; none outside the schema.
    pub(super) fn find(&self, reference: &str) -> Vec<&'a Map<String, Value>> {
        let (base, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        let is_named = !fragment.is_empty() && !fragment.starts_with('/');
        let mut found = match self.anchors.get(&*fragment) {
            Some(anchors) if is_named => anchors.clone(),
            _ => self
                .roots(base)
                .into_iter()
                .filter_map(|root| resolve_pointer(root, &fragment))
                .collect(),
        };
        found.sort_by_key(|schema| ptr::from_ref(*schema).addr());
        found.dedup_by_key(|schema| ptr::from_ref(*schema).addr());
        found
    }

    /// Possible bases of a reference. The validator resolves ids against each other; here an equal last segment is enough.
    fn roots(&self, base: &str) -> Vec<&'a Map<String, Value>> {
        let is_meta = is_official_schema(base);
        let named = |(id, _): &&(&str, _)| *id == last_step(base);
        let same: Vec<_> = self.roots.iter().filter(named).map(|(_, root)| *root).collect();
        match same.is_empty() {
            false if !base.is_empty() => same,
            true if is_meta => same,
            _ => self.roots.iter().map(|(_, root)| *root).collect(),
        }
    }
}

fn last_step(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

/// The target of a pointer, if it is an object.
fn resolve_pointer<'a>(
    root: &'a Map<String, Value>,
    pointer: &str,
) -> Option<&'a Map<String, Value>> {
    let mut steps =
        pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    let Some(first) = steps.next() else { return Some(root) };
    let target = steps.try_fold(root.get(&first)?, |value, step| match value {
        Value::Object(members) => members.get(&step),
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        _ => None,
    });
    target?.as_object()
}
