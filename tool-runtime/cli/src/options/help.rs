//! The help of a program, with its commands in groups.

use clap::Command;
use std::fmt::Write as _;

/// The width of the list of commands.
const COLUMNS: usize = 80;

/// The shortest source line that ends because of its length, not because its paragraph does.
const FULL_LINE: usize = 90;

/// The text below the options, with its paragraphs as lines: clap wraps them at the width of the terminal.
pub(super) fn paragraphs(command: Command) -> Command {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut joined = String::new();
    let mut is_full = false;
    for line in text.lines() {
        let is_start = line.is_empty() || line.starts_with(' ');
        if !joined.is_empty() {
            joined.push(if is_full && !is_start { ' ' } else { '\n' });
        }
        joined.push_str(line);
        is_full = line.chars().count() >= FULL_LINE;
    }
    let command = if joined.is_empty() { command } else { command.after_help(joined) };
    command.mut_subcommands(paragraphs)
}

/// The words in lines of a width.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
            continue;
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines
}

/// Lists the commands of a program in groups, in the order in which their headings appear.
pub(super) fn grouped(program: Command, headings: &[(String, &'static str)]) -> Command {
    let styles = program.get_styles().clone();
    let (header, literal) = (styles.get_header(), styles.get_literal());
    let rows: Vec<(&str, String, String)> = headings
        .iter()
        .flat_map(|(name, heading)| {
            let command = program.find_subcommand(name);
            command.into_iter().flat_map(|command| rows(heading, command))
        })
        .collect();
    let width = rows.iter().map(|(_, name, _)| name.len()).max().unwrap_or_default();
    let mut titles = Vec::new();
    for (_, heading) in headings {
        if !titles.contains(heading) {
            titles.push(*heading);
        }
    }
    let mut text = String::new();
    for title in titles {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for (_, name, about) in rows.iter().filter(|(heading, _, _)| *heading == title) {
            let indent = width + 4;
            let about =
                wrapped(about, COLUMNS.saturating_sub(indent)).join(&format!("\n{:indent$}", ""));
            let _ = writeln!(text, "  {literal}{name:width$}{literal:#}  {about}");
        }
        text.push('\n');
    }
    let usage = format!("{} [OPTIONS] [COMMAND]", program.get_bin_name().unwrap_or_default());
    let mut listed = program
        .clone()
        .mut_subcommands(|command| command.hide(true))
        .disable_help_subcommand(true)
        .override_usage(usage.clone())
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{text}{{all-args}}{{after-help}}"
        ));
    let help = listed.render_help();
    program.override_usage(usage).override_help(help)
}

/// The row of a command, or those of the commands of a group.
fn rows<'h>(heading: &'h str, command: &Command) -> Vec<(&'h str, String, String)> {
    let about = |command: &Command| command.get_about().map(ToString::to_string);
    let row = |name: String, command: &Command| (heading, name, about(command).unwrap_or_default());
    let name = command.get_name();
    match command.has_subcommands() {
        true => {
            let commands = command.get_subcommands();
            commands.map(|inner| row(format!("{name} {}", inner.get_name()), inner)).collect()
        }
        false => vec![row(name.to_owned(), command)],
    }
}
