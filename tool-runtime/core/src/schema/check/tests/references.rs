//! References within the document.

use serde_json::{Value, json};

use super::messages;

/// The messages for `{ "a": "x" }` if `a` must match the target of `reference`.
fn messages_through(reference: &str) -> Vec<String> {
    let schema: Value = json!({
        "properties": { "a": { "$ref": reference }, "odd/~ %name": { "type": "integer" } },
        "$defs": {
            "Odd Name": { "type": "integer" },
            "Chain": { "$ref": "#/$defs/Odd%20Name" },
            "Loop": { "$ref": "#/$defs/Loop" },
            "Anchored": { "$anchor": "here", "type": "integer" },
        },
        "definitions": { "Old": { "type": "integer" } },
        "prefixItems": [{ "type": "integer" }],
    });
    messages(&schema, &json!({ "a": "x" }))
}

#[test]
fn references_resolve_pointers_and_anchors() {
    let references = [
        "#/$defs/Odd Name",
        "#/$defs/Odd%20Name",
        "#/$defs/Chain",
        "#/definitions/Old",
        "#/properties/odd~1~0%20%25name",
        "#/prefixItems/0",
        "#here",
    ];
    for reference in references {
        let messages = messages_through(reference);
        assert_eq!(
            messages,
            ["a type: `a` must be an integer, got the string \"x\""],
            "{reference}"
        );
    }
}

#[test]
fn unresolvable_references_are_ignored() {
    for reference in [
        "#/$defs/None",
        "#nowhere",
        "https://example.com/schema",
        "other.json#/x",
        "",
        "#/$defs/Loop",
    ] {
        assert!(messages_through(reference).is_empty(), "{reference}");
    }
}

#[test]
fn siblings_of_references_are_checked() {
    let schema = json!({ "properties": { "a": { "$ref": "#/$defs/D", "maxLength": 1, "description": "d" } }, "$defs": { "D": { "type": "string", "minLength": 3 } } });
    assert_eq!(messages(&schema, &json!({ "a": "xx" })).len(), 2);
}

#[test]
fn recursive_references_are_followed() {
    let schema = json!({
        "type": "object",
        "properties": { "next": { "$ref": "#" }, "value": { "type": "integer" } },
        "required": ["value"],
        "additionalProperties": false,
    });
    let arguments = json!({ "value": 1, "next": { "value": 2, "next": { "valve": 3 } } });
    assert_eq!(
        messages(&schema, &arguments),
        [
            "next.next.value required: missing required field `value` of `next.next` (integer)",
            "next.next.valve additionalProperties: unknown field `valve` of `next.next`; did you mean `value`? the fields are `next`, `value`",
        ]
    );
}

#[test]
fn references_are_described_by_their_targets() {
    let schema = json!({
        "properties": { "a": { "$ref": "#/$defs/D" } },
        "required": ["a"],
        "$defs": { "D": { "description": "Who.\nMore.", "oneOf": [{ "const": "x" }, { "const": "y" }] } },
    });
    assert_eq!(
        messages(&schema, &json!({})),
        ["a required: missing required argument `a` (one of \"x\", \"y\"): Who."]
    );
}
