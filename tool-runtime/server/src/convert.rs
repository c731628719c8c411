//! Converts the core's types to rmcp's.

use super::passthrough;
use rmcp::model::{self, CallToolResult, Prompt, PromptArgument, Resource, ResourceTemplate, Tool};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use tool_runtime_core as core;
use tool_runtime_core::seam::BlockForm;
use tool_runtime_core::tool::resource::ResourceDefinition;
use tool_runtime_core::tool::{Observation, ToolDefinition};
use tool_runtime_core::vocabulary::ToolAnnotations;
use tool_runtime_core::vocabulary::content::{ContentAnnotations, ContentBlock, Icon};
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
    passthrough::keep_unknown(&mut tool, &definition.other);
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

/// The result of a call, with its structured value wrapped if its schema is.
///
/// # Errors
/// The observation is not valid in MCP: an unknown audience, a resource without contents, a value
/// nested too deep.
pub(super) fn result(
    observation: &Observation,
    is_wrapped: bool,
) -> Result<CallToolResult, serde_json::Error> {
    let mut result = CallToolResult::success(content(observation)?);
    result.is_error = Some(observation.is_error());
    if let Some(json) = observation.structured_json() {
        let value: Value = json.parse()?;
        let value = if is_wrapped { json!({ "result": value }) } else { value };
        result.structured_content = Some(value);
    }
    result.meta = observation.meta().cloned().map(model::MetaObject);
    if observation.is_known() { Ok(result) } else { passthrough::keep_whole(result, observation) }
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
        let value = json.parse::<Value>();
        !text.contains(['\n', '\r'])
            && value.is_ok_and(|value| numbers::exact(&value, text).is_some())
    };
    let is_restored = is_restored && observation.is_known() && mirror.is_some_and(is_mirror);
    (!is_restored).then_some(number)
}

/// An error result for the model.
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

pub(super) fn prompt(prompt: &core::tool::prompt::Prompt) -> Prompt {
    let definition = prompt.definition();
    let arguments: Vec<PromptArgument> = definition.arguments.iter().map(argument).collect();
    let mut listed = Prompt::new(&*definition.name, text(&definition.description), None);
    listed.title.clone_from(&definition.title);
    listed.arguments = (!arguments.is_empty()).then_some(arguments);
    listed.icons = icons(&definition.icons);
    listed.meta = meta(&definition.meta);
    listed
}

fn argument(argument: &core::tool::prompt::PromptArgument) -> PromptArgument {
    let mut listed = PromptArgument::new(&*argument.name).with_required(argument.required);
    listed.title.clone_from(&argument.title);
    listed.description = text(&argument.description);
    listed
}

pub(super) fn resource(definition: &ResourceDefinition) -> Resource {
    let mut listed = Resource::new(&*definition.uri, &*definition.name);
    listed.title.clone_from(&definition.title);
    listed.description = text(&definition.description);
    listed.mime_type.clone_from(&definition.mime_type);
    listed.size = definition.size;
    listed.icons = icons(&definition.icons);
    listed.meta = meta(&definition.meta);
    listed.annotations = annotations(&definition.annotations);
    listed
}

pub(super) fn template(definition: &ResourceDefinition) -> ResourceTemplate {
    let resource = resource(definition);
    let mut listed = ResourceTemplate::new(resource.uri, resource.name);
    listed.title = resource.title;
    listed.description = resource.description;
    listed.mime_type = resource.mime_type;
    listed.icons = resource.icons;
    listed.meta = resource.meta;
    listed.annotations = resource.annotations;
    listed
}

fn text(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

fn annotations(annotations: &ContentAnnotations) -> Option<model::Annotations> {
    let is_set = *annotations != ContentAnnotations::default();
    is_set.then(|| via_json(annotations).ok()).flatten()
}

/// Icons, without those that rmcp cannot represent.
fn icons(icons: &[Icon]) -> Option<Vec<model::Icon>> {
    let icons: Vec<_> = icons.iter().filter_map(|icon| via_json(icon).ok()).collect();
    (!icons.is_empty()).then_some(icons)
}

fn meta(meta: &Map<String, Value>) -> Option<model::MetaObject> {
    (!meta.is_empty()).then(|| model::MetaObject(meta.clone()))
}

/// Converts between types with the same JSON.
pub(super) fn via_json<T: DeserializeOwned>(value: &impl Serialize) -> serde_json::Result<T> {
    serde_json::from_value(serde_json::to_value(value)?)
}

pub(super) fn block(block: &ContentBlock) -> serde_json::Result<model::ContentBlock> {
    match block.form() {
        BlockForm::Plain(text) => Ok(model::ContentBlock::text(text)),
        BlockForm::Known(block) => via_json(block),
        // `passthrough` does not reach this client.
        BlockForm::Other(block) => Ok(model::ContentBlock::text(serde_json::to_string(block)?)),
    }
}
