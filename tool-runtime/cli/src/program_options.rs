//! Options of a program, besides those of its commands.

use crate::exit;
use crate::log;
use crate::options::{Opt, ROOT, UsageError};
use crate::print;
use std::ffi::OsString;
use std::process::ExitCode;
use tool_runtime_command::CommandArguments;
use tool_runtime_core::seam::program_name;

/// Options by which a program assembles its pool. They may stand anywhere on the command line, and the help of every
/// command lists them.
///
/// ```
/// use std::process::ExitCode;
/// use tool_runtime::prelude::*;
/// use tool_runtime::cli::{Cli, ProgramOptions};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let options = ProgramOptions::new()
///     .repeated_option("greeting", "TEXT", "A greeting; `Hello!` without one")
///     .flag("loud", "Greet in capitals");
/// // In a program: `options.parse(std::env::args_os())`.
/// let arguments = match options.parse(["program", "call", "greet", "--greeting", "Hi!", "--loud"]) {
///     Ok(arguments) => arguments,
///     // The mistake was printed.
///     Err(code) => return code,
/// };
/// assert!(arguments.has("loud"));
/// let greeting = arguments.value("greeting").unwrap_or("Hello!").to_uppercase();
/// let greet = Tool::builder("greet", "Greet the user.")
///     .handler(move || std::future::ready(greeting.clone()));
/// let pool = ToolPool::builder().add(greet).build().expect("a pool");
/// let code = Cli::new(pool).options(arguments).run_async().await;
/// assert_eq!(code, ExitCode::SUCCESS);
/// # code
/// # });
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "options are not read before `parse`"]
pub struct ProgramOptions(Vec<Opt>);

/// The options that a program was given, and the rest of its command line.
#[derive(Clone, Debug)]
pub struct ProgramArguments {
    given: CommandArguments,
    pub(crate) options: Vec<Opt>,
    /// The arguments of the command.
    pub(crate) rest: Vec<OsString>,
}

impl ProgramOptions {
    /// No options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an option without a value.
    pub fn flag(self, name: &'static str, help: &'static str) -> Self {
        self.with(Opt::new(name, help))
    }

    /// Adds an option with a value, which may be given once.
    pub fn option(self, name: &'static str, value: &'static str, help: &'static str) -> Self {
        self.with(Opt { value: Some(value), ..Opt::new(name, help) })
    }

    /// Adds an option with a value that may be given more than once.
    pub fn repeated_option(
        self,
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        self.with(Opt { value: Some(value), is_repeatable: true, ..Opt::new(name, help) })
    }

    fn with(mut self, option: Opt) -> Self {
        self.0.push(option);
        self
    }

    /// Takes the options out of a command line, whose first argument is the program. What follows a lone `--`
    /// belongs to the command.
    ///
    /// # Errors
    /// A value is missing, or an option is repeated that may not be. The mistake is printed to standard error; the
    /// program ends with the exit code, 2.
    pub fn parse<T: Into<OsString>>(
        self,
        arguments: impl IntoIterator<Item = T>,
    ) -> Result<ProgramArguments, ExitCode> {
        let mut arguments = arguments.into_iter().map(Into::into);
        let (mut given, mut rest) = (Vec::<(&str, String)>::new(), Vec::new());
        while let Some(argument) = arguments.next() {
            if argument == "--" {
                rest.push(argument);
                break;
            }
            let Some((option, value)) = self.option_of(&argument) else {
                rest.push(argument);
                continue;
            };
            if !option.is_repeatable && given.iter().any(|(name, _)| *name == option.long) {
                return Err(usage(&UsageError::repeated(&ROOT, option)));
            }
            let value = match option.value {
                Some(_) => option.text(value.map(OsString::from).or_else(|| arguments.next())),
                None => Ok(String::new()),
            };
            given.push((option.long, value.map_err(|error| usage(&error))?));
        }
        rest.extend(arguments);
        let given = CommandArguments::new([""; 0], given);
        Ok(ProgramArguments { given, options: self.0, rest })
    }

