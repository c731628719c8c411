//! Example values of a schema.

use super::schema::{choices, resolved, says_something, type_name};
use serde_json::{Map, Value, json};

/// Values in an example. Schemas refer to themselves, and those of other servers may be of any size.
const MAX_VALUES: usize = 100;

/// Variants that are shown.
const MAX_VARIANTS: usize = 8;

/// The longest form that is shown, in bytes of JSON.
const MAX_FORM: usize = 300;

/// A value that fits a schema: its own example or default, or else one of its type, with the fields that an object
/// requires.
pub(super) fn example(schema: &Value, root: &Value) -> Value {
    Example::new(root, Fields::Required).value(schema)
}

/// The forms of the objects that a schema takes, each as an object with all its fields: those of a choice between objects,
/// of an object in a list, of a map. None for other values.
pub(super) fn forms(schema: &Value, root: &Value) -> Vec<String> {
    let schema = resolved(schema, root);
    let schema = match type_name(schema) {
        Some("array") => resolved(&schema["items"], root),
        _ => schema,
    };
    let of = |schema| Example::new(root, Fields::All).value(schema);
    let forms: Vec<Value> = match variants(schema) {
        [] => vec![of(schema)],
        variants => variants.iter().take(MAX_VARIANTS).map(of).collect(),
    };
    let forms = forms.iter().filter(|form| form.as_object().is_some_and(|form| !form.is_empty()));
    forms.map(Value::to_string).filter(|form| form.len() <= MAX_FORM).collect()
}

/// The fields of an object that are shown.
#[derive(Clone, Copy, PartialEq)]
enum Fields {
    Required,
    All,
}

/// An example under construction.
struct Example<'s> {
    root: &'s Value,
    fields: Fields,
    /// Values that may still be added.
    left: usize,
}

impl<'s> Example<'s> {
    fn new(root: &'s Value, fields: Fields) -> Self {
        Self { root, fields, left: MAX_VALUES }
    }

    fn value(&mut self, given: &Value) -> Value {
        let Some(left) = self.left.checked_sub(1) else { return Value::Null };
        self.left = left;
        let schema = resolved(given, self.root);
        let own = [given, schema].into_iter().find_map(|schema| {
            let default = schema.get("default").filter(|default| says_something(default));
            schema["examples"].get(0).or(default)
        });
        if let Some(own) = own.or(schema.get("const")) {
            return own.clone();
        }
        if let Some(choice) = choices(schema).first() {
            return Value::from(*choice);
        }
        if let [variant, ..] = variants(schema) {
            return self.value(variant);
        }
        match type_name(schema) {
            Some("boolean") => json!(true),
            Some(number @ ("integer" | "number")) => {
                let limit = ["minimum", "maximum"].into_iter().find_map(|key| schema.get(key));
                let one = if number == "integer" { json!(1) } else { json!(1.5) };
                limit.cloned().unwrap_or(one)
            }
            Some("array") => json!([self.value(&schema["items"])]),
            Some("object") => self.object(schema),
            _ => text(schema).into(),
        }
    }

    fn object(&mut self, schema: &Value) -> Value {
        let required = schema["required"].as_array();
        let is_required = |name: &str| {
            required.is_some_and(|names| names.iter().any(|required| required == name))
        };
        let mut members = Map::new();
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            if self.fields == Fields::All || is_required(name) {
                members.insert(name.clone(), self.value(field));
            }
        }
        // The values of a map.
        let of_map = &schema["additionalProperties"];
        if members.is_empty() && self.fields == Fields::All && of_map.is_object() {
            members.insert("NAME".to_owned(), self.value(of_map));
        }
        members.into()
    }
}

/// The objects that a schema chooses between.
fn variants(schema: &Value) -> &[Value] {
    let choices = ["oneOf", "anyOf"].into_iter().find_map(|key| schema[key].as_array());
    choices.map_or(&[], |choices| choices)
}

fn text(schema: &Value) -> &'static str {
    match schema["format"].as_str() {
        Some("date") => "2026-01-31",
        Some("date-time") => "2026-01-31T12:00:00Z",
        Some("time") => "12:00:00Z",
        Some("duration") => "PT1H",
        Some("email") => "ada@example.com",
        Some("uri" | "url") => "https://example.com",
        Some("uuid") => "67e55044-10b1-426f-9247-bb680e5fe0c8",
        Some("ipv4" | "ip") => "127.0.0.1",
        Some("ipv6") => "::1",
        _ => "TEXT",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> Value {
        json!({ "$defs": {
            "Line": {
                "type": "object",
                "properties": {
                    "sku": { "type": "string" },
                    "count": { "type": "integer", "minimum": 2 },
                    "note": { "type": ["string", "null"] },
                },
                "required": ["sku", "count"],
            },
            "Shape": { "oneOf": [
                {
                    "type": "object",
                    "properties": { "kind": { "const": "circle" }, "radius": { "type": "number" } },
                    "required": ["kind", "radius"],
                },
                {
                    "type": "object",
                    "properties": { "kind": { "const": "point" } },
                    "required": ["kind"],
                },
            ] },
            "Node": {
                "type": "object",
                "properties": { "next": { "$ref": "#/$defs/Node" } },
                "required": ["next"],
            },
        } })
    }

    #[test]
    fn an_example_has_what_the_schema_requires() {
        let root = root();
        for (schema, expected) in [
            (json!({ "$ref": "#/$defs/Line" }), json!({ "sku": "TEXT", "count": 2 })),
            (
                json!({ "type": "array", "items": { "$ref": "#/$defs/Line" } }),
                json!([{ "sku": "TEXT", "count": 2 }]),
            ),
            (json!({ "$ref": "#/$defs/Shape" }), json!({ "kind": "circle", "radius": 1.5 })),
            (json!({ "type": "string", "format": "date" }), json!("2026-01-31")),
            (json!({ "type": "integer", "examples": [7] }), json!(7)),
            (json!({ "type": "object", "additionalProperties": { "type": "integer" } }), json!({})),
        ] {
            assert_eq!(example(&schema, &root), expected, "{schema}");
        }
        // It ends.
        assert!(example(&json!({ "$ref": "#/$defs/Node" }), &root).is_object());
        let choice = json!({ "$defs": { "A": { "anyOf": [{ "$ref": "#/$defs/A" }, { "type": "string" }] } } });
        example(&json!({ "$ref": "#/$defs/A" }), &choice);
    }

    #[test]
    fn forms_have_all_fields() {
        let root = root();
        for (schema, expected) in [
            (
                json!({ "type": "array", "items": { "$ref": "#/$defs/Line" } }),
                vec![r#"{"count":2,"note":"TEXT","sku":"TEXT"}"#],
            ),
            (
                json!({ "$ref": "#/$defs/Shape" }),
                vec![r#"{"kind":"circle","radius":1.5}"#, r#"{"kind":"point"}"#],
            ),
            (
                json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
                vec![r#"{"NAME":1}"#],
            ),
            (json!({ "type": "array", "items": { "type": "string" } }), vec![]),
            (json!({ "type": "object" }), vec![]),
        ] {
            let parse = |form: &str| serde_json::from_str::<Value>(form).expect("JSON");
            let found: Vec<Value> = forms(&schema, &root).iter().map(|form| parse(form)).collect();
            let expected: Vec<Value> = expected.into_iter().map(parse).collect();
            assert_eq!(found, expected, "{schema}");
        }
    }
}
