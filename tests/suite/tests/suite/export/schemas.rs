//! The schemas that leave: each is valid for its API, whatever the tool's own schema says.

use jsonschema::Draft;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use tool_runtime::ToolDefinition;
use tool_runtime::export::{Api, ApiFormat, Exported};

const APIS: [Api; 4] = [Api::Anthropic, Api::OpenAiChat, Api::OpenAiResponses, Api::Gemini];

fn definition(name: &str, schema: Value) -> ToolDefinition {
    let mut definition = ToolDefinition::new(name, "A tool.");
    definition.input_schema = schema.as_object().cloned().unwrap_or_default();
    definition
}

/// The exports of a tool, plain and strict.
fn exports(schema: &Value) -> Vec<(String, Exported)> {
    let definition = definition("t", schema.clone());
    let formats = APIS.into_iter().flat_map(|api| {
        let plain: Box<dyn ApiFormat> = Box::new(api);
        let strict: Box<dyn ApiFormat> = Box::new(api.strict());
        [plain, strict]
    });
    formats.map(|format| (format.key(), format.definitions(&[&definition]))).collect()
}

/// The schema of the only tool of an export.
fn exported(export: &Exported) -> Option<&Value> {
    let tool = export.tools.first()?;
    let function = tool.get("function").or(tool.pointer("/functionDeclarations/0")).unwrap_or(tool);
    ["input_schema", "parameters", "parametersJsonSchema"].iter().find_map(|key| function.get(*key))
}

fn with(property: Value) -> Value {
    json!({ "type": "object", "properties": { "p": property } })
}

/// The first place that breaks a rule that all APIs have.
fn broken(schema: &Value, is_gemini: bool) -> Option<String> {
    let map = match schema {
        Value::Object(map) => map,
        Value::Array(items) => return items.iter().find_map(|item| broken(item, is_gemini)),
        _ => return None,
    };
    let is = |keyword: &str, kind: &str| map.get(keyword).is_some_and(|value| value == kind);
    let of_list = |keyword: &str| map.get(keyword).and_then(Value::as_array);
    if is("type", "array") && !map.contains_key("items") {
        return Some(format!("a list without items: {schema}"));
    }
    if of_list("items").is_some() || map.get("exclusiveMinimum").is_some_and(Value::is_boolean) {
        return Some(format!("an older draft: {schema}"));
    }
    if of_list("enum")
        .is_some_and(|values| values.is_empty() || is_gemini && values.contains(&json!("")))
    {
        return Some(format!("values: {schema}"));
    }
    map.values().find_map(|value| broken(value, is_gemini))
}

/// Checks the exports of a schema, and returns those that have the tool.
fn check(schema: &Value) -> Vec<(String, Value)> {
    let mut sent = Vec::new();
    for (format, export) in exports(schema) {
        let Some(exported) = exported(&export) else {
            assert_eq!(export.left_out.len(), 1, "{format}: {schema}");
            assert!(!export.left_out[0].reason.is_empty());
            continue;
        };
        for draft in [Draft::Draft202012, Draft::Draft7] {
            let options = jsonschema::options().with_draft(draft);
            let compiled = options.build(exported);
            assert!(compiled.is_ok(), "{format}: {schema} becomes {exported}: {compiled:?}");
        }
        let is_valid = jsonschema::draft202012::meta::is_valid(exported);
        assert!(is_valid, "{format}: {schema} becomes {exported}");
        assert_eq!(exported["type"], "object", "{format}: {exported}");
        assert_eq!(broken(exported, format.starts_with("gemini")), None, "{format}");
        sent.push((format, exported.clone()));
    }
    sent
}

#[test]
fn schemas_of_older_drafts_and_lenient_servers_are_sent_in_valid_form() {
    let text = json!({ "type": "string" });
    for property in [
        json!({ "type": "array", "items": [text, text] }),
        json!({ "type": "array", "items": [text], "additionalItems": false }),
        json!({ "type": "array" }),
        json!({ "type": ["array", "null"] }),
        json!({ "type": "array", "items": null }),
        json!({ "type": "number", "minimum": 0, "exclusiveMinimum": true }),
        json!({ "type": "string", "enum": ["", "a", "a"] }),
        json!({ "type": "string", "enum": [""] }),
        json!({ "type": "string", "enum": [] }),
        json!({ "type": "STRING", "nullable": true, "description": null }),
        json!({ "type": "string", "required": true }),
        json!({ "type": "object", "properties": null, "required": null }),
        json!({ "type": "string", "title": 5, "examples": "a", "minLength": "1", "allOf": [] }),
    ] {
        for schema in [
            with(property.clone()),
            json!({ "properties": { "p": property }, "required": ["p", "p"] }),
            with(json!({ "type": "array", "items": property })),
            with(json!({ "type": "object", "properties": { "q": property } })),
        ] {
            let sent = check(&schema);
            assert_eq!(sent.len(), 8, "all formats have the tool: {schema}");
        }
    }
}

