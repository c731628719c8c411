//! Prints lines. A closed pipe is not an error.

use super::{exit, log};
use serde_json::Value;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use tool_runtime_core::seam::printable_lines;
use tool_runtime_core::tool::peer::LogLevel;

/// Prints a line. A failed write, to a full disk for example, ends the process; a closed pipe does not.
pub(super) fn line(text: &str) {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(fault) if fault.kind() != ErrorKind::BrokenPipe => {
            error(&format!("cannot write to standard output: {fault}"));
            log::finish();
            std::process::exit(i32::from(exit::ERROR));
        }
        _ => {}
    }
}

/// Prints text of a tool. Its control characters are escapes at a terminal, and stay in a pipe.
pub(super) fn text(text: &str) {
    match std::io::stdout().is_terminal() {
        true => line(&printable_lines(text)),
        false => line(text),
    }
}

/// Prints indented JSON. `Value` has an indented form; serde_json's pretty serializer would be linked
/// for this alone.
pub(super) fn indented(value: &Value) {
    line(&format!("{value:#}"));
}

/// Prints a dimmed line.
pub(super) fn dimmed(text: &str) {
    if no_color() {
        line(text);
    } else {
        line(&format!("\u{1b}[2m{text}\u{1b}[0m"));
    }
}

fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Prints an error to standard error: as text, or as a line of the log in JSON.
pub(super) fn error(text: &str) {
    match log::is_json() {
        true => tracing::error!(target: log::ERRORS, "{text}"),
        false => labelled("31", "error:", text),
    }
}

/// Prints a warning to standard error.
pub(super) fn warning(text: &str) {
    labelled("33", "warning:", text);
}

/// Prints a log entry of a tool to standard error.
pub(super) fn log(level: LogLevel, text: &str) {
    let (color, label) = match level {
        LogLevel::Debug => ("2", "debug:"),
        LogLevel::Info | LogLevel::Notice => ("36", "info:"),
        LogLevel::Warning => ("33", "warning:"),
        _ => ("31", "error:"),
    };
    labelled(color, label, text);
}

fn labelled(color: &str, label: &str, text: &str) {
    let text = printable_lines(text);
    let mut stderr = std::io::stderr().lock();
    let _ = match stderr.is_terminal() && !no_color() {
        true => writeln!(stderr, "\u{1b}[{color}m{label}\u{1b}[0m {text}"),
        false => writeln!(stderr, "{label} {text}"),
    };
}

/// Prints a line to standard error.
pub(super) fn to_stderr(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable_lines(text));
}
