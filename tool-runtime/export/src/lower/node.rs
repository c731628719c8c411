//! Converts schemas recursively, from the root down.

use super::Lowered;
use super::dialect::{Dialect, Treatment};
use super::keywords::Guidance;
use super::merge::join;
use super::plain;
use super::refs::{is_recursive, resolve};
use crate::restore::{accepts_null, is_required};
use serde_json::{Map, Value, json};
use tool_runtime_core::tool::export::{ChangeKind, SchemaChange};

/// Deeper schemas are not converted.
const MAX_DEPTH: usize = 64;

pub(super) struct Lowering<'a> {
    root: &'a Map<String, Value>,
    dialect: Dialect,
    changes: Vec<SchemaChange>,
    /// The position in the tool's schema, as keys of a JSON pointer.
    at: Vec<String>,
    /// The references that are expanded around this position.
    expanded: Vec<String>,
    /// Whether an enclosing property within the current definition may be absent.
    is_avoidable: bool,
    optional: usize,
    unions: usize,
}

impl<'a> Lowering<'a> {
    pub(super) fn new(
        root: &'a Map<String, Value>,
        dialect: Dialect,
        changes: Vec<SchemaChange>,
    ) -> Self {
        let (at, expanded) = (Vec::new(), Vec::new());
        Self { root, dialect, changes, at, expanded, is_avoidable: false, optional: 0, unions: 0 }
    }

    /// The whole schema, with the definitions that it still refers to.
    pub(super) fn document(&mut self) -> Result<Value, String> {
        let mut root = self.root.clone();
        let definitions = ["$defs", "definitions"].map(|key| (key, root.remove(key)));
        let mut lowered = self.node(&Value::Object(root))?;
        for (key, definitions) in definitions {
            let Some(Value::Object(definitions)) = definitions else { continue };
            let mut lowered_definitions = Map::new();
            for (name, schema) in &definitions {
                self.is_avoidable = false;
                lowered_definitions
                    .insert(name.clone(), self.below(&[key, name], |own| own.node(schema))?);
            }
            // Gemini reads only `$defs`.
            let key = if self.dialect == Dialect::Gemini { "$defs" } else { key };
            if let Some(Value::Object(others)) = lowered.get_mut(key) {
                others.extend(lowered_definitions);
            } else if let Value::Object(lowered) = &mut lowered {
                lowered.insert(key.to_owned(), Value::Object(lowered_definitions));
            }
        }
        Ok(lowered)
    }

    /// The result, with the counters and the changes.
    pub(super) fn finish(self, schema: Value) -> Lowered {
        let Self { changes, optional, unions, .. } = self;
        Lowered { schema, changes, optional, unions }
    }

    fn node(&mut self, schema: &Value) -> Result<Value, String> {
        if self.at.len() > 2 * MAX_DEPTH {
            return Err("its schema is nested too deeply".to_owned());
        }
        let empty = Map::new();
        let map = match schema {
            Value::Object(map) => map,
            Value::Bool(true) => &empty,
            _ => return Err(format!("{} accepts nothing", self.location())),
        };
        match map.get("$ref").and_then(Value::as_str) {
            Some(reference) => self.reference(map, reference),
            None => self.plain(map),
        }
    }

    fn reference(&mut self, map: &Map<String, Value>, reference: &str) -> Result<Value, String> {
        let Some(target) =
            resolve(self.root, reference).or((reference == "#").then_some(&Value::Null))
        else {
            return Err(format!(
                "{} refers to `{reference}`, which it does not contain",
                self.location()
            ));
        };
        let is_recursive = is_recursive(self.root, reference);
        if is_recursive && self.dialect == Dialect::Anthropic {
            return Err(format!("`{reference}` is recursive"));
        }
        if is_recursive && self.dialect == Dialect::Gemini && !self.is_avoidable {
            self.changed("$ref", ChangeKind::Rewritten);
            return Ok(json!({ "type": "object" }));
        }
        let is_definition = ["#/$defs/", "#/definitions/"]
            .iter()
            .any(|at| reference.strip_prefix(at).is_some_and(|name| !name.contains('/')));
        let is_expanded = self.expanded.iter().any(|known| known == reference);
        if reference == "#" || is_expanded || (is_definition && map.len() == 1) {
            if map.len() > 1 {
                self.changed("$ref", ChangeKind::Rewritten);
            }
            let gemini = self.dialect == Dialect::Gemini;
            let reference = if gemini {
                reference.replace("definitions/", "$defs/")
            } else {
                reference.to_owned()
            };
            return Ok(json!({ "$ref": reference }));
        }
        let mut merged = target.as_object().cloned().unwrap_or_default();
        merged.extend(
            map.iter().filter(|(key, _)| *key != "$ref").map(|(k, v)| (k.clone(), v.clone())),
        );
        self.expanded.push(reference.to_owned());
        let lowered = self.node(&Value::Object(merged));
        self.expanded.pop();
        lowered
    }

