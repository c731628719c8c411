//! The schemas that may apply to one value of arguments: what they list, and the defaults they state.

use super::check::target_below;
use serde_json::{Map, Value};

/// Limit on the references that are followed from one schema.
const MAX_DEPTH: usize = 32;

/// The schemas that may apply to a value: with the targets of references, and all alternatives.
pub(crate) struct Applicable<'s> {
    root: &'s Map<String, Value>,
    all: Vec<&'s Map<String, Value>>,
    /// Whether something applies that is not known here.
    is_open: bool,
}

impl<'s> Applicable<'s> {
    pub(crate) fn of_object(root: &'s Map<String, Value>) -> Self {
        let mut schemas = Self { root, all: Vec::new(), is_open: false };
        schemas.add_object(root, 0);
        schemas
    }

    fn from_root(root: &'s Map<String, Value>, given: impl IntoIterator<Item = &'s Value>) -> Self {
        let mut schemas = Self { root, all: Vec::new(), is_open: false };
        given.into_iter().for_each(|schema| schemas.add(schema, 0));
        schemas
    }

    fn add(&mut self, schema: &'s Value, depth: usize) {
        match schema {
            Value::Object(schema) if depth < MAX_DEPTH => self.add_object(schema, depth),
            _ => self.is_open = true,
        }
    }

    fn add_object(&mut self, schema: &'s Map<String, Value>, depth: usize) {
        if self.all.iter().any(|known| std::ptr::eq(*known, schema)) {
            return;
        }
        self.all.push(schema);
        if let Some(reference) = schema.get("$ref") {
            match target_below(self.root, schema) {
                Some(target) => self.add(target, depth + 1),
                None if reference == "#" => self.add_object(self.root, depth + 1),
                None => self.is_open = true,
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let parts = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            parts.for_each(|part| self.add(part, depth + 1));
        }
    }

    /// The names that the schemas list, with the schema of each.
    pub(crate) fn properties(&self) -> impl Iterator<Item = (&'s String, &'s Value)> {
        self.all.iter().filter_map(|schema| schema.get("properties")?.as_object()).flatten()
    }

    /// Whether a name is listed, or other names are allowed.
    pub(crate) fn takes_name(&self, name: &str) -> bool {
        let takes_others = |schema: &&Map<String, Value>| {
            let others = ["additionalProperties", "patternProperties", "unevaluatedProperties"];
            others.iter().any(|key| schema.get(*key).is_some_and(|it| *it != Value::Bool(false)))
        };
        let mut properties = self.properties().peekable();
        self.is_open
            || properties.peek().is_none()
            || self.all.iter().any(takes_others)
            || properties.any(|(own, _)| own == name)
    }

    /// The schemas of a member.
    pub(crate) fn property(&self, name: &str) -> Self {
        let own = self.properties().filter(|(own, _)| *own == name).map(|(_, schema)| schema);
        let mut own = own.peekable();
        if own.peek().is_some() {
            return Self::from_root(self.root, own);
        }
        let others = self.all.iter().filter_map(|schema| schema.get("additionalProperties"));
        let others: Vec<&Value> = others.filter(|schema| schema.is_object()).collect();
        let is_open = others.is_empty();
        let mut schemas = Self::from_root(self.root, others);
        schemas.is_open |= is_open;
        schemas
    }

    /// The default of a member.
    pub(crate) fn default(&self, name: &str) -> Option<&'s Value> {
        self.defaults().find(|(own, _)| *own == name).map(|(_, default)| default)
    }

    /// The defaults of properties, where only one schema applies: alternatives have defaults of their own.
    pub(crate) fn defaults(&self) -> impl Iterator<Item = (&'s str, &'s Value)> {
        let is_certain = self.all.iter().filter(|it| it.contains_key("properties")).count() == 1;
        let properties = self.properties().filter(move |_| is_certain);
        properties.filter_map(|(name, schema)| Some((name.as_str(), schema.get("default")?)))
    }

    /// The schemas of each item.
    pub(crate) fn items(&self) -> Self {
        let items: Vec<&Value> = self.all.iter().filter_map(|it| it.get("items")).collect();
        let is_unlisted =
            items.is_empty() || self.all.iter().any(|it| it.contains_key("prefixItems"));
        let mut schemas = Self::from_root(self.root, items);
        schemas.is_open |= is_unlisted;
        schemas
    }

    /// Whether a value may be null.
    pub(crate) fn allows_null(&self) -> bool {
        self.all.iter().any(|schema| match schema.get("type") {
            Some(Value::String(name)) => name == "null",
            Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
            _ => schema
                .get("enum")
                .and_then(Value::as_array)
                .is_some_and(|it| it.contains(&Value::Null)),
        })
    }

    /// Whether a string is listed, or other strings are allowed.
    pub(crate) fn takes_text(&self, text: &str) -> bool {
        let mut lists = false;
        for schema in &self.all {
            let listed = match (schema.get("enum"), schema.get("const")) {
                (Some(Value::Array(values)), _) => values.as_slice(),
                (_, Some(value)) => std::slice::from_ref(value),
                _ if schema.get("type").is_some_and(|it| *it == "string") => return true,
                _ => continue,
            };
            lists = true;
            if listed.iter().any(|value| value == text) {
                return true;
            }
        }
        self.is_open || !lists
    }
}
