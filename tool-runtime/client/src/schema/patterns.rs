//! Removes patterns that the engine cannot compile. The server checks them itself.

use serde_json::{Map, Value};

/// Patterns that were removed from a schema.
#[derive(Debug, Default)]
pub(super) struct Removed {
    pub(super) patterns: Vec<String>,
    /// Whether a keyword such as `not` inverts a part, so that a looser part makes the schema stricter.
    pub(super) is_inverting: bool,
}

/// Removes patterns from a schema, except those that `is_kept` keeps. With a pattern of names, `additionalProperties` is
/// removed as well: names that match are unknown then.
pub(super) fn remove(
    schema: &mut Map<String, Value>,
    is_kept: &mut dyn FnMut(&str) -> bool,
) -> Removed {
    let mut remover = Remover { is_kept, removed: Removed::default() };
    remover.object(schema);
    remover.removed
}

struct Remover<'a> {
    is_kept: &'a mut dyn FnMut(&str) -> bool,
    removed: Removed,
}

impl Remover<'_> {
    fn schema(&mut self, value: &mut Value) {
        match value {
            Value::Object(members) => self.object(members),
            Value::Array(schemas) => schemas.iter_mut().for_each(|schema| self.schema(schema)),
            _ => {}
        }
    }

    fn object(&mut self, members: &mut Map<String, Value>) {
        if let Some(Value::String(pattern)) = members.get("pattern")
            && !self.keeps(pattern)
        {
            members.shift_remove("pattern");
        }
        if let Some(Value::Object(matched)) = members.get_mut("patternProperties") {
            let count = matched.len();
            matched.retain(|pattern, _| self.keeps(pattern));
            if matched.len() < count {
                members.shift_remove("additionalProperties");
            }
        }
        for (key, member) in members {
            match key.as_str() {
                "enum" | "const" | "default" | "examples" => {}
                "properties" | "patternProperties" | "$defs" | "definitions"
                | "dependentSchemas" | "dependencies" => {
                    if let Value::Object(named) = member {
                        named.values_mut().for_each(|schema| self.schema(schema));
                    }
                }
                "not"
                | "oneOf"
                | "if"
                | "maxContains"
                | "unevaluatedProperties"
                | "unevaluatedItems" => {
                    self.removed.is_inverting = true;
                    self.schema(member);
                }
                _ => self.schema(member),
            }
        }
    }

    fn keeps(&mut self, pattern: &str) -> bool {
        let is_kept = (self.is_kept)(pattern);
        if !is_kept && !self.removed.patterns.iter().any(|known| known == pattern) {
            self.removed.patterns.push(pattern.to_owned());
        }
        is_kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn patterns_are_taken_out_where_they_are_keywords() {
        let before = json!({
            "properties": { "pattern": { "pattern": "bad", "enum": [{ "pattern": "bad" }] } },
            "patternProperties": { "bad": {}, "good": { "items": { "pattern": "good" } } },
            "additionalProperties": false,
            "anyOf": [{ "pattern": "bad", "minLength": 1 }],
        });
        let after = json!({
            "properties": { "pattern": { "enum": [{ "pattern": "bad" }] } },
            "patternProperties": { "good": { "items": { "pattern": "good" } } },
            "anyOf": [{ "minLength": 1 }],
        });
        let Value::Object(mut schema) = before else { unreachable!() };
        let removed = remove(&mut schema, &mut |pattern| pattern == "good");
        assert_eq!(Value::Object(schema), after);
        assert_eq!(removed.patterns, ["bad"]);
        assert!(!removed.is_inverting);
    }

    #[test]
    fn a_schema_that_inverts_a_part_is_recognized() {
        let inverting = json!({ "properties": { "a": { "not": { "pattern": "bad" } } } });
        let Value::Object(mut schema) = inverting else { unreachable!() };
        assert!(remove(&mut schema, &mut |_| false).is_inverting);
    }
}
