//! Arguments as text, for prompts and for the variables of resource templates.

use crate::tool::arguments::parameter::Parameter;
use crate::tool::arguments::schemas;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Arguments as text, by name: the arguments of a prompt, or the values of a resource template's
/// variables.
///
/// ```
/// use tool_runtime::tool::TextArguments;
///
/// let arguments = TextArguments::from([("id".to_owned(), "7".to_owned())]);
/// assert_eq!(arguments["id"], "7");
/// ```
pub type TextArguments = BTreeMap<String, String>;

/// Types of the parameters, which determine how their text is read.
pub(crate) struct TextSchema {
    schema: Value,
    parameters: &'static [Parameter],
}

impl TextSchema {
    pub(crate) fn new(parameters: &'static [Parameter]) -> Self {
        Self { schema: Value::Object(schemas::input(parameters)), parameters }
    }

    /// The arguments as JSON: text stays text where its parameter takes text, and is read as
    /// JSON where that takes numbers, flags, lists or objects. What cannot be read stays text,
    /// for the parameter's own rejection.
    pub(crate) fn json(&self, values: &TextArguments) -> String {
        let value = |(name, text): (&String, &String)| (name.clone(), self.value(name, text));
        let arguments: Map<String, Value> = values.iter().map(value).collect();
        Value::Object(arguments).to_string()
    }

    fn value(&self, key: &str, text: &str) -> Value {
        let is_meant = |p: &&Parameter| p.name == key || p.aliases.contains(&key);
        let parameter = self.parameters.iter().find(is_meant);
        let takes = parameter.is_none_or(|parameter| self.takes_text(self.property(parameter)));
        match takes {
            true => text.into(),
            false => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        }
    }

    fn property(&self, parameter: &Parameter) -> &Value {
        &self.schema["properties"][parameter.name]
    }

    /// The strings that a parameter accepts, if they are a finite set.
    pub(crate) fn choices(&self, parameter: &Parameter) -> Vec<String> {
        let mut choices = Vec::new();
        self.collect(self.property(parameter), &mut choices);
        choices
    }

    fn collect(&self, schema: &Value, choices: &mut Vec<String>) {
        let schema = self.resolve(schema);
        let single = schema.get("const").into_iter();
        for value in list(schema, "enum").iter().chain(single) {
            choices.extend(value.as_str().map(str::to_owned));
        }
        if schema["type"] == "boolean" {
            choices.extend(["true", "false"].map(str::to_owned));
        }
        for alternative in alternatives(schema) {
            self.collect(alternative, choices);
        }
    }

    fn takes_text(&self, schema: &Value) -> bool {
        let schema = self.resolve(schema);
        let single = schema.get("const").into_iter();
        let mut values = list(schema, "enum").iter().chain(single).peekable();
        if values.peek().is_some() {
            return values.any(Value::is_string);
        }
        let mut alternatives = alternatives(schema).peekable();
        if alternatives.peek().is_some() {
            return alternatives.any(|alternative| self.takes_text(alternative));
        }
        match &schema["type"] {
            Value::String(kind) => kind == "string",
            Value::Array(kinds) => kinds.iter().any(|kind| kind == "string"),
            _ => true,
        }
    }

    /// Named types are defined next to the arguments.
    fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let target = schema["$ref"].as_str().and_then(|path| path.strip_prefix("#/$defs/"));
        target.map_or(schema, |name| &self.schema["$defs"][name])
    }
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    list(schema, "oneOf").iter().chain(list(schema, "anyOf"))
}

fn list<'a>(schema: &'a Value, keyword: &str) -> &'a [Value] {
    schema[keyword].as_array().map(Vec::as_slice).unwrap_or_default()
}
