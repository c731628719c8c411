//! The help of a command.

use super::syntax::{CommandSpec, Commands, Opt};
use crate::{About, print};
use std::fmt::Write as _;
use std::path::Path;

/// The program as it was called, without its directory.
pub(super) fn program(path: Option<&str>) -> Option<String> {
    let name = Path::new(path?).file_name()?;
    Some(name.to_string_lossy().into_owned())
}

/// Everything about a command.
pub(super) fn text(of: &About, program: &str, form: &CommandSpec, commands: &Commands) -> String {
    let usage = usage(program, form);
    let mut text = format!("{}\n\n{} {usage}\n", about(of, form), print::heading("Usage:"));
    if form.name.is_empty() {
        let all = commands.all.iter().map(|form| (form.name.to_owned(), form.about));
        section(&mut text, "Commands", all.collect());
    }
    let values = form.positional.iter().map(|value| (value.shown.to_owned(), value.help));
    section(&mut text, "Arguments", values.collect());
    let options = form.all_options(commands.common).map(|option| (left(option), option.help));
    section(&mut text, "Options", options.collect());
    if !form.more.is_empty() {
        let _ = write!(text, "\n{}\n", form.more);
    }
    text
}

/// The one line that shows how to write it.
pub(super) fn usage(program: &str, form: &CommandSpec) -> String {
    if form.name.is_empty() {
        return format!("{program} [COMMAND]");
    }
    let mut usage = format!("{program} {}", form.name);
    if !form.options.is_empty() {
        usage.push_str(" [OPTIONS]");
    }
    for value in form.positional {
        let _ = write!(usage, " {}", value.shown);
    }
    usage
}

fn about(of: &About, form: &CommandSpec) -> String {
    if !form.name.is_empty() {
        return form.about.to_owned();
    }
    of.about.clone().unwrap_or_else(|| format!("The tools of {}", of.name))
}

fn left(option: &Opt) -> String {
    match option.short {
        Some(letter) => format!("-{letter}, {}", option.shown()),
        None => format!("    {}", option.shown()),
    }
}

/// Two columns, the left one as wide as its widest cell.
fn section(text: &mut String, title: &str, rows: Vec<(String, &str)>) {
    let Some(width) = rows.iter().map(|(left, _)| left.len()).max() else { return };
    let _ = writeln!(text, "\n{}", print::heading(&format!("{title}:")));
    for (left, help) in rows {
        let _ = writeln!(text, "  {left:width$}  {help}");
    }
}
