//! Options of a program, besides those of its commands.

use crate::log;
use crate::options;
use crate::setup;
use std::ffi::OsString;
use std::process::ExitCode;
use tool_runtime_command::{CommandArguments, CommandForm, CommandOption};
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
#[derive(Clone, Debug)]
#[must_use = "options are not read before `parse`"]
pub struct ProgramOptions(CommandForm);

/// The options that a program was given, and the rest of its command line.
#[derive(Clone, Debug)]
pub struct ProgramArguments {
    pub(crate) given: CommandArguments,
    pub(crate) options: Vec<CommandOption>,
    /// The arguments of the command.
    pub(crate) rest: Vec<OsString>,
}

impl Default for ProgramOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl ProgramOptions {
    /// No options.
    pub fn new() -> Self {
        Self(CommandForm::new("", ""))
    }

    /// Adds an option without a value.
    pub fn flag(self, name: &'static str, help: &'static str) -> Self {
        Self(self.0.flag(name, help))
    }

    /// Adds an option with a value, which may be given once.
    pub fn option(self, name: &'static str, value: &'static str, help: &'static str) -> Self {
        Self(self.0.option(name, value, help))
    }

    /// Adds an option with a value that may be given more than once.
    pub fn repeated_option(
        self,
        name: &'static str,
        value: &'static str,
        help: &'static str,
    ) -> Self {
        Self(self.0.repeated_option(name, value, help))
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
        let options = self.0.options;
        let (given, rest) = take(&options, arguments.into_iter().map(Into::into).collect())?;
        Ok(ProgramArguments { given, options, rest })
    }
}

/// Takes options out of a command line.
///
/// # Errors
/// Those of [`ProgramOptions::parse`].
pub(crate) fn take(
    options: &[CommandOption],
    arguments: Vec<OsString>,
) -> Result<(CommandArguments, Vec<OsString>), ExitCode> {
    let mut arguments = arguments.into_iter();
    let (mut taken, mut rest) = (Vec::new(), Vec::new());
    // The options of a command of every program, which may have the name of one of the program's.
    let mut own: Option<Vec<&str>> = None;
    while let Some(argument) = arguments.next() {
        if argument == "--" {
            rest.push(argument);
            break;
        }
        let text = argument.to_str().and_then(|text| text.strip_prefix("--"));
        let (name, has_value) = match text.and_then(|text| text.split_once('=')) {
            Some((name, _)) => (name, true),
            None => (text.unwrap_or_default(), false),
        };
        let is_own = own.as_ref().is_some_and(|own| own.contains(&name));
        let Some(option) = options.iter().find(|option| option.name == name && !is_own) else {
            let word = argument.to_str().filter(|word| !word.starts_with('-') && !rest.is_empty());
            if let Some(word) = word {
                own.get_or_insert_with(|| setup::own_options(word));
            }
            rest.push(argument);
            continue;
        };
        taken.push(argument);
        if option.value.is_some() && !has_value {
            taken.extend(arguments.next());
        }
    }
    rest.extend(arguments);
    let matches = clap::Command::new(program_name())
        .no_binary_name(true)
        .disable_help_flag(true)
        .args(options.iter().map(options::option))
        .try_get_matches_from(taken)
        .map_err(|error| options::usage(&error))?;
    Ok((options::given(&[], options, &matches), rest))
}

impl ProgramArguments {
    /// The command line of the process, for a program without options of its own.
    pub(crate) fn of_process() -> Self {
        let rest = std::env::args_os().collect();
        Self { given: CommandArguments::default(), options: Vec::new(), rest }
    }

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

    /// The values of `--var NAME=VALUE`, an option of every program with external MCP servers. They may be secrets.
    ///
    /// ```
    /// use tool_runtime::cli::ProgramOptions;
    ///
    /// let arguments = ProgramOptions::new().parse(["program", "serve", "--var", "PORT=8080"]).expect("arguments");
    /// assert_eq!(arguments.variables().collect::<Vec<_>>(), [("PORT", "8080")]);
    /// ```
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rest_values("var").filter_map(|text| text.split_once('='))
    }

    /// The values of an option that is not the program's, such as `tls-key` of `serve`, wherever it stands.
    #[doc(hidden)]
    pub fn rest_values<'a>(&'a self, option: &'a str) -> impl Iterator<Item = &'a str> {
        let words =
            self.rest.iter().map_while(|word| word.to_str()).take_while(|word| *word != "--");
        let after = words.clone().skip(1).map(Some).chain([None]);
        words.zip(after).filter_map(move |(word, next)| {
            match word.strip_prefix("--")?.strip_prefix(option)? {
                "" => next,
                rest => rest.strip_prefix('='),
            }
        })
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

    #[cfg(feature = "install")]
    #[test]
    fn an_option_of_install_is_not_the_programs() {
        let options = || ProgramOptions::new().repeated_option("env", "NAME", "A variable");
        let line = ["p", "--env", "A", "install", "codex", "--env", "B=c"];
        let arguments = options().parse(line).unwrap();
        assert_eq!(arguments.values("env").collect::<Vec<_>>(), ["A"]);
        assert_eq!(arguments.rest, ["p", "install", "codex", "--env", "B=c"]);
        let arguments = options().parse(["p", "call", "install", "--env", "A"]).unwrap();
        assert_eq!(arguments.values("env").collect::<Vec<_>>(), ["A"]);
    }

    #[test]
    fn mistakes_end_the_program() {
        for line in [
            &["p", "--root"][..],
            &["p", "--root", "--quiet"],
            &["p", "--root="],
            &["p", "--policy", "a", "--policy", "b"],
            &["p", "--quiet", "--quiet"],
            &["p", "--quiet=yes"],
        ] {
            assert_eq!(parse(line).unwrap_err(), ExitCode::from(2), "{line:?}");
        }
    }
}
