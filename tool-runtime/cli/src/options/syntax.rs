//! The terms of a command line: commands, positional values, options.

/// One command.
pub(super) struct CommandSpec {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) positional: &'static [Positional],
    pub(super) options: &'static [Opt],
    /// Below everything else in its help.
    pub(super) more: &'static str,
}

/// A value without a name.
pub(super) struct Positional {
    /// As usage shows it.
    pub(super) shown: &'static str,
    pub(super) help: &'static str,
    pub(super) is_repeated: bool,
}

/// A `--name`, with or without a value.
pub(super) struct Opt {
    pub(super) short: Option<char>,
    pub(super) long: &'static str,
    /// What its value is called, if it takes one.
    pub(super) value: Option<&'static str>,
    /// The values that there are; empty if anything goes.
    pub(super) possible: &'static [&'static str],
    /// Whether it may be given more than once.
    pub(super) is_repeated: bool,
    pub(super) help: &'static str,
}

impl CommandSpec {
    /// Its own options, those that all commands of the program have, and those of every
    /// program.
    pub(super) fn all_options(
        &self,
        common: &'static [Opt],
    ) -> impl Iterator<Item = &'static Opt> + use<> {
        let version = if self.name.is_empty() { &[VERSION][..] } else { &[] };
        self.options.iter().chain(common).chain(&[HELP]).chain(version)
    }
}

impl Opt {
    /// Without a short form, a value or a second time.
    pub(super) const fn new(long: &'static str, help: &'static str) -> Self {
        Self { short: None, long, value: None, possible: &[], is_repeated: false, help }
    }

    /// As usage shows it.
    pub(super) fn shown(&self) -> String {
        match self.value {
            Some(value) => format!("--{} <{value}>", self.long),
            None => format!("--{}", self.long),
        }
    }
}

/// All commands of a program, as help lists them.
pub(super) struct Commands {
    /// The program itself, without a command.
    pub(super) root: &'static CommandSpec,
    pub(super) all: &'static [&'static CommandSpec],
    /// Options that every command has.
    pub(super) common: &'static [Opt],
}

impl Commands {
    /// A command by its name.
    pub(super) fn find(&self, name: &str) -> Option<&'static CommandSpec> {
        self.all.iter().copied().find(|command| command.name == name)
    }
}

/// The command that prints the help of another one.
pub(super) const HELP_COMMAND: &str = "help";

const HELP: Opt = Opt { short: Some('h'), ..Opt::new("help", "Print help") };

const VERSION: Opt = Opt { short: Some('V'), ..Opt::new("version", "Print version") };
