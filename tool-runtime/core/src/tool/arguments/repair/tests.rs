use super::arguments::repair;
use super::name::nearest_name;
use super::*;
use serde_json::{Map, Value, json};

fn schema() -> Map<String, Value> {
    let schema = json!({
        "type": "object",
        "properties": {
            "file_path": { "type": "string" },
            "limit": { "type": "integer" },
            "ratio": { "type": ["number", "null"] },
            "all": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "filter": { "$ref": "#/$defs/Filter" },
            "any": {},
            "either": { "anyOf": [{ "type": "integer" }, { "type": "string" }] },
        },
        "required": ["file_path"],
        "additionalProperties": false,
        "$defs": { "Filter": { "type": "object", "properties": { "maxAge": { "type": "integer" } } } },
    });
    schema.as_object().unwrap().clone()
}

#[track_caller]
fn check(written: &str, expected: Value, expected_repairs: &[&str]) {
    let (text, repairs) = repair(&schema(), written).expect("it is repaired");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    let repairs: Vec<String> = repairs.iter().map(Repair::to_string).collect();
    assert_eq!(repairs, expected_repairs);
}

#[test]
fn each_repair_is_made_and_reported() {
    check(
        "{\"file_path\":\"a\nb\"}",
        json!({ "file_path": "a\nb" }),
        &["arguments: escaped control characters"],
    );
    check(
        r#"{"limit":1} </invoke>"#,
        json!({ "limit": 1 }),
        &["arguments: removed text after the last bracket"],
    );
    check(
        r#"{"tags":"[\"a\"]"}"#,
        json!({ "tags": ["a"] }),
        &["`tags`: parsed JSON from a string"],
    );
    check(r#"{"limit":"5"}"#, json!({ "limit": 5 }), &["`limit`: parsed a number from a string"]);
    check(r#"{"all":"True"}"#, json!({ "all": true }), &["`all`: parsed a boolean from a string"]);
    check(r#"{"limit":null}"#, json!({}), &["`limit`: removed `null`"]);
    check(r#"{"filePath":"a"}"#, json!({ "file_path": "a" }), &["`file_path`: corrected the name"]);
    check(
        r#"{"filter":"{\"max_age\":\"3\"}"}"#,
        json!({ "filter": { "maxAge": 3 } }),
        &[
            "`filter`: parsed JSON from a string",
            "`filter.maxAge`: corrected the name",
            "`filter.maxAge`: parsed a number from a string",
        ],
    );
    check(r#""{\"limit\":1}""#, json!({ "limit": 1 }), &["arguments: parsed JSON from a string"]);
}

#[test]
fn ambiguous_mistakes_are_not_repaired() {
    for written in [
        r#"{"file_path":"5"}"#,
        r#"{"either":"5"}"#,
        r#"{"any":"5"}"#,
        r#"{"ratio":null}"#,
        r#"{"limit":"five"}"#,
        r#"{"limit":"1.5"}"#,
        r#"{"limit":"0x10"}"#,
        r#"{"file_path":"a","filePath":"b"}"#,
        r#"{"filePath":"a","FilePath":"b"}"#,
        r#"{"limit":1}{"limit":2}"#,
        r#"{"limit":"#,
        r#"{"file_path":null,"other":1}"#,
    ] {
        let repaired = repair(&schema(), written);
        assert!(repaired.is_none(), "{written}: {repaired:?}");
    }
}

#[test]
fn tool_names_are_found_in_surrounding_text() {
    let names = ["add", "fs.read", "fs.write_all", "a-b", "a.b"];
    for (written, expected) in [
        ("add</tool_name>", Some("add")),
        ("<function=add>", Some("add")),
        ("<tool>add</tool>", Some("add")),
        ("functions.add", Some("add")),
        ("functions.add:0", Some("add")),
        ("\"add\"", Some("add")),
        ("Add", Some("add")),
        ("fs__read", Some("fs.read")),
        ("fs_read", Some("fs.read")),
        ("mcp__fs__read", Some("fs.read")),
        ("FsWriteAll", Some("fs.write_all")),
        ("default_api.fs_write_all", Some("fs.write_all")),
        ("add(a=1)", Some("add")),
        ("A_B", None),
        ("sub", None),
        ("", None),
    ] {
        assert_eq!(nearest_name(written, names.into_iter()), expected, "{written}");
    }
}
