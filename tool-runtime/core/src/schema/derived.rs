//! Schemas that schemars derives.

use super::normal;
use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::Value;

/// The schema of a type, as a part of a schema of arguments.
pub(crate) fn of_type(make: fn(&mut SchemaGenerator) -> Schema) -> Value {
    let mut generator = input_generator();
    let mut schema = make(&mut generator);
    normal::input(&mut schema);
    let definitions = normal::definitions(generator.take_definitions(true), normal::input);
    let mut schema = schema.to_value();
    if let Value::Object(map) = &mut schema {
        map.insert("$defs".to_owned(), definitions.into());
    }
    schema
}

/// Makes schemas of deserialized types.
pub(crate) fn input_generator() -> SchemaGenerator {
    settings().for_deserialize().into_generator()
}

/// Makes schemas of serialized types.
pub(crate) fn output_generator() -> SchemaGenerator {
    settings().for_serialize().into_generator()
}

/// Schemas are inlined where they can be.
fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    })
}
