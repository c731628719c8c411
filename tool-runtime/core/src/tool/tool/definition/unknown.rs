//! Members of a definition that this version does not define, which a gateway passes on.

use serde_json::{Map, Value};

const MEMBERS: [&str; 8] = [
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "icons",
    "annotations",
    "_meta",
];

const HINTS: [&str; 5] =
    ["title", "readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

/// The unknown members of a definition and of its annotations.
pub fn unknown(tool: &Map<String, Value>) -> Map<String, Value> {
    let mut unknown = without(tool, &MEMBERS);
    if let Some(Value::Object(annotations)) = tool.get("annotations") {
        let hints = without(annotations, &HINTS);
        if !hints.is_empty() {
            unknown.insert("annotations".to_owned(), hints.into());
        }
    }
    unknown
}

fn without(members: &Map<String, Value>, known: &[&str]) -> Map<String, Value> {
    let unknown = members.iter().filter(|(key, _)| !known.contains(&key.as_str()));
    unknown.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Adds unknown members to a definition. Existing members stay; objects are merged.
pub fn add(unknown: &Map<String, Value>, tool: &mut Map<String, Value>) {
    for (key, value) in unknown {
        match (tool.get_mut(key), value) {
            (Some(Value::Object(known)), Value::Object(more)) => add(more, known),
            (Some(_), _) => {}
            (None, _) => drop(tool.insert(key.clone(), value.clone())),
        }
    }
}
