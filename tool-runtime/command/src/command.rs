//! A command: its form, and what it does.

use crate::form::CommandForm;
use std::process::ExitCode;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::vocabulary::BoxFuture;

/// A command of the generated command line: `program NAME ..`.
///
/// A pool carries its commands, so an extension may bring some, see [`PoolExtension::prepare`]; `main!` and `Cli`
/// run them. External MCP servers of the program are connected meanwhile, unless the command runs
/// [without a pool](Self::run_without_pool). A name of two words, `log verify`, makes a command of a group.
///
/// [`PoolExtension::prepare`]: tool_runtime_core::pool::PoolExtension::prepare
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

    /// Whether the command reports external MCP servers that are not connected, and patterns without a match. The command
    /// line prints no warnings about them then. Default: false.
    fn reports_warnings(&self) -> bool {
        false
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
