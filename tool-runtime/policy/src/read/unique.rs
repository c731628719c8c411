//! Values without duplicate keys.

use super::place::DocumentPath;
use serde::Deserializer;
use serde_json::Value;
use tool_runtime_core::seam::{PathStep, read_unique};

/// Deserializes a value, and collects the places of keys that appear again.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    duplicates: &mut Vec<DocumentPath>,
) -> Result<Value, D::Error> {
    read_unique(deserializer, &mut |path, key| {
        let object = path.iter().fold(DocumentPath::default(), |place, step| match step {
            PathStep::Key(key) => place.key(key),
            PathStep::Index(index) => place.index(*index),
        });
        duplicates.push(object.repeated(key, 1));
    })
}
