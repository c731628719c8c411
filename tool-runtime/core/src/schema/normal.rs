//! Converts schemas of schemars into the form that clients and models read best: an optional value has
//! its plain type, numbers have no Rust widths, anything at all is `{}`.

use schemars::Schema;
use schemars::transform::{Transform, transform_subschemas};
use serde_json::{Map, Value};

/// The schema of arguments.
pub(crate) fn input(schema: &mut Schema) {
    Input.transform(schema);
}

/// The schema of an output: null stays, because it is really written.
pub(crate) fn output(schema: &mut Schema) {
    Output.transform(schema);
    if let Some(map) = schema.as_object_mut() {
        typed_as_object(map);
    }
}

/// The shared definitions of recursive types.
pub(crate) fn definitions(
    definitions: Map<String, Value>,
    normalise: fn(&mut Schema),
) -> Map<String, Value> {
    let normal = |(name, value): (String, Value)| {
        let mut schema = Schema::try_from(value).unwrap_or_default();
        normalise(&mut schema);
        (name, schema.to_value())
    };
    definitions.into_iter().map(normal).collect()
}

struct Input;

impl Transform for Input {
    fn transform(&mut self, schema: &mut Schema) {
        true_to_empty(schema);
        optional_properties(schema);
        transform_subschemas(self, schema);
    }
}

struct Output;

impl Transform for Output {
    fn transform(&mut self, schema: &mut Schema) {
        true_to_empty(schema);
        width(schema);
        transform_subschemas(self, schema);
    }
}

/// `true` becomes `{}`, which strict checkers take; `false`, as in `additionalProperties`, stays.
fn true_to_empty(schema: &mut Schema) {
    if schema.as_bool() == Some(true) {
        *schema = Schema::default();
    }
}

/// Takes out `int64` and its like, which JSON Schema does not have: validators warn of each.
/// The walker reads them, so its own copy of a schema keeps them.
pub(crate) fn without_widths(schema: &mut Schema) {
    WithoutWidths.transform(schema);
}

struct WithoutWidths;

impl Transform for WithoutWidths {
    fn transform(&mut self, schema: &mut Schema) {
        width(schema);
        transform_subschemas(self, schema);
    }
}

fn width(schema: &mut Schema) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    let is_number = map.get("type").is_some_and(names_a_number);
    if is_number {
        map.shift_remove("format");
    }
}

fn names_a_number(kind: &Value) -> bool {
    match kind {
        Value::String(kind) => kind == "integer" || kind == "number",
        Value::Array(kinds) => kinds.iter().any(names_a_number),
        _ => false,
    }
}

/// A property that may be absent may also be null, which the schema need not repeat.
fn optional_properties(schema: &mut Schema) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    let required = map.get("required").cloned().unwrap_or_default();
    let is_required =
        |name: &str| required.as_array().is_some_and(|names| names.iter().any(|n| n == name));
    let Some(Value::Object(properties)) = map.get_mut("properties") else {
        return;
    };
    for (_, property) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
        if let Ok(schema) = <&mut Schema>::try_from(property) {
            without_null(schema);
        }
    }
}

/// Removes `null` from a schema that allows more than null.
pub(crate) fn without_null(schema: &mut Schema) {
    let Some(map) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(kinds)) = map.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [only] = kinds.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    if map.get("default").is_some_and(Value::is_null) {
        map.shift_remove("default");
    }
    inline_single_alternative(map);
}

/// `anyOf: [X, null]` becomes `X`; adjacent keywords, such as a description, have priority.
fn inline_single_alternative(map: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = map.get_mut("anyOf") else {
        return;
    };
    let is_null = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "null");
    alternatives.retain(|alternative| !is_null(alternative));
    if alternatives.len() != 1 {
        return;
    }
    let Some(Value::Object(only)) = alternatives.pop() else {
        return;
    };
    map.shift_remove("anyOf");
    let siblings = std::mem::replace(map, only);
    map.extend(siblings);
}

/// Adds `"type": "object"` to alternatives that are all objects: clients expect it at the root.
fn typed_as_object(map: &mut Map<String, Value>) {
    let all_objects = |keyword: &str| {
        map.get(keyword).and_then(Value::as_array).is_some_and(|schemas| {
            schemas.iter().all(|schema| schema.get("type").is_some_and(|kind| kind == "object"))
        })
    };
    if !map.contains_key("type") && (all_objects("oneOf") || all_objects("anyOf")) {
        map.shift_insert(0, "type".to_owned(), "object".into());
    }
}

/// Whether a schema allows an object or a list: a scalar needs no structure.
pub(crate) fn holds_more_than_scalars(schema: &Map<String, Value>) -> bool {
    let is_compound = |kind: &Value| kind == "object" || kind == "array";
    match schema.get("type") {
        Some(Value::Array(kinds)) => return kinds.iter().any(is_compound),
        Some(kind) => return is_compound(kind),
        None => {}
    }
    if schema.contains_key("enum") || schema.contains_key("const") {
        return false;
    }
    for keyword in ["oneOf", "anyOf"] {
        if let Some(Value::Array(schemas)) = schema.get(keyword) {
            let mut objects = schemas.iter().filter_map(Value::as_object);
            return objects.any(holds_more_than_scalars);
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::{JsonSchema, SchemaGenerator};
    use serde_json::json;

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[schemars(deny_unknown_fields)]
    struct Nested {
        id: u32,
        note: Option<String>,
        any: serde_json::Value,
        inner: Option<Inner>,
    }

    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Inner {
        x: Option<f64>,
    }

    fn changed<T: JsonSchema>(change: fn(&mut Schema)) -> Value {
        let mut generator: SchemaGenerator = schemars::generate::SchemaSettings::draft2020_12()
            .with(|settings| settings.inline_subschemas = true)
            .into_generator();
        let mut schema = T::json_schema(&mut generator);
        change(&mut schema);
        schema.to_value()
    }

    #[test]
    fn optional_fields_have_plain_types_at_every_depth() {
        let schema = changed::<Nested>(|schema| {
            input(schema);
            without_widths(schema);
        });
        let properties = &schema["properties"];
        assert_eq!(properties["note"], json!({"type": "string"}));
        assert_eq!(properties["inner"]["type"], "object");
        assert_eq!(properties["inner"]["properties"]["x"], json!({"type": "number"}));
        assert_eq!(properties["any"], json!({}));
        assert_eq!(schema["additionalProperties"], false);
        assert_eq!(properties["id"], json!({"type": "integer", "minimum": 0}));
    }

    #[test]
    fn an_output_keeps_its_nulls() {
        let schema = changed::<Nested>(output);
        assert_eq!(schema["properties"]["note"], json!({"type": ["string", "null"]}));
    }

    #[test]
    fn structured_content_needs_a_structure() {
        let holds = |schema: Value| holds_more_than_scalars(schema.as_object().expect("an object"));
        assert!(!holds(json!({"type": "string"})));
        assert!(!holds(json!({"type": ["integer", "null"]})));
        assert!(!holds(json!({"enum": ["a", "b"]})));
        assert!(!holds(json!({"oneOf": [{"const": "a"}, {"const": "b"}]})));
        assert!(holds(json!({"type": "array"})));
        assert!(holds(json!({"anyOf": [{"type": "object"}, {"type": "null"}]})));
    }
}
