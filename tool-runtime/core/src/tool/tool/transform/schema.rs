//! The input schema of a transformed tool.

use super::ArgumentTransform;
use crate::schema::check::{check, problem};
use crate::schema::engine;
use crate::schema::nearest::nearest;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

type Changes = BTreeMap<String, ArgumentTransform>;

/// Keywords of an object schema that relate its properties to each other.
const RELATIONS: &[&str] = &[
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
];

/// Keywords that may narrow an argument. Others have no effect, or are set beside the schema.
const NARROWING: &[&str] = &[
    "type",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "items",
    "prefixItems",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "patternProperties",
    "additionalProperties",
    "required",
    "minProperties",
    "maxProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
];

/// The input schema of a tool.
pub(super) struct InputSchema<'a> {
    root: &'a Map<String, Value>,
    properties: Option<&'a Map<String, Value>>,
}

impl<'a> InputSchema<'a> {
    pub(super) fn new(root: &'a Map<String, Value>) -> Self {
        Self { root, properties: root.get("properties").and_then(Value::as_object) }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.properties.into_iter().flat_map(Map::keys).map(String::as_str)
    }

    pub(super) fn property(&self, name: &str) -> Option<&'a Value> {
        self.properties?.get(name)
    }

    fn requires(&self, name: &str) -> bool {
        let required = self.root.get("required").and_then(Value::as_array);
        required.is_some_and(|names| names.iter().any(|required| required == name))
    }

    /// Whether an argument takes a value.
    pub(super) fn accepts(&self, name: &str, value: &Value) -> bool {
        self.mistakes(name, value).is_empty()
    }

    /// The mistakes of a value for an argument. Messages do not show the value.
    fn mistakes(&self, name: &str, value: &Value) -> Vec<String> {
        let is_kept = |key: &str| matches!(key, "$schema" | "$defs" | "definitions");
        let mut schema: Map<String, Value> = self
            .root
            .iter()
            .filter(|(key, _)| is_kept(key))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        let mut property = object(self.property(name));
        property.insert("writeOnly".to_owned(), true.into());
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), json!({ name: property }));
        schema.insert("required".to_owned(), json!([name]));
        let issues = check(&schema.into(), &json!({ name: value }));
        issues.iter().map(|issue| issue.message().to_owned()).collect()
    }

    /// The schema after the changes. Arguments in `secret` are marked.
    pub(super) fn transform(&self, changes: &Changes, secret: &[&str]) -> Map<String, Value> {
        let new_name = |name: &str| {
            let change = changes.get(name);
            change.and_then(|change| change.name.clone()).unwrap_or_else(|| name.to_owned())
        };
        let mut schema = self.root.clone();
        if let Some(own) = self.properties {
            let mut properties = Map::new();
            for (name, property) in own {
                let property = match changes.get(name) {
                    Some(change) if change.is_hidden() => continue,
                    Some(change) => change_property(property, change),
                    None => property.clone(),
                };
                properties
                    .insert(new_name(name), marked(property, secret.contains(&name.as_str())));
            }
            schema.insert("properties".to_owned(), properties.into());
        }
        let required: Vec<String> =
            self.names().filter(|name| self.requires_after(name, changes)).map(new_name).collect();
        match required.is_empty() {
            true => drop(schema.shift_remove("required")),
            false => drop(schema.insert("required".to_owned(), required.into())),
        }
        schema
    }

    fn requires_after(&self, name: &str, changes: &Changes) -> bool {
        match changes.get(name) {
            Some(change) if change.is_hidden() || change.default.is_some() => false,
            Some(change) => change.required.unwrap_or(false) || self.requires(name),
            None => self.requires(name),
        }
    }

    /// A schema with only the assertions of the changes, under the new names. The tool itself
    /// checks the rest.
    pub(super) fn narrowing(&self, changes: &Changes) -> Option<Value> {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for (name, change) in changes {
            let new_name = change.name.clone().unwrap_or_else(|| name.clone());
            if change.required == Some(true) {
                required.push(new_name.clone());
            }
            if let Some(narrowing) = change.narrowing() {
                let is_secret = object(self.property(name)).contains_key("writeOnly");
                properties.insert(new_name, marked(narrowing.clone().into(), is_secret));
            }
        }
        if properties.is_empty() && required.is_empty() {
            return None;
        }
        Some(json!({ "type": "object", "properties": properties, "required": required }))
    }
}

/// The problems of one change.
pub(super) fn problems(
    input: &InputSchema<'_>,
    name: &str,
    change: &ArgumentTransform,
) -> Vec<String> {
    let mut problems = Vec::new();
    let needs_value = change.constant().is_none() && input.requires(name);
    if change.is_hidden() && needs_value {
        problems.push(format!("argument `{name}` is required, so hiding it needs a `value`"));
    }
    if change.required == Some(false) && change.default.is_none() && needs_value {
        problems.push(format!("argument `{name}` is required by the tool; give it a `default`"));
    }
    if (change.is_hidden() || change.name.is_some())
        && let Some(keyword) = relation(input.root, name)
    {
        problems.push(format!(
            "argument `{name}` is related to others by `{keyword}` in the input schema, so it can be neither renamed nor hidden"
        ));
    }
    for value in [change.constant(), change.default.as_ref().filter(|_| !change.is_hidden())] {
        let mistakes = value.map(|value| input.mistakes(name, value)).unwrap_or_default();
        problems.extend(
            mistakes
                .iter()
                .map(|mistake| format!("its own schema rejects the new value: {mistake}")),
        );
    }
    if let Some(narrowing) = change.narrowing() {
        let found = narrowing_problems(input, name, narrowing);
        problems
            .extend(found.into_iter().map(|problem| format!("the `schema` of `{name}` {problem}")));
        let whole = json!({ "properties": { name: narrowing } });
        let default = change.default.as_ref().filter(|_| problems.is_empty());
        let rejected = default.filter(|value| !check(&whole, &json!({ name: value })).is_empty());
        problems
            .extend(rejected.map(|_| format!("the `schema` of `{name}` rejects its `default`")));
    }
    problems
}

