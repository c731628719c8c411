//! Converts the texts of the command line to JSON by the tool's schema. A text stays text if the schema accepts it, even if it
//! also accepts a number. Otherwise it is parsed as JSON, unless the schema accepts strings only.

use super::schema::field;
use super::sources::Sources;
use serde_json::{Map, Value, json};
use tool_runtime_core::seam::check;
use tool_runtime_core::tool::ToolDefinition;

/// The arguments that were given so far. Values of the wrong type stay text, and the call reports them.
pub(super) struct Given<'t> {
    definition: &'t ToolDefinition,
    /// The name of an argument that another name means.
    canonical: &'t dyn Fn(&str) -> String,
    /// The schema of all arguments.
    root: Value,
    sources: Sources,
    object: Map<String, Value>,
}

impl<'t> Given<'t> {
    pub(super) fn new(
        definition: &'t ToolDefinition,
        canonical: &'t dyn Fn(&str) -> String,
    ) -> Self {
        let root = Value::Object(definition.input_schema.clone());
        Self { definition, canonical, root, sources: Sources::default(), object: Map::new() }
    }

    /// Adds `key=value`.
    ///
    /// # Errors
    /// It is no pair, its value cannot be read, or it is given twice.
    pub(super) fn add_pair(&mut self, pair: &str) -> Result<(), String> {
        let Some((key, text)) = pair.split_once('=') else {
            return Err(format!("`{pair}` is not an argument; write `key=value`"));
        };
        let text = self.sources.text(key, text)?;
        self.add(key, &text)
    }

    /// Adds the value of an option, which `-` reads from standard input.
    ///
    /// # Errors
    /// Those of [`Self::add_pair`].
    pub(super) fn add_option(&mut self, name: &str, text: &str) -> Result<(), String> {
        let text = if text == "-" { "@-" } else { text };
        let text = self.sources.text(name, text)?;
        self.add(name, &text)
    }

    /// Adds a value by the name of its argument, or the path of a field in it.
    pub(super) fn add(&mut self, name: &str, text: &str) -> Result<(), String> {
        let definition = self.definition;
        let known = |name: &str| definition.argument(&(self.canonical)(name));
        let path: Vec<&str> = match name.split_once('.') {
            Some((first, _)) if known(name).is_none() && known(first).is_some() => {
                name.split('.').collect()
            }
            _ => vec![name],
        };
        let root = &self.root;
        let schema = known(path[0]).unwrap_or(&Value::Null);
        let schema = path[1..].iter().fold(schema, |schema, name| field(schema, name, root));
        let definitions = root["$defs"].clone();
        let typed = ValueSchema { schema: schema.clone(), definitions };
        let (last, parents) = path.split_last().unwrap_or((&name, &[]));
        let mut object = &mut self.object;
        for parent in parents {
            let inner = object.entry(*parent).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(inner) = inner else {
                return Err(format!(
                    "`{parent}` is given as a whole, and by `{name}`; give it once"
                ));
            };
            object = inner;
        }
        match object.get_mut(*last) {
            None => drop(object.insert((*last).to_owned(), typed.value(text))),
            Some(Value::Array(items)) if typed.is_list() => items.push(typed.item(text)),
            Some(_) => return Err(format!("`{name}` is given twice; give it once")),
        }
        Ok(())
    }

    /// Whether an argument was given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.object.contains_key(name)
    }

    /// The arguments as a JSON object.
    pub(super) fn into_json(self) -> String {
        Value::Object(self.object).to_string()
    }
}

/// The schema of one value.
struct ValueSchema {
    schema: Value,
    definitions: Value,
}

impl ValueSchema {
    fn is_list(&self) -> bool {
        self.schema.get("type").is_some_and(|kind| kind == "array")
    }

    /// Whether the schema does not restrict the type. JSON is then preferred to text.
    fn is_untyped(&self) -> bool {
        const TYPING: [&str; 6] = ["type", "enum", "const", "anyOf", "oneOf", "$ref"];
        TYPING.iter().all(|keyword| self.schema.get(keyword).is_none())
    }

    /// The first interpretation of the text that the schema accepts.
    fn value(&self, text: &str) -> Value {
        let parsed = text.parse::<Value>().ok();
        if self.is_list() && !matches!(parsed, Some(Value::Array(_))) {
            return Value::Array(vec![self.item(text)]);
        }
        let candidates = if self.is_untyped() {
            [parsed.clone(), Some(Value::from(text))]
        } else {
            [Some(Value::from(text)), parsed.clone()]
        };
        let accepted = candidates.into_iter().flatten().find(|value| self.accepts(value));
        let is_text = is_text_only(&self.schema, &self.definitions, MAX_DEPTH);
        accepted.or(parsed.filter(|_| !is_text)).unwrap_or_else(|| text.into())
    }

    fn item(&self, text: &str) -> Value {
        let items = Self {
            schema: self.schema.get("items").cloned().unwrap_or_default(),
            definitions: self.definitions.clone(),
        };
        items.value(text)
    }

    fn accepts(&self, value: &Value) -> bool {
        let schema = json!({
            "type": "object",
            "properties": { "value": self.schema },
            "required": ["value"],
            "$defs": self.definitions,
        });
        check(&schema, &json!({ "value": value })).is_empty()
    }
}

/// Limit on following references; definitions may refer to themselves.
const MAX_DEPTH: u8 = 8;

