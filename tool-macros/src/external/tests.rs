use super::generate;
use serde_json::{Value, json};

/// The generated code, formatted, without attributes.
fn generated(tools: Value) -> String {
    let tokens = generate(&tools.to_string(), "tools.json").expect("definitions");
    let file = syn::parse2(tokens).expect("items");
    let text = prettyplease::unparse(&file);
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

fn of_properties(properties: Value) -> String {
    generated(json!({
        "name": "s.do_it",
        "inputSchema": { "type": "object", "properties": properties, "required": [] },
    }))
}

#[track_caller]
fn has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
}

#[test]
fn every_name_becomes_an_identifier_of_its_own() {
    let text = of_properties(json!({
        "type": { "type": "string" },
        "self": { "type": "string" },
        "maxLength": { "type": "integer" },
        "max_length": { "type": "integer" },
        "2d": { "type": "boolean" },
        "ключ": { "type": "string" },
        "a-b.c": { "type": "string" },
        "union": { "type": "string" },
    }));
    has(
        &text,
        &[
            "pub r#type: ",
            "pub self_: ",
            "pub max_length: ",
            "#[serde(rename = \"max_length\")]",
            "pub max_length_2: ",
            "pub _2d: ",
            "#[serde(rename = \"ключ\")]",
            "pub value: ",
            "#[serde(rename = \"a-b.c\")]",
            "pub a_b_c: ",
            "pub union: ",
        ],
    );
}

#[test]
fn schemas_become_types() {
    let text = of_properties(json!({
        "size": { "type": "integer", "format": "uint64" },
        "names": { "type": "array", "items": { "type": "string" } },
        "scores": { "type": "object", "additionalProperties": { "type": "number" } },
        "free": { "type": "object" },
        "nullable": { "anyOf": [{ "type": "boolean" }, { "type": "null" }] },
        "unit": { "enum": ["metric", "imperial", "Metric"] },
        "point": { "$ref": "#/$defs/Point" },
        "either": { "oneOf": [{ "type": "string" }, { "type": "integer" }] },
        "mixed": { "enum": [1, "a"] },
    }));
    has(
        &text,
        &[
            "pub size: ::core::option::Option<::core::primitive::u64>",
            "pub names: ::core::option::Option<::std::vec::Vec<::std::string::String>>",
            "::std::collections::BTreeMap<::std::string::String, ::core::primitive::f64>",
            "::tool_runtime::__private::JsonObject",
            "pub nullable: ::core::option::Option<::core::primitive::bool>",
            "pub enum DoItUnit {",
            "Metric,",
            "Imperial,",
            "Metric2,",
            "pub either: ::core::option::Option<::tool_runtime::__private::JsonValue>",
            "pub mixed: ::core::option::Option<::tool_runtime::__private::JsonValue>",
            "its schema cannot be expressed as a type",
        ],
    );
}

#[test]
fn references_end_and_nested_objects_have_types() {
    let text = generated(json!({ "tools": [{
        "name": "tree",
        "inputSchema": {
            "type": "object",
            "properties": {
                "root": { "$ref": "#/$defs/Node" },
                "filter": { "type": "object", "properties": { "from": { "type": "string" } }, "required": ["from"] },
            },
            "required": ["root", "filter"],
            "$defs": { "Node": {
                "type": "object",
                "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/Node" } } },
            } },
        },
        "outputSchema": { "type": "object", "properties": { "count": { "type": "integer" } }, "required": ["count"] },
    }] }));
    has(
        &text,
        &[
            "pub struct TreeFilter {",
            "pub from: ::std::string::String",
            "pub root: TreeRoot",
            "pub struct TreeOutput {",
            "pub count: ::core::primitive::i64",
            "type Value = TreeOutput;",
            "pub fn new(root: TreeRoot, filter: TreeFilter) -> Self {",
        ],
    );
}

#[test]
fn documentation_of_a_server_is_not_compiled() {
    let text = generated(json!([{
        "name": "a",
        "description": "Run it:\n```\nlet x = 1;\n```\n    indented",
        "inputSchema": { "type": "object" },
    }]));
    assert!(!text.contains("```") && !text.contains("    indented"), "{text}");
}

#[test]
fn two_tools_of_one_stem_get_numbers() {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let text = generated(json!({ "result": { "tools": [tool("s.get_x"), tool("s.getX")] } }));
    has(&text, &["pub struct GetXAction {", "pub struct GetX2Action {"]);
}

#[test]
fn a_file_of_something_else_is_reported() {
    for (text, expected) in [
        ("{", "`tools.json`: not valid JSON"),
        ("[]", "it lists no tool"),
        ("{}", "tool 1 has no name; write the file by the command `schema`"),
        (r#"[{"name":"a"}]"#, "the tool `a` has no `inputSchema`"),
        (r#"[{"type":"function","function":{}}]"#, "tool 1 has no name"),
    ] {
        let error = generate(text, "tools.json").expect_err("not definitions");
        assert!(error.contains(expected), "{error}");
    }
}
