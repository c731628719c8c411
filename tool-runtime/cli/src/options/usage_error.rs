//! Errors of the command line, each with a remedy.

use super::help;
use super::spec::{CommandSpec, Commands, Opt};
use std::fmt::Write as _;
use tool_runtime_core::seam::nearest;

/// A mistake in the command line.
pub(crate) struct UsageError {
    message: String,
    tip: Option<String>,
    /// The usage line to show, without the program.
    usage: Option<String>,
}

impl UsageError {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), tip: None, usage: None }
    }

    fn for_command(mut self, command: &CommandSpec) -> Self {
        self.usage = Some(help::usage(command));
        self
    }

    pub(super) fn unknown_command(name: &str, commands: &Commands) -> Self {
        let near = nearest(name, commands.all().map(|command| command.name), 1);
        let mut error =
            Self::new(format!("unrecognized subcommand '{name}'")).for_command(commands.root);
        error.tip = near.first().map(|near| format!("a similar subcommand exists: '{near}'"));
        error
    }

    /// A group without a command of it.
    pub(super) fn incomplete(group: &str, commands: &Commands) -> Self {
        let names: Vec<_> = commands.group(group).map(|spec| format!("'{}'", spec.name)).collect();
        Self::new(format!("'{group}' is not a whole command; write {}", names.join(" or ")))
            .for_command(commands.root)
    }

    pub(super) fn unknown_option(command: &CommandSpec, name: &str, global: &[Opt]) -> Self {
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
    pub(super) fn unexpected(command: &CommandSpec, text: &str) -> Self {
        let mut error =
            Self::new(format!("unexpected argument '{text}' found")).for_command(command);
        if text.starts_with('-') && !command.positional.is_empty() {
            error.tip = Some(format!("to pass '{text}' as a value, use '-- {text}'"));
        }
        error
    }

    /// A value for a flag: the only error that the lexer reports.
    pub(super) fn stray_value(command: &CommandSpec, error: lexopt::Error) -> Self {
        let message = match error {
            lexopt::Error::UnexpectedValue { option, value } => {
                let value = value.to_string_lossy();
                format!("unexpected value '{value}' for '{option}' found; no more were expected")
            }
            other => other.to_string(),
        };
        Self::new(message).for_command(command)
    }

    pub(crate) fn repeated(command: &CommandSpec, option: &Opt) -> Self {
        Self::new(format!("the argument '{}' cannot be used multiple times", option.usage()))
            .for_command(command)
    }

    /// A positional argument is missing.
    pub(super) fn missing(command: &CommandSpec, positional: usize) -> Self {
        let name = &command.positional[positional].name;
        Self::new(format!("the following required arguments were not provided:\n  {name}"))
            .for_command(command)
    }

    /// A positional argument together with an option that replaces it.
    pub(super) fn conflict(command: &CommandSpec, positional: usize, option: &Opt) -> Self {
        let (name, option) = (&command.positional[positional].name, option.usage());
        Self::new(format!("the argument '{name}' cannot be used with '{option}'"))
            .for_command(command)
    }

    /// An option without another one that it requires.
    #[cfg(feature = "http")]
    pub(super) fn needs(command: &CommandSpec, option: &Opt, other: &Opt) -> Self {
        Self::new(format!("the argument '{}' needs '{}'", option.usage(), other.usage()))
            .for_command(command)
    }

    /// Two options that replace each other.
    #[cfg(feature = "jwt")]
    pub(super) fn excludes(command: &CommandSpec, option: &Opt, other: &Opt) -> Self {
        let (option, other) = (option.usage(), other.usage());
        Self::new(format!("the argument '{option}' cannot be used with '{other}'"))
            .for_command(command)
    }

    pub(crate) fn no_value(usage: &str) -> Self {
        Self::new(format!("a value is required for '{usage}' but none was supplied"))
    }

    /// An invalid value, with the reason. Only `reason` may show the value: it may be a secret.
    pub(super) fn invalid(option: &Opt, reason: &str) -> Self {
        Self::new(format!("invalid value for '{}': {reason}", option.usage()))
    }

    pub(crate) fn not_unicode() -> Self {
        Self::new("invalid UTF-8 was detected in one or more arguments")
    }

    /// The text after `error:`.
    pub(crate) fn text(&self, program: &str) -> String {
        let mut text = self.message.clone();
        if let Some(tip) = &self.tip {
            let _ = write!(text, "\n\n  tip: {tip}");
        }
        if let Some(usage) = &self.usage {
            let _ = write!(text, "\n\nUsage: {program} {usage}");
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
