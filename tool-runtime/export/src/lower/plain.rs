//! Schemas that an API takes without enforcing them: any of 2020-12, but for what makes it reject a request. Properties
//! whose names it does not accept are renamed.

use super::Lowered;
use super::dialect::{Dialect, is_portable};
use super::keywords::Guidance;
use super::metaschema::{Form, keyword_form};
use super::refs::resolve;
use serde_json::{Map, Value, json};
use tool_runtime_core::tool::export::{ChangeKind, SchemaChange};

/// Converts a schema whose root is a plain object schema.
///
/// # Errors
/// Two properties of one object would have the same name, or a reference leads nowhere.
pub(super) fn convert(
    mut schema: Map<String, Value>,
    changes: Vec<SchemaChange>,
) -> Result<Lowered, String> {
    let root = schema.clone();
    let mut conversion = Conversion { root: &root, changes };
    conversion.schema(&mut schema, "")?;
    let changes = conversion.changes;
    Ok(Lowered { schema: Value::Object(schema), changes, optional: 0, unions: 0 })
}

struct Conversion<'a> {
    root: &'a Map<String, Value>,
    changes: Vec<SchemaChange>,
}

impl Conversion<'_> {
    /// Converts a schema and all schemas in it; `at` is its path, a JSON pointer.
    fn schema(&mut self, schema: &mut Map<String, Value>, at: &str) -> Result<(), String> {
        self.list(schema, at);
        self.values(schema, at);
        self.pattern(schema, at);
        for (keyword, value) in schema.iter_mut() {
            let at = format!("{at}/{keyword}");
            match (keyword.as_str(), keyword_form(keyword), value) {
                (_, Some(Form::NamedSchemas), Value::Object(schemas)) => {
                    self.each(schemas.iter_mut().map(|(name, it)| (name.as_str(), it)), &at)?;
                    if keyword == "properties" {
                        rename_keys(schemas)?;
                    }
                }
                (_, Some(Form::Schemas), Value::Array(schemas)) => {
                    for (index, schema) in schemas.iter_mut().enumerate() {
                        self.each([(index.to_string().as_str(), schema)].into_iter(), &at)?;
                    }
                }
                (_, Some(Form::Schema), Value::Object(schema)) => self.schema(schema, &at)?,
                ("required", _, Value::Array(names)) => rename_all(names),
                ("$ref", _, Value::String(reference)) => self.reference(reference)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn each<'v>(
        &mut self,
        schemas: impl Iterator<Item = (&'v str, &'v mut Value)>,
        at: &str,
    ) -> Result<(), String> {
        for (name, schema) in schemas {
            if let Value::Object(schema) = schema {
                let name = name.replace('~', "~0").replace('/', "~1");
                self.schema(schema, &format!("{at}/{name}"))?;
            }
        }
        Ok(())
    }

    /// OpenAI and Gemini reject a list without a schema of its entries.
    fn list(&mut self, schema: &mut Map<String, Value>, at: &str) {
        let is_list = match schema.get("type") {
            Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
            kind => kind.is_some_and(|kind| kind == "array"),
        };
        if is_list && !schema.contains_key("items") {
            schema.insert("items".to_owned(), json!({}));
            self.changes.push(SchemaChange::new(at, "items", ChangeKind::Rewritten));
        }
    }

    /// The older drafts, by which OpenAI checks, reject an empty `enum` and one with a value twice.
    fn values(&mut self, schema: &mut Map<String, Value>, at: &str) {
        if let Some(kind) = distinct_values(schema) {
            self.changes.push(SchemaChange::new(at, "enum", kind));
        }
    }

    /// One pattern with lookaround makes OpenAI, and servers with grammars, reject all tools.
    fn pattern(&mut self, schema: &mut Map<String, Value>, at: &str) {
        let Some(pattern) = schema.get("pattern").filter(|it| it.is_string() && !is_portable(it))
        else {
            return;
        };
        let mut guidance = Guidance::default();
        let is_described = guidance.add("pattern", pattern);
        schema.shift_remove("pattern");
        guidance.append_to(schema);
        let kind = if is_described { ChangeKind::Described } else { ChangeKind::Dropped };
        self.changes.push(SchemaChange::new(at, "pattern", kind));
    }

    fn reference(&self, reference: &mut String) -> Result<(), String> {
        if reference != "#" && resolve(self.root, reference).is_none() {
            return Err(format!("it refers to `{reference}`, where the API finds nothing"));
        }
        *reference = renamed_reference(reference);
        Ok(())
    }
}

/// Removes an `enum` without values, and repeated values of others.
pub(super) fn distinct_values(schema: &mut Map<String, Value>) -> Option<ChangeKind> {
    let values = schema.get_mut("enum")?.as_array_mut()?;
    if values.is_empty() {
        schema.remove("enum");
        return Some(ChangeKind::Dropped);
    }
    remove_repeated(values).then_some(ChangeKind::Rewritten)
}

/// Removes values that occur before. Whether there were any.
fn remove_repeated(values: &mut Vec<Value>) -> bool {
    let count = values.len();
    let mut seen = Vec::with_capacity(count);
    values.retain(|value| {
        let is_new = !seen.contains(value);
        if is_new {
            seen.push(value.clone());
        }
        is_new
    });
    values.len() < count
}

fn rename_all(names: &mut [Value]) {
    for name in names {
        let Value::String(name) = name else { continue };
        *name = Dialect::Loose.property(name).into_owned();
    }
}

fn rename_keys(properties: &mut Map<String, Value>) -> Result<(), String> {
    if properties.keys().all(|name| Dialect::Loose.property(name) == name.as_str()) {
        return Ok(());
    }
    for (name, schema) in std::mem::take(properties) {
        let wire = Dialect::Loose.property(&name).into_owned();
        if properties.insert(wire, schema).is_some() {
            return Err(format!("`{name}` and another property get the same name in the export"));
        }
    }
    Ok(())
}

/// The reference `#/properties/NAME/…` with the name in the export.
fn renamed_reference(reference: &str) -> String {
    let mut follows_properties = false;
    let renamed = reference.split('/').map(|key| {
        let is_name = std::mem::replace(&mut follows_properties, key == "properties");
        if is_name { Dialect::Loose.property(key).into_owned() } else { key.to_owned() }
    });
    renamed.collect::<Vec<_>>().join("/")
}
