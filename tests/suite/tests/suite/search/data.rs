//! The tools and queries of the ranking test.

use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tool_runtime::ToolDefinition;

/// A tool of `tools.json`.
#[derive(Deserialize)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) arguments: BTreeMap<String, String>,
    pub(crate) tags: Vec<String>,
}

/// A query of `expected_hits.json`, and the tool that fulfils it.
#[derive(Deserialize)]
pub(crate) struct ExpectedHit {
    pub(crate) query: String,
    pub(crate) tool: String,
}

/// Stop words.
const STOP_WORDS: &str = include_str!("stop_words.txt");

pub(crate) fn entries() -> Vec<Entry> {
    serde_json::from_str(include_str!("tools.json")).expect("tools.json is valid")
}

pub(crate) fn expected_hits() -> Vec<ExpectedHit> {
    serde_json::from_str(include_str!("expected_hits.json")).expect("expected_hits.json is valid")
}

pub(crate) fn definitions() -> Vec<ToolDefinition> {
    entries().iter().map(Entry::definition).collect()
}

impl Entry {
    fn definition(&self) -> ToolDefinition {
        let arguments = self.arguments.iter();
        let properties: serde_json::Map<String, Value> = arguments
            .map(|(name, text)| (name.clone(), json!({ "type": "string", "description": text })))
            .collect();
        let schema = json!({ "type": "object", "properties": properties });
        let mut definition = ToolDefinition::new(&self.name, &self.description);
        definition.tags.clone_from(&self.tags);
        definition.with_input_schema(schema)
    }

    /// Name, description, arguments and tags.
    fn text(&self) -> String {
        let arguments = self.arguments.iter().flat_map(|(name, text)| [name, text]);
        let texts = [&self.name, &self.description].into_iter().chain(arguments);
        texts.chain(&self.tags).map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

fn words(text: &str) -> BTreeSet<String> {
    let text = text.to_lowercase().replace(['\'', '’'], " ");
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty() && !STOP_WORDS.split_whitespace().any(|stop| stop == *word))
        .map(str::to_owned)
        .collect()
}

/// Whether the word, or its plural or singular, occurs.
fn occurs(word: &str, among: &BTreeSet<String>) -> bool {
    among.contains(word)
        || among.contains(&format!("{word}s"))
        || word.strip_suffix('s').is_some_and(|singular| among.contains(singular))
}

#[test]
fn the_pool_is_large_and_each_query_has_its_tool() {
    let entries = entries();
    let names: BTreeSet<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    assert!(names.len() >= 500 && names.len() == entries.len(), "{}", names.len());
    let expected_hits = expected_hits();
    assert!(expected_hits.len() >= 200, "{}", expected_hits.len());
    for query in &expected_hits {
        assert!(names.contains(query.tool.as_str()), "`{}` is not a tool", query.tool);
    }
}

#[test]
fn at_most_half_of_the_words_of_a_query_occur_in_its_tool() {
    let entries: BTreeMap<_, _> =
        entries().into_iter().map(|entry| (entry.name.clone(), words(&entry.text()))).collect();
    let mut copied = Vec::new();
    for ExpectedHit { query, tool } in expected_hits() {
        let content = words(&query);
        let found: Vec<_> = content.iter().filter(|word| occurs(word, &entries[&tool])).collect();
        if 2 * found.len() > content.len() {
            copied.push(format!("{tool}: {query}: {found:?}"));
        }
    }
    assert!(copied.is_empty(), "{}", copied.join("\n"));
}
