//! Commands that an extension adds to the command line of a program.

use super::builder::ToolPoolBuilder;
use super::handle::ToolPool;
use crate::vocabulary::future::BoxFuture;
use std::process::ExitCode;
use std::sync::Arc;

/// A command of the generated command line: `program NAME ..`.
///
/// A pool carries its commands, so an extension may bring some, see [`PoolExtension::commands`]; `main!` and `Cli`
/// run them. External MCP servers of the program are connected meanwhile, unless the command runs
/// [without a pool](Self::run_without_pool). A name of two words, `log verify`, makes a command of a group.
///
/// [`PoolExtension::commands`]: super::extension::PoolExtension::commands
///
/// ```
/// use std::process::ExitCode;
/// use tool_runtime::prelude::*;
/// use tool_runtime::BoxFuture;
/// use tool_runtime::cli::{CliCommand, CommandArguments, CommandForm};
///
/// /// `program count [PREFIX]... [--json]`
/// struct Count;
///
/// impl CliCommand for Count {
///     fn form(&self) -> CommandForm {
///         CommandForm::new("count", "Count the tools")
///             .repeated_argument("PREFIX", "Count only tools whose names begin like this")
///             .flag("json", "Print JSON")
///     }
///
///     fn run<'a>(
///         &'a self,
///         arguments: &'a CommandArguments,
///         pool: &'a ToolPool,
///     ) -> BoxFuture<'a, ExitCode> {
///         Box::pin(async move {
///             let prefixes = arguments.positional();
///             let fits = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
///             let tools = pool.tools();
///             let count = tools.iter().filter(|it| prefixes.is_empty() || fits(it.name())).count();
///             match arguments.has("json") {
///                 true => println!(r#"{{"tools":{count}}}"#),
///                 false => println!("{count}"),
///             }
///             ExitCode::SUCCESS
///         })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// // In a program: `tool_runtime::main!(pool = |pool| pool.command(Count));`
/// let pool = ToolPool::builder().allow_empty().command(Count).build()?;
/// let arguments = CommandArguments::new(["git."], [("json", "")]);
/// assert_eq!(Count.run(&arguments, &pool).await, ExitCode::SUCCESS);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
pub trait CliCommand: Send + Sync + 'static {
    /// The name, the arguments and the options, for the parser and the help. A form that the command line cannot
    /// use, because of a name that exists already for instance, ends the program with exit code 3.
    fn form(&self) -> CommandForm;

    /// Runs the command with arguments that fit the form. Default: the command never needs the pool, and
    /// [`Self::run_without_pool`] runs it.
    ///
    /// # Panics
    /// The default panics if [`Self::run_without_pool`] returns `None`: implement one of the two.
    fn run<'a>(
        &'a self,
        arguments: &'a CommandArguments,
        pool: &'a ToolPool,
    ) -> BoxFuture<'a, ExitCode> {
        let _ = pool;
        let run = self.run_without_pool(arguments);
        run.expect("a command implements `run`, or runs without a pool")
    }

    /// Runs the command before the pool is built and external MCP servers are started, so that it works in a
    /// program whose pool cannot be built: a file that the pool needs is broken, for instance. `main!` releases
    /// the parts of the pool, such as a log, before it awaits the future. `None`: the command needs the pool, and
    /// [`Self::run`] follows. Default: `None`.
    fn run_without_pool<'a>(
        &'a self,
        arguments: &'a CommandArguments,
    ) -> Option<BoxFuture<'a, ExitCode>> {
        let _ = arguments;
        None
    }

    /// Whether the command serves until a signal, so that external MCP servers stay connected, and failures are logged.
    /// Default: false.
    fn serves(&self) -> bool {
        false
    }
}

/// The form of a [`CliCommand`].
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
}

impl CommandForm {
    /// A command without arguments and options.
    pub fn new(name: &'static str, about: &'static str) -> Self {
        Self { name, about, arguments: Vec::new(), options: Vec::new(), after_help: "" }
    }

    fn with_argument(
        mut self,
        name: &'static str,
        help: &'static str,
        count: ArgumentCount,
    ) -> Self {
        self.arguments.push(CommandArgument { name, help, count });
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

    /// Adds a positional argument for all further values. It is the last.
    #[must_use]
    pub fn repeated_argument(self, name: &'static str, help: &'static str) -> Self {
        self.with_argument(name, help, ArgumentCount::Any)
    }

    fn with_option(mut self, option: CommandOption) -> Self {
        self.options.push(option);
        self
    }

    /// Adds an option without a value.
    #[must_use]
    pub fn flag(self, name: &'static str, help: &'static str) -> Self {
        self.with_option(CommandOption { name, value: None, help, is_repeatable: false })
    }

    /// Adds an option with a value.
    #[must_use]
    pub fn option(self, name: &'static str, value: &'static str, help: &'static str) -> Self {
        self.with_option(CommandOption { name, value: Some(value), help, is_repeatable: false })
    }

    /// Adds an option with a value that may be given more than once.
    #[must_use]
    pub fn repeated_option(
        self,
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        self.with_option(CommandOption { name, value: Some(value), help, is_repeatable: true })
    }

    /// Sets the text below the options in the help of the command.
    #[must_use]
    pub fn after_help(mut self, text: &'static str) -> Self {
        self.after_help = text;
        self
    }
}

/// The arguments and options that a command was given.
#[derive(Clone, Debug, Default)]
pub struct CommandArguments {
    positional: Vec<String>,
    options: Vec<(String, String)>,
}

impl CommandArguments {
    /// Arguments, and options by name. A flag has an empty value.
    pub fn new<A: Into<String>, N: Into<String>, V: Into<String>>(
        positional: impl IntoIterator<Item = A>,
        options: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let options = options.into_iter().map(|(name, value)| (name.into(), value.into()));
        Self {
            positional: positional.into_iter().map(Into::into).collect(),
            options: options.collect(),
        }
    }

    /// The positional arguments, in order.
    pub fn positional(&self) -> &[String] {
        &self.positional
    }

    /// Whether an option or a flag was given.
    pub fn has(&self, option: &str) -> bool {
        self.value(option).is_some()
    }

    /// The value of an option, the first of one that was repeated.
    pub fn value(&self, option: &str) -> Option<&str> {
        self.values(option).next()
    }

    /// All values of an option, in order.
    pub fn values(&self, option: &str) -> impl Iterator<Item = &str> {
        let given = self.options.iter().filter(move |(name, _)| name == option);
        given.map(|(_, value)| value.as_str())
    }
}

impl<S> ToolPoolBuilder<S> {
    /// Adds a command to the command line of the program.
    pub fn command(mut self, command: impl CliCommand) -> Self {
        self.add_command(Arc::new(command));
        self
    }
}

impl ToolPool {
    /// The commands of the pool, in the order they were added.
    #[doc(hidden)]
    pub fn commands(&self) -> &[Arc<dyn CliCommand>] {
        self.0.core.commands()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::ready;

    /// Needs no pool.
    struct Version;

    impl CliCommand for Version {
        fn form(&self) -> CommandForm {
            CommandForm::new("version", "Print the version")
        }

        fn run_without_pool<'a>(
            &'a self,
            _: &'a CommandArguments,
        ) -> Option<BoxFuture<'a, ExitCode>> {
            Some(Box::pin(ready(ExitCode::from(7))))
        }
    }

    #[tokio::test]
    async fn a_command_that_needs_no_pool_runs_with_one_as_well() {
        let pool = ToolPool::builder().allow_empty().build().unwrap();
        let code = Version.run(&CommandArguments::default(), &pool).await;
        assert_eq!(code, ExitCode::from(7));
    }
}
