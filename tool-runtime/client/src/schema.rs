//! Schemas of servers: examined on arrival, compiled again and kept at the first check. The cost of a check is bounded,
//! and nothing is fetched.

mod checker;
mod patterns;
mod references;
mod work;

pub(super) use checker::{Checker, Verdict, on_blocking_thread};

use serde_json::{Map, Value};
use std::collections::HashSet;
use tool_runtime_core::seam::is_official_schema;

/// Limit on a schema, as JSON.
const MAX_BYTES: usize = 1 << 20;
/// Limit on the nesting of a schema.
const MAX_LEVELS: usize = 100;
/// Limit on the references of a schema. Compiling a chain of them takes quadratic time.
const MAX_REFERENCES: usize = 5000;

/// Limit on the patterns of one list that are compiled on arrival. Others are compiled at the first check.
const MAX_PATTERNS: usize = 1000;

/// Examines the schemas of one list as they arrive.
#[derive(Debug)]
pub(super) struct Examiner {
    /// Number of patterns that may still be compiled.
    patterns: usize,
}

impl Default for Examiner {
    fn default() -> Self {
        Self { patterns: MAX_PATTERNS }
    }
}

impl Examiner {
    /// The patterns of a schema that cannot be compiled here.
    ///
    /// # Errors
    /// The schema cannot be used.
    pub(super) fn unenforced(
        &mut self,
        what: &str,
        schema: &Map<String, Value>,
        is_input: bool,
    ) -> Result<Vec<String>, String> {
        if let Some(problem) = problem(what, schema, is_input) {
            return Err(problem);
        }
        let (mut examined, mut count) = (schema.clone(), 0);
        patterns::remove(&mut examined.clone(), &mut |_| {
            count += 1;
            true
        });
        if count > self.patterns {
            patterns::remove(&mut examined, &mut |_| false);
        } else {
            self.patterns -= count;
        }
        let compiled = checker::compile(examined);
        let unenforced = compiled.map(|compiled| compiled.unenforced);
        unenforced.map_err(|error| format!("its `{what}` is not a valid JSON Schema: {error}"))
    }
}

/// The reason why a schema cannot be used, as far as known without compiling it.
fn problem(what: &str, schema: &Map<String, Value>, is_input: bool) -> Option<String> {
    if let Some(kind) = schema.get("type").filter(|kind| is_input && *kind != "object") {
        return Some(format!("its `{what}` has the type {kind} at its root, not \"object\""));
    }
    let mut survey = Survey::default();
    for value in schema.values() {
        survey.walk(value, 1);
    }
    survey.note(schema);
    if survey.levels > MAX_LEVELS {
        return Some(format!("its `{what}` is nested deeper than {MAX_LEVELS} levels"));
    }
    if survey.bytes > MAX_BYTES {
        return Some(format!("its `{what}` is longer than {MAX_BYTES} bytes"));
    }
    if let Some(far) = survey.references.iter().find(|reference| !survey.is_within(reference)) {
        let text = "which is not part of it and is never fetched";
        return Some(format!("its `{what}` refers to `{far}`, {text}"));
    }
    if survey.references.len() > MAX_REFERENCES {
        return Some(format!("its `{what}` has more than {MAX_REFERENCES} references"));
    }
    // Only references can multiply the cost of a schema.
    if !survey.references.is_empty() && !work::is_limited(schema) {
        let text = "would check one value in too many ways: its references multiply, form a long chain, or have no end";
        return Some(format!("its `{what}` {text}"));
    }
    None
}

