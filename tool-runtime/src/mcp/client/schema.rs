//! Foreign schemas: looked at when they arrive, compiled when something is first checked against
//! them. Nothing is ever fetched.

use crate::issue::Issue;
use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::{Map, Value};
use std::collections::HashSet;
use std::sync::OnceLock;

/// The longest schema, as JSON, that is used.
const MOST_BYTES: usize = 1 << 20;
/// How deep one may be nested.
const MOST_LEVELS: usize = 100;
/// How long a pattern may look for a match, in steps of its engine.
const MOST_STEPS: usize = 100_000;

/// What keeps a schema from being used, as far as can be said without compiling it.
pub(super) fn problem(what: &str, schema: &Map<String, Value>, is_input: bool) -> Option<String> {
    if let Some(kind) = schema.get("type").filter(|kind| is_input && *kind != "object") {
        return Some(format!("its `{what}` has the type {kind} at its root, not \"object\""));
    }
    let mut survey = Survey::default();
    for value in schema.values() {
        survey.walk(value, 1);
    }
    survey.note(schema);
    if survey.levels > MOST_LEVELS {
        return Some(format!("its `{what}` is nested deeper than {MOST_LEVELS} levels"));
    }
    if survey.bytes > MOST_BYTES {
        return Some(format!("its `{what}` is longer than {MOST_BYTES} bytes"));
    }
    let far = survey.references.iter().find(|reference| !survey.is_within(reference))?;
    Some(format!("its `{what}` refers to `{far}`, which is not part of it and is never fetched"))
}

/// What a look at a whole schema finds.
#[derive(Default)]
struct Survey<'a> {
    levels: usize,
    /// Roughly, as JSON.
    bytes: usize,
    references: Vec<&'a str>,
    ids: HashSet<&'a str>,
}

impl<'a> Survey<'a> {
    fn walk(&mut self, value: &'a Value, level: usize) {
        self.levels = self.levels.max(level);
        // What is too deep is not looked at: the stack has an end.
        if level > MOST_LEVELS {
            return;
        }
        match value {
            Value::Object(members) => {
                self.note(members);
                for (key, member) in members {
                    self.bytes += key.len() + 4;
                    self.walk(member, level + 1);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.walk(item, level + 1)),
            Value::String(text) => self.bytes += text.len() + 3,
            _ => self.bytes += 8,
        }
    }

    fn note(&mut self, members: &'a Map<String, Value>) {
        let text = |key| members.get(key).and_then(Value::as_str);
        self.references
            .extend(["$ref", "$dynamicRef", "$recursiveRef"].into_iter().filter_map(text));
        self.ids.extend(["$id", "id"].into_iter().filter_map(text));
    }

    /// Whether a reference stays within the schema, or means a meta-schema, which is known.
    fn is_within(&self, reference: &str) -> bool {
        let base = reference.split('#').next().unwrap_or_default();
        let is_absolute = base.contains("://");
        let is_meta = ["http://json-schema.org/", "https://json-schema.org/"]
            .iter()
            .any(|known| base.starts_with(known));
        base.is_empty() || is_meta || self.ids.iter().any(|id| id.trim_end_matches('#') == base)
            // A relative one is resolved against an id, if there is one.
            || !is_absolute && !self.ids.is_empty()
    }
}

/// A schema that values are checked against, compiled when the first one is.
pub(super) struct Checker {
    schema: Value,
    compiled: OnceLock<Result<Validator, String>>,
}

impl Checker {
    pub(super) fn new(schema: &Map<String, Value>) -> Self {
        Self { schema: Value::Object(schema.clone()), compiled: OnceLock::new() }
    }

    /// What is wrong with a value: nothing, if the list is empty.
    ///
    /// # Errors
    /// The schema is none.
    pub(super) fn check(&self, value: &Value) -> Result<Vec<Issue>, &str> {
        let validator = self.compiled().map_err(String::as_str)?;
        if validator.is_valid(value) {
            return Ok(Vec::new());
        }
        let issue = |error: jsonschema::ValidationError<'_>| {
            // Values are left out: some are secret.
            Issue::new(path(error.instance_path().as_str()), "schema", error.masked().to_string())
        };
        Ok(validator.iter_errors(value).take(20).map(issue).collect())
    }

