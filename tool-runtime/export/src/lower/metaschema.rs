//! The last check of a schema that leaves: each keyword has the form that JSON Schema 2020-12 gives it, as APIs demand.
//!
//! Source: the meta-schemas of 2020-12, vocabularies core, applicator, validation and meta-data.

use serde_json::Value;
use tool_runtime_core::seam::schema_path;

const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// The form of a keyword's value.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Schema,
    /// Schemas by name.
    NamedSchemas,
    /// A list of schemas, which is not empty.
    Schemas,
    /// One of the names of types, or several.
    Types,
    Text,
    Strings,
    /// Lists of strings by name.
    NamedStrings,
    Number,
    Positive,
    /// An integer that is not negative.
    Count,
    Flag,
    List,
}

const KEYWORDS: [(&str, Form); 53] = [
    ("$anchor", Form::Text),
    ("$comment", Form::Text),
    ("$defs", Form::NamedSchemas),
    ("$dynamicAnchor", Form::Text),
    ("$dynamicRef", Form::Text),
    ("$id", Form::Text),
    ("$ref", Form::Text),
    ("$schema", Form::Text),
    // Of older drafts, by which some APIs check.
    ("additionalItems", Form::Schema),
    ("additionalProperties", Form::Schema),
    ("allOf", Form::Schemas),
    ("anyOf", Form::Schemas),
    ("contains", Form::Schema),
    ("contentEncoding", Form::Text),
    ("contentMediaType", Form::Text),
    ("contentSchema", Form::Schema),
    ("definitions", Form::NamedSchemas),
    ("dependencies", Form::NamedSchemas),
    ("dependentRequired", Form::NamedStrings),
    ("dependentSchemas", Form::NamedSchemas),
    ("deprecated", Form::Flag),
    ("description", Form::Text),
    ("else", Form::Schema),
    ("enum", Form::List),
    ("examples", Form::List),
    ("exclusiveMaximum", Form::Number),
    ("exclusiveMinimum", Form::Number),
    ("format", Form::Text),
    ("if", Form::Schema),
    ("items", Form::Schema),
    ("maxContains", Form::Count),
    ("maxItems", Form::Count),
    ("maxLength", Form::Count),
    ("maxProperties", Form::Count),
    ("maximum", Form::Number),
    ("minContains", Form::Count),
    ("minItems", Form::Count),
    ("minLength", Form::Count),
    ("minProperties", Form::Count),
    ("minimum", Form::Number),
    ("multipleOf", Form::Positive),
    ("not", Form::Schema),
    ("oneOf", Form::Schemas),
    ("pattern", Form::Text),
    ("patternProperties", Form::NamedSchemas),
    ("prefixItems", Form::Schemas),
    ("properties", Form::NamedSchemas),
    ("propertyNames", Form::Schema),
    ("readOnly", Form::Flag),
    ("required", Form::Strings),
    ("then", Form::Schema),
    ("title", Form::Text),
    ("type", Form::Types),
];

/// Checks a schema and all schemas in it.
///
/// # Errors
/// The path of a keyword with another value, and what it should be.
pub(super) fn check(schema: &Value) -> Result<(), String> {
    check_at(schema, &mut Vec::new())
}

fn check_at<'a>(schema: &'a Value, at: &mut Vec<&'a str>) -> Result<(), String> {
    match schema {
        Value::Bool(_) => Ok(()),
        Value::Object(keywords) => keywords.iter().try_for_each(|(keyword, value)| {
            at.push(keyword);
            let checked = keyword_form(keyword).map_or(Ok(()), |form| form.check(value, at));
            at.pop();
            checked
        }),
        _ => Err(wrong(at, "a schema")),
    }
}

/// The form of a keyword's value. `None` for a keyword that JSON Schema does not have.
pub(super) fn keyword_form(keyword: &str) -> Option<Form> {
    KEYWORDS.iter().find(|(known, _)| *known == keyword).map(|(_, form)| *form)
}

impl Form {
    fn check<'a>(self, value: &'a Value, at: &mut Vec<&'a str>) -> Result<(), String> {
        let (is_valid, expected) = match self {
            Self::Schema => return check_at(value, at),
            Self::NamedSchemas => return check_named(value, at),
            Self::Schemas => return check_list(value, at),
            Self::Types => (is_types(value), "one or more of the types of JSON"),
            Self::Text => (value.is_string(), "a string"),
            Self::Strings => (are_strings(value), "a list of strings, each once"),
            Self::NamedStrings => (
                value.as_object().is_some_and(|named| named.values().all(are_strings)),
                "lists of strings by name",
            ),
            Self::Number => (value.is_number(), "a number"),
            Self::Positive => {
                (value.as_f64().is_some_and(|number| number > 0.0), "a number above 0")
            }
            Self::Count => (is_count(value), "an integer that is not negative"),
            Self::Flag => (value.is_boolean(), "a boolean"),
            Self::List => (value.is_array(), "a list"),
        };
        if is_valid { Ok(()) } else { Err(wrong(at, expected)) }
    }
}

fn check_named<'a>(value: &'a Value, at: &mut Vec<&'a str>) -> Result<(), String> {
    let Some(schemas) = value.as_object() else { return Err(wrong(at, "schemas by name")) };
    schemas.iter().try_for_each(|(name, schema)| {
        at.push(name);
        let checked = check_at(schema, at);
        at.pop();
        checked
    })
}

fn check_list<'a>(value: &'a Value, at: &mut Vec<&'a str>) -> Result<(), String> {
    match value.as_array() {
        Some(schemas) if !schemas.is_empty() => {
            schemas.iter().try_for_each(|schema| check_at(schema, at))
        }
        _ => Err(wrong(at, "a list of schemas that is not empty")),
    }
}

fn is_types(value: &Value) -> bool {
    let is_type = |value: &Value| value.as_str().is_some_and(|kind| TYPES.contains(&kind));
    match value {
        Value::Array(kinds) => !kinds.is_empty() && are_strings(value) && kinds.iter().all(is_type),
        kind => is_type(kind),
    }
}

fn are_strings(value: &Value) -> bool {
    let Some(strings) = value.as_array() else { return false };
    strings
        .iter()
        .enumerate()
        .all(|(index, string)| string.is_string() && !strings[..index].contains(string))
}

fn is_count(value: &Value) -> bool {
    value.as_u64().is_some()
        || value.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0)
}

fn wrong(at: &[&str], expected: &str) -> String {
    let path = schema_path(at.iter().copied());
    format!("`{path}` of its schema is not {expected}")
}
