//! Values that match a schema, and values that nearly match.

use super::generate::Rng;
use serde_json::{Map, Value, json};

/// Instances of a schema, most with one change that may make them invalid. The same schema gives
/// the same instances.
pub(crate) fn instances(schema: &Map<String, Value>, count: usize) -> Vec<Value> {
    let mut rng = Rng::new();
    (0..count)
        .map(|_| {
            let is_changed = rng.below(3) > 0;
            let mut generator = Generator { root: schema, rng: &mut rng };
            let mut value = generator.value(&Value::Object(schema.clone()), 0);
            if is_changed {
                generator.change(&mut value);
            }
            value
        })
        .collect()
}

/// An instance intended to be valid.
pub(crate) fn instance(schema: &Map<String, Value>, rng: &mut Rng) -> Value {
    Generator { root: schema, rng }.value(&Value::Object(schema.clone()), 0)
}

struct Generator<'a> {
    root: &'a Map<String, Value>,
    rng: &'a mut Rng,
}

impl Generator<'_> {
    fn value(&mut self, schema: &Value, depth: usize) -> Value {
        let Some(map) = schema.as_object().filter(|_| depth < 12) else { return Value::Null };
        if let Some(target) = map.get("$ref").and_then(Value::as_str) {
            let target = {
                let name = target.rsplit('/').next().unwrap_or_default();
                let place = self.root.get("$defs").or(self.root.get("definitions"));
                place.map(|defs| defs[name].clone()).unwrap_or_default()
            };
            return self.value(&target, depth + 1);
        }
        if let Some(only) = map.get("const") {
            return only.clone();
        }
        for keyword in ["enum", "anyOf", "oneOf"] {
            if let Some(Value::Array(choices)) = map.get(keyword) {
                let choice = choices[self.rng.below(choices.len())].clone();
                return if keyword == "enum" { choice } else { self.value(&choice, depth + 1) };
            }
        }
        if let Some(Value::Array(branches)) = map.get("allOf") {
            let mut whole = json!({});
            for branch in branches {
                match (self.value(branch, depth + 1), &mut whole) {
                    (Value::Object(members), Value::Object(whole)) => whole.extend(members),
                    (other, whole) => *whole = other,
                }
            }
            return whole;
        }
        let kind = match map.get("type") {
            Some(Value::Array(kinds)) => kinds[self.rng.below(kinds.len())].clone(),
            Some(kind) => kind.clone(),
            None => json!("object"),
        };
        match kind.as_str().unwrap_or_default() {
            "object" => self.object(map, depth),
            "array" => {
                let len = self.rng.below(3);
                let items = map.get("items").cloned().unwrap_or(json!({ "type": "string" }));
                (0..len).map(|_| self.value(&items, depth + 1)).collect()
            }
            "string" => {
                json!(["", "a", "2026-11-23", "alpha", "x-y", "10.0.0.1"][self.rng.below(6)])
            }
            "integer" => json!(self.rng.below(20) as i64 - 5),
            "number" => json!(self.rng.below(40) as f64 / 4.0 - 2.0),
            "boolean" => json!(self.rng.below(2) == 0),
            _ => Value::Null,
        }
    }

    fn object(&mut self, map: &Map<String, Value>, depth: usize) -> Value {
        let required = map.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut object = Map::new();
        for (name, schema) in map.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            if required.contains(&json!(name)) || self.rng.below(2) == 0 {
                object.insert(name.clone(), self.value(schema, depth + 1));
            }
        }
        Value::Object(object)
    }

    /// Changes one value inside.
    fn change(&mut self, value: &mut Value) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                let keys: Vec<String> = members.keys().cloned().collect();
                let key = &keys[self.rng.below(keys.len())];
                match self.rng.below(4) {
                    0 => drop(members.shift_remove(key)),
                    1 => drop(members.insert(key.clone(), self.replacement())),
                    2 => drop(members.insert("another".to_owned(), self.replacement())),
                    _ => self.change(members.get_mut(key).expect("a key of it")),
                }
            }
            Value::Array(items) if !items.is_empty() => {
                let index = self.rng.below(items.len());
                self.change(&mut items[index]);
            }
            other => *other = self.replacement(),
        }
    }

    fn replacement(&mut self) -> Value {
        [
            json!(null),
            json!(true),
            json!(-7),
            json!(1.5),
            json!("replacement"),
            json!([]),
            json!({}),
        ][self.rng.below(7)]
        .clone()
    }
}
