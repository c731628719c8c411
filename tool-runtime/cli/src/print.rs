//! Lines for people and pipes. A reader that has gone away is not a reason to panic.

use super::exit;
use std::io::{ErrorKind, IsTerminal as _, Write as _};

/// A line on standard output. A full disk ends the process, a reader that has gone does not.
pub(super) fn line(text: &str) {
    match writeln!(std::io::stdout().lock(), "{text}") {
        Err(fault) if fault.kind() != ErrorKind::BrokenPipe => {
            error(&format!("cannot write to standard output: {fault}"));
            std::process::exit(i32::from(exit::ERROR));
        }
        _ => {}
    }
}

/// A line on standard output that stands back behind the others.
pub(super) fn dimmed(text: &str) {
    if no_color() {
        line(text);
    } else {
        line(&format!("\u{1b}[2m{text}\u{1b}[0m"));
    }
}

/// A word on standard output that stands out, for people.
pub(super) fn heading(text: &str) -> String {
    if no_color() || !std::io::stdout().is_terminal() {
        return text.to_owned();
    }
    format!("\u{1b}[1m\u{1b}[4m{text}\u{1b}[0m")
}

fn no_color() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// A line on standard error that says what went wrong.
pub(super) fn error(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let prefix = if stderr.is_terminal() { "\u{1b}[31merror:\u{1b}[0m" } else { "error:" };
    let _ = writeln!(stderr, "{prefix} {text}");
}

/// A line on standard error that says what should not be left like that.
#[cfg(feature = "mcp-client")]
pub(super) fn warning(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let prefix = if stderr.is_terminal() { "\u{1b}[33mwarning:\u{1b}[0m" } else { "warning:" };
    let _ = writeln!(stderr, "{prefix} {text}");
}

/// A line on standard error that says what is going on.
#[cfg(feature = "http")]
pub(super) fn status(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// A line on standard error with what only the operator should read.
pub(super) fn detail(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "detail: {text}");
}
