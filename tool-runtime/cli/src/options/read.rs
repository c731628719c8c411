//! Reads the command line by the commands of the program.

use super::mistake::Mistake;
use super::syntax::{CommandSpec, Commands, HELP_COMMAND, Opt};
use lexopt::{Arg, Parser};
use std::ffi::OsString;

/// What was typed.
pub(super) enum Reading {
    Command(&'static CommandSpec, Given),
    Help(&'static CommandSpec),
    Version,
    /// No command, only options.
    Nothing(Given),
}

/// What a command was given.
#[derive(Default)]
pub(super) struct Given {
    /// Options with their values; those that take none have an empty one.
    pub(super) options: Vec<(&'static str, String)>,
    pub(super) positional: Vec<String>,
}

impl Given {
    /// Whether an option is there.
    pub(super) fn has(&self, long: &str) -> bool {
        self.value(long).is_some()
    }

    /// The value of an option.
    pub(super) fn value(&self, long: &str) -> Option<&str> {
        let found = self.options.iter().find(|(option, _)| *option == long);
        found.map(|(_, value)| value.as_str())
    }

    /// All values of an option that may be repeated.
    pub(super) fn values(&self, long: &str) -> Vec<String> {
        let found = self.options.iter().filter(|(option, _)| *option == long);
        found.map(|(_, value)| value.clone()).collect()
    }

    /// Takes an option and its value; gives what it asks for instead of a command.
    fn take(
        &mut self,
        parser: &mut Parser,
        form: &'static CommandSpec,
        option: &'static Opt,
    ) -> Result<Option<Reading>, Mistake> {
        if let Some(reading) = asked(option, form) {
            return Ok(Some(reading));
        }
        if self.has(option.long) && !option.is_repeated {
            return Err(Mistake::repeated(form, option));
        }
        self.options.push((option.long, value(parser, option)?));
        Ok(None)
    }

    /// Takes the first positional value, which must be there and say something.
    pub(super) fn first(&mut self, form: &'static CommandSpec) -> Result<String, Mistake> {
        if self.positional.is_empty() {
            return Err(Mistake::missing(form));
        }
        let first = self.positional.remove(0);
        if first.is_empty() {
            Err(Mistake::no_value(form.positional[0].shown, &[]))
        } else {
            Ok(first)
        }
    }
}

/// Reads all of it. Options that all commands have may stand in front of the command.
pub(super) fn read(parser: &mut Parser, commands: &Commands) -> Result<Reading, Mistake> {
    let root = commands.root;
    let mut given = Given::default();
    while let Some(token) = next(parser, root, commands.common)? {
        match token {
            Token::Option(option) => {
                if let Some(reading) = given.take(parser, root, option)? {
                    return Ok(reading);
                }
            }
            Token::Value(name) => return command(parser, named(&name, commands)?, given, commands),
        }
    }
    Ok(Reading::Nothing(given))
}

fn named(name: &str, commands: &Commands) -> Result<&'static CommandSpec, Mistake> {
    commands.find(name).ok_or_else(|| Mistake::unknown_command(name, commands))
}

fn command(
    parser: &mut Parser,
    form: &'static CommandSpec,
    mut given: Given,
    commands: &Commands,
) -> Result<Reading, Mistake> {
    while let Some(token) = next(parser, form, commands.common)? {
        match token {
            Token::Option(option) => {
                if let Some(reading) = given.take(parser, form, option)? {
                    return Ok(reading);
                }
            }
            Token::Value(text) if admits(form, given.positional.len()) => {
                given.positional.push(text);
            }
            Token::Value(text) => return Err(Mistake::unexpected(form, &text)),
        }
    }
    if form.name == HELP_COMMAND {
        let about = given.positional.first();
        let about = about.map_or(Ok(commands.root), |name| named(name, commands))?;
        return Ok(Reading::Help(about));
    }
    Ok(Reading::Command(form, given))
}

/// What the two options ask for that every program has.
fn asked(option: &Opt, form: &'static CommandSpec) -> Option<Reading> {
    match option.long {
        "help" => Some(Reading::Help(form)),
        "version" => Some(Reading::Version),
        _ => None,
    }
}

fn admits(form: &CommandSpec, count: usize) -> bool {
    count < form.positional.len() || form.positional.last().is_some_and(|last| last.is_repeated)
}

/// An option of the command, or anything else.
enum Token {
    Option(&'static Opt),
    Value(String),
}

fn next(
    parser: &mut Parser,
    form: &'static CommandSpec,
    common: &'static [Opt],
) -> Result<Option<Token>, Mistake> {
    let token = match parser.next().map_err(|error| Mistake::stray_value(form, error))? {
        None => return Ok(None),
        Some(Arg::Value(text)) => Token::Value(utf8(text)?),
        Some(Arg::Long(name)) => {
            match form.all_options(common).find(|option| option.long == name) {
                Some(option) => Token::Option(option),
                None => return Err(Mistake::unknown_option(form, name, common)),
            }
        }
        Some(Arg::Short(letter)) => {
            match form.all_options(common).find(|option| option.short == Some(letter)) {
                Some(option) => Token::Option(option),
                None => return Err(Mistake::unexpected(form, &format!("-{letter}"))),
            }
        }
    };
    Ok(Some(token))
}

/// The value after an option that takes one. `-` is one, what looks like an option is none.
fn value(parser: &mut Parser, option: &'static Opt) -> Result<String, Mistake> {
    if option.value.is_none() {
        return Ok(String::new());
    }
    let value = match parser.optional_value() {
        Some(value) => value,
        None => parser.value().unwrap_or_default(),
    };
    let value = utf8(value)?;
    if value.is_empty() || (value.starts_with('-') && value != "-") {
        return Err(Mistake::no_value(&option.shown(), option.possible));
    }
    if !option.possible.is_empty() && !option.possible.contains(&value.as_str()) {
        return Err(Mistake::bad_value(option, &value));
    }
    Ok(value)
}

fn utf8(text: OsString) -> Result<String, Mistake> {
    text.into_string().map_err(|_| Mistake::not_unicode())
}
