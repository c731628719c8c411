//! Converts our types to rmcp's, which are not public.

use super::passing;
use rmcp::model::{self, CallToolResult, Tool};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tool_runtime_core::seam::BlockForm;
use tool_runtime_core::{ContentBlock, Icon, Observation, ToolAnnotations, ToolDefinition};
use tool_runtime_mcp::numbers;

/// A definition for clients of 2026-07-28 and later.
pub(super) fn tool(definition: &ToolDefinition) -> Tool {
    let mut tool = Tool::default();
    tool.name = definition.name.clone().into();
    tool.title.clone_from(&definition.title);
    tool.description = Some(definition.description.clone().into());
    tool.input_schema = Arc::new(definition.input_schema.clone());
    tool.output_schema = definition.output_schema.clone().map(Arc::new);
    tool.icons = icons(&definition.icons);
    tool.annotations = hints(&definition.annotations);
    let meta = definition.wire_meta();
    tool.meta = (!meta.is_empty()).then(|| model::MetaObject(meta.into_owned()));
    passing::keep_unknown(&mut tool, &definition.other);
    tool
}

fn hints(annotations: &ToolAnnotations) -> Option<model::ToolAnnotations> {
    let hints = model::ToolAnnotations::from_raw(
        annotations.title.clone(),
        annotations.read_only_hint,
        annotations.destructive_hint,
        annotations.idempotent_hint,
        annotations.open_world_hint,
    );
    (!annotations.is_empty()).then_some(hints)
}

/// A definition for older clients, whose output schemas must have an object at the root.
pub(super) fn legacy_tool(definition: &ToolDefinition) -> Tool {
    let mut tool = tool(definition);
    if let Some(schema) = tool.output_schema.take() {
        tool.output_schema = Some(if is_object(&schema) { schema } else { wrapped(&schema) });
    }
    tool
}

/// Whether older clients see the tool's structured values wrapped.
pub(super) fn is_wrapped(definition: &ToolDefinition) -> bool {
    definition.output_schema.as_ref().is_some_and(|schema| !is_object(schema))
}

/// Whether HTTP headers repeat some of the tool's arguments.
#[cfg(feature = "http")]
pub(super) fn is_mirrored(definition: &ToolDefinition) -> bool {
    fn marks(value: &Value) -> bool {
        match value {
            Value::Object(members) => {
                members.contains_key("x-mcp-header") || members.values().any(marks)
            }
            Value::Array(items) => items.iter().any(marks),
            _ => false,
        }
    }
    definition.input_schema.values().any(marks)
}

fn is_object(schema: &Map<String, Value>) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object")
}

fn wrapped(schema: &Map<String, Value>) -> Arc<Map<String, Value>> {
    let mut inner = schema.clone();
    let definitions = inner.shift_remove("$defs");
    let mut outer = Map::new();
    outer.insert("type".to_owned(), "object".into());
    outer.insert("properties".to_owned(), json!({ "result": inner }));
    outer.insert("required".to_owned(), json!(["result"]));
    if let Some(definitions) = definitions {
        outer.insert("$defs".to_owned(), definitions);
    }
    Arc::new(outer)
}

/// What a call gave back, its structured value wrapped where its schema is.
///
/// # Errors
/// What MCP cannot carry: an audience that it does not know, a resource without contents, a
/// value nested too deep.
pub(super) fn result(
    observation: &Observation,
    is_wrapped: bool,
) -> Result<CallToolResult, serde_json::Error> {
    let mut result = CallToolResult::success(content(observation)?);
    result.is_error = Some(observation.is_error());
    if let Some(json) = observation.structured_json() {
        let value: Value = serde_json::from_str(json)?;
        let value = if is_wrapped { json!({ "result": value }) } else { value };
        result.structured_content = Some(value);
    }
    result.meta = observation.meta().cloned().map(model::MetaObject);
    if observation.is_known() { Ok(result) } else { passing::keep_whole(result, observation) }
}

/// An integer of more than 64 bits in the structured value, which rmcp's types do not keep. A
/// transport restores it by the text mirror, if there is one (`stdio/exact.rs`).
pub(super) fn changed_integer(observation: &Observation, is_restored: bool) -> Option<&str> {
    let json = observation.structured_json()?;
    let number = numbers::long_integer(json)?;
    let mirror = match observation.content() {
        [] => Some(json),
        [ContentBlock::Text(only)] => Some(only.text()),
        _ => None,
    };
    let is_mirror = |text: &str| {
        let value = serde_json::from_str::<Value>(json);
        !text.contains(['\n', '\r'])
            && value.is_ok_and(|value| numbers::exact(&value, text).is_some())
    };
    let is_restored = is_restored && observation.is_known() && mirror.is_some_and(is_mirror);
    (!is_restored).then_some(number)
}

/// A failure, in words for the model.
pub(super) fn failure(message: &str) -> CallToolResult {
    CallToolResult::error(vec![model::ContentBlock::text(message)])
}

fn content(observation: &Observation) -> serde_json::Result<Vec<model::ContentBlock>> {
    match observation.structured_json() {
        Some(mirror) if observation.content().is_empty() => {
            Ok(vec![model::ContentBlock::text(mirror)])
        }
        _ => observation.content().iter().map(block).collect(),
    }
}

/// Pictures, if there are any.
pub(super) fn icons(icons: &[Icon]) -> Option<Vec<model::Icon>> {
    let icon = |icon: &Icon| {
        let mut converted = model::Icon::new(&*icon.src);
        converted.mime_type.clone_from(&icon.mime_type);
        converted.sizes = Some(icon.sizes.clone()).filter(|sizes| !sizes.is_empty());
        converted.theme = match icon.theme.as_deref() {
            Some("light") => Some(model::IconTheme::Light),
            Some("dark") => Some(model::IconTheme::Dark),
            _ => None,
        };
        converted
    };
    (!icons.is_empty()).then(|| icons.iter().map(icon).collect())
}

/// Metadata, if there is any.
pub(super) fn meta(meta: &Map<String, Value>) -> Option<model::MetaObject> {
    (!meta.is_empty()).then(|| model::MetaObject(meta.clone()))
}

pub(super) fn block(block: &ContentBlock) -> serde_json::Result<model::ContentBlock> {
    match block.form() {
        BlockForm::Plain(text) => Ok(model::ContentBlock::text(text)),
        BlockForm::Known(block) => serde_json::from_value(serde_json::to_value(block)?),
        // For clients that `passing` does not reach.
        BlockForm::Other(block) => Ok(model::ContentBlock::text(serde_json::to_string(block)?)),
    }
}
