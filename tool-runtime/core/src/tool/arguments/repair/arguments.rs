//! Repairs arguments that differ from their schema only in style.

use super::{Repair, RepairKind, fold_name, json};
use serde_json::{Map, Number, Value};

/// Deeper values are not repaired.
const MAX_DEPTH: usize = 64;

/// The arguments with every repair that the schema calls for, or `None` if nothing was repaired.
///
/// The result may be invalid still.
pub(crate) fn repair(schema: &Map<String, Value>, text: &str) -> Option<(String, Vec<Repair>)> {
    let mut repairs = Vec::new();
    let mut value = json::parse(text, &mut repairs)?;
    let root = Value::Object(schema.clone());
    Repairer { root: &root, repairs: &mut repairs }.repair(&mut value, &[&root], "", 0);
    (!repairs.is_empty()).then(|| (value.to_string(), repairs))
}

struct Repairer<'a> {
    root: &'a Value,
    repairs: &'a mut Vec<Repair>,
}

impl<'a> Repairer<'a> {
    /// Repairs a value that any of these schemas may describe.
    fn repair(&mut self, value: &mut Value, schemas: &[&'a Value], at: &str, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        let mut expanded = Vec::new();
        for schema in schemas {
            self.expand(schema, &mut expanded, 0);
        }
        // A schema without a type allows any value.
        if expanded.is_empty() || expanded.iter().any(|map| is_open(map)) {
            return;
        }
        if let Value::String(text) = value
            && let Some((parsed, kind)) = parse_string(text, &expanded)
        {
            *value = parsed;
            self.add(at, kind);
        }
        match value {
            Value::Object(members) => self.repair_members(members, &expanded, at, depth),
            Value::Array(items) => {
                let schemas: Vec<&Value> =
                    expanded.iter().filter_map(|map| map.get("items")).collect();
                for (index, item) in items.iter_mut().enumerate() {
                    self.repair(item, &schemas, &format!("{at}[{index}]"), depth + 1);
                }
            }
            _ => {}
        }
    }

    fn repair_members(
        &mut self,
        members: &mut Map<String, Value>,
        schemas: &[&'a Map<String, Value>],
        at: &str,
        depth: usize,
    ) {
        let given_names: Vec<String> = members.keys().cloned().collect();
        for (name, mut value) in std::mem::take(members) {
            let own_name =
                self.own_name(&name, schemas, &given_names).unwrap_or_else(|| name.clone());
            let path = if at.is_empty() { own_name.clone() } else { format!("{at}.{own_name}") };
            if own_name != name {
                self.add(&path, RepairKind::ArgumentName);
            }
            let properties: Vec<&Value> =
                schemas.iter().filter_map(|map| map.get("properties")?.get(&own_name)).collect();
            if value.is_null() && !properties.is_empty() && self.means_absent(&own_name, schemas) {
                self.add(&path, RepairKind::NullForAbsent);
                continue;
            }
            self.repair(&mut value, &properties, &path, depth + 1);
            members.insert(own_name, value);
        }
    }

    /// The property that an unknown name refers to: the only one whose name differs just by case
    /// and separators, unless the call has that property, too.
    fn own_name(
        &self,
        name: &str,
        schemas: &[&'a Map<String, Value>],
        keys: &[String],
    ) -> Option<String> {
        let properties =
            || schemas.iter().filter_map(|map| map.get("properties")?.as_object()).flatten();
        let takes_others = schemas.iter().any(|map| {
            map.get("additionalProperties").is_some_and(|others| *others != Value::Bool(false))
                || map.contains_key("patternProperties")
        });
        if takes_others || properties().any(|(known, _)| known == name) {
            return None;
        }
        let wanted = fold_name(name);
        let mut same: Vec<&String> = properties()
            .map(|(known, _)| known)
            .filter(|known| fold_name(known) == wanted)
            .collect();
        same.dedup();
        let candidates = keys.iter().filter(|other| fold_name(other) == wanted).count();
        (same.len() == 1 && candidates == 1).then(|| same[0].clone())
    }

    /// Whether `null` counts as an absent argument: the argument is optional, and no schema accepts
    /// `null`.
    fn means_absent(&self, name: &str, schemas: &[&'a Map<String, Value>]) -> bool {
        schemas.iter().all(|map| {
            let property = map.get("properties").and_then(|properties| properties.get(name));
            let required = map.get("required").and_then(Value::as_array);
            let is_required = required.is_some_and(|names| names.iter().any(|n| n == name));
            property.is_none_or(|property| !is_required && !self.accepts_null(property))
        })
    }

    fn accepts_null(&self, schema: &'a Value) -> bool {
        let mut expanded = Vec::new();
        self.expand(schema, &mut expanded, 0);
        expanded.is_empty()
            || expanded.iter().any(|map| {
                let has_null = |key: &str| {
                    map.get(key).and_then(Value::as_array).is_some_and(|v| v.contains(&Value::Null))
                };
                is_open(map)
                    || has_type(map, "null")
                    || has_null("enum")
                    || map.get("const") == Some(&Value::Null)
                    || map.get("nullable") == Some(&Value::Bool(true))
            })
    }

    /// The schemas that may apply to a value: itself, its reference, its branches.
    fn expand(&self, schema: &'a Value, into: &mut Vec<&'a Map<String, Value>>, depth: usize) {
        let Some(map) = schema.as_object().filter(|_| depth < 16) else { return };
        let branches = ["allOf", "anyOf", "oneOf"];
        let is_group =
            map.contains_key("$ref") || branches.iter().any(|key| map.contains_key(*key));
        if !is_group || map.contains_key("type") || map.contains_key("properties") {
            into.push(map);
        }
        if let Some(target) = map.get("$ref").and_then(Value::as_str)
            && let Some(target) = target.strip_prefix('#').and_then(|at| self.root.pointer(at))
        {
            self.expand(target, into, depth + 1);
        }
        for keyword in branches {
            for branch in map.get(keyword).and_then(Value::as_array).into_iter().flatten() {
                self.expand(branch, into, depth + 1);
            }
        }
    }

    fn add(&mut self, at: &str, kind: RepairKind) {
        self.repairs.push(Repair { at: at.to_owned(), kind });
    }
}

/// The value that a string contains as text, where no schema accepts a string.
fn parse_string(text: &str, schemas: &[&Map<String, Value>]) -> Option<(Value, RepairKind)> {
    let takes = |kind: &str| schemas.iter().any(|map| has_type(map, kind));
    let accepts_text = takes("string")
        || schemas.iter().any(|map| {
            let values = map.get("enum").and_then(Value::as_array);
            values.is_some_and(|values| values.iter().any(|value| value == text))
                || map.get("const").is_some_and(|only| only == text)
        });
    if accepts_text {
        return None;
    }
    let trimmed = text.trim();
    if (trimmed.starts_with('{') && takes("object")) || (trimmed.starts_with('[') && takes("array"))
    {
        let mut ignored = Vec::new();
        let value = json::parse(trimmed, &mut ignored)?;
        return (value.is_object() || value.is_array())
            .then_some((value, RepairKind::StringifiedJson));
    }
    if takes("boolean")
        && let Some(value) = match trimmed {
            "true" | "True" | "TRUE" => Some(true),
            "false" | "False" | "FALSE" => Some(false),
            _ => None,
        }
    {
        return Some((Value::Bool(value), RepairKind::StringifiedBoolean));
    }
    if takes("integer") || takes("number") {
        let number: Number = serde_json::from_str(trimmed).ok()?;
        let is_whole = number.is_i64() || number.is_u64();
        let fits = is_whole || takes("number");
        return fits.then_some((Value::Number(number), RepairKind::StringifiedNumber));
    }
    None
}

/// Whether the schema does not restrict the type.
fn is_open(map: &Map<String, Value>) -> bool {
    let known = ["type", "enum", "const", "properties"];
    !known.iter().any(|keyword| map.contains_key(*keyword))
}

fn has_type(map: &Map<String, Value>, name: &str) -> bool {
    match map.get("type") {
        Some(Value::String(kind)) => kind == name,
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == name),
        _ => name == "object" && map.contains_key("properties"),
    }
}
