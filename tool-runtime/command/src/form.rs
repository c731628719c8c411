//! The form of a command: its name, arguments and options.

/// The form of a [`CliCommand`](crate::CliCommand).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandForm {
    /// One word, or two: a group and a command.
    pub name: &'static str,
    /// One line for the help.
    pub about: &'static str,
    /// The positional arguments, in order.
    pub arguments: Vec<CommandArgument>,
    /// The options.
    pub options: Vec<CommandOption>,
    /// Text below the options in the help of the command. Default: none.
    pub after_help: &'static str,
    /// The heading of its group in the help of the program. Default: other commands.
    pub heading: Option<&'static str>,
    /// The cargo feature of `tool-runtime` that the program lacks for this command. Default: none.
    pub missing_feature: Option<&'static str>,
}

/// A positional argument of a [`CommandForm`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandArgument {
    /// The name in usage lines, in capitals.
    pub name: &'static str,
    /// One line for the help.
    pub help: &'static str,
    /// The number of values: one, at most one, or any.
    pub count: ArgumentCount,
    /// Values that shells complete. Others may be given. Default: none.
    pub known_values: Vec<&'static str>,
}

/// The number of values of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentCount {
    /// Exactly one.
    One,
    /// One or none.
    Optional,
    /// Any number, and none.
    Any,
    /// Any number, after `--`.
    Rest,
}

/// An option `--name` of a [`CommandForm`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CommandOption {
    /// The name, without dashes.
    pub name: &'static str,
    /// The name of its value in usage lines; `None` for a flag.
    pub value: Option<&'static str>,
    /// One line for the help.
    pub help: &'static str,
    /// Whether it may be given more than once.
    pub is_repeatable: bool,
    /// Values that shells complete. Others may be given. Default: none.
    pub known_values: Vec<&'static str>,
}

impl CommandForm {
    /// A command without arguments and options.
    pub fn new(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            about,
            arguments: Vec::new(),
            options: Vec::new(),
            after_help: "",
            heading: None,
            missing_feature: None,
        }
    }

    fn with_argument(
        mut self,
        name: &'static str,
        help: &'static str,
        count: ArgumentCount,
    ) -> Self {
        self.arguments.push(CommandArgument { name, help, count, known_values: Vec::new() });
        self
    }

    /// Adds a positional argument that is required.
    #[must_use]
    pub fn argument(self, name: &'static str, help: &'static str) -> Self {
        self.with_argument(name, help, ArgumentCount::One)
    }

    /// Adds a positional argument that may be left out. Required ones stand before it.
    #[must_use]
    pub fn optional_argument(self, name: &'static str, help: &'static str) -> Self {
        self.with_argument(name, help, ArgumentCount::Optional)
    }

    /// Adds a positional argument for all other values. It is the last.
    #[must_use]
    pub fn repeated_argument(self, name: &'static str, help: &'static str) -> Self {
        self.with_argument(name, help, ArgumentCount::Any)
    }

    /// Adds an argument for everything after `--`, for another program for instance. It is the last.
    #[must_use]
    pub fn rest(self, name: &'static str, help: &'static str) -> Self {
        self.with_argument(name, help, ArgumentCount::Rest)
    }

    fn with_option(
        mut self,
        name: &'static str,
        value: Option<&'static str>,
        help: &'static str,
        is_repeatable: bool,
    ) -> Self {
        let known_values = Vec::new();
        self.options.push(CommandOption { name, value, help, is_repeatable, known_values });
        self
    }

    /// Adds an option without a value.
    #[must_use]
    pub fn flag(self, name: &'static str, help: &'static str) -> Self {
        self.with_option(name, None, help, false)
    }

    /// Adds an option with a value.
    #[must_use]
    pub fn option(self, name: &'static str, value: &'static str, help: &'static str) -> Self {
        self.with_option(name, Some(value), help, false)
    }

    /// Adds an option with a value that may be given more than once.
    #[must_use]
    pub fn repeated_option(
        self,
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        self.with_option(name, Some(value), help, true)
    }

    /// Lets shells complete these values of the argument or the option of a name. Others may be given.
    #[must_use]
    pub fn known_values(
        mut self,
        name: &str,
        values: impl IntoIterator<Item = &'static str>,
    ) -> Self {
        let of_argument = self.arguments.iter_mut().filter(|argument| argument.name == name);
        let of_argument = of_argument.map(|argument| &mut argument.known_values);
        let of_option = self.options.iter_mut().filter(|option| option.name == name);
        let of_option = of_option.map(|option| &mut option.known_values);
        if let Some(known) = of_argument.chain(of_option).next() {
            known.extend(values);
        }
        self
    }

    /// Sets the text below the options in the help of the command.
    #[must_use]
    pub fn after_help(mut self, text: &'static str) -> Self {
        self.after_help = text;
        self
    }

    /// Sets the heading below which the help of the program lists the command, together with others of this heading.
    #[must_use]
    pub fn heading(mut self, heading: &'static str) -> Self {
        self.heading = Some(heading);
        self
    }

    /// Says that the program lacks a cargo feature of `tool-runtime` for the command. The help names the feature. Instead of
    /// a run, the command line prints an error that names it, with exit code 2.
    #[must_use]
    pub fn missing_feature(mut self, feature: &'static str) -> Self {
        self.missing_feature = Some(feature);
        self
    }
}
