//! Limits of OpenAI on the size of one strict schema.
//!
//! Source: OpenAI's guide on structured outputs, "Supported schemas".

use serde_json::Value;

const MAX_PROPERTIES: usize = 5000;
/// Objects within objects.
const MAX_DEPTH: usize = 10;
/// Characters of all names of properties and definitions, values of `enum` and of `const`.
const MAX_CHARACTERS: usize = 120_000;
const MAX_ENUM_VALUES: usize = 1000;
/// An `enum` of more strings has a limit on their characters.
const LONG_ENUM: usize = 250;
const MAX_LONG_ENUM_CHARACTERS: usize = 15_000;

#[derive(Default)]
struct Size {
    properties: usize,
    depth: usize,
    characters: usize,
    enum_values: usize,
    /// The characters of the largest long `enum`.
    long_enum: usize,
}

/// Checks a converted schema.
///
/// # Errors
/// The limit that it exceeds.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    let mut size = Size::default();
    size.add(schema, 0);
    let limits = [
        (size.properties, MAX_PROPERTIES, "properties"),
        (size.depth, MAX_DEPTH, "levels of objects"),
        (size.characters, MAX_CHARACTERS, "characters of names and allowed values"),
        (size.enum_values, MAX_ENUM_VALUES, "allowed values"),
        (size.long_enum, MAX_LONG_ENUM_CHARACTERS, "characters in one long `enum`"),
    ];
    match limits.into_iter().find(|(count, limit, _)| count > limit) {
        Some((count, limit, what)) => {
            Err(format!("it has {count} {what}; the API accepts {limit} in a strict tool"))
        }
        None => Ok(()),
    }
}

impl Size {
    /// Adds a schema that is nested in `depth` objects.
    fn add(&mut self, schema: &Value, depth: usize) {
        let Value::Object(map) = schema else { return };
        for (keyword, value) in map {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    self.properties += properties.len();
                    self.depth = self.depth.max(depth + 1);
                    self.add_named(properties, depth + 1);
                }
                ("$defs" | "definitions", Value::Object(schemas)) => self.add_named(schemas, depth),
                ("anyOf", Value::Array(schemas)) => {
                    schemas.iter().for_each(|schema| self.add(schema, depth));
                }
                ("items", schema) => self.add(schema, depth),
                ("enum", Value::Array(values)) => self.add_enum(values),
                ("const", value) => self.characters += characters(value),
                _ => {}
            }
        }
    }

    fn add_named(&mut self, schemas: &serde_json::Map<String, Value>, depth: usize) {
        for (name, schema) in schemas {
            self.characters += name.chars().count();
            self.add(schema, depth);
        }
    }

    fn add_enum(&mut self, values: &[Value]) {
        let total = values.iter().map(characters).sum();
        self.characters += total;
        self.enum_values += values.len();
        if values.len() > LONG_ENUM {
            self.long_enum = self.long_enum.max(total);
        }
    }
}

fn characters(value: &Value) -> usize {
    value.as_str().map_or(0, |text| text.chars().count())
}