/// The keyword by which an argument is related to others.
fn relation(root: &Map<String, Value>, name: &str) -> Option<&'static str> {
    let mentions = |key: &&&str| root.get(**key).is_some_and(|relation| mentions(relation, name));
    RELATIONS.iter().find(mentions).copied()
}

fn mentions(value: &Value, name: &str) -> bool {
    match value {
        Value::String(text) => text == name,
        Value::Array(items) => items.iter().any(|item| mentions(item, name)),
        Value::Object(members) => {
            members.iter().any(|(key, member)| key == name || mentions(member, name))
        }
        _ => false,
    }
}

fn narrowing_problems(
    input: &InputSchema<'_>,
    name: &str,
    narrowing: &Map<String, Value>,
) -> Vec<String> {
    let mut problems: Vec<String> =
        narrowing.iter().filter_map(|(key, value)| malformed(key, value)).collect();
    problems.extend(problem(
        &Map::from_iter([("properties".to_owned(), json!({ name: narrowing }))]),
        "narrowed",
    ));
    let choices = narrowing.get("enum").and_then(Value::as_array);
    for value in choices.into_iter().flatten().chain(narrowing.get("const")) {
        if !input.accepts(name, value) {
            problems.push(format!("allows {value}, which the tool's own schema rejects"));
        }
    }
    let property = object(input.property(name));
    problems.extend(narrowing.iter().filter_map(|(key, value)| loosening(&property, key, value)));
    if let (Some(property), Some(new)) = (property.get("type"), narrowing.get("type")) {
        let is_within = |kind: &&Value| {
            has_kind(property, kind) || **kind == "integer" && has_kind(property, &"number".into())
        };
        if let Some(other) = kinds(new).iter().find(|kind| !is_within(kind)) {
            problems.push(format!("allows the type {other}, which the tool's own schema rejects"));
        }
    }
    problems
}

/// The reason why a keyword cannot narrow an argument.
fn malformed(key: &str, value: &Value) -> Option<String> {
    if !NARROWING.contains(&key) {
        let near = nearest(key, NARROWING.iter().copied(), 1);
        let near = near.first().map(|near| format!("; did you mean `{near}`?"));
        return Some(format!("has `{key}`, which narrows nothing{}", near.unwrap_or_default()));
    }
    let expected = match key {
        "enum" if value.as_array().is_none_or(Vec::is_empty) => "a list of values",
        "type" if kinds(value).iter().any(|kind| !kind.is_string()) => "the name of a type",
        "pattern" | "format" if !value.is_string() => "a string",
        "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf"
            if !value.is_number() =>
        {
            "a number"
        }
        "minLength" | "maxLength" | "minItems" | "maxItems" | "minProperties" | "maxProperties"
            if !value.is_u64() =>
        {
            "a count"
        }
        // A configuration file does not link the engine, which is a sixth of a small program.
        "pattern" | "format" if engine::linked().is_none() => {
            return Some(format!(
                "has a `{key}`, which this program cannot check; transform the tool in its code"
            ));
        }
        "pattern" => {
            let error = engine::linked()?.compile(value.as_str()?).err()?;
            return Some(format!("has an invalid `pattern`: {error}"));
        }
        _ => return None,
    };
    Some(format!("has a `{key}` that is not {expected}"))
}

/// The reason why a keyword cannot replace the one that the argument has: it may allow more.
fn loosening(property: &Map<String, Value>, key: &str, value: &Value) -> Option<String> {
    let own = property.get(key).filter(|own| *own != value)?;
    let is_tighter = match (key, own.as_f64(), value.as_f64()) {
        // Their values are compared one by one.
        ("enum" | "type", ..) => true,
        (_, Some(own), Some(new)) if key.starts_with("min") || key == "exclusiveMinimum" => {
            new > own
        }
        (_, Some(own), Some(new)) if key.starts_with("max") || key == "exclusiveMaximum" => {
            new < own
        }
        _ => false,
    };
    (!is_tighter).then(|| {
        format!(
            "has `{key}`: {value}, which may allow more than the tool's own {own}; leave it out"
        )
    })
}

fn kinds(value: &Value) -> &[Value] {
    value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice)
}

fn has_kind(own: &Value, kind: &Value) -> bool {
    kinds(own).contains(kind)
}

/// The schema of a property as an object.
fn object(property: Option<&Value>) -> Map<String, Value> {
    match property {
        Some(Value::Object(property)) => property.clone(),
        Some(Value::Bool(false)) => Map::from_iter([("not".to_owned(), json!({}))]),
        _ => Map::new(),
    }
}

fn marked(property: Value, is_secret: bool) -> Value {
    if !is_secret {
        return property;
    }
    let mut property = object(Some(&property));
    property.insert("writeOnly".to_owned(), true.into());
    property.into()
}

fn change_property(property: &Value, change: &ArgumentTransform) -> Value {
    let mut property = object(Some(property));
    for (key, value) in change.narrowing().into_iter().flatten() {
        property.insert(key.clone(), value.clone());
    }
    if let Some(description) = &change.description {
        property.insert("description".to_owned(), description.clone().into());
    }
    if let Some(default) = &change.default {
        property.insert("default".to_owned(), default.clone());
    }
    property.into()
}
