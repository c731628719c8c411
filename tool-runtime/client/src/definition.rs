//! Converts a server's tool to a definition. None of its content is trusted.

use super::listing::ListedTool;
use super::pins::McpPin;
use super::schema::Examiner;
use serde_json::{Map, Value};
use tool_runtime_core::seam::{translate_schema, unknown};
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::content::Icon;

/// The `_meta` key of members that rmcp's types lack: servers of this library write them there over HTTP.
const UNKNOWN: &str = "tool-runtime/unknown";

/// A listed tool under our id.
pub(super) struct Imported {
    /// The definition, with schemas of 2020-12.
    pub(super) definition: ToolDefinition,
    /// The pin of the definition as the server wrote it.
    pub(super) pin: McpPin,
    /// Repairs of its schemas, and patterns that are not enforced.
    pub(super) notes: Vec<String>,
}

/// Imports a listed tool. A problem in the definition keeps the tool out of the pool.
pub(super) fn import(id: String, listed: ListedTool, examiner: &mut Examiner) -> Imported {
    let mut definition = match parsed(&id, listed.0) {
        Ok(definition) => definition,
        Err(reason) => {
            let mut definition = ToolDefinition::new(id, "");
            definition.add_problem(format!("its server's definition cannot be read: {reason}"));
            return Imported {
                pin: McpPin::from_definition(&definition),
                definition,
                notes: Vec::new(),
            };
        }
    };
    let pin = McpPin::from_definition(&definition);
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    let input = Some(("inputSchema", &mut definition.input_schema, true));
    let output = definition.output_schema.as_mut().map(|schema| ("outputSchema", schema, false));
    for (key, schema, is_input) in input.into_iter().chain(output) {
        notes.extend(translate_schema(schema).iter().map(|repair| repaired(key, repair)));
        match examiner.unenforced(key, schema, is_input) {
            Ok(patterns) => notes.extend(patterns.iter().map(|pattern| unenforced(key, pattern))),
            Err(problem) => problems.push(problem),
        }
    }
    for problem in problems {
        definition.add_problem(problem);
    }
    Imported { definition, pin, notes }
}

fn repaired(key: &str, repair: &str) -> String {
    format!("its `{key}` is repaired: {repair}")
}

fn parsed(id: &str, tool: Value) -> Result<ToolDefinition, String> {
    let Value::Object(mut members) = tool else { return Err("it is not an object".to_owned()) };
    if !members.get("name").is_some_and(Value::is_string) {
        return Err("it has no `name`".to_owned());
    }
    // Some servers write null for absent members.
    members.retain(|_, value| !value.is_null());
    members.insert("name".to_owned(), id.into());
    let icons = members.shift_remove("icons");
    let meta = members.shift_remove("_meta");
    let definition: Result<ToolDefinition, _> = serde_json::from_value(members.into());
    let mut definition = definition.map_err(|error| error.to_string())?;
    definition.icons = icons.map(self::icons).unwrap_or_default();
    if let Some(Value::Object(meta)) = meta {
        definition.meta = meta;
    }
    if let Some(Value::Object(members)) = definition.meta.shift_remove(UNKNOWN) {
        definition.other.extend(unknown(&members));
    }
    definition.take_marks();
    Ok(definition)
}

fn unenforced(key: &str, pattern: &str) -> String {
    let mut short: String = pattern.chars().take(100).collect();
    if short.len() < pattern.len() {
        short.push('…');
    }
    format!("the pattern `{short}` in its `{key}` cannot be compiled here and is not enforced")
}

/// Icons that clients may load. Other addresses run code or read files.
pub(super) fn icons(icons: Value) -> Vec<Icon> {
    let Value::Array(icons) = icons else { return Vec::new() };
    let icons = icons.into_iter().filter_map(|icon| match icon {
        Value::Object(mut icon) => {
            icon.retain(|_, value| !value.is_null());
            serde_json::from_value::<Icon>(Map::into(icon)).ok()
        }
        _ => None,
    });
    let is_safe =
        |icon: &Icon| ["https://", "data:image/"].iter().any(|prefix| icon.src.starts_with(prefix));
    icons.filter(is_safe).collect()
}
