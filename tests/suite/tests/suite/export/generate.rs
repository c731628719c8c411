//! Schemas of arguments of many kinds.

use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// Picks numbers below a bound, the same in every run.
pub(crate) struct Rng(TestRunner);

impl Rng {
    pub(crate) fn new() -> Self {
        let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
        Self(TestRunner::new_with_rng(Config::default(), rng))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (0..bound).new_tree(&mut self.0).expect("a range").current()
    }

    pub(crate) fn one_of<T: Clone>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())].clone()
    }
}

/// Object schemas, as `schemars` and other generators write them.
pub(crate) fn schemas(count: usize) -> Vec<Map<String, Value>> {
    let mut rng = Rng::new();
    (0..count).map(|_| schema(&mut rng)).collect()
}

fn schema(rng: &mut Rng) -> Map<String, Value> {
    let mut root = object(rng, 0);
    root.insert(
        "$defs".to_owned(),
        json!({
            "Place": object(rng, 2),
            "Color": { "type": "string", "enum": ["red", "green"], "description": "A color." },
        }),
    );
    root
}

fn object(rng: &mut Rng, depth: usize) -> Map<String, Value> {
    let names = ["path", "limit", "mode", "tags", "filter", "kebab-name", "dot.name"];
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for name in names {
        if rng.below(3) == 0 {
            properties.insert(name.to_owned(), value(rng, depth + 1));
            if rng.below(2) == 0 {
                required.push(json!(name));
            }
        }
    }
    let mut object = Map::new();
    object.insert("type".to_owned(), json!("object"));
    object.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() || rng.below(2) == 0 {
        object.insert("required".to_owned(), Value::Array(required));
    }
    if rng.below(2) == 0 {
        object.insert("additionalProperties".to_owned(), json!(false));
    }
    object
}

fn value(rng: &mut Rng, depth: usize) -> Value {
    let kinds = if depth > 3 { 9 } else { 14 };
    let mut value = match rng.below(kinds) {
        0 => json!({ "type": "string" }),
        1 => json!({ "type": "string", "minLength": 1, "maxLength": 20 }),
        2 => {
            json!({ "type": "string", "format": rng.one_of(&["date", "date-time", "uri", "byte"]) })
        }
        3 => json!({ "type": "integer", "minimum": -3, "maximum": 12, "format": "int64" }),
        4 => json!({ "type": "number", "exclusiveMinimum": 0 }),
        5 => json!({ "type": "boolean", "default": false }),
        6 => json!({ "type": "string", "enum": ["a", "b"] }),
        7 => json!({ "type": ["string", "null"] }),
        // `Place` does not refer to itself: OpenAI's library does not end on that.
        8 if depth > 2 => json!({ "$ref": "#/$defs/Color" }),
        8 => json!({ "$ref": rng.one_of(&["#/$defs/Color", "#/$defs/Place"]) }),
        9 => json!({ "type": "array", "items": value(rng, depth + 1), "maxItems": 4 }),
        10 => Value::Object(object(rng, depth)),
        11 => json!({ "anyOf": [value(rng, depth + 1), { "type": "null" }] }),
        12 => json!({ "oneOf": [
            { "type": "string", "const": "fast", "description": "Quick." },
            { "type": "string", "const": "slow", "description": "Thorough." },
        ] }),
        _ => json!({ "type": "object", "additionalProperties": { "type": "integer" } }),
    };
    if rng.below(3) == 0 {
        value["description"] = json!("An argument.");
    }
    value
}
