//! Values without duplicate keys.

use super::path::DocumentPath;
use serde::Deserializer;
use serde_json::Value;
use tool_runtime_core::seam::{PathStep, read_unique};

/// Deserializes a value, and collects the paths of keys that appear again.
pub(super) fn read<'de, D: Deserializer<'de>>(
    deserializer: D,
    duplicates: &mut Vec<DocumentPath>,
) -> Result<Value, D::Error> {
    read_unique(deserializer, &mut |path, key| {
        let object = path.iter().fold(DocumentPath::default(), |parent, step| match step {
            PathStep::Key(key) => parent.key(key),
            PathStep::Index(index) => parent.index(*index),
        });
        duplicates.push(object.repeated(key, 1));
    })
}
