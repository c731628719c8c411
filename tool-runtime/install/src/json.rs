//! A JSON file, in which comments, order and formatting stay.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};

/// A JSON file, with or without comments.
pub(crate) struct Json(CstRootNode);

impl Json {
    /// # Errors
    /// The syntax is wrong, or the value is no object.
    pub(crate) fn parse(text: &str, has_comments: bool) -> Result<Self, String> {
        let text = if text.trim().is_empty() { "{}\n" } else { text };
        if !has_comments {
            // The other parser takes a comment after the value.
            let strict = serde_json::from_str::<Value>(text);
            strict.map_err(|error| error.to_string())?;
        }
        let options = ParseOptions {
            allow_comments: has_comments,
            allow_trailing_commas: has_comments,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let root = CstRootNode::parse(text, &options).map_err(|error| error.to_string())?;
        match root.object_value() {
            Some(_) => Ok(Self(root)),
            None => Err("it is not a JSON object".to_owned()),
        }
    }

    pub(crate) fn value(&self) -> Value {
        self.0.to_serde_value().unwrap_or_default()
    }

    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }

    pub(crate) fn set(&self, keys: &[String], members: &Map<String, Value>) -> Result<(), String> {
        let [above @ .., name] = keys else { return Ok(()) };
        let mut object = self.0.object_value_or_set();
        for key in above {
            let inner = object.object_value_or_create(key);
            object = inner.ok_or_else(|| format!("`{key}` in it is not an object"))?;
        }
        match object.get(name) {
            None => drop(object.append(name, input(&Value::Object(members.clone())))),
            Some(entry) => {
                let entry = entry.object_value();
                let entry = entry.ok_or_else(|| format!("`{name}` in it is not an object"))?;
                members.iter().for_each(|(key, value)| set_member(&entry, key, value));
            }
        }
        Ok(())
    }

    pub(crate) fn remove(&self, keys: &[String]) {
        if let Some(entry) = self.property(keys) {
            entry.remove();
        }
    }

    fn property(&self, keys: &[String]) -> Option<CstObjectProp> {
        let (name, above) = keys.split_last()?;
        let object = self.0.object_value()?;
        above.iter().try_fold(object, |object, key| object.object_value(key))?.get(name)
    }
}

/// A member that has the value already keeps its formatting.
fn set_member(object: &CstObject, name: &str, value: &Value) {
    match object.get(name) {
        None => drop(object.append(name, input(value))),
        Some(member) if member.to_serde_value().as_ref() == Some(value) => {}
        Some(member) => member.set_value(input(value)),
    }
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(name, value)| (name.clone(), input(value))).collect(),
        ),
    }
}
