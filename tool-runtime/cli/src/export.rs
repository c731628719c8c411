//! `schema --format` and `list --tokens`.

use super::options::Schema;
use super::{exit, list, print, table};
use serde_json::{Value, json};
use std::process::ExitCode;
use std::sync::Arc;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_export::{Api, Export};

/// Prints the definition of a tool, or of all, in the format of an API. Changes of schemas for the
/// API are printed to standard error.
pub(super) fn schema(pool: &ToolPool, schema: &Schema) -> ExitCode {
    let (api, name) = (schema.format, schema.name.as_deref());
    if api == Api::Mcp {
        return list::schema(pool, name);
    }
    if let Some(Err(error)) = name.map(|name| pool.resolve(name)) {
        print::error(error.message());
        return ExitCode::from(exit::USAGE);
    }
    let export = exported(pool, api, schema.strict);
    let is_meant = |id: &str| name.is_none_or(|name| name == id);
    for left_out in export.left_out().iter().filter(|left_out| is_meant(&left_out.id)) {
        print::error(&format!("left out: {left_out}"));
    }
    for tool in export.tools().iter().filter(|tool| is_meant(&tool.id)) {
        if let Some(reason) = &tool.not_strict {
            print::warning(&format!("`{}` is not strict: {reason}", tool.id));
        }
        for change in &tool.changes {
            print::warning(&format!("`{}`: {change}", tool.id));
        }
    }
    match name {
        None => print::indented(&json!(export.definitions())),
        Some(name) => match definition(&export, api, name) {
            Some(definition) => print::indented(definition),
            None => return ExitCode::from(exit::ERROR),
        },
    }
    ExitCode::SUCCESS
}

fn exported(pool: &ToolPool, api: Api, is_strict: bool) -> Arc<Export> {
    let snapshot = pool.snapshot();
    if is_strict { snapshot.export(api.strict()) } else { snapshot.export(api) }
}

/// The definition of one tool.
fn definition<'a>(export: &'a Export, api: Api, name: &str) -> Option<&'a Value> {
    let index = export.tools().iter().position(|tool| tool.id == name)?;
    match api {
        Api::Gemini => export.definitions()[0]["functionDeclarations"].get(index),
        _ => export.definitions().get(index),
    }
}

/// Prints the estimated size of each tool, and the sum, largest first.
pub(super) fn sizes(pool: &ToolPool, json: bool) -> ExitCode {
    let export = exported(pool, Api::Anthropic, false);
    let mut sizes: Vec<(&str, usize)> =
        export.tools().iter().map(|tool| (tool.id.as_str(), tool.tokens)).collect();
    sizes.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
    if json {
        let tools: Vec<Value> =
            sizes.iter().map(|(name, tokens)| json!({ "name": name, "tokens": tokens })).collect();
        print::line(&json!({ "tools": tools, "tokens": export.tokens() }).to_string());
        return ExitCode::SUCCESS;
    }
    let mut rows = vec![["NAME".to_owned(), "TOKENS".to_owned()]];
    rows.extend(sizes.iter().map(|(name, tokens)| [(*name).to_owned(), tokens.to_string()]));
    rows.push(["total".to_owned(), export.tokens().to_string()]);
    for line in table::aligned(&rows) {
        print::line(&line);
    }
    ExitCode::SUCCESS
}
