//! Converts a server's tool to a definition. None of its content is trusted.

use super::listing::{Listed, UNKNOWN};
use super::schema::Examiner;
use rmcp::model::{self, Tool};
use serde_json::{Map, Value};
use tool_runtime_core::seam::unknown;
use tool_runtime_core::{Icon, ToolAnnotations, ToolDefinition};

/// The definition of a listed tool under our id, the name that the server knows it by, and what of
/// it is not enforced here. What cannot be used has its problem in the definition, which keeps it
/// out of the pool.
pub(super) fn definition(
    id: String,
    listed: Listed,
    examiner: &mut Examiner,
) -> (String, ToolDefinition, Vec<String>) {
    let tool = match listed {
        Listed::Tool(tool) => *tool,
        Listed::Odd { name, reason } => {
            let mut definition = ToolDefinition::new(id, "");
            definition.add_problem(format!("its server's definition cannot be read: {reason}"));
            return (name, definition, Vec::new());
        }
    };
    let Tool {
        name,
        title,
        description,
        input_schema,
        output_schema,
        annotations,
        icons,
        meta,
        ..
    } = tool;
    let mut definition = ToolDefinition::new(id, description.unwrap_or_default());
    definition.title = title;
    definition.input_schema = whole(input_schema);
    definition.output_schema = output_schema.map(whole);
    definition.annotations = annotations.map(hints).unwrap_or_default();
    definition.icons = icons.unwrap_or_default().into_iter().filter_map(icon).collect();
    definition.meta = meta.map(|meta| meta.0).unwrap_or_default();
    if let Some(Value::Object(members)) = definition.meta.shift_remove(UNKNOWN) {
        // Again: a server may have written the mark itself.
        definition.other = unknown(&members);
    }
    definition.take_marks();
    let input = Some(("inputSchema", &definition.input_schema, true));
    let output = definition.output_schema.as_ref().map(|schema| ("outputSchema", schema, false));
    let (mut problems, mut notes) = (Vec::new(), Vec::new());
    for (what, schema, is_input) in input.into_iter().chain(output) {
        match examiner.unenforced(what, schema, is_input) {
            Ok(patterns) => notes.extend(patterns.iter().map(|pattern| unenforced(what, pattern))),
            Err(problem) => problems.push(problem),
        }
    }
    for problem in problems {
        definition.add_problem(problem);
    }
    (name.into_owned(), definition, notes)
}

fn unenforced(what: &str, pattern: &str) -> String {
    let mut short: String = pattern.chars().take(100).collect();
    if short.len() < pattern.len() {
        short.push('…');
    }
    format!("the pattern `{short}` in its `{what}` cannot be compiled here and is not enforced")
}

fn whole(schema: std::sync::Arc<Map<String, Value>>) -> Map<String, Value> {
    std::sync::Arc::try_unwrap(schema).unwrap_or_else(|schema| (*schema).clone())
}

fn hints(annotations: model::ToolAnnotations) -> ToolAnnotations {
    let model::ToolAnnotations {
        title,
        read_only_hint,
        destructive_hint,
        idempotent_hint,
        open_world_hint,
        ..
    } = annotations;
    let mut hints = ToolAnnotations::default();
    hints.title = title;
    hints.read_only_hint = read_only_hint;
    hints.destructive_hint = destructive_hint;
    hints.idempotent_hint = idempotent_hint;
    hints.open_world_hint = open_world_hint;
    hints
}

/// A picture that clients may load: others run code or read files.
pub(super) fn icon(icon: model::Icon) -> Option<Icon> {
    let is_safe = icon.src.starts_with("https://") || icon.src.starts_with("data:image/");
    let mut converted = Icon::new(icon.src);
    converted.mime_type = icon.mime_type;
    converted.sizes = icon.sizes.unwrap_or_default();
    converted.theme = icon.theme.map(|theme| match theme {
        model::IconTheme::Light => "light".to_owned(),
        _ => "dark".to_owned(),
    });
    is_safe.then_some(converted)
}