    fn compiled(&self) -> Result<&Validator, &String> {
        self.compiled.get_or_init(|| compile(&self.schema)).as_ref()
    }
}

fn compile(schema: &Value) -> Result<Validator, String> {
    let patterns = PatternOptions::fancy_regex().backtrack_limit(MOST_STEPS);
    let options = jsonschema::options().offline().with_pattern_options(patterns);
    let is_unknown = schema.get("$schema").is_some_and(|dialect| {
        !dialect.as_str().is_some_and(|dialect| dialect.contains("json-schema.org/"))
    });
    // A dialect of the server's own is read as the newest one.
    let options = if is_unknown { options.with_draft(Draft::Draft202012) } else { options };
    options.build(schema).map_err(|error| error.to_string())
}

/// `/a/0/b` as we write paths: `a[0].b`.
fn path(pointer: &str) -> String {
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        if step.bytes().all(|byte| byte.is_ascii_digit()) {
            path = format!("{path}[{step}]");
        } else {
            let dot = if path.is_empty() { "" } else { "." };
            path = format!("{path}{dot}{}", step.replace("~1", "/").replace("~0", "~"));
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => panic!("an object"),
        }
    }

    fn problem_of(schema: Value) -> Option<String> {
        problem("inputSchema", &map(schema), true)
    }

    #[test]
    fn what_servers_send_is_taken() {
        for schema in [
            json!({ "type": "object" }),
            json!({}),
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object" }),
            json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": {} } }),
            json!({ "$id": "https://x.example/s", "type": "object", "properties": { "a": { "$ref": "https://x.example/s#/$defs/a" } }, "$defs": { "a": {} } }),
        ] {
            assert_eq!(problem_of(schema.clone()), None, "{schema}");
            assert_eq!(Checker::new(&map(schema)).check(&json!({ "a": 1 })), Ok(Vec::new()));
        }
    }

    #[test]
    fn what_cannot_be_used_is_named() {
        let far =
            json!({ "type": "object", "properties": { "a": { "$ref": "https://x.example/a" } } });
        assert!(problem_of(far.clone()).unwrap().contains("https://x.example/a"));
        assert!(Checker::new(&map(far)).check(&json!({})).is_err(), "nothing is fetched");
        assert!(problem_of(json!({ "type": "string" })).unwrap().contains("root"));
        let mut deep = json!({});
        for _ in 0..120 {
            deep = json!({ "items": deep });
        }
        assert!(problem_of(json!({ "type": "object", "x": deep })).unwrap().contains("deeper"));
        let long = "x".repeat(MOST_BYTES);
        assert!(problem_of(json!({ "description": long })).unwrap().contains("longer"));
    }

    #[test]
    fn both_drafts_are_understood() {
        let old = json!({
            "$schema": "http://json-schema.org/draft-07/schema#",
            "type": "object",
            "properties": { "pair": { "items": [{ "type": "integer" }, { "type": "string" }] } },
        });
        let new = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "properties": { "pair": { "prefixItems": [{ "type": "integer" }, { "type": "string" }] } },
        });
        for schema in [old, new] {
            let checker = Checker::new(&map(schema));
            assert_eq!(checker.check(&json!({ "pair": [1, "a"] })), Ok(Vec::new()));
            assert_eq!(checker.check(&json!({ "pair": [1, 2] })).unwrap()[0].path(), "pair[1]");
        }
    }

    #[test]
    fn a_pattern_that_never_ends_does() {
        let schema = json!({ "properties": { "a": { "pattern": "^(a+)+(?=b)$" } } });
        let checker = Checker::new(&map(schema));
        let value = json!({ "a": "a".repeat(40) });
        assert!(!checker.check(&value).unwrap().is_empty());
    }
}
