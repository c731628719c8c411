//! Each keyword with valid values, invalid values, and the messages.

use serde_json::{Value, json};

use super::{assert_messages, assert_messages_of_a, messages};

#[test]
fn arguments_are_an_object() {
    assert_messages(&[
        (json!({}), json!([1]), &[" type: the arguments must be a JSON object, got an array"]),
        (json!({}), json!(null), &[" type: the arguments must be a JSON object, got null"]),
        (json!(true), json!("x"), &[" type: the arguments must be a JSON object, got a string"]),
        (json!(false), json!({}), &[" false: the arguments are not allowed"]),
        (json!(17), json!({}), &[]),
        (json!({}), json!({ "x": 1 }), &[]),
    ]);
}

#[test]
fn types() {
    assert_messages_of_a(&[
        (
            json!({ "type": "integer" }),
            json!("x"),
            &["`a` must be an integer, got the string \"x\""],
        ),
        (json!({ "type": "integer" }), json!(1.0), &["`a` must be an integer, got 1.0; write 1"]),
        (
            json!({ "type": "integer" }),
            json!(-2.0),
            &["`a` must be an integer, got -2.0; write -2"],
        ),
        (json!({ "type": "integer" }), json!(1.5), &["`a` must be an integer, got 1.5"]),
        (
            json!({ "type": "integer" }),
            json!(1e20),
            &[
                "`a` must be an integer, got 1e+20; it must fit in 64 bits and have neither fraction nor exponent",
            ],
        ),
        (json!({ "type": "integer" }), json!(u64::MAX), &[]),
        (json!({ "type": "integer", "format": "int128" }), json!(1e20), &[]),
        (json!({ "type": "number" }), json!(1), &[]),
        (json!({ "type": "number" }), json!(true), &["`a` must be a number, got the boolean true"]),
        (json!({ "type": ["integer", "null"] }), json!(null), &[]),
        (
            json!({ "type": ["string", "null"] }),
            json!([1]),
            &["`a` must be a string or null, got an array"],
        ),
        (json!({ "type": "string" }), json!({ "b": 1 }), &["`a` must be a string, got an object"]),
        (json!({ "type": "array" }), json!(null), &["`a` must be an array, got null"]),
        (json!({ "type": "fancy" }), json!(null), &[]),
        (json!(false), json!(1), &["`a` is not allowed"]),
    ]);
}

#[test]
fn literals() {
    let unit = json!({ "type": "string", "enum": ["celsius", "fahrenheit"] });
    assert_messages_of_a(&[
        (unit.clone(), json!("celsius"), &[]),
        (
            unit.clone(),
            json!("celsus"),
            &[
                "`a` must be one of \"celsius\", \"fahrenheit\", got \"celsus\"; did you mean \"celsius\"?",
            ],
        ),
        (unit.clone(), json!("K"), &["`a` must be one of \"celsius\", \"fahrenheit\", got \"K\""]),
        (unit, json!(5), &["`a` must be one of \"celsius\", \"fahrenheit\", got 5"]),
        (
            json!({ "enum": ["1", "2"] }),
            json!(2),
            &["`a` must be one of \"1\", \"2\", got 2; did you mean \"2\"?"],
        ),
        (json!({ "const": 1 }), json!(1.0), &[]),
        (json!({ "const": { "b": [1] } }), json!({ "b": [1.0] }), &[]),
        (json!({ "const": 1 }), json!(2), &["`a` must be 1, got 2"]),
        (json!({ "enum": [] }), json!(2), &["`a` must be left out: no value is allowed, got 2"]),
    ]);
}