    fn plain(&mut self, given: &Map<String, Value>) -> Result<Value, String> {
        let mut map = given.clone();
        let mut guidance = Guidance::default();
        self.all_of(&mut map, &mut guidance)?;
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            return self.reference(&map, reference);
        }
        let union = self.any_of(&mut map, &mut guidance)?;
        self.literals(&mut map, &mut guidance);
        self.typed_literals(&mut map)?;
        let mut lowered = Map::new();
        for (keyword, value) in &map {
            match keyword.as_str() {
                "properties" | "required" | "additionalProperties" | "items" | "prefixItems" => {}
                "$defs" | "definitions" => {}
                "exclusiveMinimum" | "exclusiveMaximum" if self.is_gemini_integer(&map, value) => {
                    let (keyword, step) = if keyword == "exclusiveMinimum" {
                        ("minimum", 1)
                    } else {
                        ("maximum", -1)
                    };
                    self.changed(keyword, ChangeKind::Rewritten);
                    let bound = value.as_i64().map(|bound| bound.saturating_add(step));
                    lowered.entry(keyword).or_insert(json!(bound));
                }
                _ => match self.dialect.treatment(keyword, value) {
                    Treatment::Keep => drop(lowered.insert(keyword.clone(), value.clone())),
                    Treatment::Describe => self.describe(keyword, value, &mut guidance),
                    Treatment::Drop => {}
                },
            }
        }
        if let Some(union) = union {
            lowered.insert("anyOf".to_owned(), union);
        }
        self.object(&map, &mut lowered)?;
        self.array(&map, &mut lowered, &mut guidance)?;
        self.typed(&lowered)?;
        if lowered.get("type").is_some_and(Value::is_array) || lowered.contains_key("anyOf") {
            self.unions += 1;
        }
        guidance.append_to(&mut lowered);
        Ok(Value::Object(lowered))
    }

    /// Joins the branches of `allOf` into the schema, where they can be joined.
    fn all_of(
        &mut self,
        map: &mut Map<String, Value>,
        guidance: &mut Guidance,
    ) -> Result<(), String> {
        let Some(branches) = map.remove("allOf") else { return Ok(()) };
        let single = branches.as_array().filter(|branches| branches.len() == 1);
        if let Some(Value::Object(only)) = single.map(|branches| &branches[0])
            && only.contains_key("$ref")
            && !map.contains_key("$ref")
        {
            map.extend(only.clone());
            return Ok(());
        }
        let mut joined = map.clone();
        if join(&mut joined, self.root, &json!({ "allOf": branches })) {
            *map = joined;
            self.changed("allOf", ChangeKind::Rewritten);
            return Ok(());
        }
        if self.dialect.is_strict() {
            return Err(format!("the branches of `allOf` in {} cannot be joined", self.location()));
        }
        self.describe("allOf", &branches, guidance);
        Ok(())
    }

    /// The alternatives, if each is a complete schema; otherwise they are described.
    fn any_of(
        &mut self,
        map: &mut Map<String, Value>,
        guidance: &mut Guidance,
    ) -> Result<Option<Value>, String> {
        let mut union = None;
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(alternatives)) = map.remove(keyword) else { continue };
            let is_whole = alternatives.iter().all(|one| {
                ["type", "enum", "const", "$ref", "anyOf", "oneOf", "allOf"]
                    .iter()
                    .any(|keyword| one.get(keyword).is_some())
            });
            if union.is_some() || !is_whole || map.contains_key("properties") {
                self.describe(keyword, &Value::Array(alternatives), guidance);
                continue;
            }
            let mut lowered = Vec::new();
            let was_avoidable = std::mem::replace(&mut self.is_avoidable, true);
            for (index, one) in alternatives.iter().enumerate() {
                lowered.push(self.below(&[keyword, &index.to_string()], |own| own.node(one))?);
            }
            self.is_avoidable = was_avoidable;
            if keyword == "oneOf" {
                self.changed(keyword, ChangeKind::Rewritten);
            }
            // The alternatives have the type.
            map.remove("type");
            union = Some(Value::Array(lowered));
        }
        Ok(union)
    }

    /// Values stand once in `enum`. Gemini takes numbers and strings that are not empty, and no `const`.
    fn literals(&mut self, map: &mut Map<String, Value>, guidance: &mut Guidance) {
        self.distinct(map);
        if self.dialect != Dialect::Gemini {
            return;
        }
        if let Some(only) = map.remove("const") {
            self.changed("const", ChangeKind::Rewritten);
            map.insert("enum".to_owned(), json!([only]));
        }
        self.without_empty_texts(map, guidance);
        let Some(Value::Array(values)) = map.get("enum") else { return };
        if values.iter().all(|value| value.is_string() || value.is_number()) {
            let kind = if values.iter().all(Value::is_string) { "string" } else { "number" };
            map.entry("type").or_insert_with(|| json!(kind));
            return;
        }
        let values = Value::Array(values.clone());
        map.remove("enum");
        self.describe("enum", &values, guidance);
    }

    /// Strict dialects need the type besides `enum` and `const`.
    fn typed_literals(&mut self, map: &mut Map<String, Value>) -> Result<(), String> {
        if !self.dialect.is_strict() {
            return Ok(());
        }
        let values: Vec<&Value> = match (map.get("const"), map.get("enum")) {
            (Some(only), _) => vec![only],
            (None, Some(Value::Array(values))) => values.iter().collect(),
            _ => return Ok(()),
        };
        let mut kinds: Vec<&str> = values.into_iter().map(kind_of).collect();
        kinds.sort_unstable();
        kinds.dedup();
        if kinds
            .iter()
            .all(|kind| has_type(map, kind) || *kind == "integer" && has_type(map, "number"))
        {
            return Ok(());
        }
        match (map.contains_key("type"), kinds.as_slice()) {
            (false, [only]) => drop(map.insert("type".to_owned(), json!(only))),
            (false, [one, other]) if *one == "null" || *other == "null" => {
                map.insert("type".to_owned(), json!(kinds));
            }
            _ => return Err(format!("the values of {} are not of one type", self.location())),
        }
        self.changed("type", ChangeKind::Rewritten);
        Ok(())
    }

    fn distinct(&mut self, map: &mut Map<String, Value>) {
        if let Some(kind) = plain::distinct_values(map) {
            self.changed("enum", kind);
        }
    }

    fn without_empty_texts(&mut self, map: &mut Map<String, Value>, guidance: &mut Guidance) {
        let Some(Value::Array(values)) = map.get_mut("enum") else { return };
        if !values.iter().any(|value| value == "") {
            return;
        }
        let all = Value::Array(values.clone());
        values.retain(|value| value != "");
        if values.is_empty() {
            map.remove("enum");
        }
        self.describe("enum", &all, guidance);
    }

    fn object(
        &mut self,
        map: &Map<String, Value>,
        lowered: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let is_object = has_type(map, "object");
        if !is_object && !map.contains_key("properties") {
            return Ok(());
        }
        lowered.entry("type").or_insert_with(|| json!("object"));
        self.closed(map, lowered)?;
        if self.dialect.is_strict() && map.contains_key("patternProperties") {
            return Err(format!("{} accepts keys of a pattern", self.location()));
        }
        let none = Map::new();
        let properties = map.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let (mut kept, mut demanded) = (Map::new(), Vec::new());
        for (name, schema) in properties {
            let (wire, is_required) =
                (self.dialect.property(name).into_owned(), is_required(map, name));
            if *schema == Value::Bool(false) && !is_required && !self.dialect.is_strict() {
                self.below(&["properties", name], |own| own.changed("false", ChangeKind::Dropped));
                continue;
            }
            let was_avoidable = self.is_avoidable;
            self.is_avoidable |= !is_required;
            let mut value = self.below(&["properties", name], |own| own.node(schema))?;
            self.is_avoidable = was_avoidable;
            self.optional += usize::from(!is_required);
            if !is_required
                && self.dialect == Dialect::OpenAi
                && !accepts_null(self.root, schema, 8)
            {
                value = nullable(value);
            }
            if is_required || self.dialect == Dialect::OpenAi {
                demanded.push(json!(wire));
            }
            if kept.insert(wire, value).is_some() {
                return Err(format!(
                    "two properties of {} get the same name in the export",
                    self.location()
                ));
            }
        }
        if !kept.is_empty() || self.dialect.is_strict() || map.contains_key("properties") {
            lowered.insert("properties".to_owned(), Value::Object(kept));
        }
        if !demanded.is_empty() || self.dialect == Dialect::OpenAi {
            lowered.insert("required".to_owned(), Value::Array(demanded));
        }
        Ok(())
    }

    /// Strict objects have no other keys.
    fn closed(
        &mut self,
        map: &Map<String, Value>,
        lowered: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let others = map.get("additionalProperties");
        if self.dialect.is_strict() {
            if !matches!(others, None | Some(Value::Bool(false))) {
                return Err(format!("{} accepts keys of any name", self.location()));
            }
            lowered.insert("additionalProperties".to_owned(), json!(false));
            return Ok(());
        }
        if let Some(others) = others {
            let others = match others {
                Value::Bool(_) => others.clone(),
                schema => self.below(&["additionalProperties"], |own| own.node(schema))?,
            };
            lowered.insert("additionalProperties".to_owned(), others);
        }
        Ok(())
    }

    fn array(
        &mut self,
        map: &Map<String, Value>,
        lowered: &mut Map<String, Value>,
        guidance: &mut Guidance,
    ) -> Result<(), String> {
        if let Some(first) = map.get("prefixItems") {
            if self.dialect.is_strict() {
                return Err(format!(
                    "{} is a list with a schema for each position",
                    self.location()
                ));
            }
            let mut items = Vec::new();
            for (index, item) in first.as_array().into_iter().flatten().enumerate() {
                items.push(self.below(&["prefixItems", &index.to_string()], |own| own.node(item))?);
            }
            lowered.insert("prefixItems".to_owned(), Value::Array(items));
        }
        match map.get("items") {
            Some(Value::Bool(false)) => {
                self.describe("items", &json!(false), guidance);
                lowered.insert("items".to_owned(), json!({}));
            }
            Some(items) => {
                let items = self.below(&["items"], |own| own.node(items))?;
                lowered.insert("items".to_owned(), items);
            }
            None if has_type(map, "array") && self.dialect.is_strict() => {
                return Err(format!("{} is a list of anything", self.location()));
            }
            // A list without a schema of its entries is rejected.
            None if has_type(map, "array") => {
                self.changed("items", ChangeKind::Rewritten);
                lowered.insert("items".to_owned(), json!({}));
            }
            None => {}
        }
        Ok(())
    }

    /// Strict dialects need a type everywhere.
    fn typed(&self, lowered: &Map<String, Value>) -> Result<(), String> {
        let is_typed = ["type", "anyOf"].iter().any(|k| lowered.contains_key(*k));
        if is_typed || !self.dialect.is_strict() {
            return Ok(());
        }
        Err(format!("{} accepts a value of any type", self.location()))
    }

    fn is_gemini_integer(&self, map: &Map<String, Value>, bound: &Value) -> bool {
        self.dialect == Dialect::Gemini && has_type(map, "integer") && bound.is_i64()
    }

    fn describe(&mut self, keyword: &str, value: &Value, guidance: &mut Guidance) {
        let is_described = guidance.add(keyword, value);
        self.changed(
            keyword,
            if is_described { ChangeKind::Described } else { ChangeKind::Dropped },
        );
    }

    fn changed(&mut self, keyword: &str, kind: ChangeKind) {
        self.changes.push(SchemaChange::new(self.pointer(), keyword, kind));
    }

    fn below<T>(&mut self, keys: &[&str], run: impl FnOnce(&mut Self) -> T) -> T {
        let len = self.at.len();
        self.at.extend(keys.iter().map(|key| (*key).to_owned()));
        let result = run(self);
        self.at.truncate(len);
        result
    }

    fn pointer(&self) -> String {
        self.at
            .iter()
            .map(|key| format!("/{}", key.replace('~', "~0").replace('/', "~1")))
            .collect()
    }

    /// The location as an error names it.
    fn location(&self) -> String {
        if self.at.is_empty() { "its root".to_owned() } else { format!("`{}`", self.pointer()) }
    }
}

fn has_type(map: &Map<String, Value>, name: &str) -> bool {
    match map.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => false,
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// The schema that accepts `null` as well.
fn nullable(mut schema: Value) -> Value {
    let Some(map) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(alternatives)) = map.get_mut("anyOf") {
        alternatives.push(json!({ "type": "null" }));
        return schema;
    }
    if map.contains_key("$ref") {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    }
    if let Some(only) = map.remove("const") {
        map.insert("enum".to_owned(), json!([only]));
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.push(Value::Null);
    }
    match map.get_mut("type") {
        Some(Value::Array(kinds)) => kinds.push(json!("null")),
        Some(kind) => *kind = json!([kind, "null"]),
        None => {}
    }
    schema
}
