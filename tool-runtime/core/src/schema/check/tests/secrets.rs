//! No message shows a value that some schema calls write-only.

use serde_json::{Value, json};

use super::check;

/// A text that must never show.
const SECRET: &str = "hunter2";

/// Schemas of the argument `a`, each broken by each of the values below.
fn schemas() -> Vec<Value> {
    let rules = [
        json!({ "type": "integer" }),
        json!({ "enum": ["hunter3", "x"] }),
        json!({ "const": "y" }),
        json!({ "type": "string", "pattern": "^z", "maxLength": 2, "format": "uuid" }),
        json!({ "not": {} }),
        json!({ "oneOf": [{ "const": "hunter1" }, { "const": "hunter3" }] }),
        json!({ "anyOf": [{ "type": "integer" }, { "type": "string", "minLength": 99 }, { "type": "object", "properties": { "hunter3": {} }, "required": ["hunter3"] }] }),
        json!({ "oneOf": [{ "type": "object", "required": ["k"], "properties": { "k": { "const": "c" } } }, { "type": "object", "required": ["k"], "properties": { "k": { "const": "d" } } }] }),
        json!({ "oneOf": [{ "type": "object", "required": ["p"], "properties": { "p": true } }, { "type": "object", "required": ["q"], "properties": { "q": true } }] }),
        json!({ "items": { "type": "integer" }, "additionalProperties": { "type": "integer" } }),
        json!({ "properties": { "hunter3": true }, "additionalProperties": false, "uniqueItems": true }),
        json!({ "properties": { "k": { "type": "integer" } }, "unevaluatedProperties": false }),
    ];
    rules.iter().flat_map(as_secrets).collect()
}

/// The rule marked as secret, in all supported ways.
fn as_secrets(rule: &Value) -> Vec<Value> {
    let mut marked = rule.clone();
    marked["writeOnly"] = json!(true);
    let secret = json!({ "writeOnly": true });
    let a = |schema: Value| json!({ "properties": { "a": schema } });
    vec![
        a(marked.clone()),
        a(json!({ "allOf": [rule, secret] })),
        a(json!({ "allOf": [rule], "anyOf": [false, secret, true] })),
        json!({ "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": marked } }),
        json!({ "properties": { "a": rule }, "patternProperties": { "^a$": secret } }),
        json!({ "allOf": [a(rule.clone()), a(secret.clone())] }),
        json!({ "if": a(json!({ "const": 5 })), "then": a(secret.clone()), "else": a(rule.clone()) }),
        json!({ "additionalProperties": marked }),
        json!({ "unevaluatedProperties": marked }),
    ]
}

#[test]
fn no_message_or_path_contains_a_secret() {
    let values = [
        json!(SECRET),
        json!([SECRET, SECRET, 1]),
        json!({ SECRET: 1 }),
        json!({ "k": SECRET }),
        json!({ "p": SECRET, "q": SECRET }),
        json!({ "deep": { "deeper": [SECRET, SECRET] } }),
    ];
    let mut issues_seen = 0;
    for schema in schemas() {
        for value in &values {
            for issue in check(&schema, &json!({ "a": value })) {
                issues_seen += 1;
                let json = serde_json::to_string(&issue).unwrap();
                assert!(!json.contains(SECRET), "{json} of {value} by {schema}");
                assert!(!json.contains("did you mean"), "{json} gives a hint of {value}");
            }
        }
    }
    assert!(issues_seen > 200, "only {issues_seen}");
}

#[test]
fn messages_contain_only_required_members() {
    let of = |rule: Value, value: Value| {
        let mut rule = rule;
        rule["writeOnly"] = json!(true);
        let issues = check(&json!({ "properties": { "pin": rule } }), &json!({ "pin": value }));
        issues[0].to_string()
    };
    assert_eq!(of(json!({ "type": "integer" }), json!("1234")), "`pin` must be an integer");
    assert_eq!(
        of(json!({ "not": { "const": 5 } }), json!(5)),
        "`pin` must not match the schema of `not`"
    );
    assert_eq!(of(json!({ "uniqueItems": true }), json!([5, 5])), "`pin` must not repeat an item");
    assert_eq!(of(json!({ "type": "integer" }), json!(1.0)), "`pin` must be an integer");
    assert_eq!(of(json!({ "minimum": 5 }), json!(1)), "`pin` must be at least 5");
    assert_eq!(
        of(json!({ "minLength": 5 }), json!("abc")),
        "`pin` must be at least 5 characters long"
    );
    assert_eq!(
        of(json!({ "enum": ["aaa", "bbb"] }), json!("aab")),
        "`pin` must be one of \"aaa\", \"bbb\""
    );
    assert_eq!(
        of(json!({ "pattern": "^[0-9]+$" }), json!("abc")),
        "`pin` must match the pattern `^[0-9]+$`"
    );
    assert_eq!(
        of(json!({ "additionalProperties": { "type": "null" } }), json!({ "k": 1 })),
        "`pin[…]` must be null"
    );
}

#[test]
fn values_beside_a_secret_are_shown() {
    let schema = json!({
        "properties": { "pin": { "type": "integer", "writeOnly": true }, "name": { "type": "integer" } },
    });
    let messages: Vec<String> = check(&schema, &json!({ "pin": "p", "name": "n" }))
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        messages,
        ["`pin` must be an integer", "`name` must be an integer, got the string \"n\""]
    );
}

#[test]
fn objects_that_contain_a_secret_are_not_shown() {
    let schema = json!({ "properties": { "a": { "enum": ["x"], "properties": { "pin": { "writeOnly": true } } } } });
    let messages = check(&schema, &json!({ "a": { "pin": SECRET } }))[0].to_string();
    assert_eq!(messages, "`a` must be \"x\", got an object");
}

#[test]
fn secret_items_of_any_keyword_are_not_shown() {
    let secret = json!({ "properties": { "k": { "writeOnly": true } } });
    let wrong = json!({ "items": { "properties": { "k": { "type": "integer" } } } });
    for (keyword, schema) in [("items", secret.clone()), ("prefixItems", json!([secret]))] {
        let schema = json!({ "properties": { "a": { "allOf": [wrong, { keyword: schema }] } } });
        let issues = check(&schema, &json!({ "a": [{ "k": SECRET }] }));
        assert!(issues.iter().any(|issue| issue.path() == "a[0].k"), "{keyword}: {issues:?}");
        let messages = issues.iter().map(ToString::to_string).collect::<String>();
        assert!(!messages.contains(SECRET), "{keyword}: {messages}");
    }
}
