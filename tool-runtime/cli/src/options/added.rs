//! Commands that a pool adds.

use super::parser::Arguments;
use super::spec::{CommandSpec, Commands, Opt, Positional};
use super::usage_error::UsageError;
use std::borrow::Cow;
use tool_runtime_command::{
    ArgumentCount, CommandArgument, CommandArguments, CommandForm, CommandOption,
};

/// The specification of a command that is added to others.
///
/// # Errors
/// The form cannot be used, for the author of the command.
pub(super) fn spec(form: &CommandForm, others: &Commands) -> Result<CommandSpec, String> {
    let spec = CommandSpec {
        name: form.name,
        about: form.about,
        positional: form.arguments.iter().map(positional).collect(),
        options: form.options.iter().map(option).collect(),
        after_help: form.after_help,
    };
    let problem = name_problem(form.name, others)
        .or_else(|| order_problem(form))
        .or_else(|| option_problem(&spec, others));
    problem.map_or(Ok(spec), |what| Err(format!("the command `{}` {what}", form.name)))
}

fn name_problem(name: &str, others: &Commands) -> Option<String> {
    let words: Vec<&str> = name.split(' ').collect();
    if words.len() > 2 || !words.iter().all(|word| is_word(word)) {
        return Some(
            "needs another name: one or two words of small letters, digits and `-`".to_owned(),
        );
    }
    let clashes = |other: &CommandSpec| {
        let other: Vec<&str> = other.name.split(' ').collect();
        // `log` next to `log verify` could not be told from the beginning of it.
        words == other || (words[0] == other[0] && words.len() != other.len())
    };
    let other = others.all().find(|other| clashes(other))?;
    Some(format!("needs another name, because of the command `{}`", other.name))
}

fn order_problem(form: &CommandForm) -> Option<String> {
    let mut optional = form.arguments.iter().skip_while(|it| it.count == ArgumentCount::One);
    if let Some(late) = optional.find(|it| it.count == ArgumentCount::One) {
        return Some(format!("requires `{}` after an argument that is optional", late.name));
    }
    let mut early = form.arguments.iter().rev().skip(1);
    let early = early.find(|it| it.count == ArgumentCount::Any)?;
    Some(format!("has an argument after `{}`, which takes all values", early.name))
}

fn option_problem(spec: &CommandSpec, others: &Commands) -> Option<String> {
    spec.options.iter().find_map(|option| name_problem_of_option(option, spec, others))
}

/// The reason why options of all commands cannot be used.
pub(super) fn global_problem(commands: &Commands) -> Option<String> {
    let specs = || commands.all().chain([commands.root]);
    let problem = |option| specs().find_map(|spec| name_problem_of_option(option, spec, commands));
    commands.global.iter().find_map(problem)
}

fn name_problem_of_option(option: &Opt, spec: &CommandSpec, commands: &Commands) -> Option<String> {
    let name = option.long;
    if !is_word(name) {
        return Some(format!("has the option `{name}`; use small letters, digits and `-`"));
    }
    let is_unique = spec.all_options(&commands.global).filter(|it| it.long == name).count() == 1;
    (!is_unique).then(|| format!("has the option `--{name}`, which exists already"))
}

fn is_word(text: &str) -> bool {
    let mut letters = text.bytes();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
}

fn option(option: &CommandOption) -> Opt {
    let CommandOption { name, value, help, is_repeatable, .. } = *option;
    Opt { value, is_repeatable, ..Opt::new(name, help) }
}

fn positional(argument: &CommandArgument) -> Positional {
    let CommandArgument { name, help, count, .. } = argument;
    let name = match count {
        ArgumentCount::One => format!("<{name}>"),
        ArgumentCount::Optional => format!("[{name}]"),
        ArgumentCount::Any => format!("[{name}]..."),
    };
    Positional { name: Cow::Owned(name), help, is_repeatable: *count == ArgumentCount::Any }
}

/// The arguments of an added command.
///
/// # Errors
/// A required argument is missing.
pub(super) fn arguments(
    spec: &CommandSpec,
    given: Arguments,
) -> Result<CommandArguments, UsageError> {
    let required = spec.positional.iter().filter(|it| it.name.starts_with('<')).count();
    if given.positional.len() < required {
        return Err(UsageError::missing(spec, given.positional.len()));
    }
    let (options, positional) = given.into_parts();
    Ok(CommandArguments::new(positional, options))
}
