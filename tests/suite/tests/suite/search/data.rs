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

/// A wish of `wishes.json`, and the tool that fulfils it.
#[derive(Deserialize)]
pub(crate) struct Wish {
    pub(crate) wish: String,
    pub(crate) tool: String,
}

/// Stop words.
const STOP_WORDS: &str = include_str!("stop_words.txt");

pub(crate) fn entries() -> Vec<Entry> {
    serde_json::from_str(include_str!("tools.json")).expect("tools.json is valid")
}

pub(crate) fn wishes() -> Vec<Wish> {
    serde_json::from_str(include_str!("wishes.json")).expect("wishes.json is valid")
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
    let wishes = wishes();
    assert!(wishes.len() >= 200, "{}", wishes.len());
    for wish in &wishes {
        assert!(names.contains(wish.tool.as_str()), "`{}` is not a tool", wish.tool);
    }
}

#[test]
fn at_most_half_of_the_words_of_a_query_occur_in_its_tool() {
    let entries: BTreeMap<_, _> =
        entries().into_iter().map(|entry| (entry.name.clone(), words(&entry.text()))).collect();
    let mut copied = Vec::new();
    for Wish { wish, tool } in wishes() {
        let content = words(&wish);
        let found: Vec<_> = content.iter().filter(|word| occurs(word, &entries[&tool])).collect();
        if 2 * found.len() > content.len() {
            copied.push(format!("{tool}: {wish}: {found:?}"));
        }
    }
    assert!(copied.is_empty(), "{}", copied.join("\n"));
}
