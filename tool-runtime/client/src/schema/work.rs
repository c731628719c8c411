//! Counts the steps of a check before the check, since the validator has no limits: two references in each of 40
//! definitions take it hours, in one keyword or on the way into a value, and compiling some such schemas takes as long.
//! The count visits each pair of subschema and value as often as the validator may, and ends at the limit.

use super::references::References;
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Limit on the subschemas that one value reaches, with those that it reaches on several paths counted each time.
const MAX_VISITS: u64 = 10_000;
/// Limit on the length of such a path.
const MAX_PATH: usize = 200;
/// Limit on nested visits, which take stack space.
const MAX_NESTED: usize = 1000;
/// Cost of a reference, which is found by its text.
const REFERENCE: u64 = 10;
/// Cost of a pattern, and of each byte that it is matched against.
const PATTERN: u64 = 100;
const BYTE: u64 = 10;

const UNEVALUATED: &[&str] = &["unevaluatedProperties", "unevaluatedItems"];
const OTHER_MEMBERS: &[&str] = &["additionalProperties", "unevaluatedProperties"];
const ALL_ITEMS: &[&str] = &["items", "additionalItems", "contains", "unevaluatedItems"];

type Schema = Map<String, Value>;

/// Whether checking a value takes at most `max` steps.
pub(super) fn is_within(max: u64, schema: &Schema, value: &Value) -> bool {
    Work::new(schema, max, MAX_NESTED).schema(schema, Some(value), 0).is_some()
}

/// Whether each part of a schema passes a value on to few subschemas, whatever the value.
pub(super) fn is_limited(schema: &Schema) -> bool {
    let mut work = Work::new(schema, MAX_VISITS, MAX_PATH);
    work.schema(schema, None, 0).is_some() && schema.values().all(|part| work.parts(part).is_some())
}

/// The remaining steps.
struct Work<'a> {
    root: &'a Schema,
    references: OnceCell<References<'a>>,
    targets: HashMap<&'a str, Rc<[&'a Schema]>>,
    left: u64,
    max_nested: usize,
}

impl<'a> Work<'a> {
    fn new(root: &'a Schema, left: u64, max_nested: usize) -> Self {
        Self { root, references: OnceCell::new(), targets: HashMap::new(), left, max_nested }
    }

    fn spend(&mut self, cost: u64) -> Option<()> {
        self.left = self.left.checked_sub(cost)?;
        Some(())
    }

    /// Visits all parts of a schema without a value.
    fn parts(&mut self, part: &'a Value) -> Option<()> {
        match part {
            Value::Object(members) => {
                self.left = MAX_VISITS;
                self.schema(members, None, 0)?;
                members.values().try_for_each(|part| self.parts(part))
            }
            Value::Array(items) => items.iter().try_for_each(|part| self.parts(part)),
            _ => Some(()),
        }
    }

    /// Visits a value with a schema. `None` once the steps are used up.
    fn schema(&mut self, schema: &'a Schema, value: Option<&Value>, nested: usize) -> Option<()> {
        self.spend(1)?;
        if nested >= self.max_nested {
            return None;
        }
        for (keyword, part) in schema {
            self.spend(value.map_or(0, |value| own_cost(keyword, part, value)))?;
        }
        let before = self.left;
        for (keyword, part) in schema {
            self.applicator(keyword, part, value, nested + 1)?;
        }
        let Some(value) = value else { return Some(()) };
        if UNEVALUATED.iter().any(|keyword| schema.contains_key(*keyword)) {
            // It asks the other parts again for each member.
            self.spend((before - self.left).saturating_mul(2 * count(value)))?;
        }
        match value {
            Value::Object(members) => self.members(schema, members, nested + 1),
            Value::Array(items) => self.items(schema, items, nested + 1),
            _ => Some(()),
        }
    }

