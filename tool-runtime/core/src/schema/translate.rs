//! Translates schemas to 2020-12 as they arrive: those of older drafts, and those with a fault that leaves one meaning.
//! Everything behind the import sees only 2020-12. A schema that needs nothing is not changed.

mod keywords;
mod pointer;

pub use pointer::schema_path;

use keywords::{LISTED, NAMED, NOT_NULL, NUMBERS, SILENT, SINGLE, TYPES};
use serde_json::{Map, Number, Value, json};

/// Limit on the named paths of one kind of repair.
const MAX_PATHS: usize = 3;

/// One rewrite of the members of a schema.
type Rewrite = fn(&mut Translator, &mut Map<String, Value>);

/// All rewrites, in order.
const REWRITES: &[Rewrite] = &[
    Translator::dialect,
    Translator::nulls,
    Translator::annotations,
    Translator::numbers,
    Translator::empty_lists,
    Translator::beside_references,
    Translator::ids,
    Translator::recursion,
    Translator::references,
    Translator::types,
    Translator::bounds,
    Translator::tuples,
    Translator::dependencies,
    Translator::definitions,
    Translator::repeated_names,
    Translator::subschemas,
    Translator::nullable,
];

/// Translates a schema. Returns the repairs in words; a translation from a declared draft is none.
pub fn translate_schema(schema: &mut Map<String, Value>) -> Vec<String> {
    let mut translator = Translator::new(schema);
    translator.schema(schema);
    if schema.get("type").is_some_and(|kinds| *kinds == Value::from(vec!["object"])) {
        schema.insert("type".to_owned(), "object".into());
    }
    translator.repairs.iter().map(Repair::to_string).collect()
}

struct Translator {
    /// Whether `$schema` names a draft before 2020-12.
    is_old: bool,
    /// Whether members next to `$ref` are ignored, as until draft 7.
    ignores_siblings: bool,
    /// Whether `id` is what is `$id` now, as in draft 4.
    has_plain_id: bool,
    /// Whether `definitions` can be merged with `$defs`.
    renames_definitions: bool,
    /// Whether `$recursiveAnchor` occurs at the root.
    is_recursive: bool,
    /// The path of the current schema.
    path: Vec<String>,
    repairs: Vec<Repair>,
}

/// A kind of repair, with the paths of the keywords.
struct Repair {
    what: &'static str,
    paths: Vec<String>,
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let paths: Vec<String> =
            self.paths.iter().take(MAX_PATHS).map(|path| format!("`{path}`")).collect();
        write!(f, "{} at {}", self.what, paths.join(", "))?;
        match self.paths.len().saturating_sub(MAX_PATHS) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

impl Translator {
    fn new(schema: &Map<String, Value>) -> Self {
        let declared = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let is_draft = |number: &str| declared.contains(&format!("draft-0{number}"));
        let definitions = |key: &str| schema.get(key).and_then(Value::as_object);
        let is_conflict = match (definitions("$defs"), definitions("definitions")) {
            (Some(new), Some(old)) => {
                old.iter().any(|(name, schema)| new.get(name).is_some_and(|new| new != schema))
            }
            _ => false,
        };
        Self {
            is_old: is_older(declared),
            ignores_siblings: ["3", "4", "6", "7"].into_iter().any(is_draft),
            has_plain_id: ["3", "4"].into_iter().any(is_draft),
            renames_definitions: !is_conflict,
            is_recursive: schema.get("$recursiveAnchor") == Some(&Value::Bool(true)),
            path: Vec::new(),
            repairs: Vec::new(),
        }
    }

    fn schema(&mut self, members: &mut Map<String, Value>) {
        for rewrite in REWRITES {
            rewrite(self, members);
        }
    }

    /// Notes a repair at a keyword of the current schema.
    fn note(&mut self, what: &'static str, keyword: &str) {
        let steps = self.path.iter().map(String::as_str).chain([keyword]);
        let path = schema_path(steps);
        match self.repairs.iter_mut().find(|repair| repair.what == what) {
            Some(repair) => repair.paths.push(path),
            None => self.repairs.push(Repair { what, paths: vec![path] }),
        }
    }

    fn dialect(&mut self, members: &mut Map<String, Value>) {
        if members.get("$schema").and_then(Value::as_str).is_some_and(is_older) {
            members.shift_remove("$schema");
        }
    }

