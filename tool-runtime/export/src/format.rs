//! Definitions in the envelope of an API.

use crate::api::Api;
use crate::budget::{Demand, fits_alone, fitting};
use crate::lower::{Dialect, Lowered, lower};
use crate::restore::restorer;
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use tool_runtime_core::seam::{estimate_tokens, translate_schema};
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::tool::export::{Exported, LeftOut, ToolExport};

/// Converts the tools that the API can express. `is_strict` says of a tool whether the API is to enforce its schema.
pub(crate) fn definitions(
    api: Api,
    is_strict: impl Fn(&ToolDefinition) -> bool,
    tools: &[&ToolDefinition],
) -> Exported {
    let schemas: Vec<Map<String, Value>> = tools.iter().map(|tool| translated(tool)).collect();
    let strict = strict_schemas(api, is_strict, tools, &schemas);
    let (mut exported, mut names) = (Exported::default(), HashSet::new());
    for (index, tool) in tools.iter().enumerate() {
        let strict = strict.get(index).cloned().unwrap_or(Strict::NotAsked);
        let added = match one(api, tool, &schemas[index], strict) {
            Ok(added) if names.insert(added.0.wire_name.clone()) => added,
            Ok((report, _)) => {
                let reason = format!("another tool is named `{}` in the export", report.wire_name);
                exported.left_out.push(LeftOut { id: report.id, reason });
                continue;
            }
            Err(reason) => {
                exported.left_out.push(LeftOut { id: tool.name.clone(), reason });
                continue;
            }
        };
        exported.reports.push(added.0);
        exported.tools.push(added.1);
    }
    // Gemini takes all declarations in one tool.
    if api == Api::Gemini && !exported.tools.is_empty() {
        exported.tools = vec![json!({ "functionDeclarations": exported.tools })];
    }
    exported
}

/// A tool's schema in strict mode.
#[derive(Clone)]
enum Strict {
    NotAsked,
    Impossible(String),
    Is(std::rc::Rc<Lowered>),
}

/// The schema of a tool's arguments in 2020-12. Tools of MCP servers have it already.
fn translated(tool: &ToolDefinition) -> Map<String, Value> {
    let mut schema = tool.input_schema.clone();
    translate_schema(&mut schema);
    schema
}

fn strict_schemas(
    api: Api,
    is_strict: impl Fn(&ToolDefinition) -> bool,
    tools: &[&ToolDefinition],
    schemas: &[Map<String, Value>],
) -> Vec<Strict> {
    let dialect = match api {
        Api::Anthropic => Dialect::Anthropic,
        Api::OpenAiChat | Api::OpenAiResponses => Dialect::OpenAi,
        Api::Mcp | Api::Gemini => return Vec::new(),
    };
    let strict = |(tool, schema): (&&ToolDefinition, &Map<String, Value>)| match is_strict(tool) {
        false => Strict::NotAsked,
        true => match lower(schema, dialect) {
            Ok(lowered) => Strict::Is(lowered.into()),
            Err(reason) => Strict::Impossible(reason),
        },
    };
    let mut strict: Vec<Strict> = tools.iter().zip(schemas).map(strict).collect();
    if dialect == Dialect::Anthropic {
        keep_budget(&mut strict);
    }
    strict
}

/// Anthropic limits the strict tools of one request together.
fn keep_budget(schemas: &mut [Strict]) {
    let (mut indexes, mut demands) = (Vec::new(), Vec::new());
    for (index, schema) in schemas.iter().enumerate() {
        if let Strict::Is(lowered) = schema {
            indexes.push(index);
            demands.push(Demand { optional: lowered.optional, unions: lowered.unions });
        }
    }
    for ((index, demand), is_picked) in indexes.iter().zip(&demands).zip(fitting(&demands)) {
        if !is_picked {
            let reason = if fits_alone(*demand) {
                "the request would have more strict tools, optional arguments or unions than the API accepts".to_owned()
            } else {
                format!(
                    "it has {} optional arguments and {} unions, more than the API accepts in a strict tool",
                    demand.optional, demand.unions
                )
            };
            schemas[*index] = Strict::Impossible(reason);
        }
    }
}

/// One tool.
fn one(
    api: Api,
    tool: &ToolDefinition,
    schema: &Map<String, Value>,
    strict: Strict,
) -> Result<(ToolExport, Value), String> {
    let plain = match api {
        Api::Gemini => Dialect::Gemini,
        _ => Dialect::Loose,
    };
    let wire_name = if api == Api::Mcp { tool.name.clone() } else { tool.wire_name().into_owned() };
    let mut report = ToolExport {
        id: tool.name.clone(),
        wire_name,
        is_strict: false,
        not_strict: None,
        changes: Vec::new(),
        tokens: 0,
        restore: None,
    };
    let definition = match (api, strict) {
        (Api::Mcp, _) => serde_json::to_value(tool).expect("a definition has string keys"),
        (_, Strict::Is(lowered)) => {
            let dialect = if api == Api::Anthropic { Dialect::Anthropic } else { Dialect::OpenAi };
            report.is_strict = true;
            report.changes.clone_from(&lowered.changes);
            report.restore = restorer(schema, dialect);
            envelope(api, tool, &report, lowered.schema.clone())
        }
        (_, strict) => {
            if let Strict::Impossible(reason) = strict {
                report.not_strict = Some(reason);
            }
            let Lowered { schema: lowered, changes, .. } = lower(schema, plain)?;
            report.changes = changes;
            report.restore = restorer(schema, plain);
            envelope(api, tool, &report, lowered)
        }
    };
    report.tokens = estimate_tokens(&definition.to_string());
    Ok((report, definition))
}

fn envelope(api: Api, tool: &ToolDefinition, report: &ToolExport, schema: Value) -> Value {
    let schema_key = match api {
        Api::Anthropic => "input_schema",
        Api::Gemini => "parametersJsonSchema",
        _ => "parameters",
    };
    let mut function = Map::new();
    if api == Api::OpenAiResponses {
        function.insert("type".to_owned(), json!("function"));
    }
    function.insert("name".to_owned(), json!(report.wire_name));
    function.insert("description".to_owned(), json!(tool.description));
    function.insert(schema_key.to_owned(), schema);
    // Without this member, the Responses API tries strict mode and changes the schema.
    if report.is_strict || api == Api::OpenAiResponses {
        function.insert("strict".to_owned(), json!(report.is_strict));
    }
    match api {
        Api::OpenAiChat => json!({ "type": "function", "function": function }),
        _ => Value::Object(function),
    }
}
