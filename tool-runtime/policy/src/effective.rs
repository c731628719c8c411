//! The arguments as the tool gets them: defaults filled in, and what the schema does not list is doubtful.

use serde_json::{Map, Value};
use std::collections::HashSet;
use tool_runtime_core::Tool;

/// Limit on the references that are followed from one schema.
const MAX_DEPTH: usize = 32;

type Members<'a> = Vec<(std::borrow::Cow<'a, str>, Value)>;

/// The parts of arguments that another name may stand for: the tool accepted them, and its schema does not list them.
#[derive(Debug, Default)]
pub(crate) struct Doubts {
    /// Objects with a name that may be an alias, and texts that may be another name of a value.
    parts: HashSet<*const Value>,
    /// Whether the arguments themselves have such a name.
    is_in_arguments: bool,
}

impl Doubts {
    /// Whether the part may have the value of another name.
    pub(crate) fn has(&self, part: &Value) -> bool {
        self.parts.contains(&std::ptr::from_ref(part))
    }

    pub(crate) fn is_in_arguments(&self) -> bool {
        self.is_in_arguments
    }
}

/// Fills in the defaults of a tool, at every depth, and finds what its schema does not list.
pub(crate) fn fill(members: &mut Members<'_>, tool: &Tool) -> Doubts {
    let root = &tool.definition().input_schema;
    let schema = Schemas::of_object(root);
    for (name, value) in members.iter_mut() {
        let name = tool.argument_name(name);
        fill_value(value, &schema.property(name), schema.default(name));
    }
    for (name, default) in schema.defaults() {
        if members.iter().all(|(given, _)| tool.argument_name(given) != name) {
            members.push((name.to_owned().into(), default.clone()));
        }
    }
    let mut doubts = Doubts::default();
    for (name, value) in &*members {
        let name = tool.argument_name(name);
        doubts.is_in_arguments |= !schema.lists(name);
        doubts.find(value, &schema.property(name));
    }
    doubts
}

fn fill_value(value: &mut Value, schema: &Schemas<'_>, default: Option<&Value>) {
    match value {
        Value::Null => {
            if let Some(default) = default.filter(|_| !schema.allows_null()) {
                value.clone_from(default);
            }
        }
        Value::Object(members) => {
            for (name, member) in members.iter_mut() {
                fill_value(member, &schema.property(name), schema.default(name));
            }
            for (name, default) in schema.defaults() {
                if !members.contains_key(name) {
                    members.insert(name.to_owned(), default.clone());
                }
            }
        }
        Value::Array(items) => {
            let item_schema = schema.items();
            items.iter_mut().for_each(|item| fill_value(item, &item_schema, None));
        }
        _ => {}
    }
}

impl Doubts {
    fn find(&mut self, value: &Value, schema: &Schemas<'_>) {
        match value {
            Value::Object(members) => {
                if members.keys().any(|name| !schema.lists(name)) {
                    self.parts.insert(value);
                }
                for (name, member) in members {
                    self.find(member, &schema.property(name));
                }
            }
            Value::Array(items) => {
                let item_schema = schema.items();
                items.iter().for_each(|item| self.find(item, &item_schema));
            }
            Value::String(text) if !schema.takes(text) => {
                self.parts.insert(value);
            }
            _ => {}
        }
    }
}

/// The schemas that may apply to a value: with the targets of references, and all alternatives.
struct Schemas<'s> {
    root: &'s Map<String, Value>,
    all: Vec<&'s Map<String, Value>>,
    /// Whether something applies that is not known here.
    is_open: bool,
}

impl<'s> Schemas<'s> {
    fn of_object(root: &'s Map<String, Value>) -> Self {
        let mut schemas = Self { root, all: Vec::new(), is_open: false };
        schemas.add_object(root, 0);
        schemas
    }

    fn of(root: &'s Map<String, Value>, given: impl IntoIterator<Item = &'s Value>) -> Self {
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
            match reference.as_str().and_then(|reference| self.target(reference)) {
                Some(target) => self.add(target, depth + 1),
                None => self.is_open = true,
            }
        }
        for keyword in ["allOf", "anyOf", "oneOf"] {
            let parts = schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
            parts.for_each(|part| self.add(part, depth + 1));
        }
    }

    fn target(&self, reference: &str) -> Option<&'s Value> {
        let (first, rest) = reference.strip_prefix("#/")?.split_once('/')?;
        self.root.get(first)?.pointer(&format!("/{rest}"))
    }

    fn properties(&self) -> impl Iterator<Item = (&'s String, &'s Value)> {
        self.all.iter().filter_map(|schema| schema.get("properties")?.as_object()).flatten()
    }

    /// Whether a name is listed, or other names are allowed.
    fn lists(&self, name: &str) -> bool {
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

    fn property(&self, name: &str) -> Self {
        let own = self.properties().filter(|(own, _)| *own == name).map(|(_, schema)| schema);
        let mut own = own.peekable();
        let is_open = own.peek().is_none();
        Self { is_open, ..Self::of(self.root, own) }
    }

    fn default(&self, name: &str) -> Option<&'s Value> {
        self.defaults().find(|(own, _)| *own == name).map(|(_, default)| default)
    }

    /// The defaults of properties, where one schema alone applies: alternatives have defaults of their own.
    fn defaults(&self) -> impl Iterator<Item = (&'s str, &'s Value)> {
        let is_certain = self.all.iter().filter(|it| it.contains_key("properties")).count() == 1;
        let properties = self.properties().filter(move |_| is_certain);
        properties.filter_map(|(name, schema)| Some((name.as_str(), schema.get("default")?)))
    }

    fn items(&self) -> Self {
        let items: Vec<&Value> = self.all.iter().filter_map(|it| it.get("items")).collect();
        Self { is_open: items.is_empty(), ..Self::of(self.root, items) }
    }

    fn allows_null(&self) -> bool {
        self.all.iter().any(|schema| match schema.get("type") {
            Some(Value::String(name)) => name == "null",
            Some(Value::Array(names)) => names.iter().any(|name| name == "null"),
            _ => schema
                .get("enum")
                .and_then(Value::as_array)
                .is_some_and(|it| it.contains(&Value::Null)),
        })
    }

    /// Whether a text is listed, or other texts are allowed.
    fn takes(&self, text: &str) -> bool {
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