    fn nulls(&mut self, members: &mut Map<String, Value>) {
        if !members.values().any(Value::is_null) {
            return;
        }
        let mut removed = Vec::new();
        members.retain(|key, value| {
            let is_keyword = [NOT_NULL, NUMBERS].iter().any(|known| known.contains(&key.as_str()));
            let is_kept = !value.is_null() || !is_keyword;
            if !is_kept {
                removed.push(key.clone());
            }
            is_kept
        });
        removed.iter().for_each(|key| self.note("null is read as an absent keyword", key));
    }

    /// An annotation of another type says nothing about values.
    fn annotations(&mut self, members: &mut Map<String, Value>) {
        let is_valid = |key: &str, value: &Value| match key {
            "$comment" | "description" | "title" => value.is_string(),
            "deprecated" | "readOnly" | "writeOnly" => value.is_boolean(),
            "examples" => value.is_array(),
            "allOf" => value.as_array().is_none_or(|schemas| !schemas.is_empty()),
            _ => true,
        };
        let faulty: Vec<String> = members
            .iter()
            .filter(|(key, value)| !is_valid(key, value))
            .map(|(key, _)| key.clone())
            .collect();
        for key in faulty {
            members.shift_remove(&key);
            self.note("what says nothing about values in this form is left out", &key);
        }
    }

    /// Some languages write numbers as text.
    fn numbers(&mut self, members: &mut Map<String, Value>) {
        for key in NUMBERS {
            let Some(Value::String(text)) = members.get(*key) else { continue };
            if let Ok(number) = text.trim().parse::<Number>() {
                members.insert((*key).to_owned(), number.into());
                self.note("the text of a number is read as the number", key);
            }
        }
    }

    /// Some languages write an empty list for an empty object.
    fn empty_lists(&mut self, members: &mut Map<String, Value>) {
        for key in NAMED.iter().copied().chain(["additionalProperties", "dependentRequired"]) {
            if members.get(key).and_then(Value::as_array).is_some_and(Vec::is_empty) {
                members.insert(key.to_owned(), Map::new().into());
                self.note("an empty list is read as an empty object", key);
            }
        }
    }

    fn beside_references(&mut self, members: &mut Map<String, Value>) {
        if self.ignores_siblings && members.contains_key("$ref") {
            let is_root = self.path.is_empty();
            members.retain(|key, _| {
                SILENT.contains(&key.as_str()) || key == "$ref" || is_root && key == "type"
            });
        }
    }

    fn ids(&mut self, members: &mut Map<String, Value>) {
        if self.has_plain_id && members.get("id").is_some_and(Value::is_string) {
            rename(members, "id", "$id");
        }
        if !self.is_old {
            return;
        }
        if let Some(name) =
            members.get("$id").and_then(Value::as_str).and_then(|id| id.strip_prefix('#'))
        {
            let name = name.to_owned();
            members.shift_remove("$id");
            if !name.is_empty() {
                members.insert("$anchor".to_owned(), name.into());
            }
        }
        // A trailing `#` means nothing, and 2020-12 has none.
        if let Some(Value::String(id)) = members.get_mut("$id")
            && id.ends_with('#')
        {
            id.pop();
        }
    }

    fn recursion(&mut self, members: &mut Map<String, Value>) {
        if !self.is_old {
            return;
        }
        let name = "recursive";
        if members.shift_remove("$recursiveAnchor") == Some(Value::Bool(true)) {
            members.insert("$dynamicAnchor".to_owned(), name.into());
        }
        if members.shift_remove("$recursiveRef").is_some() {
            let (key, to) = if self.is_recursive {
                ("$dynamicRef", format!("#{name}"))
            } else {
                ("$ref", "#".to_owned())
            };
            members.insert(key.to_owned(), to.into());
        }
    }

    fn references(&mut self, members: &mut Map<String, Value>) {
        if let Some(Value::String(to)) = members.get_mut("$ref")
            && let Some(renamed) = pointer::translated(to, self.renames_definitions)
        {
            *to = renamed;
        }
    }

