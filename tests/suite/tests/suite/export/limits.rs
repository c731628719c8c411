//! Limits of an API on strict schemas: a tool beyond a limit is sent without strict mode, and its
//! report has the reason.

use super::super::support::Echo;
use serde_json::{Map, Value, json};
use tool_runtime::export::Api;
use tool_runtime::prelude::*;

/// Checks whether the API accepts the schema in strict mode.
fn reason(schema: Value) -> Option<String> {
    let tool = Tool::new(ToolDefinition::new("t", "Echo.").with_input_schema(schema), Echo);
    let pool = ToolPool::builder().add(tool).build().unwrap();
    let export = pool.snapshot().export(Api::OpenAiChat.strict());
    let report = &export.tools()[0];
    assert_eq!(report.is_strict, report.not_strict.is_none());
    assert_eq!(export.definitions().len(), 1, "the tool is sent in any case");
    report.not_strict.clone()
}

fn object(properties: impl IntoIterator<Item = (String, Value)>) -> Value {
    let properties: Map<String, Value> = properties.into_iter().collect();
    let required: Vec<&String> = properties.keys().collect();
    json!({ "type": "object", "required": required, "properties": properties })
}

fn texts(count: usize) -> Value {
    object((0..count).map(|index| (format!("p{index}"), json!({ "type": "string" }))))
}

fn choice(count: usize, length: usize) -> Value {
    let values: Vec<String> = (0..count).map(|index| format!("{index:0>length$}")).collect();
    object([("choice".to_owned(), json!({ "type": "string", "enum": values }))])
}

fn nested(levels: usize) -> Value {
    let inner = json!({ "type": "string" });
    (0..levels).fold(inner, |inner, _| object([("inner".to_owned(), inner)]))
}

#[test]
fn a_schema_beyond_a_limit_of_openai_is_not_strict() {
    let cases = [
        (texts(5000), texts(5001), "5001 properties"),
        (nested(10), nested(11), "11 levels of objects"),
        (choice(1000, 10), choice(1001, 10), "1001 allowed values"),
        (choice(251, 59), choice(251, 60), "15060 characters in one long `enum`"),
        (choice(250, 400), choice(250, 480), "120006 characters of names and allowed values"),
    ];
    for (within, beyond, limit) in cases {
        assert_eq!(reason(within), None, "{limit}");
        let reason = reason(beyond).expect(limit);
        assert!(reason.contains(limit), "{reason}");
    }
}
