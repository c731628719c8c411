//! `status`: shows the status of the servers.

use super::{Files, NAME_A_FILE, NAME_A_SERVER, start, state};
use crate::BoxError;
use crate::about::About;
use crate::{exit, print, table};
use serde_json::{Map, Value, json};
use std::process::ExitCode;
use tool_runtime_client::McpServerStatus;
use tool_runtime_core::pool::ToolPool;

/// Attempts each connection once, and prints the result.
///
/// # Errors
/// A file or an entry is invalid.
pub(super) async fn status(
    about: &About,
    pool: &ToolPool,
    files: &Files,
    json: bool,
) -> Result<ExitCode, BoxError> {
    let config = files.load()?;
    if config.servers.is_empty() && config.left_out().is_empty() {
        let help = if files.is_empty() { NAME_A_FILE } else { NAME_A_SERVER };
        print::warning(&format!("there are no MCP servers; {help}"));
    }
    let manager = start::once(about, files.pins.as_deref()).config(config.clone()).start(pool)?;
    start::all(&manager, &config).await;
    let statuses = manager.status();
    manager.close().await;
    if json {
        print::line(&statuses.iter().map(object).collect::<Value>().to_string());
    } else {
        show(&statuses);
    }
    let is_healthy = statuses.iter().all(|status| state::failure_reason(&status.state).is_none());
    Ok(ExitCode::from(if is_healthy { 0 } else { exit::ERROR }))
}

/// Prints a table with a row per server, then the problems.
fn show(statuses: &[McpServerStatus]) {
    if statuses.is_empty() {
        return;
    }
    let header = ["SERVER", "STATE", "TOOLS", "PROTOCOL", "IS"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(header).chain(statuses.iter().map(row)).collect();
    for line in table::aligned(&rows) {
        print::line(&line);
    }
    for status in statuses {
        for text in state::failure_reason(&status.state).iter().chain(&status.problems) {
            print::line(&format!("{}: {text}", table::cell(&status.name)));
        }
    }
}

fn row(status: &McpServerStatus) -> [String; 5] {
    let dash = || "-".to_owned();
    let tools = if status.is_ready() { status.tools.to_string() } else { dash() };
    let info = status.info.as_ref().map(|info| format!("{} {}", info.name, info.version));
    [
        status.name.clone(),
        state::name(&status.state).replace('_', " "),
        tools,
        status.protocol.clone().unwrap_or_else(dash),
        info.unwrap_or_else(dash),
    ]
}

/// The JSON object of a server, as the command's help describes it.
fn object(status: &McpServerStatus) -> Value {
    let info = status.info.as_ref();
    let info = info.map(|info| json!({ "name": info.name, "version": info.version }));
    let problems = (!status.problems.is_empty()).then(|| json!(status.problems));
    let members = [
        ("name", Some(json!(status.name))),
        ("state", Some(json!(state::name(&status.state)))),
        ("reason", state::failure_reason(&status.state).map(Value::from)),
        ("tools", Some(json!(status.tools))),
        ("problems", problems),
        ("protocol", status.protocol.clone().map(Value::from)),
        ("server", info),
    ];
    let present = members.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}
