//! Parses the command line by the specifications of the commands.

use super::spec::{CommandSpec, Commands, HELP_COMMAND, Opt};
use super::usage_error::UsageError;
use lexopt::{Arg, Parser};
use std::ffi::OsString;
#[cfg(any(feature = "http", feature = "mcp-client"))]
use std::time::Duration;

/// The result of parsing.
pub(super) enum Parsed<'a> {
    /// A command, or the program without one.
    Command(&'a CommandSpec, Arguments),
    Help(&'a CommandSpec),
    Version,
}

/// The options and positional arguments of a command.
#[derive(Default)]
pub(super) struct Arguments {
    /// Options with their values; a flag has an empty one.
    options: Vec<(&'static str, String)>,
    pub(super) positional: Vec<String>,
}

impl Arguments {
    /// Whether an option is present.
    pub(super) fn has(&self, option: &Opt) -> bool {
        self.value(option).is_some()
    }

    /// The value of an option.
    pub(super) fn value(&self, option: &Opt) -> Option<&str> {
        self.values(option).next()
    }

    /// All options with their values, and the positional arguments.
    pub(super) fn into_parts(self) -> (Vec<(&'static str, String)>, Vec<String>) {
        (self.options, self.positional)
    }

    /// All values of a repeatable option.
    pub(super) fn values(&self, option: &Opt) -> impl Iterator<Item = &str> {
        let long = option.long;
        let found = self.options.iter().filter(move |(known, _)| *known == long);
        found.map(|(_, value)| value.as_str())
    }

    /// The value of an option in seconds, at least `min`.
    #[cfg(any(feature = "http", feature = "mcp-client"))]
    pub(super) fn seconds(&self, option: &Opt, min: u64) -> Result<Option<Duration>, UsageError> {
        let parse = |value: &str| match value.parse() {
            Ok(seconds) if seconds >= min => Ok(Duration::from_secs(seconds)),
            _ => Err(UsageError::invalid(option, &format!("'{value}' is not a number of seconds"))),
        };
        self.value(option).map(parse).transpose()
    }

    /// Takes the first positional argument, which is required.
    pub(super) fn take_first(&mut self, command: &CommandSpec) -> Result<String, UsageError> {
        if self.positional.is_empty() {
            return Err(UsageError::missing(command, 0));
        }
        let first = self.positional.remove(0);
        if first.is_empty() {
            return Err(UsageError::no_value(&command.positional[0].name));
        }
        Ok(first)
    }
}

/// Parses the whole command line. Options of all commands may precede the command.
pub(super) fn parse<'a>(
    parser: &mut Parser,
    commands: &'a Commands,
) -> Result<Parsed<'a>, UsageError> {
    let (mut command, mut arguments) = (commands.root, Arguments::default());
    // The first word of a command that has two.
    let mut group = None;
    while let Some(arg) = parser.next().map_err(|error| UsageError::stray_value(command, error))? {
        let mut options = command.all_options(&commands.global);
        let option = match arg {
            Arg::Value(text) => {
                let text = utf8(text)?;
                if command.name.is_empty() {
                    let name = group.take().map_or(text.clone(), |group| format!("{group} {text}"));
                    let is_group = commands.group(&name).next().is_some();
                    if is_group {
                        group = Some(name);
                    } else {
                        command = find(&name, commands)?;
                    }
                } else if command.takes_more(arguments.positional.len()) {
                    arguments.positional.push(text);
                } else {
                    return Err(UsageError::unexpected(command, &text));
                }
                continue;
            }
            Arg::Long(name) => options
                .find(|option| option.long == name)
                .ok_or_else(|| UsageError::unknown_option(command, name, &commands.global))?,
            Arg::Short(letter) => options
                .find(|option| option.short == Some(letter))
                .ok_or_else(|| UsageError::unexpected(command, &format!("-{letter}")))?,
        };
        match option.long {
            "help" => return Ok(Parsed::Help(command)),
            "version" => return Ok(Parsed::Version),
            _ if arguments.has(option) && !option.is_repeatable => {
                return Err(UsageError::repeated(command, option));
            }
            long => arguments.options.push((long, value(parser, option)?)),
        }
    }
    if let Some(group) = group {
        return Err(UsageError::incomplete(&group, commands));
    }
    if command.name == HELP_COMMAND {
        let subject = arguments.positional.join(" ");
        return match subject.is_empty() {
            true => Ok(Parsed::Help(commands.root)),
            false => find(&subject, commands).map(Parsed::Help),
        };
    }
    Ok(Parsed::Command(command, arguments))
}

fn find<'a>(name: &str, commands: &'a Commands) -> Result<&'a CommandSpec, UsageError> {
    let found = commands.all().find(|command| command.name == name);
    found.ok_or_else(|| UsageError::unknown_command(name, commands))
}

impl Opt {
    /// Checks a value on the command line. A lone `-` is a value, other strings with a leading dash are options.
    pub(crate) fn text(&self, value: Option<OsString>) -> Result<String, UsageError> {
        let text = utf8(value.unwrap_or_default())?;
        if text.is_empty() || (text.starts_with('-') && text != "-") {
            return Err(UsageError::no_value(&self.usage()));
        }
        Ok(text)
    }
}

/// The value of an option, empty for a flag.
fn value(parser: &mut Parser, option: &Opt) -> Result<String, UsageError> {
    if option.value.is_none() {
        return Ok(String::new());
    }
    option.text(parser.optional_value().or_else(|| parser.value().ok()))
}

fn utf8(text: OsString) -> Result<String, UsageError> {
    text.into_string().map_err(|_| UsageError::not_unicode())
}
