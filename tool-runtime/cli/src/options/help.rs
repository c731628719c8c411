//! The help of a program, with its commands in groups.

use clap::Command;
use std::fmt::Write as _;

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