    /// The option that an argument names, and the value after `=`.
    fn option_of(&self, argument: &OsString) -> Option<(&Opt, Option<String>)> {
        let text = argument.to_str()?.strip_prefix("--")?;
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None => (text, None),
        };
        // A flag with a value is left to the parser of the command, which rejects it.
        let fits =
            |option: &&Opt| option.long == name && (value.is_none() || option.value.is_some());
        self.0.iter().find(fits).map(|option| (option, value))
    }
}

fn usage(error: &UsageError) -> ExitCode {
    print::error(&error.text(&program_name()));
    ExitCode::from(exit::USAGE)
}

impl ProgramArguments {
    /// Makes the pool, or a part of it, and prints the warnings of that to standard error: for instance that a skill is
    /// left out. [`Cli::run`](crate::Cli::run) starts the log afterwards, with the levels of its command. `RUST_LOG` sets other levels.
    /// A subscriber that the program has set stays.
    ///
    /// ```
    /// use tool_runtime::cli::ProgramOptions;
    /// use tool_runtime::skills::SkillLibrary;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let arguments = ProgramOptions::new().parse(["program", "list"]).expect("arguments");
    /// let library = arguments.log_during(async { SkillLibrary::load("skills") }).await;
    /// # assert!(library.skills().is_empty());
    /// # });
    /// ```
    pub async fn log_during<F: Future>(&self, setup: F) -> F::Output {
        let output = log::during(setup).await;
        log::finish();
        output
    }

    /// The command: the first argument that is not an option. `None` if there is none.
    ///
    /// ```
    /// use tool_runtime::cli::ProgramOptions;
    ///
    /// let options = ProgramOptions::new().option("root", "DIR", "A directory");
    /// let arguments = options.parse(["program", "--root", "src", "call", "Grep"]).expect("arguments");
    /// assert_eq!(arguments.command(), Some("call"));
    /// ```
    pub fn command(&self) -> Option<&str> {
        let mut words = self.rest.iter().skip(1).filter_map(|argument| argument.to_str());
        words.find(|word| !word.starts_with('-'))
    }

    /// Whether an option or a flag was given.
    pub fn has(&self, option: &str) -> bool {
        self.given.has(option)
    }

    /// The value of an option, the first of one that was repeated.
    pub fn value(&self, option: &str) -> Option<&str> {
        self.given.value(option)
    }

    /// All values of an option, in order.
    pub fn values(&self, option: &str) -> impl Iterator<Item = &str> {
        self.given.values(option)
    }
}

#[cfg(test)]
mod tests {
    use super::{ProgramArguments, ProgramOptions};
    use std::process::ExitCode;

    fn parse(arguments: &[&str]) -> Result<ProgramArguments, ExitCode> {
        let options = ProgramOptions::new()
            .repeated_option("root", "DIR", "A directory")
            .option("policy", "FILE", "Rules")
            .flag("quiet", "Print less");
        options.parse(arguments)
    }

    #[test]
    fn options_stand_anywhere() {
        let line = ["p", "--root", "a", "call", "--quiet", "x", "k=--root", "--root=b", "--json"];
        let arguments = parse(&line).unwrap();
        assert_eq!(arguments.values("root").collect::<Vec<_>>(), ["a", "b"]);
        assert!(arguments.has("quiet") && !arguments.has("policy"));
        assert_eq!(arguments.rest, ["p", "call", "x", "k=--root", "--json"]);
    }

    #[test]
    fn what_follows_two_dashes_belongs_to_the_command() {
        let arguments = parse(&["p", "call", "x", "--", "--root", "a"]).unwrap();
        assert!(!arguments.has("root"));
        assert_eq!(arguments.rest, ["p", "call", "x", "--", "--root", "a"]);
    }

    #[test]
    fn mistakes_end_the_program() {
        for line in [
            &["p", "--root"][..],
            &["p", "--root", "--quiet"],
            &["p", "--root="],
            &["p", "--policy", "a", "--policy", "b"],
            &["p", "--quiet", "--quiet"],
        ] {
            assert_eq!(parse(line).unwrap_err(), ExitCode::from(2), "{line:?}");
        }
    }

    #[test]
    fn a_flag_with_a_value_is_left_to_the_command() {
        assert_eq!(parse(&["p", "--quiet=yes"]).unwrap().rest, ["p", "--quiet=yes"]);
    }
}
