//! Canonical JSON: one text for equal values.

use serde_json::Value;

/// Writes JSON with sorted members, so that equal values have equal texts.
pub fn canonical(value: &Value) -> String {
    fn sort(value: &Value) -> Value {
        match value {
            Value::Object(map) => {
                let mut members: Vec<_> = map.iter().collect();
                members.sort_unstable_by_key(|(key, _)| *key);
                let sorted = members.into_iter().map(|(key, value)| (key.clone(), sort(value)));
                Value::Object(sorted.collect())
            }
            Value::Array(items) => items.iter().map(sort).collect(),
            scalar => scalar.clone(),
        }
    }
    sort(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_members_does_not_matter() {
        let one = canonical(&json!({ "a": [{ "x": 1, "y": 2 }], "b": null }));
        assert_eq!(one, canonical(&json!({ "b": null, "a": [{ "y": 2, "x": 1 }] })));
    }
}
