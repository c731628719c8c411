//! `anyOf` and `oneOf`: the reported issue is that of the intended alternative.

use schemars::JsonSchema;
use serde_json::{Value, json};

use super::messages;

/// The schema of a tool with one argument `a` of type `T`, as schemars derives it.
fn tool<T: JsonSchema>() -> Value {
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Arguments<T> {
        a: T,
    }
    schemars::schema_for!(Arguments<T>).to_value()
}

/// Checks the messages for each value of the argument `a`, without path and rule.
fn assert_messages_of<T: JsonSchema>(rows: &[(Value, &[&str])]) {
    let schema = tool::<T>();
    for (value, expected) in rows {
        let issues = super::check(&schema, &json!({ "a": value }));
        let messages: Vec<String> = issues.iter().map(ToString::to_string).collect();
        assert_eq!(messages, *expected, "{value} by {schema:#}");
    }
}

// The types below have no documentation: it would be part of their schemas.

#[derive(JsonSchema)]
#[allow(dead_code)]
#[schemars(rename_all = "lowercase")]
enum Plain {
    Celsius,
    Fahrenheit,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
#[schemars(rename_all = "lowercase")]
enum Described {
    /// The usual one.
    Celsius,
    /// The other one.
    Fahrenheit,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
enum External {
    Point,
    Circle { r: f64 },
    Square(u8),
}

#[derive(JsonSchema)]
#[allow(dead_code)]
#[schemars(tag = "kind", rename_all = "lowercase")]
enum Internal {
    Circle { r: f64 },
    Square { side: u8, name: Option<String> },
    Empty,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
#[schemars(tag = "t", content = "c")]
enum Adjacent {
    Circle { r: f64 },
    Square(u8),
    Empty,
}

#[derive(JsonSchema)]
#[allow(dead_code)]
#[schemars(untagged)]
enum Untagged {
    Path { path: String, depth: u8 },
    Url { url: String },
    Number(i64),
    Many(Vec<String>),
}

#[test]
fn unit_variants() {
    let rows: &[(Value, &[&str])] = &[
        (json!("celsius"), &[]),
        (
            json!("celcius"),
            &[
                "`a` must be one of \"celsius\", \"fahrenheit\", got \"celcius\"; did you mean \"celsius\"?",
            ],
        ),
        (json!(["celsius"]), &["`a` must be one of \"celsius\", \"fahrenheit\", got an array"]),
    ];
    assert_messages_of::<Plain>(rows);
    assert_messages_of::<Described>(rows);
}

#[test]
fn optional_unit_variants() {
    let rows: &[(Value, &[&str])] = &[
        (json!(null), &[]),
        (json!("K"), &["`a` must be one of \"celsius\", \"fahrenheit\", null, got \"K\""]),
    ];
    assert_messages_of::<Option<Plain>>(rows);
    assert_messages_of::<Option<Described>>(rows);
}

#[test]
fn external_tags() {
    assert_messages_of::<External>(&[
        (json!("Point"), &[]),
        (json!({ "Square": 3 }), &[]),
        (
            json!({ "Circle": { "r": "x" } }),
            &["`a.Circle.r` must be a number, got the string \"x\""],
        ),
        (json!({ "Square": 300 }), &["`a.Square` must be at most 255, got 300"]),
        (
            json!({ "Cirle": {} }),
            &[
                "`a` must be \"Point\" or an object with exactly one of the fields `Circle`, `Square`, got `Cirle`; did you mean `Circle`?",
            ],
        ),
        (
            json!({ "Circle": { "r": 1 }, "Square": 1 }),
            &[
                "`a` must be \"Point\" or an object with exactly one of the fields `Circle`, `Square`, got `Circle`, `Square`",
            ],
        ),
        (
            json!("Pont"),
            &[
                "`a` must be \"Point\" or an object with exactly one of the fields `Circle`, `Square`, got the string \"Pont\"; did you mean \"Point\"?",
            ],
        ),
        (
            json!(5),
            &[
                "`a` must be \"Point\" or an object with exactly one of the fields `Circle`, `Square`, got 5",
            ],
        ),
    ]);
}

#[test]
fn internal_tags() {
    assert_messages_of::<Internal>(&[
        (json!({ "kind": "circle", "r": 1 }), &[]),
        (
            json!({ "kind": "cirle", "r": 1 }),
            &[
                "`a.kind` must be one of \"circle\", \"square\", \"empty\", got \"cirle\"; did you mean \"circle\"?",
            ],
        ),
        (
            json!({ "r": 1 }),
            &["missing required field `kind` of `a` (one of \"circle\", \"square\", \"empty\")"],
        ),
        (
            json!({ "kind": 5 }),
            &["`a.kind` must be one of \"circle\", \"square\", \"empty\", got 5"],
        ),
        (
            json!({ "kind": "square", "side": -1, "name": 5 }),
            &["`a.side` must be at least 0, got -1", "`a.name` must be a string or null, got 5"],
        ),
        (
            json!("circle"),
            &[
                "`a` must be an object with `kind` and `r`, an object with `kind` and `side` or an object with `kind`, got the string \"circle\"",
            ],
        ),
    ]);
    assert_messages_of::<Option<Internal>>(&[
        (json!(null), &[]),
        (
            json!({ "kind": "cirle" }),
            &[
                "`a.kind` must be one of \"circle\", \"square\", \"empty\", got \"cirle\"; did you mean \"circle\"?",
            ],
        ),
        (json!({ "kind": "circle" }), &["missing required field `r` of `a` (number)"]),
    ]);
}

#[test]
fn adjacent_tags() {
    assert_messages_of::<Adjacent>(&[
        (json!({ "t": "Square", "c": 3 }), &[]),
        (json!({ "t": "Empty" }), &[]),
        (json!({ "t": "Square", "c": "x" }), &["`a.c` must be an integer, got the string \"x\""]),
        (json!({ "t": "Circle" }), &["missing required field `c` of `a` (object)"]),
        (
            json!({ "t": "Cube" }),
            &["`a.t` must be one of \"Circle\", \"Square\", \"Empty\", got \"Cube\""],
        ),
    ]);
}

#[test]
fn no_tags() {
    assert_messages_of::<Untagged>(&[
        (json!({ "url": "x" }), &[]),
        (json!(5), &[]),
        (json!({ "url": 5 }), &["`a.url` must be a string, got 5"]),
        (json!({ "path": "x" }), &["missing required field `depth` of `a` (integer)"]),
        (json!(["x", 5]), &["`a[1]` must be a string, got 5"]),
        (
            json!(1.0),
            &[
                "`a` must be an object with `path` and `depth`, an object with `url`, an integer or an array of string, got 1.0",
            ],
        ),
        (
            json!({ "uri": "x" }),
            &[
                "`a` must be an object with `path` and `depth`, an object with `url`, an integer or an array of string, got an object",
            ],
        ),
        (
            json!("x"),
            &[
                "`a` must be an object with `path` and `depth`, an object with `url`, an integer or an array of string, got the string \"x\"",
            ],
        ),
    ]);
}

#[test]
fn optional_structs() {
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    struct Range {
        from: u8,
    }
    assert_messages_of::<Option<Range>>(&[
        (json!({}), &["missing required field `from` of `a` (integer)"]),
        (json!({ "from": "x" }), &["`a.from` must be an integer, got the string \"x\""]),
        (json!("x"), &["`a` must be an object with `from` or null, got the string \"x\""]),
    ]);
}

#[test]
fn flattened_enums_with_unknown_fields_denied() {
    #[derive(JsonSchema)]
    #[allow(dead_code)]
    #[schemars(deny_unknown_fields)]
    struct Outer {
        id: u8,
        #[schemars(flatten)]
        inner: Internal,
    }
    assert_messages_of::<Outer>(&[
        (json!({ "id": 1, "kind": "circle", "r": 1 }), &[]),
        (
            json!({ "id": 1, "kind": "circle", "r": 1, "z": 1 }),
            &["unknown field `z` of `a`; the fields are `id`, `kind`, `r`, `side`, `name`"],
        ),
        (
            json!({ "id": 1, "kind": "circle", "r": 1, "side": 1 }),
            &["unknown field `side` of `a`; the fields are `id`, `kind`, `r`, `name`"],
        ),
        (
            json!({ "kind": "circle", "q": 1 }),
            &[
                "missing required field `id` of `a` (integer)",
                "missing required field `r` of `a` (number)",
                "unknown field `q` of `a`; the fields are `id`, `kind`, `r`, `side`, `name`",
            ],
        ),
    ]);
}

#[test]
fn values_that_match_several_variants() {
    let schema = json!({ "properties": { "a": { "oneOf": [{ "type": "integer" }, { "type": "number" }] } } });
    assert_eq!(
        messages(&schema, &json!({ "a": 1 })),
        [
            "a oneOf: `a` must fit exactly one of the allowed forms, but fits several: an integer and a number"
        ]
    );
    assert!(messages(&schema, &json!({ "a": 1.5 })).is_empty());
}

#[test]
fn rules_and_paths_of_unions() {
    let schema = tool::<Internal>();
    let messages = messages(&schema, &json!({ "a": { "kind": "cirle" } }));
    assert!(messages[0].starts_with("a.kind enum: "), "{messages:?}");
}

#[test]
fn the_quick_check_keeps_valid_variants() {
    let cases = [
        (json!({ "anyOf": [{ "const": 1 }] }), json!(1.0)),
        (json!({ "oneOf": [{ "enum": [1.0, "x"] }, { "type": "null" }] }), json!(1)),
        (
            json!({ "anyOf": [{ "type": "integer", "format": "int128" }, { "type": "null" }] }),
            json!(1e25),
        ),
        (json!({ "anyOf": [{ "type": "number" }] }), json!(1)),
        (
            json!({ "oneOf": [{ "required": ["k"], "properties": { "k": { "const": 1 } } }] }),
            json!({ "k": 1.0 }),
        ),
    ];
    for (schema, value) in cases {
        let schema = json!({ "properties": { "a": schema } });
        assert!(messages(&schema, &json!({ "a": value })).is_empty(), "{value} by {schema}");
    }
}
