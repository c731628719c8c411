//! Errors of the command line, each with a remedy.

use super::help;
use super::spec::{CommandSpec, Commands, Opt};
use std::fmt::Write as _;
use tool_runtime_core::seam::nearest;

/// A mistake in the command line.
pub(super) struct UsageError {
    message: String,
    tip: Option<String>,
    /// The command whose usage line is shown.
    command: Option<&'static CommandSpec>,
}

impl UsageError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), tip: None, command: None }
    }

    fn of(mut self, command: &'static CommandSpec) -> Self {
        self.command = Some(command);
        self
    }

    pub(super) fn unknown_command(name: &str, commands: &Commands) -> Self {
        let near = nearest(name, commands.all.iter().map(|command| command.name), 1);
        let mut error = Self::new(format!("unrecognized subcommand '{name}'")).of(commands.root);
        error.tip = near.first().map(|near| format!("a similar subcommand exists: '{near}'"));
        error
    }

    pub(super) fn unknown_option(
        command: &'static CommandSpec,
        name: &str,
        global: &'static [Opt],
    ) -> Self {
        let near = nearest(name, command.all_options(global).map(|option| option.long), 1);
        let mut error = Self::unexpected(command, &format!("--{name}"));
        if let Some(near) = near.first() {
            error.tip = Some(format!("a similar argument exists: '--{near}'"));
        }
        #[cfg(not(feature = "http"))]
        if command.name == "serve" && name == "http" {
            error.tip = Some("rebuild the program with the feature `http` of tool-runtime".into());
        }
        error
    }

    /// An argument that the command does not take.
    pub(super) fn unexpected(command: &'static CommandSpec, text: &str) -> Self {
        let mut error = Self::new(format!("unexpected argument '{text}' found")).of(command);
        if text.starts_with('-') && !command.positional.is_empty() {
            error.tip = Some(format!("to pass '{text}' as a value, use '-- {text}'"));
        }
        error
    }

    /// A value for a flag: the only error that the lexer reports.
    pub(super) fn stray_value(command: &'static CommandSpec, error: lexopt::Error) -> Self {
        let message = match error {
            lexopt::Error::UnexpectedValue { option, value } => {
                let value = value.to_string_lossy();
                format!("unexpected value '{value}' for '{option}' found; no more were expected")
            }
            other => other.to_string(),
        };
        Self::new(message).of(command)
    }

    pub(super) fn repeated(command: &'static CommandSpec, option: &Opt) -> Self {
        Self::new(format!("the argument '{}' cannot be used multiple times", option.usage()))
            .of(command)
    }

    /// The first positional argument is missing.
    pub(super) fn missing(command: &'static CommandSpec) -> Self {
        let name = command.positional[0].name;
        Self::new(format!("the following required arguments were not provided:\n  {name}"))
            .of(command)
    }

    /// A positional argument beside an option that replaces it.
    pub(super) fn conflict(command: &'static CommandSpec, positional: usize, option: &Opt) -> Self {
        let (name, option) = (command.positional[positional].name, option.usage());
        Self::new(format!("the argument '{name}' cannot be used with '{option}'")).of(command)
    }

    /// An option without another one that it requires.
    #[cfg(feature = "http")]
    pub(super) fn needs(command: &'static CommandSpec, option: &Opt, other: &Opt) -> Self {
        Self::new(format!("the argument '{}' needs '{}'", option.usage(), other.usage()))
            .of(command)
    }

    /// Two options that replace each other.
    #[cfg(feature = "jwt")]
    pub(super) fn excludes(command: &'static CommandSpec, option: &Opt, other: &Opt) -> Self {
        let (option, other) = (option.usage(), other.usage());
        Self::new(format!("the argument '{option}' cannot be used with '{other}'")).of(command)
    }

    pub(super) fn no_value(usage: &str) -> Self {
        Self::new(format!("a value is required for '{usage}' but none was supplied"))
    }

    /// An invalid value, with the reason. Only `reason` may show the value: it may be a secret.
    pub(super) fn invalid(option: &Opt, reason: &str) -> Self {
        Self::new(format!("invalid value for '{}': {reason}", option.usage()))
    }

    pub(super) fn not_unicode() -> Self {
        Self::new("invalid UTF-8 was detected in one or more arguments")
    }

    /// The text after `error:`.
    pub(super) fn text(&self, program: &str) -> String {
        let mut text = self.message.clone();
        if let Some(tip) = &self.tip {
            let _ = write!(text, "\n\n  tip: {tip}");
        }
        if let Some(command) = self.command {
            let _ = write!(text, "\n\nUsage: {}", help::usage(program, command));
        }
        text + "\n\nFor more information, try '--help'."
    }
}

#[cfg(all(test, not(feature = "http")))]
mod tests {
    use super::UsageError;
    use crate::options::commands::SERVE;

    #[test]
    fn a_program_without_http_names_the_feature() {
        let text = UsageError::unknown_option(&SERVE, "http", &[]).text("program");
        assert!(text.contains("rebuild the program with the feature `http`"), "{text}");
    }
}
