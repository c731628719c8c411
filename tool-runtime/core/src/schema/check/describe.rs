//! Describes the values that a schema allows.

use serde_json::{Map, Value};

use crate::schema::check::kind::{self, Kind};
use crate::schema::check::variants::Variant;
use crate::schema::check::{literal, parts, wording};
use crate::schema::format;

/// Limit on the nesting of described alternatives.
const MAX_DEPTH: usize = 3;

/// Limit on the characters of a description.
const MAX_DESCRIPTION: usize = 120;

/// The type as a remark: "string", "integer or null", "one of "c", "f"".
pub(super) fn brief(root: &Value, schema: &Value) -> Option<String> {
    some(wording::either(&alternatives(root, schema, MAX_DEPTH)))
}

/// The type as part of a sentence: "a string", "an integer or null", "an object with `a` and `b`".
pub(super) fn phrase(root: &Value, schema: &Value) -> Option<String> {
    some(wording::either(&phrases(root, schema)))
}

/// The alternatives that a schema allows, each as part of a sentence.
pub(super) fn phrases(root: &Value, schema: &Value) -> Vec<String> {
    let alternatives = alternatives(root, schema, MAX_DEPTH);
    let required = Variant::new(root, schema).required();
    alternatives
        .into_iter()
        .map(|words| match words.as_str() {
            "object" if !required.is_empty() => {
                let names: Vec<String> = required.iter().map(|name| wording::name(name)).collect();
                format!("an object with {}", wording::both(&names))
            }
            _ => with_article(words),
        })
        .collect()
}

/// The first line of the description of the schema, or of one that it refers to.
pub(super) fn first_line(root: &Value, schema: &Value) -> Option<String> {
    let parts = parts::certain(root, schema);
    let about = parts.iter().find_map(|part| part.get("description")?.as_str())?;
    some(wording::cut(about.trim().lines().next()?.trim_end(), MAX_DESCRIPTION))
}

/// The alternatives that a schema allows, without articles, each once.
fn alternatives(root: &Value, schema: &Value, levels: usize) -> Vec<String> {
    let variant = Variant::new(root, schema);
    if let Some(values) = variant.literals() {
        return vec![literal::choice(&values)];
    }
    let mut found: Vec<String> = Vec::new();
    let mut add = |words: String| {
        if !found.contains(&words) {
            found.push(words);
        }
    };
    if levels > 0 {
        let branches = variant.branches();
        branches.flat_map(|branch| alternatives(root, branch, levels - 1)).for_each(&mut add);
    }
    if found.is_empty() {
        let parts = variant.parts();
        let kinds = parts.iter().find_map(|part| Some((*part, kind::of_schema(part)?)));
        return match kinds {
            Some((part, kinds)) => {
                kinds.into_iter().map(|kind| noun(root, part, kind, levels)).collect()
            }
            None if parts.iter().any(|part| part.contains_key("properties")) => {
                vec!["object".to_owned()]
            }
            None => Vec::new(),
        };
    }
    found
}

/// The name of one type, with its format or the type of its items.
fn noun(root: &Value, schema: &Map<String, Value>, kind: Kind, levels: usize) -> String {
    let format = schema.get("format").and_then(Value::as_str);
    match (kind, format, schema.get("items")) {
        (Kind::String, Some(format), _) if format::ENFORCED.contains(&format) => {
            format!("{format} string")
        }
        (Kind::Array, _, Some(items)) if levels > 0 => {
            match alternatives(root, items, 0).as_slice() {
                [items] => format!("array of {items}"),
                _ => kind.name().to_owned(),
            }
        }
        _ => kind.name().to_owned(),
    }
}

/// Adds "a" or "an" to a noun.
fn with_article(words: String) -> String {
    let is_noun =
        words.starts_with(|c: char| c.is_ascii_lowercase()) && !words.starts_with("one of ");
    match words.as_str() {
        "null" | "true" | "false" => words,
        _ if !is_noun => words,
        _ if words.starts_with(['a', 'e', 'i', 'o']) => format!("an {words}"),
        _ => format!("a {words}"),
    }
}

/// The text, unless it is empty.
fn some(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