#[test]
fn what_an_api_cannot_take_is_left_out_and_named() {
    for (property, place) in [
        (json!({ "type": "file" }), "properties.p.type"),
        (json!({ "$ref": "#/$defs/missing" }), "#/$defs/missing"),
        (json!({ "$ref": "https://example.org/a" }), "https://example.org/a"),
        (json!({ "type": "string", "minLength": -1 }), "properties.p.minLength"),
        (json!({ "anyOf": [] }), "anyOf"),
        (json!({ "format": 5 }), "properties.p.format"),
    ] {
        let good = definition("good", json!({ "type": "object" }));
        let bad = definition("bad", with(property.clone()));
        for api in [Api::Anthropic, Api::OpenAiChat] {
            let export = api.definitions(&[&good, &bad]);
            assert_eq!(export.tools.len(), 1, "{property}");
            assert_eq!(export.left_out[0].id, "bad");
            let reason = &export.left_out[0].reason;
            assert!(reason.contains(place), "{property}: {reason}");
        }
        check(&with(property));
    }
}

#[test]
fn a_pattern_with_lookaround_is_described() {
    for pattern in ["^(?!a).*$", r"(a)\1", "(?<=x)y"] {
        let schema = with(json!({ "type": "string", "pattern": pattern }));
        for (format, exported) in check(&schema) {
            let property = &exported["properties"]["p"];
            assert!(property.get("pattern").is_none(), "{format}: {property}");
            let told = property["description"].as_str().unwrap();
            assert!(told.contains(&format!("pattern: {pattern}")), "{format}: {told}");
        }
    }
    let plain = Api::OpenAiChat
        .definitions(&[&definition("t", with(json!({ "type": "string", "pattern": r"^\\1\d$" })))]);
    assert_eq!(exported(&plain).unwrap()["properties"]["p"]["pattern"], r"^\\1\d$");
}

#[test]
fn values_without_a_type_get_theirs_in_strict_schemas() {
    let strict = |property: Value| {
        let definition = definition("t", with(property));
        let export = Api::OpenAiChat.strict().definitions(&[&definition]);
        let kind = exported(&export).unwrap()["properties"]["p"]["type"].clone();
        (export.reports[0].is_strict, kind)
    };
    assert_eq!(strict(json!({ "enum": ["a", "b"] })), (true, json!(["string", "null"])));
    assert_eq!(strict(json!({ "const": 5 })), (true, json!(["integer", "null"])));
    assert!(!strict(json!({ "enum": ["a", 1] })).0);
    assert!(!strict(json!({ "type": "string", "enum": [1, 2] })).0);
}

#[test]
fn an_api_enforces_the_chosen_tools_alone() {
    let (a, b) = (definition("a", json!({})), definition("b", json!({})));
    let format = Api::OpenAiChat.strict().only(["a".parse().unwrap()]);
    let export = format.definitions(&[&a, &b]);
    let strict: Vec<bool> = export.reports.iter().map(|report| report.is_strict).collect();
    assert_eq!(strict, [true, false]);
    assert_eq!(export.reports[1].not_strict, None, "it was not asked for");
    assert_ne!(format.key(), Api::OpenAiChat.strict().key());
}

#[test]
fn a_schema_with_sixteen_unions_is_not_compiled_by_anthropic() {
    let union = json!({ "anyOf": [{ "type": "string" }, { "type": "integer" }] });
    let of = |count: usize| {
        let names: Vec<String> = (0..count).map(|index| format!("p{index}")).collect();
        let properties: Map<String, Value> =
            names.iter().map(|name| (name.clone(), union.clone())).collect();
        definition("t", json!({ "type": "object", "properties": properties, "required": names }))
    };
    let is_strict = |count: usize| {
        let export = Api::Anthropic.strict().definitions(&[&of(count)]);
        (export.reports[0].is_strict, export.reports[0].not_strict.clone())
    };
    assert_eq!(is_strict(4), (true, None));
    let (strict, reason) = is_strict(16);
    assert!(!strict && reason.as_ref().is_some_and(|it| it.contains("16 unions")), "{reason:?}");
}

/// JSON with keywords of schemas, and values that they may not have.
fn schema_like() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..3_i64).prop_map(Value::from),
        prop::sample::select(vec![
            "",
            "string",
            "array",
            "object",
            "Integer",
            "any",
            "p",
            "#",
            "#/$defs/p"
        ])
        .prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "type",
        "properties",
        "items",
        "additionalItems",
        "prefixItems",
        "required",
        "enum",
        "const",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "$ref",
        "$defs",
        "definitions",
        "description",
        "default",
        "minimum",
        "exclusiveMinimum",
        "maxItems",
        "minLength",
        "pattern",
        "format",
        "nullable",
        "additionalProperties",
        "patternProperties",
        "dependencies",
        "multipleOf",
        "p",
        "kebab name",
    ]);
    leaf.prop_recursive(5, 32, 4, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            3 => prop::collection::vec((keys.clone(), inner), 0..5).prop_map(|members| members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect()),
        ]
    })
}

proptest! {
    #![proptest_config(crate::property::cases(512))]

    #[test]
    fn no_invalid_schema_leaves(property in schema_like(), definition in schema_like()) {
        check(&json!({ "type": "object", "properties": { "p": property }, "$defs": { "p": definition } }));
    }
}
