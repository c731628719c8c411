//! `list`, `report` and `schema`.

use super::options::{List, Listed};
use super::{exit, print, table};
use serde_json::{Value, json};
use std::process::ExitCode;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::resource::{Resource, ResourceDefinition};
use tool_runtime_core::tool::{Tool, ToolDefinition};

/// Prints tables of tools, prompts and resources, or the definitions as JSON.
pub(super) fn list(pool: &ToolPool, list: &List) -> ExitCode {
    match list.listed {
        _ if list.json => print::line(&definitions(pool, list.listed)),
        Some(Listed::Tools) => tools(pool, list.long),
        Some(Listed::Prompts) => prompts(pool, list.long),
        Some(Listed::Resources) => resources(pool, list.long),
        None => {
            tools(pool, list.long);
            if !pool.prompts().is_empty() {
                print::line("");
                prompts(pool, list.long);
            }
            if !pool.resources().is_empty() {
                print::line("");
                resources(pool, list.long);
            }
        }
    }
    ExitCode::SUCCESS
}

/// Definitions as in MCP's lists.
fn definitions(pool: &ToolPool, listed: Option<Listed>) -> String {
    match listed {
        None | Some(Listed::Tools) => pool.definitions_json().to_string(),
        Some(Listed::Prompts) => {
            let prompts = pool.prompts();
            let prompts: Vec<_> = prompts.iter().map(|prompt| prompt.definition()).collect();
            json!(prompts).to_string()
        }
        Some(Listed::Resources) => {
            let resources = pool.resources();
            let resources = resources.iter().map(|resource| resource_json(resource.definition()));
            Value::from_iter(resources).to_string()
        }
    }
}

fn resource_json(definition: &ResourceDefinition) -> Value {
    let uri = if definition.is_template() { "uriTemplate" } else { "uri" };
    let mut resource = json!({ uri: definition.uri, "name": definition.name });
    let optional = [
        ("title", definition.title.as_deref()),
        ("description", Some(&*definition.description).filter(|text| !text.is_empty())),
        ("mimeType", definition.mime_type.as_deref()),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            resource[key] = value.into();
        }
    }
    resource
}

fn tools(pool: &ToolPool, is_long: bool) {
    let snapshot = pool.snapshot();
    let tools = snapshot.tools().iter().zip(snapshot.definitions());
    if is_long {
        let header = ["NAME", "TITLE", "HINTS", "DESCRIPTION"].map(str::to_owned);
        print_rows(std::iter::once(header).chain(tools.map(long_row)).collect(), true);
    } else {
        let header = ["NAME", "HINT", "DESCRIPTION"].map(str::to_owned);
        print_rows(std::iter::once(header).chain(tools.map(row)).collect(), false);
    }
}

fn prompts(pool: &ToolPool, is_long: bool) {
    let header = ["PROMPT", "ARGUMENTS", "DESCRIPTION"].map(str::to_owned);
    let prompts = pool.prompts();
    let rows = prompts.iter().map(|prompt| {
        let definition = prompt.definition();
        let arguments = definition.arguments.iter().map(|argument| match argument.required {
            true => argument.name.clone(),
            false => format!("[{}]", argument.name),
        });
        let arguments = arguments.collect::<Vec<_>>().join(" ");
        [definition.name.clone(), or_dash(arguments), definition.description.clone()]
    });
    print_rows(std::iter::once(header).chain(rows).collect(), is_long);
}

fn resources(pool: &ToolPool, is_long: bool) {
    let header = ["RESOURCE", "TYPE", "DESCRIPTION"].map(str::to_owned);
    let resources = pool.resources();
    let rows = resources.iter().map(Resource::definition).map(|definition| {
        let mime_type = definition.mime_type.clone().unwrap_or_default();
        [definition.uri.clone(), or_dash(mime_type), definition.description.clone()]
    });
    print_rows(std::iter::once(header).chain(rows).collect(), is_long);
}

/// Prints a table, cut to the width of the terminal unless it is complete. What reads a pipe has no width.
fn print_rows<const COLUMNS: usize>(rows: Vec<[String; COLUMNS]>, is_complete: bool) {
    let lines = match table::terminal_width().filter(|_| !is_complete) {
        None => table::aligned(&rows),
        Some(width) => table::within(&rows, width),
    };
    lines.iter().for_each(|line| print::line(line));
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

/// The status of every tool, as text or JSON.
pub(super) fn report(pool: &ToolPool, json: bool) -> ExitCode {
    let report = pool.report();
    if json {
        print::line(&serde_json::to_string(&report).expect("reports have string keys"));
        return ExitCode::SUCCESS;
    }
    for line in report.to_string().lines() {
        print::line(line);
    }
    ExitCode::SUCCESS
}

/// Prints a definition, or all, as MCP JSON.
pub(super) fn schema(pool: &ToolPool, name: Option<&str>) -> ExitCode {
    let json = match name.map(|name| pool.resolve(name)).transpose() {
        Ok(Some(tool)) => {
            let snapshot = pool.snapshot();
            serde_json::to_value(snapshot.definition(tool.name()).unwrap_or(tool.definition()))
        }
        Ok(None) => serde_json::from_str(&pool.definitions_json()),
        Err(error) => {
            print::error(error.message());
            return ExitCode::from(exit::USAGE);
        }
    };
    print::indented(&json.expect("definitions have string keys"));
    ExitCode::SUCCESS
}

/// The name, what matters most of the hints, and the description.
fn row((tool, definition): (&Tool, &ToolDefinition)) -> [String; 3] {
    let annotations = &definition.annotations;
    let hint = match (annotations.read_only_hint, annotations.destructive_hint) {
        (Some(true), _) => "read-only",
        (_, Some(true)) => "destructive",
        (Some(false), Some(false)) => "additive",
        _ => "-",
    };
    let [name, _, _, description] = long_row((tool, definition));
    [name, hint.to_owned(), description]
}

fn long_row((tool, definition): (&Tool, &ToolDefinition)) -> [String; 4] {
    let original = std::iter::successors(tool.made_from(), |tool| tool.made_from()).last();
    let original = original.map(|it| format!(" (made from `{}`)", it.name()));
    [
        definition.name.clone(),
        or_dash(definition.title.clone().unwrap_or_default()),
        or_dash(hints(definition)),
        format!("{}{}", definition.summary(), original.unwrap_or_default()),
    ]
}

/// The hints that the tool declares.
pub(super) fn hints(definition: &ToolDefinition) -> String {
    let annotations = &definition.annotations;
    let named = [
        ("read-only", annotations.read_only_hint),
        ("destructive", annotations.destructive_hint),
        ("idempotent", annotations.idempotent_hint),
        ("open-world", annotations.open_world_hint),
    ];
    let declared = named.iter().filter_map(|(name, hint)| match hint {
        Some(true) => Some((*name).to_owned()),
        Some(false) => Some(format!("not {name}")),
        None => None,
    });
    let declared = declared.collect::<Vec<_>>().join(", ");
    if declared.is_empty() || !definition.untrusted_annotations {
        return declared;
    }
    format!("{declared} (untrusted)")
}
