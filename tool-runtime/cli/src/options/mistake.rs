//! Errors of a command line, with what to write instead.

use super::help;
use super::syntax::{CommandSpec, Commands, Opt};
use std::fmt::Write as _;
use tool_runtime_core::seam::nearest;

/// What is wrong with a command line.
pub(super) struct Mistake {
    what: String,
    tip: Option<String>,
    /// The command whose usage helps.
    form: Option<&'static CommandSpec>,
}

impl Mistake {
    fn new(what: String) -> Self {
        Self { what, tip: None, form: None }
    }

    fn of(mut self, form: &'static CommandSpec) -> Self {
        self.form = Some(form);
        self
    }

    fn similar<'a>(
        mut self,
        kind: &str,
        given: &str,
        known: impl IntoIterator<Item = &'a str>,
        dashes: &str,
    ) -> Self {
        let near = nearest(given, known, 1);
        self.tip = near.first().map(|near| format!("a similar {kind} exists: '{dashes}{near}'"));
        self
    }

    pub(super) fn unknown_command(name: &str, commands: &Commands) -> Self {
        let known = commands.all.iter().map(|form| form.name);
        let mistake = Self::new(format!("unrecognized subcommand '{name}'"));
        mistake.similar("subcommand", name, known, "").of(commands.root)
    }

    pub(super) fn unknown_option(
        form: &'static CommandSpec,
        name: &str,
        common: &'static [Opt],
    ) -> Self {
        let known = form.all_options(common).map(|option| option.long);
        let mistake = Self::unexpected(form, &format!("--{name}"));
        let tip = mistake.tip.clone();
        let mut mistake = mistake.similar("argument", name, known, "--");
        mistake.tip = mistake.tip.or(tip);
        #[cfg(not(feature = "http"))]
        if form.name == "serve" && name == "http" {
            mistake.tip =
                Some("rebuild the program with the feature `http` of tool-runtime".into());
        }
        mistake
    }

    /// More than the command takes.
    pub(super) fn unexpected(form: &'static CommandSpec, text: &str) -> Self {
        let mut mistake = Self::new(format!("unexpected argument '{text}' found")).of(form);
        if text.starts_with('-') && !form.positional.is_empty() {
            mistake.tip = Some(format!("to pass '{text}' as a value, use '-- {text}'"));
        }
        mistake
    }

    /// A value for an option that takes none: all that the parser itself has to say.
    pub(super) fn stray_value(form: &'static CommandSpec, error: lexopt::Error) -> Self {
        match error {
            lexopt::Error::UnexpectedValue { option, value } => {
                let value = value.to_string_lossy();
                let what = format!(
                    "unexpected value '{value}' for '{option}' found; no more were expected"
                );
                Self::new(what).of(form)
            }
            other => Self::new(other.to_string()).of(form),
        }
    }

    pub(super) fn repeated(form: &'static CommandSpec, option: &Opt) -> Self {
        Self::new(format!("the argument '{}' cannot be used multiple times", option.shown()))
            .of(form)
    }

    pub(super) fn missing(form: &'static CommandSpec) -> Self {
        let missing = form.positional[0].shown;
        let what = format!("the following required arguments were not provided:\n  {missing}");
        Self::new(what).of(form)
    }

    /// A positional value beside an option that stands for it.
    pub(super) fn conflict(form: &'static CommandSpec, positional: usize, option: &str) -> Self {
        let value = form.positional[positional].shown;
        let option = form
            .options
            .iter()
            .find(|known| known.long == option)
            .map(Opt::shown)
            .unwrap_or_default();
        Self::new(format!("the argument '{value}' cannot be used with '{option}'")).of(form)
    }

    /// An option that means nothing without another one.
    #[cfg(feature = "http")]
    pub(super) fn needs(form: &'static CommandSpec, option: &Opt, other: &Opt) -> Self {
        let what = format!("the argument '{}' needs '{}'", option.shown(), other.shown());
        Self::new(what).of(form)
    }

    pub(super) fn no_value(shown: &str, possible: &[&str]) -> Self {
        let what = format!("a value is required for '{shown}' but none was supplied");
        Self::new(what + &listed(possible))
    }

    pub(super) fn bad_value(option: &Opt, value: &str) -> Self {
        let what =
            format!("invalid value '{value}' for '{}'{}", option.shown(), listed(option.possible));
        Self::new(what).similar("value", value, option.possible.iter().copied(), "")
    }

    /// A value that its option does not take, and why. The value itself is told by `why`, if at
    /// all.
    pub(super) fn bad(option: &Opt, why: &str) -> Self {
        Self::new(format!("invalid value for '{}': {why}", option.shown()))
    }

    pub(super) fn not_unicode() -> Self {
        Self::new("invalid UTF-8 was detected in one or more arguments".to_owned())
    }

    /// In full, after the word `error:`.
    pub(super) fn text(&self, program: &str) -> String {
        let mut text = self.what.clone();
        if let Some(tip) = &self.tip {
            let _ = write!(text, "\n\n  tip: {tip}");
        }
        if let Some(form) = self.form {
            let _ = write!(text, "\n\nUsage: {}", help::usage(program, form));
        }
        text + "\n\nFor more information, try '--help'."
    }
}

fn listed(possible: &[&str]) -> String {
    if possible.is_empty() {
        return String::new();
    }
    format!("\n  [possible values: {}]", possible.join(", "))
}

#[cfg(all(test, not(feature = "http")))]
mod tests {
    use super::Mistake;
    use crate::options::commands::SERVE;

    #[test]
    fn a_program_without_http_says_how_to_get_it() {
        let text = Mistake::unknown_option(&SERVE, "http", &[]).text("program");
        assert!(text.contains("rebuild the program with the feature `http`"), "{text}");
    }
}
