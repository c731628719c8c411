//! Properties of objects: missing ones, unknown ones, and those that may be null.

use serde_json::json;

use super::{assert_messages, messages};

#[test]
fn missing_and_unknown_arguments() {
    let schema = json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "description": "The text to look for.\nMore." },
            "limit": { "type": "integer", "maximum": 50 },
            "tags": { "type": "array", "items": { "type": "string" } },
            "when": { "type": "string", "format": "date" },
        },
        "required": ["query", "tags", "other"],
        "additionalProperties": false,
    });
    assert_messages(&[(
        schema,
        json!({ "zzz": 1, "quary": "x", "limit": 80, "odd name": 1 }),
        &[
            "query required: missing required argument `query` (string): The text to look for.",
            "limit maximum: `limit` must be at most 50, got 80",
            "tags required: missing required argument `tags` (array of string)",
            "other required: missing required argument `other`",
            "zzz additionalProperties: unknown argument `zzz`; the arguments are `query`, `limit`, `tags`, `when`",
            "quary additionalProperties: unknown argument `quary`; did you mean `query`? the arguments are `query`, `limit`, `tags`, `when`",
            "[\"odd name\"] additionalProperties: unknown argument \"odd name\"; the arguments are `query`, `limit`, `tags`, `when`",
        ],
    )]);
}

#[test]
fn missing_and_unknown_fields() {
    let range = json!({ "type": "object", "properties": { "from": { "type": "integer" } }, "required": ["from"], "additionalProperties": false });
    let schema = json!({ "properties": { "filter": { "properties": { "range": range } } } });
    assert_messages(&[
        (
            schema,
            json!({ "filter": { "range": { "form": 1 } } }),
            &[
                "filter.range.from required: missing required field `from` of `filter.range` (integer)",
                "filter.range.form additionalProperties: unknown field `form` of `filter.range`; did you mean `from`? the only field is `from`",
            ],
        ),
        (
            json!({ "additionalProperties": false }),
            json!({ "x": 1 }),
            &["x additionalProperties: unknown argument `x`; there are no arguments"],
        ),
        (
            json!({ "patternProperties": { "^\\d+$": { "type": "string" } }, "additionalProperties": false }),
            json!({ "x": 1, "1": 1 }),
            &[
                "x additionalProperties: unknown argument `x`; the names of arguments match `^\\d+$`",
                "[\"1\"] type: `[\"1\"]` must be a string, got 1",
            ],
        ),
        (
            json!({ "additionalProperties": { "type": "string" } }),
            json!({ "a b": 1 }),
            &["[\"a b\"] type: `[\"a b\"]` must be a string, got 1"],
        ),
    ]);
}

#[test]
fn long_lists_of_names_are_cut() {
    let names: serde_json::Map<_, _> = (10..40).map(|i| (format!("name{i}"), json!({}))).collect();
    let messages = messages(
        &json!({ "properties": names, "additionalProperties": false }),
        &json!({ "x": 1 }),
    );
    assert!(messages[0].ends_with("`name28`, `name29`, … and 10 more"), "{messages:?}");
}

#[test]
fn numbers_of_properties() {
    assert_messages(&[
        (
            json!({ "minProperties": 1 }),
            json!({}),
            &[" minProperties: the arguments must have at least 1 argument, got 0"],
        ),
        (
            json!({ "properties": { "a": { "maxProperties": 1 } } }),
            json!({ "a": { "x": 1, "y": 2 } }),
            &["a maxProperties: `a` must have at most 1 field, got 2"],
        ),
    ]);
}

#[test]
fn optional_properties_may_be_null() {
    let inner = json!({ "properties": { "x": { "type": "string" }, "y": { "type": "string" } }, "required": ["y"] });
    let schema = json!({
        "properties": { "o": { "enum": ["a"] }, "inner": inner },
    });
    assert_messages(&[
        (schema.clone(), json!({ "o": null, "inner": null }), &[]),
        (
            schema,
            json!({ "inner": { "x": null, "y": null } }),
            &["inner.y type: `inner.y` must be a string, got null"],
        ),
        (
            json!({ "additionalProperties": { "type": "string" } }),
            json!({ "x": null }),
            &["x type: `x` must be a string, got null"],
        ),
        (json!({ "items": { "type": "string" } }), json!({ "x": null }), &[]),
    ]);
}
