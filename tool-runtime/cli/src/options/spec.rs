//! Specifications of commands and options, for the parser and the help.

/// A command.
pub(super) struct CommandSpec {
    /// Empty for the program itself.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) positional: &'static [Positional],
    pub(super) options: &'static [Opt],
    /// Text below the options in the help.
    pub(super) after_help: &'static str,
}

/// A positional argument.
pub(super) struct Positional {
    /// The name in usage lines.
    pub(super) name: &'static str,
    pub(super) help: &'static str,
    pub(super) is_repeatable: bool,
}

/// An option `--long`, with or without a value.
pub(super) struct Opt {
    pub(super) short: Option<char>,
    pub(super) long: &'static str,
    /// The name of its value in usage lines; `None` for a flag.
    pub(super) value: Option<&'static str>,
    pub(super) is_repeatable: bool,
    pub(super) help: &'static str,
}

impl CommandSpec {
    /// Options of the command, of all commands of the program, and of every program.
    pub(super) fn all_options(
        &self,
        global: &'static [Opt],
    ) -> impl Iterator<Item = &'static Opt> + use<> {
        let version = if self.name.is_empty() { &[VERSION][..] } else { &[] };
        self.options.iter().chain(global).chain(&[HELP]).chain(version)
    }

    /// Whether the command takes another positional argument after `count`.
    pub(super) fn takes_more(&self, count: usize) -> bool {
        count < self.positional.len()
            || self.positional.last().is_some_and(|last| last.is_repeatable)
    }
}

impl Opt {
    /// A flag without a short form.
    pub(super) const fn new(long: &'static str, help: &'static str) -> Self {
        Self { short: None, long, value: None, is_repeatable: false, help }
    }

    /// The option in usage lines.
    pub(super) fn usage(&self) -> String {
        match self.value {
            Some(value) => format!("--{} <{value}>", self.long),
            None => format!("--{}", self.long),
        }
    }
}

/// The commands of a program.
pub(super) struct Commands {
    /// The program itself, without a command.
    pub(super) root: &'static CommandSpec,
    pub(super) all: &'static [&'static CommandSpec],
    /// Options of every command.
    pub(super) global: &'static [Opt],
}

/// The command that prints the help of another one.
pub(super) const HELP_COMMAND: &str = "help";

const HELP: Opt = Opt { short: Some('h'), ..Opt::new("help", "Print help") };

const VERSION: Opt = Opt { short: Some('V'), ..Opt::new("version", "Print version") };
