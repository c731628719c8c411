//! Recognizes schemas that are stricter than decoding, among those that schemars derives.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::num::{NonZeroI32, NonZeroU32};
use std::time::Duration;

use schemars::{JsonSchema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::schema::check::{asserts_more_than_types, check, own_problem, problem};

/// Whether the schema of `T` asserts more than types.
fn asserts<T: JsonSchema>() -> bool {
    let schema = schema_for!(T).to_value();
    asserts_more_than_types(&schema, &schema)
}

// The types below have no documentation: it would be part of their schemas.

#[derive(JsonSchema)]
#[allow(dead_code)]
struct Everything {
    signed: (i8, i16, i32, i64, i128, isize),
    unsigned: (u8, u16, u32, u64, u128, usize),
    optional: (Option<u8>, Option<i64>, Option<f32>, Option<bool>),
    floats: Vec<(f32, f64)>,
    text: Option<String>,
    duration: Duration,
    nothing: [u8; 0],
    map: HashMap<String, Vec<i64>>,
    by_number: BTreeMap<u8, i64>,
    by_signed: BTreeMap<i32, bool>,
    by_name: BTreeMap<Unit, bool>,
    recursive: Option<Box<Everything>>,
    many: Vec<Internal>,
    external: External,
    adjacent: Adjacent,
    untagged: Untagged,
    anything: Value,
    result: Result<u8, String>,
}

#[derive(JsonSchema, PartialEq, Eq, PartialOrd, Ord)]
#[allow(dead_code)]
enum Unit {
    /// The first.
    A,
    B,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
enum External {
    Unit,
    New(u8),
    Tuple(u8, String),
    Struct { a: Option<u8> },
}

#[derive(JsonSchema)]
#[allow(dead_code)]
#[schemars(tag = "kind", deny_unknown_fields)]
enum Internal {
    Unit,
    Struct { a: Option<u8> },
}

#[derive(JsonSchema)]
#[allow(dead_code)]
#[schemars(tag = "t", content = "c")]
enum Adjacent {
    Unit,
    New(u8),
    Struct { a: Option<u8> },
}

#[derive(JsonSchema)]
#[allow(dead_code)]
#[schemars(untagged)]
enum Untagged {
    New(u8),
    Struct { a: u8 },
    Unit,
}

/// A struct with one field and its attributes.
macro_rules! with_field {
    ($(#[$attribute:meta])* $type:ty) => {{
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Arguments {
            $(#[$attribute])*
            field: $type,
        }
        #[derive(JsonSchema)]
        #[allow(dead_code)]
        struct Nested {
            deeper: Vec<Option<Box<Arguments>>>,
        }
        assert_eq!(asserts::<Arguments>(), asserts::<Nested>());
        asserts::<Arguments>()
    }};
}

#[test]
fn types_without_assertions_need_no_check() {
    assert!(!asserts::<Everything>(), "{:#}", schema_for!(Everything).to_value());
    assert!(!asserts::<()>());
    assert!(!with_field!(
        #[schemars(range(min = 0, max = 255))]
        u8
    ));
    assert!(!with_field!(
        #[serde(default)]
        u8
    ));
}

#[test]
fn attributes_need_a_check() {
    assert!(with_field!(
        #[schemars(range(min = 1, max = 5))]
        i64
    ));
    assert!(with_field!(#[schemars(range(min = 1, max = 5))] Option<u8>));
    assert!(with_field!(
        #[schemars(range(min = 1))]
        u32
    ));
    assert!(with_field!(
        #[schemars(range(max = 5))]
        f32
    ));
    assert!(with_field!(
        #[schemars(length(min = 1))]
        String
    ));
    assert!(with_field!(#[schemars(length(equal = 4))] Vec<u8>));
    assert!(with_field!(#[schemars(length(max = 4))] Vec<u8>));
    assert!(with_field!(#[schemars(inner(length(max = 4)))] Vec<String>));
    assert!(with_field!(
        #[schemars(regex(pattern = "^a"))]
        String
    ));
    assert!(with_field!(
        #[schemars(contains(pattern = "a"))]
        String
    ));
    assert!(with_field!(
        #[schemars(email)]
        String
    ));
    assert!(with_field!(#[schemars(url)] Option<String>));
    assert!(with_field!(#[schemars(extend("minProperties" = 1))] HashMap<String, u8>));
    assert!(with_field!(
        #[schemars(extend("multipleOf" = 5))]
        u64
    ));
}

#[test]
fn types_with_assertions_need_a_check() {
    assert!(asserts::<char>());
    assert!(asserts::<[u8; 4]>());
    assert!(asserts::<NonZeroU32>());
    assert!(asserts::<NonZeroI32>());
    assert!(asserts::<HashSet<u8>>());
    assert!(asserts::<IpAddr>());
}

#[test]
fn only_reachable_parts_count() {
    let root = json!({
        "properties": { "a": { "$ref": "#/$defs/Plain" }, "b": { "$ref": "#/$defs/Picky" } },
        "$defs": { "Plain": { "type": "string" }, "Picky": { "type": "string", "minLength": 1 }, "Unused": { "pattern": "x" } },
    });
    assert!(asserts_more_than_types(&root, &root));
    assert!(!asserts_more_than_types(&root, &root["properties"]["a"]));
    assert!(asserts_more_than_types(&root, &root["properties"]["b"]));
}

#[test]
fn each_assertion_counts() {
    let counted = [
        json!({ "minimum": 0 }),
        json!({ "format": "uint8", "minimum": 1 }),
        json!({ "format": "uint8", "maximum": 254 }),
        json!({ "format": "double", "minimum": 0 }),
        json!({ "exclusiveMaximum": 1 }),
        json!({ "multipleOf": 2 }),
        json!({ "maxLength": 2 }),
        json!({ "pattern": "" }),
        json!({ "format": "date" }),
        json!({ "uniqueItems": true }),
        json!({ "minItems": 1 }),
        json!({ "prefixItems": [true, true], "minItems": 1, "maxItems": 2 }),
        json!({ "patternProperties": { "^x": true } }),
        json!({ "not": false }),
        json!({ "if": true }),
    ];
    let ignored = [
        json!({ "format": "uint8", "minimum": 0, "maximum": 255 }),
        json!({ "format": "colour", "title": "x", "default": 1, "x-unknown": { "minimum": 1 } }),
        json!({ "uniqueItems": false }),
        json!({ "prefixItems": [true, true], "minItems": 2, "maxItems": 2 }),
        json!({ "enum": [{ "minimum": 1 }], "const": { "pattern": "x" }, "examples": [{ "minLength": 1 }] }),
        json!({ "$ref": "#" }),
        json!({ "$ref": "elsewhere" }),
        json!(true),
    ];
    let positions = |schema: &Value| {
        [
            schema.clone(),
            json!({ "properties": { "minimum": schema } }),
            json!({ "items": schema }),
            json!({ "prefixItems": [schema] }),
            json!({ "additionalProperties": schema }),
            json!({ "anyOf": [true, { "allOf": [{ "oneOf": [schema] }] }] }),
        ]
    };
    for (schemas, expected) in [(&counted[..], true), (&ignored[..], false)] {
        for schema in schemas.iter().flat_map(positions) {
            assert_eq!(asserts_more_than_types(&schema, &schema), expected, "{schema}");
        }
    }
}

#[test]
fn keywords_that_are_not_checked_are_named() {
    let problem = |schema: Value| problem(schema.as_object().expect("an object"), "input");
    let list = json!({ "type": "array", "contains": { "const": 1 } });
    let found = problem(json!({ "properties": { "a": { "anyOf": [list, true] } } }));
    assert_eq!(
        found.as_deref(),
        Some(
            "its input schema uses `contains`, which is not checked; remove it, and check the value in the tool"
        )
    );
    assert_eq!(problem(json!({ "properties": { "contains": { "type": "string" } } })), None);
}

#[test]
fn two_fields_of_one_name_are_reported() {
    let of = |schema: Value| own_problem(schema.as_object().expect("an object"));
    let item = json!({ "type": "object", "required": ["a", "b", "a"] });
    assert_eq!(
        of(json!({ "properties": { "list": { "items": item } } })).as_deref(),
        Some(
            "its input schema requires `a` twice: two fields of a struct have this name; rename one of them"
        )
    );
    assert_eq!(of(json!({ "required": ["a", "b"] })), None);
}

#[test]
fn unknown_fields_beside_flattened_ones_are_left_to_serde() {
    #[derive(Debug, JsonSchema, Deserialize)]
    #[allow(dead_code)]
    struct Page {
        from: u8,
    }
    #[derive(Debug, JsonSchema, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Query {
        text: String,
        #[serde(flatten)]
        page: Page,
    }
    let schema = schema_for!(Query).to_value();
    assert!(!asserts_more_than_types(&schema, &schema));
    for (arguments, fits) in [
        (json!({ "text": "x", "from": 1 }), true),
        (json!({ "text": "x", "from": 1, "to": 2 }), false),
    ] {
        assert_eq!(check(&schema, &arguments).is_empty(), fits, "{schema:#}");
        assert_eq!(serde_json::from_value::<Query>(arguments).is_ok(), fits);
    }
}