#[test]
fn numbers() {
    assert_messages_of_a(&[
        (json!({ "maximum": 50 }), json!(80), &["`a` must be at most 50, got 80"]),
        (json!({ "maximum": 50 }), json!(50.0), &[]),
        (json!({ "minimum": -1.5 }), json!(-2), &["`a` must be at least -1.5, got -2"]),
        (json!({ "exclusiveMinimum": 0 }), json!(0), &["`a` must be greater than 0, got 0"]),
        (json!({ "exclusiveMaximum": 1 }), json!(1.0), &["`a` must be less than 1, got 1.0"]),
        (json!({ "multipleOf": 5 }), json!(7), &["`a` must be a multiple of 5, got 7"]),
        (json!({ "multipleOf": 0.1 }), json!(0.3), &[]),
        (json!({ "multipleOf": 0.1 }), json!(0.35), &["`a` must be a multiple of 0.1, got 0.35"]),
        (json!({ "multipleOf": 0 }), json!(7), &[]),
        (json!({ "maximum": 1 }), json!("80"), &[]),
    ]);
}

#[test]
fn huge_integers_keep_their_last_digit() {
    let (top, below) = (u64::MAX, u64::MAX - 1);
    assert_messages_of_a(&[
        (
            json!({ "maximum": below }),
            json!(top),
            &["`a` must be at most 18446744073709551614, got 18446744073709551615"],
        ),
        (
            json!({ "maximum": 9_007_199_254_740_992.0 }),
            json!(9_007_199_254_740_993_i64),
            &["`a` must be at most 9007199254740992.0, got 9007199254740993"],
        ),
        (
            json!({ "const": top }),
            json!(below),
            &["`a` must be 18446744073709551615, got 18446744073709551614"],
        ),
        (
            json!({ "multipleOf": 2 }),
            json!(top),
            &["`a` must be a multiple of 2, got 18446744073709551615"],
        ),
        (json!({ "uniqueItems": true }), json!([top, below]), &[]),
        (json!({ "minimum": i64::MIN }), json!(i64::MIN), &[]),
        (json!({ "maximum": 1e300 }), json!(top), &[]),
    ]);
}

#[test]
fn integer_types_have_their_limits() {
    assert_messages_of_a(&[
        (
            json!({ "format": "uint32", "minimum": 0 }),
            json!(5_000_000_000_u64),
            &["`a` must be at most 4294967295, got 5000000000"],
        ),
        (
            json!({ "format": "uint32", "minimum": 0 }),
            json!(-1),
            &["`a` must be at least 0, got -1"],
        ),
        (json!({ "format": "int8" }), json!(-129), &["`a` must be at least -128, got -129"]),
        (
            json!({ "format": "int64" }),
            json!(u64::MAX),
            &["`a` must be at most 9223372036854775807, got 18446744073709551615"],
        ),
        (json!({ "format": "uint128" }), json!(u64::MAX), &[]),
        (json!({ "format": "int32" }), json!("text"), &[]),
    ]);
}

#[test]
fn strings() {
    assert_messages_of_a(&[
        (
            json!({ "minLength": 3 }),
            json!("éé"),
            &["`a` must be at least 3 characters long, got 2"],
        ),
        (json!({ "minLength": 1 }), json!(""), &["`a` must not be empty"]),
        (json!({ "maxLength": 2 }), json!("éé"), &[]),
        (json!({ "maxLength": 1 }), json!("éé"), &["`a` must be at most 1 character long, got 2"]),
        (json!({ "pattern": "b" }), json!("abc"), &[]),
        (
            json!({ "pattern": "^b" }),
            json!("abc"),
            &["`a` must match the pattern `^b`, got \"abc\""],
        ),
        (json!({ "pattern": "(" }), json!("abc"), &[]),
        (
            json!({ "format": "date" }),
            json!("2026-02-30"),
            &["`a` must be a valid date (like \"2026-01-31\"), got \"2026-02-30\""],
        ),
        (json!({ "format": "colour" }), json!("red"), &[]),
    ]);
}

#[test]
fn long_values_are_cut_and_escaped() {
    let long = format!("{}\n", "é".repeat(70));
    let messages = messages(
        &json!({ "properties": { "a": { "maxLength": 1, "pattern": "^x" } } }),
        &json!({ "a": long }),
    );
    assert_eq!(
        messages[1],
        format!("a pattern: `a` must match the pattern `^x`, got \"{}…\"", "é".repeat(60))
    );
    assert_messages_of_a(&[(
        json!({ "enum": ["a\"b"] }),
        json!("x\n`ignore`"),
        &["`a` must be \"a\\\"b\", got \"x\\n`ignore`\""],
    )]);
}

