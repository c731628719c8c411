//! `call NAME ...`: runs one tool and shows its answer.

use super::options::{Call, Input};
use super::{arguments, exit, print, signals};
use std::io::{IsTerminal as _, Read as _};
use std::process::ExitCode;
use tool_runtime_core::{ErrorClass, Observation, ToolCall, ToolPool, ToolResult};

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
    let context = pool.context().with_cancellation(signals::first());
    let result = pool.call_with(ToolCall::new(&call.name, &arguments), &context).await;
    if call.as_json {
        print::line(&result.observation().to_json());
    } else {
        show(pool, &result, &arguments);
    }
    code(&result)
}

fn arguments(pool: &ToolPool, call: &Call) -> Result<String, String> {
    match &call.input {
        Input::Json(json) => Ok(json.clone()),
        Input::Stdin => {
            let mut text = String::new();
            let read = std::io::stdin().read_to_string(&mut text);
            read.map_err(|error| format!("cannot read standard input: {error}")).map(|_| text)
        }
        Input::Pairs(pairs) => match pool.get(&call.name) {
            Some(tool) => arguments::object(&tool, pairs),
            None => Ok(String::new()),
        },
    }
}

/// A person sees the call and the answer as they show themselves; a pipe gets the plain text.
fn show(pool: &ToolPool, result: &ToolResult, arguments: &str) {
    if result.is_error() {
        let text = result.observation().to_text();
        print::error(&text);
        let detail = result.error().and_then(|error| error.detail());
        if let Some(detail) = detail.filter(|detail| *detail != text) {
            print::detail(detail);
        }
        return;
    }
    if !std::io::stdout().is_terminal() {
        print::line(&plain(result.observation()));
        return;
    }
    if let Some(tool) = pool.get(result.name()) {
        print::dimmed(&tool.visualize(arguments));
    }
    print::line(&result.observation().visualize());
}

/// The text of an answer; what has none, a picture, is named.
fn plain(observation: &Observation) -> String {
    let text = observation.to_text();
    if text.is_empty() { observation.visualize() } else { text }
}

fn code(result: &ToolResult) -> ExitCode {
    match result.error().map(|error| error.class()) {
        Some(ErrorClass::Input | ErrorClass::NotFound) => ExitCode::from(exit::USAGE),
        _ if result.is_error() => ExitCode::from(exit::ERROR),
        _ => ExitCode::SUCCESS,
    }
}
