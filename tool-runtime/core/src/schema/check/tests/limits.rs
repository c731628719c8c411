//! No stack overflow, no endless check, and unchecked values are rejected.

use serde_json::{Value, json};

use crate::schema::check::{asserts_more_than_types, check};

/// An object with one property. (`json!` would serialise the value by recursion.)
fn object(name: &str, value: Value) -> Value {
    Value::Object(std::iter::once((name.to_owned(), value)).collect())
}

/// Objects nested to a depth.
fn nest(name: &str, depth: usize) -> Value {
    (0..depth).fold(json!({}), |inner, _| object(name, inner))
}

/// Drops a value without recursion, as `Value` itself does not.
fn drop_iteratively(value: Value) {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Array(items) => waiting.extend(items),
            Value::Object(object) => waiting.extend(object.into_iter().map(|(_, value)| value)),
            _ => {}
        }
    }
}

/// A linked list as schemars writes `Option<Box<Self>>`, with more references.
fn list() -> Value {
    json!({
        "allOf": [{ "$ref": "#/$defs/Node" }],
        "$defs": { "Node": { "type": "object", "properties": { "next": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] } } } },
    })
}

#[test]
fn the_depth_limit_is_that_of_the_json_parser() {
    let itself = json!({ "type": "object", "properties": { "next": { "$ref": "#" } } });
    assert!(check(&itself, &nest("next", 126)).is_empty());
    assert!(check(&list(), &nest("next", 80)).is_empty());
}

#[test]
fn too_deep_values_are_rejected() {
    let arguments = nest("next", 100_000);
    let issues = check(&list(), &arguments);
    assert_eq!((issues.len(), issues[0].rule()), (1, "depth"));
    assert!(
        issues[0].message().ends_with("is nested too deeply to be checked; send something simpler")
    );
    drop_iteratively(arguments);
}

#[test]
fn too_deep_values_are_not_compared() {
    let deep = (0..100_000).fold(json!([]), |inner, _| Value::Array(vec![inner]));
    let arguments = object("a", Value::Array(vec![deep]));
    let issues = check(&json!({ "properties": { "a": { "uniqueItems": true } } }), &arguments);
    assert_eq!((issues.len(), issues[0].rule()), (1, "depth"));
    drop_iteratively(arguments);
}

#[test]
fn deep_schemas_do_not_overflow() {
    for keyword in ["not", "if", "items", "additionalProperties"] {
        let schema = nest(keyword, 50_000);
        check(&schema, &json!({ "a": [[]] }));
        asserts_more_than_types(&schema, &schema);
        drop_iteratively(schema);
    }
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema =
            (0..50_000).fold(json!({}), |inner, _| object(keyword, Value::Array(vec![inner])));
        check(&schema, &json!({ "a": [[]] }));
        asserts_more_than_types(&schema, &schema);
        drop_iteratively(schema);
    }
}

#[test]
fn cycles_are_walked_once() {
    let schema = json!({
        "$ref": "#/$defs/A",
        "anyOf": [{ "$ref": "#" }, { "$ref": "#/$defs/B" }],
        "$defs": { "A": { "allOf": [{ "$ref": "#/$defs/B" }] }, "B": { "oneOf": [{ "$ref": "#/$defs/A" }], "required": ["x"] } },
    });
    assert!(check(&schema, &json!({ "x": 1 })).is_empty());
    assert_eq!(check(&schema, &json!({}))[0].rule(), "required");
    assert!(!asserts_more_than_types(&schema, &schema));
}

#[test]
fn alternatives_that_multiply_end_in_an_issue() {
    let mut defs = serde_json::Map::new();
    for level in 0..60 {
        let next = json!({ "$ref": format!("#/$defs/{}", level + 1) });
        defs.insert(level.to_string(), json!({ "allOf": [next, next] }));
    }
    let issues = check(&json!({ "$ref": "#/$defs/0", "$defs": defs }), &json!({}));
    assert_eq!(issues[0].rule(), "depth");
    let message =
        "the arguments are too large or too ambiguous to be checked; send something simpler";
    assert_eq!(issues[0].message(), message);
}

#[test]
fn trees_of_tagged_enums_are_walked_once() {
    let node = |kind: &str| {
        json!({
            "type": "object",
            "properties": { "op": { "const": kind }, "l": { "$ref": "#/$defs/E" }, "r": { "$ref": "#/$defs/E" } },
            "required": ["op", "l", "r"],
        })
    };
    let mut branches: Vec<Value> = ["add", "sub", "mul", "div"].map(node).into();
    branches.push(json!({ "type": "number" }));
    let schema = json!({ "properties": { "e": { "$ref": "#/$defs/E" } }, "$defs": { "E": { "oneOf": branches } } });
    let tree = (0..80).fold(json!(1), |inner, _| json!({ "op": "mul", "l": inner, "r": 1 }));
    assert!(check(&schema, &json!({ "e": tree })).is_empty());
    let tree = (0..30).fold(json!("x"), |inner, _| json!({ "op": "mul", "l": inner, "r": 1 }));
    let issues = check(&schema, &json!({ "e": tree }));
    assert_eq!(issues.len(), 1);
    assert!(issues[0].message().ends_with("got the string \"x\""), "{issues:?}");
}

#[test]
fn no_more_than_thirty_two_issues() {
    let many: Vec<u32> = (0..100_000).collect();
    let issues = check(
        &json!({ "properties": { "a": { "items": { "type": "string" } } } }),
        &json!({ "a": many }),
    );
    assert_eq!(issues.len(), 32);
    let unknown: Value =
        (0..10_000).map(|i| (format!("x{i}"), json!(1))).collect::<serde_json::Map<_, _>>().into();
    assert_eq!(check(&json!({ "additionalProperties": false }), &unknown).len(), 32);
}

#[test]
fn large_arguments_are_checked_to_the_end() {
    let mut many: Vec<Value> = (0..50_000).map(|i| json!({ "x": i })).collect();
    let schema = json!({ "properties": { "a": { "uniqueItems": true, "items": { "anyOf": [{ "properties": { "x": { "type": "integer" } } }] } } } });
    assert!(check(&schema, &json!({ "a": many.clone() })).is_empty());
    many.push(json!({ "x": "y" }));
    assert_eq!(check(&schema, &json!({ "a": many }))[0].path(), "a[50000].x");
}