/// Whether a schema accepts only text.
fn is_text_only(schema: &Value, definitions: &Value, depth: u8) -> bool {
    let all = |key: &str, is_text: &dyn Fn(&Value) -> bool| {
        schema[key].as_array().is_some_and(|list| list.iter().all(is_text))
    };
    let inner = |schema: &Value| depth > 0 && is_text_only(schema, definitions, depth - 1);
    let definition = schema["$ref"].as_str().and_then(|to| to.strip_prefix("#/$defs/"));
    schema["type"] == "string"
        || all("type", &|kind| kind == "string" || kind == "null")
        || schema["const"].is_string()
        || all("enum", &Value::is_string)
        || all("anyOf", &inner)
        || all("oneOf", &inner)
        || definition.is_some_and(|name| inner(&definitions[name]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_runtime_core::tool::Tool;

    fn tool() -> Tool {
        Tool::builder("t", "T.")
            .input_schema(json!({
                "type": "object",
                "properties": {
                    "n": { "type": "integer" },
                    "x": { "type": "number" },
                    "s": { "type": "string" },
                    "flag": { "type": "boolean" },
                    "tags": { "type": "array", "items": { "type": "string" } },
                    "numbers": { "type": "array", "items": { "type": "integer" } },
                    "unit": { "enum": ["c", "f"] },
                    "isbn": { "type": "string", "pattern": "^978" },
                    "isbns": { "type": "array", "items": { "type": "string", "minLength": 9 } },
                    "code": { "anyOf": [{ "$ref": "#/$defs/Code" }, { "const": "any" }] },
                    "either": { "type": ["string", "number"], "minLength": 3, "maximum": 9 },
                    "point": {
                        "type": "object",
                        "properties": { "x": { "type": "integer" }, "label": { "type": "string" } }
                    },
                    "any": {}
                },
                "$defs": { "Code": { "oneOf": [{ "enum": ["a", "b"] }] } }
            }))
            .handler(|_: Map<String, Value>| async {})
    }

    fn object_of(pairs: &[&str]) -> Result<Value, String> {
        let (tool, canonical) = (tool(), str::to_owned);
        let mut given = Given::new(tool.definition(), &canonical);
        pairs.iter().try_for_each(|pair| given.add_pair(pair))?;
        Ok(serde_json::from_str(&given.into_json()).expect("JSON"))
    }

    #[test]
    fn values_are_parsed_by_the_type_of_the_schema() {
        let object = object_of(&[
            "n=42",
            "x=2",
            "s=42",
            "flag=true",
            "unit=c",
            "point={\"a\":1}",
            "any=x=y",
        ]);
        assert_eq!(
            object.unwrap(),
            json!({"n": 42, "x": 2, "s": "42", "flag": true, "unit": "c", "point": {"a": 1}, "any": "x=y"})
        );
    }

    #[test]
    fn text_stays_text_even_if_the_schema_rejects_it() {
        let object = object_of(&["isbn=12", "isbns=12", "unit=1", "code=true", "either=1234"]);
        assert_eq!(
            object.unwrap(),
            json!({"isbn": "12", "isbns": ["12"], "unit": "1", "code": "true", "either": "1234"})
        );
        assert_eq!(object_of(&["either=7"]).unwrap(), json!({"either": 7}));
        assert_eq!(object_of(&["either=10"]).unwrap(), json!({"either": 10}));
    }

    #[test]
    fn a_list_is_a_repeated_key_or_json() {
        assert_eq!(object_of(&["tags=a", "tags=1"]).unwrap(), json!({"tags": ["a", "1"]}));
        assert_eq!(object_of(&["numbers=1"]).unwrap(), json!({"numbers": [1]}));
        assert_eq!(object_of(&["tags=[\"a\"]"]).unwrap(), json!({"tags": ["a"]}));
    }

    #[test]
    fn unknown_and_invalid_values_are_passed_on() {
        assert_eq!(object_of(&["n=x", "typo=1"]).unwrap(), json!({"n": "x", "typo": 1}));
    }

    #[test]
    fn values_come_from_files() {
        let file = std::env::temp_dir().join(format!("cli-argument-{}", std::process::id()));
        let path = file.display();
        std::fs::write(&file, "42\n").unwrap();
        let object = object_of(&[&format!("s=@{path}"), &format!("n=@{path}"), "isbn=@@978"]);
        assert_eq!(object.unwrap(), json!({"s": "42\n", "n": 42, "isbn": "@978"}));
        std::fs::write(&file, b"\xff").unwrap();
        let error = object_of(&[&format!("s=@{path}")]).unwrap_err();
        assert!(error.starts_with(&format!("`s`: cannot read `{path}`: ")), "{error}");
        std::fs::remove_file(&file).unwrap();
        let error = object_of(&[&format!("s=@{path}")]).unwrap_err();
        assert!(error.contains("write `s=@@"), "{error}");
    }

    #[test]
    fn fields_of_objects_have_dots() {
        let object = object_of(&["point.x=1", "point.label=7", "point.more.deep=true"]).unwrap();
        assert_eq!(object, json!({"point": {"x": 1, "label": "7", "more": {"deep": true}}}));
        let twice = object_of(&["point=[1]", "point.x=1"]).unwrap_err();
        assert!(twice.contains("as a whole"), "{twice}");
    }

    #[test]
    fn a_pair_needs_an_equals_sign_and_a_scalar_one_value() {
        assert!(object_of(&["n"]).unwrap_err().contains("key=value"));
        assert!(object_of(&["n=1", "n=2"]).unwrap_err().contains("twice"));
    }
}
