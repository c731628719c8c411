//! `list`, `report` and `schema`.

use super::{exit, print, table};
use std::process::ExitCode;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::{Tool, ToolDefinition};

/// Prints a table with a row per tool, or the definitions as JSON.
pub(super) fn list(pool: &ToolPool, json: bool) -> ExitCode {
    if json {
        print::line(&pool.definitions_json());
        return ExitCode::SUCCESS;
    }
    let header = ["NAME", "TITLE", "HINTS", "DESCRIPTION"].map(str::to_owned);
    let snapshot = pool.snapshot();
    let rows: Vec<[String; 4]> = std::iter::once(header)
        .chain(snapshot.tools().iter().zip(snapshot.definitions()).map(row))
        .collect();
    for line in table::aligned(&rows) {
        print::line(&line);
    }
    ExitCode::SUCCESS
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

fn row((tool, definition): (&Tool, &ToolDefinition)) -> [String; 4] {
    let dash = || "-".to_owned();
    let original = std::iter::successors(tool.made_from(), |tool| tool.made_from()).last();
    let original = original.map(|it| format!(" (made from `{}`)", it.name()));
    [
        definition.name.clone(),
        definition.title.clone().unwrap_or_else(dash),
        Some(hints(definition)).filter(|hints| !hints.is_empty()).unwrap_or_else(dash),
        format!("{}{}", definition.summary(), original.unwrap_or_default()),
    ]
}

/// The hints that the tool declares.
fn hints(definition: &ToolDefinition) -> String {
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
