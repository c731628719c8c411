//! Types for JSON Schemas.

use super::items::Items;
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;

/// Limit on the nesting of types.
const MAX_DEPTH: usize = 16;

/// The type of a value.
pub(super) struct Typed {
    pub(super) tokens: TokenStream,
    pub(super) is_optional: bool,
    pub(super) is_text: bool,
    /// Whether it is JSON because its schema cannot be expressed as a type.
    pub(super) is_json: bool,
}

impl Typed {
    fn plain(tokens: TokenStream) -> Self {
        Self { tokens, is_optional: false, is_text: false, is_json: false }
    }

    /// An `Option` of this type.
    pub(super) fn optional(self) -> Self {
        if self.is_optional {
            return self;
        }
        let tokens = self.tokens;
        let tokens = quote!(::core::option::Option<#tokens>);
        Self { tokens, is_optional: true, is_text: false, is_json: self.is_json }
    }
}

/// A location in a document of schemas.
#[derive(Clone, Copy)]
pub(super) struct SchemaLocation<'a> {
    pub(super) root: &'a Value,
    /// The name of the type, if one is generated.
    pub(super) name: &'a str,
    pub(super) depth: usize,
}

impl Items<'_> {
    /// The type of a schema: JSON if the schema cannot be expressed as a type.
    pub(super) fn type_of(&mut self, schema: &Value, location: SchemaLocation<'_>) -> Typed {
        let location = SchemaLocation { depth: location.depth + 1, ..location };
        if location.depth > MAX_DEPTH {
            return self.json();
        }
        if let Some(target) = schema["$ref"].as_str() {
            let target =
                target.strip_prefix('#').and_then(|pointer| location.root.pointer(pointer));
            return match target {
                Some(target) => self.type_of(target, location),
                None => self.json(),
            };
        }
        if let Some(inner) = without_null(schema) {
            return self.type_of(&inner, location).optional();
        }
        if let Some([only]) = schema["allOf"].as_array().map(Vec::as_slice) {
            return self.type_of(only, location);
        }
        if let Some(choices) = choices(schema) {
            return Typed::plain(self.choice(&choices, location.name));
        }
        if schema.get("enum").is_some()
            || schema.get("anyOf").is_some()
            || schema.get("oneOf").is_some()
        {
            return self.json();
        }
        match schema["type"].as_str() {
            Some("string") => {
                Typed { is_text: true, ..Typed::plain(quote!(::std::string::String)) }
            }
            Some("integer") if schema["format"] == "uint64" => {
                Typed::plain(quote!(::core::primitive::u64))
            }
            Some("integer") => Typed::plain(quote!(::core::primitive::i64)),
            Some("number") => Typed::plain(quote!(::core::primitive::f64)),
            Some("boolean") => Typed::plain(quote!(::core::primitive::bool)),
            Some("array") => self.list(schema, location),
            Some("object") => self.object(schema, location),
            None if schema["properties"].is_object() => self.object(schema, location),
            _ => self.json(),
        }
    }

    pub(super) fn json(&self) -> Typed {
        let private = self.private();
        Typed { is_json: true, ..Typed::plain(quote!(#private::JsonValue)) }
    }

    fn list(&mut self, schema: &Value, location: SchemaLocation<'_>) -> Typed {
        let item = match &schema["items"] {
            items @ Value::Object(_) => self.type_of(items, location),
            _ => self.json(),
        };
        let tokens = item.tokens;
        Typed { is_json: item.is_json, ..Typed::plain(quote!(::std::vec::Vec<#tokens>)) }
    }

    fn object(&mut self, schema: &Value, location: SchemaLocation<'_>) -> Typed {
        let private = self.private();
        if schema["properties"].as_object().is_some_and(|properties| !properties.is_empty()) {
            return Typed::plain(self.nested(schema, location));
        }
        match &schema["additionalProperties"] {
            value @ Value::Object(_) => {
                let value = self.type_of(value, location);
                let tokens = value.tokens;
                let tokens = quote!(::std::collections::BTreeMap<::std::string::String, #tokens>);
                Typed { is_json: value.is_json, ..Typed::plain(tokens) }
            }
            _ => Typed::plain(quote!(#private::JsonObject)),
        }
    }
}

/// The schema of the other values, if a schema allows null.
fn without_null(schema: &Value) -> Option<Value> {
    for key in ["anyOf", "oneOf"] {
        let Some([one, other]) = schema[key].as_array().map(Vec::as_slice) else { continue };
        match (one["type"] == "null", other["type"] == "null") {
            (true, false) => return Some(other.clone()),
            (false, true) => return Some(one.clone()),
            _ => {}
        }
    }
    let kinds = schema["type"].as_array()?;
    let others: Vec<&Value> = kinds.iter().filter(|kind| *kind != "null").collect();
    let [only] = *others.as_slice() else { return None };
    let mut inner = schema.clone();
    inner["type"] = only.clone();
    if let Some(choices) = inner["enum"].as_array_mut() {
        choices.retain(|choice| !choice.is_null());
    }
    Some(inner)
}

/// The strings that a schema allows, if it allows only some.
fn choices(schema: &Value) -> Option<Vec<String>> {
    let one = schema.get("const").map(std::slice::from_ref);
    let values = one.or_else(|| schema["enum"].as_array().map(Vec::as_slice))?;
    values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}
