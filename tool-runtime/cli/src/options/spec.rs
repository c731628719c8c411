//! Specifications of commands and options, for the parser and the help.

use std::borrow::Cow;

/// A command.
pub(crate) struct CommandSpec {
    /// Empty for the program itself.
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) positional: Cow<'static, [Positional]>,
    pub(super) options: Cow<'static, [Opt]>,
    /// Text below the options in the help.
    pub(super) after_help: &'static str,
}

/// A positional argument.
#[derive(Clone)]
pub(super) struct Positional {
    /// The name in usage lines.
    pub(super) name: Cow<'static, str>,
    pub(super) help: &'static str,
    pub(super) is_repeatable: bool,
}

/// An option `--long`, with or without a value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opt {
    pub(crate) short: Option<char>,
    pub(crate) long: &'static str,
    /// The name of its value in usage lines; `None` for a flag.
    pub(crate) value: Option<&'static str>,
    pub(crate) is_repeatable: bool,
    pub(crate) help: &'static str,
}

impl CommandSpec {
    /// Options of the command, of all commands of the program, and of every program.
    pub(super) fn all_options<'a>(
        &'a self,
        global: &'a [Opt],
    ) -> impl Iterator<Item = &'a Opt> + use<'a> {
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
    pub(crate) const fn new(long: &'static str, help: &'static str) -> Self {
        Self { short: None, long, value: None, is_repeatable: false, help }
    }

    /// The option in usage lines.
    pub(crate) fn usage(&self) -> String {
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
    pub(super) built_in: &'static [&'static CommandSpec],
    /// The commands of the pool.
    pub(super) added: Vec<CommandSpec>,
    /// Options of every command.
    pub(super) global: Vec<Opt>,
}

impl Commands {
    /// All commands, in the order of the help.
    pub(super) fn all(&self) -> impl Iterator<Item = &CommandSpec> {
        self.built_in.iter().copied().chain(&self.added)
    }

    /// The commands of a group: those whose names begin with its name.
    pub(super) fn group<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a CommandSpec> {
        let in_group = move |spec: &&CommandSpec| {
            spec.name.split_once(' ').is_some_and(|(group, _)| group == name)
        };
        self.all().filter(in_group)
    }
}

/// The command that prints the help of another one.
pub(super) const HELP_COMMAND: &str = "help";

const HELP: Opt = Opt { short: Some('h'), ..Opt::new("help", "Print help") };

const VERSION: Opt = Opt { short: Some('V'), ..Opt::new("version", "Print version") };