/// Size, nesting and references of a schema.
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
        // Deeper values are not visited, to bound the stack.
        if level > MAX_LEVELS {
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

    /// Whether a reference has its target in the schema, or is a known meta-schema.
    fn is_within(&self, reference: &str) -> bool {
        let base = reference.split('#').next().unwrap_or_default();
        let is_absolute = base.contains("://");
        base.is_empty() || is_official_schema(base) || self.ids.iter().any(|id| id.trim_end_matches('#') == base)
            // A relative one is resolved against an id, if there is one.
            || !is_absolute && !self.ids.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;
    use std::sync::Arc;
    use tool_runtime_core::tool::ToolDefinition;
    use tool_runtime_core::vocabulary::error::Issue;
    use work::is_within;

    fn map(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(map) => map,
            _ => panic!("an object"),
        }
    }

    fn problem_of(schema: Value) -> Option<String> {
        problem("inputSchema", &map(schema), true)
    }

    fn checker(schema: Value) -> Arc<Checker> {
        let mut definition = ToolDefinition::new("t", "");
        definition.input_schema = map(schema);
        Checker::of_input(&Arc::new(definition))
    }

    /// Checks twice: the second check uses the compiled schema.
    async fn checked(checker: &Arc<Checker>, value: Value) -> Result<Verdict, String> {
        let (value, first) = checker.check(value).await;
        assert_eq!(checker.check(value).await.1, first);
        first
    }

    async fn issues(checker: &Arc<Checker>, value: Value) -> Vec<Issue> {
        assert_eq!(checked(checker, value.clone()).await, Ok(Verdict::Invalid));
        checker.explain(&value)
    }

    #[tokio::test]
    async fn common_schemas_are_accepted() {
        for schema in [
            json!({ "type": "object" }),
            json!({}),
            json!({ "$schema": "http://json-schema.org/draft-07/schema#", "type": "object" }),
            json!({ "$schema": "https://own.example/json-schema.org/x", "type": "object" }),
            json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/a" } }, "$defs": { "a": {} } }),
            json!({ "$id": "https://x.example/s", "type": "object", "properties": { "a": { "$ref": "https://x.example/s#/$defs/a" } }, "$defs": { "a": {} } }),
        ] {
            assert_eq!(problem_of(schema.clone()), None, "{schema}");
            assert_eq!(checked(&checker(schema), json!({ "a": 1 })).await, Ok(Verdict::Valid));
        }
    }

    #[tokio::test]
    async fn unusable_schemas_are_reported() {
        let far =
            json!({ "type": "object", "properties": { "a": { "$ref": "https://x.example/a" } } });
        assert!(problem_of(far.clone()).unwrap().contains("https://x.example/a"));
        assert!(checked(&checker(far), json!({})).await.is_err(), "nothing is fetched");
        let beside_an_id = json!({ "$id": "https://x.example/s", "type": "object", "properties": { "a": { "$ref": "https://y.example/a" } } });
        assert!(problem_of(beside_an_id).unwrap().contains("https://y.example/a"));
        assert!(
            problem_of(json!({ "type": "object", "$ref": "a.json" })).unwrap().contains("a.json")
        );
        assert!(problem_of(json!({ "type": "string" })).unwrap().contains("root"));
        let mut deep = json!({});
        for _ in 0..120 {
            deep = json!({ "items": deep });
        }
        assert!(problem_of(json!({ "type": "object", "x": deep })).unwrap().contains("deeper"));
        let long = "x".repeat(MAX_BYTES);
        assert!(problem_of(json!({ "description": long })).unwrap().contains("longer"));
    }

    fn unenforced(schema: Value) -> Result<Vec<String>, String> {
        Examiner::default().unenforced("inputSchema", &map(schema), true)
    }

    #[test]
    fn an_invalid_schema_is_found_on_arrival() {
        let nonsense = json!({ "properties": { "a": { "type": "nonsense" } } });
        let problem = unenforced(nonsense).unwrap_err();
        assert!(problem.contains("not a valid JSON Schema: at `properties.a.type`: "), "{problem}");
        let dangling = json!({ "properties": { "a": { "$ref": "#/$defs/missing" } } });
        assert!(unenforced(dangling).is_err());
        let valid = json!({ "properties": { "a": { "pattern": "^[a-z]+$" } } });
        assert_eq!(unenforced(valid), Ok(Vec::new()));
    }

    #[tokio::test]
    async fn patterns_of_other_engines_are_not_enforced() {
        let foreign = [r"^[\w-.]+$", "^{.*}$", "^[^]*$", "^.{1,65535}$", r"^\0$", r"^a\Z"];
        for draft in ["http://json-schema.org/draft-07/schema#", "https://own.example/x"] {
            for pattern in foreign {
                let properties = json!({
                    "a": { "type": "string", "pattern": pattern },
                    "b": { "type": "string", "pattern": "^b$" },
                });
                let schema =
                    json!({ "$schema": draft, "type": "object", "properties": properties });
                assert_eq!(unenforced(schema.clone()), Ok(vec![pattern.to_owned()]));
                let checker = checker(schema);
                assert_eq!(checked(&checker, json!({ "a": "?" })).await, Ok(Verdict::Valid));
                assert_eq!(issues(&checker, json!({ "a": 1, "b": "b" })).await[0].path(), "a");
                assert_eq!(issues(&checker, json!({ "b": "c" })).await[0].path(), "b");
            }
        }
    }

    #[tokio::test]
    async fn a_name_that_a_foreign_pattern_may_match_counts_as_declared() {
        let closed = json!({
            "patternProperties": { r"^[\w-.]+$": { "type": "integer" } },
            "additionalProperties": false,
        });
        assert_eq!(checked(&checker(closed), json!({ "a-b": 1 })).await, Ok(Verdict::Valid));
        let negated = json!({ "properties": { "a": { "not": { "pattern": r"^[\w-.]+$" } } } });
        assert_eq!(checked(&checker(negated), json!({ "a": "?" })).await, Ok(Verdict::Valid));
    }

    #[test]
    fn patterns_beyond_the_limit_are_compiled_later() {
        let mut examiner = Examiner { patterns: 1 };
        let schema = map(json!({ "properties": { "a": { "pattern": r"^[\w-.]+$" } } }));
        let mut unenforced = || examiner.unenforced("inputSchema", &schema, true).unwrap().len();
        assert_eq!((unenforced(), unenforced()), (1, 0));
    }

    #[tokio::test]
    async fn both_drafts_are_understood() {
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
            let checker = checker(schema);
            assert_eq!(checked(&checker, json!({ "pair": [1, "a"] })).await, Ok(Verdict::Valid));
            assert_eq!(issues(&checker, json!({ "pair": [1, 2] })).await[0].path(), "pair[1]");
        }
    }

    #[tokio::test]
    async fn matching_an_exponential_pattern_ends() {
        let checker = checker(json!({ "properties": { "a": { "pattern": "^(a+)+(?=b)$" } } }));
        let value = json!({ "a": "a".repeat(40) });
        assert!(!issues(&checker, value).await.is_empty());
    }

    /// A chain of `count` definitions; `refer` makes the schema that refers to the next one.
    fn chain(count: usize, refer: impl Fn(Value) -> Value) -> Value {
        let link =
            |n: usize| (format!("d{n}"), refer(json!({ "$ref": format!("#/$defs/d{}", n + 1) })));
        let mut links: Map<String, Value> = (0..count).map(link).collect();
        links.insert(format!("d{count}"), json!({ "type": "object" }));
        json!({ "type": "object", "$ref": "#/$defs/d0", "$defs": links })
    }

    #[test]
    fn a_schema_that_expands_too_far_is_reported() {
        let twice = |next: Value| json!({ "allOf": [next, next] });
        assert!(problem_of(chain(40, twice)).unwrap().contains("multiply"));
        assert_eq!(problem_of(chain(10, twice)), None);
        assert!(problem_of(chain(1000, |next| next)).unwrap().contains("long chain"));
        assert!(problem_of(chain(20_000, |next| next)).unwrap().contains("5000 references"));
        let mut by_id = chain(40, |next| {
            let next = next["$ref"].as_str().unwrap().replace("/$defs", "/%24defs");
            json!({ "anyOf": [{ "$ref": format!("s.json{next}") }, { "$ref": format!("https://x.example/s.json{next}") }] })
        });
        by_id["$id"] = json!("https://x.example/s.json");
        assert!(problem_of(by_id).unwrap().contains("multiply"));
        let to_all = |_| json!({ "anyOf": (0..9).map(|n| json!({ "$ref": format!("#/$defs/d{n}") })).collect::<Vec<_>>() });
        assert!(problem_of(chain(9, to_all)).unwrap().contains("no end"));
    }

    #[tokio::test]
    async fn an_expensive_product_is_not_checked() {
        let minimums: Vec<Value> = (0..2000).map(|n| json!({ "minimum": -n })).collect();
        let product = checker(json!({ "properties": { "p": { "items": { "allOf": minimums } } } }));
        assert_eq!(checked(&product, json!({ "p": vec![1; 1000] })).await, Ok(Verdict::Valid));
        let (value, verdict) = product.check(json!({ "p": vec![1; 10_000] })).await;
        assert_eq!(
            (value["p"].as_array().unwrap().len(), verdict),
            (10_000, Ok(Verdict::Unchecked))
        );
    }

    #[tokio::test]
    async fn an_expensive_choice_is_not_checked() {
        let names: Vec<String> = (0..5000).map(|n| format!("v{n}")).collect();
        let choice = checker(json!({ "properties": { "p": { "items": { "enum": names } } } }));
        assert_eq!(checked(&choice, json!({ "p": vec!["v1"; 100] })).await, Ok(Verdict::Valid));
        assert_eq!(
            checked(&choice, json!({ "p": vec!["v1"; 10_000] })).await,
            Ok(Verdict::Unchecked)
        );
        let zeros = json!({ "p": vec![0; 5000] });
        assert_eq!(issues(&choice, json!({ "p": vec!["w"; 1000] })).await.len(), 1, "in one word");
        let unique = checker(json!({ "properties": { "p": { "uniqueItems": true } } }));
        assert_eq!(issues(&unique, zeros).await.len(), 1);
    }

    #[test]
    fn compared_items_cost_their_size() {
        let unique = map(json!({ "properties": { "p": { "uniqueItems": true } } }));
        let value = json!({ "p": vec![json!([1, 2]); 100] });
        assert!(!is_within(200, &unique, &value));
        assert!(is_within(1000, &unique, &value));
        let other = map(json!({ "properties": { "p": { "uniqueItems": false } } }));
        assert!(is_within(200, &other, &json!({ "p": vec![1; 50] })));
    }

    #[tokio::test]
    async fn a_recursive_schema_costs_as_much_as_the_value() {
        let tree = json!({
            "type": "object",
            "properties": { "of": { "items": { "$ref": "#" } }, "name": { "type": "string" } },
        });
        assert_eq!(problem_of(tree.clone()), None);
        let (tree, leaf) = (checker(tree), json!({ "name": "chain_text" }));
        let deep = |levels| (0..levels).fold(leaf.clone(), |value, _| json!({ "of": [value] }));
        assert_eq!(checked(&tree, deep(60)).await, Ok(Verdict::Valid));
        assert_eq!(checked(&tree, deep(600)).await, Ok(Verdict::Unchecked), "the stack is limited");

        let node = json!({ "properties": { "n": { "$ref": "#/$defs/node" } }, "required": ["k"] });
        let branching = json!({
            "type": "object",
            "properties": { "n": { "$ref": "#/$defs/node" } },
            "$defs": { "node": { "anyOf": [node, node, node] } },
        });
        assert_eq!(problem_of(branching.clone()), None);
        let branching = checker(branching);
        let deep = |levels| (0..levels).fold(json!({}), |value, _| json!({ "n": value }));
        assert_eq!(issues(&branching, deep(8)).await.len(), 1);
        assert_eq!(branching.check(deep(60)).await.1, Ok(Verdict::Unchecked));

        // Without recursion the validator remembers no result.
        let both =
            |next: Value| json!({ "properties": { "n": { "anyOf": [{ "not": next }, next] } } });
        let multiplying = checker(chain(40, both));
        assert_eq!(multiplying.check(deep(40)).await.1, Ok(Verdict::Unchecked));
    }

    #[tokio::test]
    async fn nested_unevaluated_checks_are_limited() {
        let nest =
            |schema, _| json!({ "allOf": [schema], "unevaluatedProperties": { "type": "string" } });
        let nested = checker((0..30).fold(json!({}), nest));
        assert_eq!(checked(&nested, json!({ "a": "b" })).await, Ok(Verdict::Unchecked));
        let nested = checker((0..3).fold(json!({}), nest));
        assert_eq!(checked(&nested, json!({ "a": "b" })).await, Ok(Verdict::Valid));
    }

    proptest! {
        #![proptest_config(crate::property::cases(256))]

        /// Checking any schema with references ends.
        #[test]
        fn checking_cyclic_references_ends(
            links in proptest::collection::vec((0_usize..12, 0_usize..12, 0_usize..4), 0..60),
        ) {
            let mut schema = chain(11, |_| json!({ "type": "object" }));
            for (from, to, kind) in links {
                let reference = json!({ "$ref": format!("#/$defs/d{to}") });
                let part = &mut schema["$defs"][format!("d{from}")];
                match kind {
                    0 => part["not"] = reference,
                    1 => part["items"] = reference,
                    2 => part["properties"][format!("d{from}")] = reference,
                    _ => part["$ref"] = reference["$ref"].clone(),
                }
            }
            let schema = map(schema);
            work::is_limited(&schema);
            is_within(1000, &schema, &json!({ "d1": [{ "d2": 1 }], "d3": { "d4": {} } }));
        }
    }
}
