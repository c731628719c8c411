//! References within a schema.

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// The schema that a local reference names.
pub(crate) fn resolve<'a>(root: &'a Map<String, Value>, reference: &str) -> Option<&'a Value> {
    let mut keys = reference.strip_prefix("#/")?.split('/').map(|key| {
        let key = percent_decode_str(key).decode_utf8_lossy();
        key.replace("~1", "/").replace("~0", "~")
    });
    let first = root.get(&keys.next()?)?;
    keys.try_fold(first, |value, key| match value {
        Value::Object(map) => map.get(&key),
        Value::Array(items) => items.get(key.parse::<usize>().ok()?),
        _ => None,
    })
}

/// Whether a schema leads back to a reference.
pub(super) fn reaches(root: &Map<String, Value>, from: &Value, reference: &str) -> bool {
    let (mut open, mut seen) = (vec![from], HashSet::new());
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                if let Some(Value::String(next)) = map.get("$ref") {
                    if next == reference {
                        return true;
                    }
                    if seen.insert(next.as_str()) {
                        open.extend(resolve(root, next));
                    }
                }
                open.extend(map.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    false
}

/// Whether a reference leads back to itself.
pub(super) fn is_recursive(root: &Map<String, Value>, reference: &str) -> bool {
    reference == "#"
        || resolve(root, reference).is_some_and(|target| reaches(root, target, reference))
}