    /// Visits the parts that get the value itself.
    fn applicator(
        &mut self,
        keyword: &str,
        part: &'a Value,
        value: Option<&Value>,
        nested: usize,
    ) -> Option<()> {
        match keyword {
            "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => {
                self.any(part, value, nested)
            }
            "dependentSchemas" | "dependencies" => {
                let mut schemas = part.as_object().into_iter().flat_map(Map::values);
                schemas.try_for_each(|part| self.any(part, value, nested))
            }
            "$ref" | "$dynamicRef" | "$recursiveRef" => {
                let targets = part.as_str().map(|reference| self.targets(reference));
                let mut targets = targets.iter().flat_map(|targets| targets.iter());
                targets.try_for_each(|target| self.schema(target, value, nested))
            }
            _ => Some(()),
        }
    }

    fn members(&mut self, schema: &'a Schema, members: &Schema, nested: usize) -> Option<()> {
        let object = |keyword| schema.get(keyword).and_then(Value::as_object);
        let (properties, patterns) = (object("properties"), object("patternProperties"));
        for (name, member) in members {
            self.spend(1)?;
            for part in patterns.into_iter().flat_map(Map::values) {
                self.spend(text_cost(name))?;
                self.any(part, Some(member), nested)?;
            }
            match properties.and_then(|properties| properties.get(name)) {
                Some(part) => self.any(part, Some(member), nested)?,
                None => self.each(schema, OTHER_MEMBERS, member, nested)?,
            }
            if let Some(names) = schema.get("propertyNames") {
                self.any(names, Some(&Value::String(name.clone())), nested)?;
            }
        }
        Some(())
    }

    fn items(&mut self, schema: &'a Schema, items: &[Value], nested: usize) -> Option<()> {
        // Newer drafts call a list `prefixItems`.
        let list = |keyword| schema.get(keyword).and_then(Value::as_array);
        let first = list("prefixItems").or_else(|| list("items"));
        for (index, item) in items.iter().enumerate() {
            self.spend(1)?;
            if let Some(part) = first.and_then(|first| first.get(index)) {
                self.any(part, Some(item), nested)?;
            }
            self.each(schema, ALL_ITEMS, item, nested)?;
        }
        Some(())
    }

    /// Visits a value with the schemas of some keywords, lists excepted.
    fn each(
        &mut self,
        schema: &'a Schema,
        keywords: &[&str],
        value: &Value,
        nested: usize,
    ) -> Option<()> {
        let mut parts = keywords.iter().filter_map(|keyword| schema.get(*keyword)?.as_object());
        parts.try_for_each(|part| self.schema(part, Some(value), nested))
    }

    /// Visits a value with a schema or a list of schemas. `true` and `false` cost nothing.
    fn any(&mut self, part: &'a Value, value: Option<&Value>, nested: usize) -> Option<()> {
        match part {
            Value::Object(schema) => self.schema(schema, value, nested),
            Value::Array(list) => {
                let mut schemas = list.iter().filter_map(Value::as_object);
                schemas.try_for_each(|schema| self.schema(schema, value, nested))
            }
            _ => Some(()),
        }
    }

    fn targets(&mut self, reference: &'a str) -> Rc<[&'a Schema]> {
        let Self { root, references, targets, .. } = self;
        let found = targets.entry(reference).or_insert_with(|| {
            references.get_or_init(|| References::from_schema(root)).find(reference).into()
        });
        Rc::clone(found)
    }
}

/// Cost of a keyword for a value, without other parts.
fn own_cost(keyword: &str, part: &Value, value: &Value) -> u64 {
    match (keyword, value) {
        ("enum" | "const" | "required" | "dependentRequired" | "dependencies", _) => size(part),
        ("dependentSchemas" | "properties", _) => count(part),
        ("$ref" | "$dynamicRef" | "$recursiveRef", _) => REFERENCE,
        ("pattern" | "format", Value::String(text)) => text_cost(text),
        ("uniqueItems", _) if *part == Value::Bool(true) => size(value),
        _ => 0,
    }
}

fn text_cost(text: &str) -> u64 {
    PATTERN + BYTE * text.len() as u64
}

/// Number of values in a value.
fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<u64>(),
        _ => 1,
    }
}

fn count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.len() as u64,
        Value::Object(members) => members.len() as u64,
        _ => 0,
    }
}
