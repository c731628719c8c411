use super::*;

/// The translated schema and the repairs.
fn translated(schema: Value) -> (Value, Vec<String>) {
    let Value::Object(mut schema) = schema else { panic!("an object") };
    let repairs = translate_schema(&mut schema);
    (schema.into(), repairs)
}

/// A tool's schema with one property.
fn with(property: Value) -> Value {
    json!({ "type": "object", "properties": { "p": property } })
}

#[test]
fn a_schema_that_needs_nothing_is_not_changed() {
    let good = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "required": { "type": "boolean", "default": null },
            "nullable": { "const": null },
            "items": { "prefixItems": [{ "type": "string" }], "items": false },
            "type": { "enum": [null, "STRING"], "examples": [null] },
            "own": { "x-own": null, "minimum": 1, "exclusiveMinimum": 0 },
        },
        "required": ["type", "required"],
        "$defs": { "definitions": { "$ref": "#/$defs/definitions/x" } },
    });
    let (schema, repairs) = translated(good.clone());
    assert_eq!((schema.to_string(), repairs), (good.to_string(), Vec::new()));
}

#[test]
fn a_fault_with_one_meaning_is_repaired() {
    let text = json!({ "type": "string" });
    for (before, after, repair) in [
        (
            json!({ "type": "array", "items": [text, text] }),
            json!({ "type": "array", "prefixItems": [text, text] }),
            "a list of schemas is read as a tuple at `properties.p.items`",
        ),
        (
            json!({ "items": [text], "additionalItems": false }),
            json!({ "prefixItems": [text], "items": false }),
            "a list of schemas is read as a tuple at `properties.p.items`",
        ),
        (
            json!({ "items": [], "additionalItems": text }),
            json!({ "items": text }),
            "a list of schemas is read as a tuple at `properties.p.items`",
        ),
        (
            json!({ "minimum": 0, "exclusiveMinimum": true, "maximum": 9, "exclusiveMaximum": false }),
            json!({ "exclusiveMinimum": 0, "maximum": 9 }),
            "a flag of draft 4 is read with the bound beside it at `properties.p.exclusiveMinimum`, `properties.p.exclusiveMaximum`",
        ),
        (
            json!({ "type": "string", "description": null, "enum": null, "default": null }),
            json!({ "type": "string", "default": null }),
            "null is read as an absent keyword at `properties.p.description`, `properties.p.enum`",
        ),
        (
            json!({ "type": "STRING" }),
            json!({ "type": "string" }),
            "a type in capitals is read as that type at `properties.p.type`",
        ),
        (
            json!({ "type": ["Integer", "NULL", "null"] }),
            json!({ "type": ["integer", "null"] }),
            "a type in capitals is read as that type at `properties.p.type`",
        ),
        (
            json!({ "type": "string", "nullable": true, "enum": ["a"] }),
            json!({ "type": ["string", "null"], "enum": ["a", null] }),
            "`nullable` is read as the type `null` beside the other at `properties.p.nullable`",
        ),
        (
            json!({ "description": "d", "$ref": "#/$defs/a", "nullable": true }),
            json!({ "description": "d", "anyOf": [{ "$ref": "#/$defs/a" }, { "type": "null" }] }),
            "`nullable` is read as the type `null` beside the other at `properties.p.nullable`",
        ),
        (
            json!({ "type": "object", "properties": [], "required": ["a", "a"] }),
            json!({ "type": "object", "properties": {}, "required": ["a"] }),
            "an empty list is read as an empty object at `properties.p.properties`",
        ),
    ] {
        let (schema, repairs) = translated(with(before));
        assert_eq!(schema, with(after));
        assert_eq!(repairs[0], repair);
    }
}

#[test]
fn a_flag_becomes_an_entry_of_the_object_around_it() {
    let (schema, repairs) = translated(json!({
        "type": ["object"],
        "required": true,
        "properties": {
            "a": { "type": "string", "required": true },
            "b": { "type": "string", "required": false },
            "c": { "type": "array", "items": { "type": "string", "required": true } },
        },
    }));
    let text = json!({ "type": "string" });
    let properties = json!({ "a": text, "b": text, "c": { "type": "array", "items": text } });
    assert_eq!(schema, json!({ "type": "object", "properties": properties, "required": ["a"] }));
    assert_eq!(repairs.len(), 1);
    assert!(repairs[0].ends_with("`properties.c.items.required` and 1 more"), "{repairs:?}");
}

#[test]
fn a_declared_draft_is_translated_without_a_report() {
    for (before, after) in [
        (
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#",
                "$id": "https://x.example/s#",
                "type": "object",
                "properties": {
                    "a": { "$ref": "#/definitions/a", "description": "d", "minLength": 9 },
                    "b": { "type": "array", "items": [{ "$ref": "#/definitions/a" }] },
                    "c": { "$ref": "#/properties/b/items/0" },
                },
                "dependencies": { "a": ["b"], "b": { "required": ["c"] } },
                "definitions": { "a": { "$id": "#name", "type": "string" } },
            }),
            json!({
                "$id": "https://x.example/s",
                "type": "object",
                "properties": {
                    "a": { "$ref": "#/$defs/a", "description": "d" },
                    "b": { "type": "array", "prefixItems": [{ "$ref": "#/$defs/a" }] },
                    "c": { "$ref": "#/properties/b/prefixItems/0" },
                },
                "dependentRequired": { "a": ["b"] },
                "dependentSchemas": { "b": { "required": ["c"] } },
                "$defs": { "a": { "$anchor": "name", "type": "string" } },
            }),
        ),
        (
            json!({
                "$schema": "http://json-schema.org/draft-04/schema#",
                "id": "https://x.example/s",
                "properties": { "id": { "minimum": 1, "exclusiveMinimum": true } },
            }),
            json!({
                "$id": "https://x.example/s",
                "properties": { "id": { "exclusiveMinimum": 1 } },
            }),
        ),
        (
            json!({
                "$schema": "https://json-schema.org/draft/2019-09/schema",
                "$recursiveAnchor": true,
                "properties": { "a": { "$recursiveRef": "#" } },
            }),
            json!({
                "properties": { "a": { "$dynamicRef": "#recursive" } },
                "$dynamicAnchor": "recursive",
            }),
        ),
    ] {
        assert_eq!(translated(before), (after, Vec::new()));
    }
}

#[test]
fn definitions_of_one_name_stay_apart() {
    let both = json!({
        "$defs": { "a": { "type": "string" } },
        "definitions": { "a": { "type": "integer" } },
        "properties": { "a": { "$ref": "#/definitions/a" } },
    });
    assert_eq!(translated(both.clone()), (both, Vec::new()));
}

#[test]
fn numbers_as_text_and_faulty_annotations_are_repaired() {
    let (schema, repairs) = translated(with(json!({
        "type": "string", "minLength": "1", "maxLength": "many",
        "title": 5, "examples": "a", "deprecated": "use b", "allOf": [],
    })));
    assert_eq!(schema, with(json!({ "type": "string", "minLength": 1, "maxLength": "many" })));
    assert_eq!(repairs.len(), 2, "{repairs:?}");
}