    fn types(&mut self, members: &mut Map<String, Value>) {
        let (mut is_renamed, mut is_repeated) = (false, false);
        match members.get_mut("type") {
            Some(Value::Array(kinds)) => {
                kinds.iter_mut().for_each(|kind| is_renamed |= lower_type(kind));
                is_repeated = dedup(kinds);
            }
            Some(kind) => is_renamed = lower_type(kind),
            None => {}
        }
        if is_renamed {
            self.note("a type in capitals is read as that type", "type");
        }
        if is_repeated {
            self.note("a repeated name is read once", "type");
        }
    }

    /// Bounds of draft 4, where a flag makes the bound next to it exclusive.
    fn bounds(&mut self, members: &mut Map<String, Value>) {
        for (flag, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
            let Some(Value::Bool(is_exclusive)) = members.get(flag) else { continue };
            let is_exclusive = *is_exclusive;
            members.shift_remove(flag);
            if is_exclusive && members.get(bound).is_some_and(Value::is_number) {
                rename(members, bound, flag);
            }
            if !self.is_old {
                self.note("a flag of draft 4 is read with the bound beside it", flag);
            }
        }
    }

    fn tuples(&mut self, members: &mut Map<String, Value>) {
        if members.contains_key("prefixItems") {
            return;
        }
        let rest = match members.get("items") {
            Some(Value::Array(_)) => members.shift_remove("additionalItems"),
            _ if self.is_old => {
                // It means nothing without a tuple.
                members.shift_remove("additionalItems");
                return;
            }
            _ => return,
        };
        rename(members, "items", "prefixItems");
        if members.get("prefixItems").and_then(Value::as_array).is_some_and(Vec::is_empty) {
            members.shift_remove("prefixItems");
        }
        if let Some(rest) = rest {
            members.insert("items".to_owned(), rest);
        }
        if !self.is_old {
            self.note("a list of schemas is read as a tuple", "items");
        }
    }

    fn dependencies(&mut self, members: &mut Map<String, Value>) {
        let Some(Value::Object(all)) = members.get("dependencies") else { return };
        let (names, schemas): (Map<_, _>, Map<_, _>) =
            all.clone().into_iter().partition(|(_, it)| it.is_array());
        members.shift_remove("dependencies");
        for (key, part) in [("dependentRequired", names), ("dependentSchemas", schemas)] {
            if !part.is_empty() {
                merge(members, key, part);
            }
        }
    }

    fn definitions(&mut self, members: &mut Map<String, Value>) {
        if self.renames_definitions
            && let Some(Value::Object(all)) = members.get("definitions")
        {
            let all = all.clone();
            if members.contains_key("$defs") {
                members.shift_remove("definitions");
                merge(members, "$defs", all);
            } else {
                rename(members, "definitions", "$defs");
            }
        }
    }

    fn repeated_names(&mut self, members: &mut Map<String, Value>) {
        if let Some(Value::Array(names)) = members.get_mut("required")
            && dedup(names)
        {
            self.note("a repeated name is read once", "required");
        }
    }

    fn subschemas(&mut self, members: &mut Map<String, Value>) {
        let mut required = Vec::new();
        for (key, member) in members.iter_mut() {
            let key = key.as_str();
            match member {
                Value::Object(named) if NAMED.contains(&key) => {
                    for (name, schema) in named.iter_mut() {
                        let flag = self.below(&[key, name], schema);
                        if key == "properties" && flag == Some(true) {
                            required.push(Value::from(name.as_str()));
                        }
                    }
                }
                Value::Array(schemas) if LISTED.contains(&key) => {
                    for (index, schema) in schemas.iter_mut().enumerate() {
                        self.below(&[key, &index.to_string()], schema);
                    }
                }
                schema if SINGLE.contains(&key) => drop(self.below(&[key], schema)),
                _ => {}
            }
        }
        // The root has no object that could require it.
        if self.path.is_empty() {
            self.take_flag(members);
        }
        require(members, required);
    }

    /// Translates a subschema, and returns its `required` if that is a flag.
    fn below(&mut self, steps: &[&str], schema: &mut Value) -> Option<bool> {
        let Value::Object(members) = schema else { return None };
        let depth = self.path.len();
        self.path.extend(steps.iter().map(|step| (*step).to_owned()));
        let flag = self.take_flag(members);
        self.schema(members);
        self.path.truncate(depth);
        flag
    }