#[test]
fn arrays() {
    assert_messages_of_a(&[
        (json!({ "minItems": 1 }), json!([]), &["`a` must have at least 1 item, got 0"]),
        (json!({ "maxItems": 2 }), json!([1, 2, 3]), &["`a` must have at most 2 items, got 3"]),
        (
            json!({ "uniqueItems": true }),
            json!([1, 2, 1.0]),
            &["`a` must not repeat an item, but items 0 and 2 are equal"],
        ),
        (
            json!({ "uniqueItems": true }),
            json!([{ "x": 1, "y": 2 }, { "y": 2, "x": 1 }]),
            &["`a` must not repeat an item, but items 0 and 1 are equal"],
        ),
        (
            json!({ "items": { "type": "string" } }),
            json!(["x", 5]),
            &["`a[1]` must be a string, got 5"],
        ),
        (
            json!({ "prefixItems": [{ "type": "string" }], "items": false }),
            json!(["x", 5]),
            &["`a` must have at most 1 item, got 2"],
        ),
        (
            json!({ "prefixItems": [{ "type": "string" }], "items": { "type": "null" } }),
            json!([1, 2]),
            &["`a[0]` must be a string, got 1", "`a[1]` must be null, got 2"],
        ),
    ]);
}

#[test]
fn combinations() {
    assert_messages_of_a(&[
        (
            json!({ "allOf": [{ "minimum": 1 }, { "maximum": -1 }] }),
            json!(0),
            &["`a` must be at least 1, got 0", "`a` must be at most -1, got 0"],
        ),
        (
            json!({ "allOf": [{ "minimum": 1 }, { "minimum": 1 }] }),
            json!(0),
            &["`a` must be at least 1, got 0"],
        ),
        (json!({ "not": { "minimum": 1 } }), json!(3), &["`a` must not match the schema of `not`"]),
        (
            json!({ "if": { "minimum": 1 }, "then": { "maximum": 5 }, "else": { "const": -1 } }),
            json!(6),
            &["`a` must be at most 5, got 6"],
        ),
        (
            json!({ "if": { "minimum": 1 }, "then": { "maximum": 5 }, "else": { "const": -1 } }),
            json!(0),
            &["`a` must be -1, got 0"],
        ),
        (
            json!({ "allOf": [{ "properties": { "x": {} } }], "if": { "required": ["y"] }, "then": { "properties": { "y": {} } }, "unevaluatedProperties": false }),
            json!({ "x": 1, "y": 1, "z": 1 }),
            &["unknown field `z` of `a`; the fields are `x`, `y`"],
        ),
        (
            json!({ "properties": { "x": {} }, "unevaluatedProperties": { "type": "string" } }),
            json!({ "x": 1, "z": 1 }),
            &["`a.z` must be a string, got 1"],
        ),
    ]);
}

#[test]
fn properties_in_a_fitting_condition_are_evaluated() {
    let condition = json!({ "properties": { "x": { "const": 1 } }, "required": ["x"] });
    let closed =
        |keyword: &str, schema: &Value| json!({ keyword: schema, "unevaluatedProperties": false });
    assert_messages_of_a(&[
        (closed("if", &condition), json!({ "x": 1 }), &[]),
        (
            closed("if", &condition),
            json!({ "x": 2 }),
            &["unknown field `x` of `a`; there are no fields"],
        ),
        (closed("anyOf", &json!([condition, true])), json!({ "x": 1 }), &[]),
        (
            closed("not", &json!({ "properties": { "x": { "const": 2 } }, "required": ["x"] })),
            json!({ "x": 1 }),
            &["unknown field `x` of `a`; there are no fields"],
        ),
    ]);
}
