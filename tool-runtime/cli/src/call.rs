//! `call NAME ...`: calls a tool and prints the result.

use super::options::{Call, Input};
use super::{argument_source, arguments, exit, print, signals};
use std::io::IsTerminal as _;
use std::process::ExitCode;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::seam::{Isolation, printable_lines};
use tool_runtime_core::tool::{Observation, ToolCall, ToolResult};
use tool_runtime_core::vocabulary::error::ErrorClass;

pub(super) async fn call(pool: &ToolPool, call: Call) -> ExitCode {
    let arguments = match self::arguments(pool, &call) {
        Ok(arguments) => arguments,
        Err(message) => {
            print::error(&message);
            return ExitCode::from(exit::USAGE);
        }
    };
    let session = pool.session();
    let pool = session.pool();
    // A tool that blocks its thread stops neither its time limit nor a signal.
    let context = pool
        .context()
        .with_cancellation(signals::shutdown_token())
        .with_isolation(Some(Isolation::default()));
    let result = pool.call_with(ToolCall::new(&call.name, &arguments), &context).await;
    if call.json {
        print::line(&result.observation().to_json());
    } else {
        show(pool, &result, &arguments);
    }
    exit_code(&result)
}

fn arguments(pool: &ToolPool, call: &Call) -> Result<String, String> {
    match &call.input {
        Input::Json(json) => Ok(json.clone()),
        Input::File(path) => std::fs::read_to_string(path)
            .map_err(|error| format!("`--args`: cannot read `{path}`: {error}")),
        Input::Stdin => argument_source::stdin(),
        Input::Pairs(pairs) => match pool.get(&call.name) {
            Some(tool) => arguments::object(&tool, pairs),
            None => Ok(String::new()),
        },
    }
}

/// Prints the formatted call and result on a terminal, and the plain text to a pipe.
fn show(pool: &ToolPool, result: &ToolResult, arguments: &str) {
    if result.is_error() {
        let text = result.observation().to_text();
        print::error(&text);
        let detail = result.error().and_then(|error| error.detail());
        if let Some(detail) = detail.filter(|detail| *detail != text) {
            print::to_stderr(&format!("detail: {detail}"));
        }
        return;
    }
    if !std::io::stdout().is_terminal() {
        print::line(&plain(result.observation()));
        return;
    }
    if let Some(tool) = pool.get(result.name()) {
        print::dimmed(&printable_lines(&tool.visualize(arguments)));
    }
    print::line(&printable_lines(&result.observation().visualize()));
}

/// The text of a result, or a description of content without text.
fn plain(observation: &Observation) -> String {
    let text = observation.to_text();
    if text.is_empty() { observation.visualize() } else { text }
}

fn exit_code(result: &ToolResult) -> ExitCode {
    match result.error().map(|error| error.class()) {
        Some(ErrorClass::Input | ErrorClass::NotFound) => ExitCode::from(exit::USAGE),
        _ if result.is_error() => ExitCode::from(exit::ERROR),
        _ => match result.observation().failed_command() {
            Some(code) => ExitCode::from(u8::try_from(code).unwrap_or(exit::ERROR)),
            None => ExitCode::SUCCESS,
        },
    }
}