    /// Takes `required: true` of draft 3, by which a property said that its object requires it.
    fn take_flag(&mut self, members: &mut Map<String, Value>) -> Option<bool> {
        let Some(Value::Bool(flag)) = members.get("required") else { return None };
        let flag = *flag;
        members.shift_remove("required");
        self.note("a flag is read as an entry in `required` of the object around it", "required");
        Some(flag)
    }

    /// `nullable` of OpenAPI.
    fn nullable(&mut self, members: &mut Map<String, Value>) {
        let Some(Value::Bool(is_nullable)) = members.get("nullable") else { return };
        let is_nullable = *is_nullable;
        members.shift_remove("nullable");
        // Arguments and results are objects.
        if !is_nullable || self.path.is_empty() {
            return;
        }
        self.note("`nullable` is read as the type `null` beside the other", "nullable");
        let is_silent = |key: &String| SILENT.contains(&key.as_str());
        if members.keys().all(is_silent) {
            return;
        }
        // Keywords that may exclude null although the type allows it.
        let others = ["$ref", "$dynamicRef", "allOf", "anyOf", "const", "if", "not", "oneOf"];
        if members.contains_key("type") && !others.iter().any(|key| members.contains_key(*key)) {
            allow_null(members);
        } else {
            let all = std::mem::take(members);
            let (silent, asserting): (Map<_, _>, Map<_, _>) =
                all.into_iter().partition(|(key, _)| is_silent(key));
            *members = silent;
            let choices = vec![asserting.into(), json!({ "type": "null" })];
            members.insert("anyOf".to_owned(), Value::Array(choices));
        }
    }
}

/// Adds null to the types and to the values of a schema.
fn allow_null(members: &mut Map<String, Value>) {
    match members.get_mut("type") {
        Some(Value::String(kind)) if kind != "null" => {
            let kinds = vec![std::mem::take(kind).into(), "null".into()];
            members.insert("type".to_owned(), Value::Array(kinds));
        }
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => {
            kinds.push("null".into());
        }
        _ => {}
    }
    if let Some(Value::Array(values)) = members.get_mut("enum")
        && !values.iter().any(Value::is_null)
    {
        values.push(Value::Null);
    }
}

/// Whether a URI is a dialect or meta-schema of JSON Schema itself.
pub fn is_official_schema(uri: &str) -> bool {
    ["http://json-schema.org/", "https://json-schema.org/"].iter().any(|own| uri.starts_with(own))
}

fn is_older(dialect: &str) -> bool {
    is_official_schema(dialect) && !dialect.contains("/2020-12/")
}

/// Renames a member, which keeps its position.
fn rename(members: &mut Map<String, Value>, from: &str, to: &str) {
    let all = std::mem::take(members);
    members.extend(all.into_iter().map(|(key, value)| {
        let key = if key == from { to.to_owned() } else { key };
        (key, value)
    }));
}

/// Adds members to those of a keyword, which keeps its own.
fn merge(members: &mut Map<String, Value>, key: &str, more: Map<String, Value>) {
    let all = members.entry(key).or_insert_with(|| Map::new().into());
    if let Value::Object(all) = all {
        for (name, value) in more {
            all.entry(name).or_insert(value);
        }
    }
}

/// Adds names to `required`.
fn require(members: &mut Map<String, Value>, names: Vec<Value>) {
    if names.is_empty() {
        return;
    }
    let all = members.entry("required").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(all) = all {
        let is_new = |name: &Value| !all.contains(name);
        let more: Vec<Value> = names.into_iter().filter(is_new).collect();
        all.extend(more);
    }
}

/// Writes a type in small letters. Whether it was written otherwise.
fn lower_type(kind: &mut Value) -> bool {
    let Some(lower) = kind.as_str().map(str::to_ascii_lowercase) else { return false };
    let is_other = kind.as_str() != Some(&lower) && TYPES.contains(&&*lower);
    if is_other {
        *kind = lower.into();
    }
    is_other
}

/// Removes values that occur before. Whether there were any.
fn dedup(values: &mut Vec<Value>) -> bool {
    let count = values.len();
    let mut seen = std::collections::HashSet::new();
    values.retain(|value| value.as_str().is_none_or(|text| seen.insert(text.to_owned())));
    values.len() < count
}

#[cfg(test)]
mod tests;
