//! Renders the help of a command.

use super::spec::{CommandSpec, Commands, Opt};
use crate::{About, print};
use std::fmt::Write as _;
use std::path::Path;

/// The file name of the program.
pub(super) fn program(path: Option<&str>) -> Option<String> {
    let name = Path::new(path?).file_name()?;
    Some(name.to_string_lossy().into_owned())
}

/// The help of a command.
pub(super) fn text(
    about: &About,
    program: &str,
    command: &CommandSpec,
    commands: &Commands,
) -> String {
    let is_root = command.name.is_empty();
    let description = match &about.about {
        _ if !is_root => command.about.to_owned(),
        Some(about) => about.clone(),
        None => format!("The tools of {}", about.name),
    };
    let usage = usage(command);
    let mut text = format!("{description}\n\n{} {program} {usage}\n", print::heading("Usage:"));
    if is_root {
        let all = commands.all().map(|command| (command.name.to_owned(), command.about));
        section(&mut text, "Commands", all.collect());
    }
    let positional = command.positional.iter().map(|value| (value.name.to_string(), value.help));
    section(&mut text, "Arguments", positional.collect());
    let options =
        command.all_options(&commands.global).map(|option| (usage_column(option), option.help));
    section(&mut text, "Options", options.collect());
    if !command.after_help.is_empty() {
        let _ = write!(text, "\n{}\n", command.after_help);
    }
    text
}

/// The usage line of a command, without the program.
pub(super) fn usage(command: &CommandSpec) -> String {
    if command.name.is_empty() {
        return "[COMMAND]".to_owned();
    }
    let mut usage = command.name.to_owned();
    if !command.options.is_empty() {
        usage.push_str(" [OPTIONS]");
    }
    for value in command.positional.iter() {
        let _ = write!(usage, " {}", value.name);
    }
    usage
}

fn usage_column(option: &Opt) -> String {
    match option.short {
        Some(letter) => format!("-{letter}, {}", option.usage()),
        None => format!("    {}", option.usage()),
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
