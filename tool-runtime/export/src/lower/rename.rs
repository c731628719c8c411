//! Renames properties whose names an API does not accept, in schemas that are otherwise unchanged.

use super::dialect::Dialect;
use serde_json::{Map, Value};

/// Renames the properties of a schema and of all schemas in it.
///
/// # Errors
/// Two properties of one object would have the same name.
pub(super) fn rename(schema: &mut Map<String, Value>, dialect: Dialect) -> Result<(), String> {
    for (keyword, value) in schema.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                rename_keys(properties, dialect)?;
                each(properties.values_mut(), dialect)?;
            }
            ("required", Value::Array(names)) => {
                for name in names.iter_mut() {
                    let Value::String(name) = name else { continue };
                    *name = dialect.property(name).into_owned();
                }
            }
            ("$ref", Value::String(reference)) => {
                *reference = renamed_reference(reference, dialect);
            }
            (
                "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Value::Object(schemas),
            ) => each(schemas.values_mut(), dialect)?,
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(schemas)) => {
                each(schemas.iter_mut(), dialect)?;
            }
            (
                "items" | "additionalProperties" | "contains" | "not" | "if" | "then" | "else",
                Value::Object(schema),
            ) => rename(schema, dialect)?,
            _ => {}
        }
    }
    Ok(())
}

fn each<'a>(
    mut schemas: impl Iterator<Item = &'a mut Value>,
    dialect: Dialect,
) -> Result<(), String> {
    schemas.try_for_each(|schema| match schema {
        Value::Object(schema) => rename(schema, dialect),
        _ => Ok(()),
    })
}

fn rename_keys(properties: &mut Map<String, Value>, dialect: Dialect) -> Result<(), String> {
    if properties.keys().all(|name| dialect.property(name) == name.as_str()) {
        return Ok(());
    }
    for (name, schema) in std::mem::take(properties) {
        let wire = dialect.property(&name).into_owned();
        if properties.insert(wire, schema).is_some() {
            return Err(format!("`{name}` and another property get the same name in the export"));
        }
    }
    Ok(())
}

/// The reference `#/properties/NAME/…` with the name in the export.
fn renamed_reference(reference: &str, dialect: Dialect) -> String {
    let mut follows_properties = false;
    let renamed = reference.split('/').map(|key| {
        let is_name = std::mem::replace(&mut follows_properties, key == "properties");
        if is_name { dialect.property(key).into_owned() } else { key.to_owned() }
    });
    renamed.collect::<Vec<_>>().join("/")
}
