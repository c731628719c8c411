//! Commands of a pool and options of a program, as clap has them.

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgAction, ArgMatches, Command, ValueHint};
use clap_complete::{ArgValueCandidates, CompletionCandidate};
use std::collections::HashSet;
use tool_runtime_command::{
    ArgumentCount, CommandArgument, CommandArguments, CommandForm, CommandOption,
};

/// The command of a form. `name` is its last word.
pub(super) fn command(form: &CommandForm, name: &'static str) -> Command {
    if let Some(feature) = form.missing_feature {
        return Command::new(name)
            .about(format!("{} (needs the feature `{feature}`)", form.about))
            .arg(anything());
    }
    Command::new(name)
        .about(form.about)
        .after_help(form.after_help)
        .args(form.arguments.iter().enumerate().map(argument))
        .args(form.options.iter().map(option))
}

/// Takes whatever follows a command that cannot run.
fn anything() -> Arg {
    let arg = Arg::new("anything").hide(true).num_args(0..);
    arg.trailing_var_arg(true).allow_hyphen_values(true)
}

/// The error about a command or an option whose feature is missing.
pub(crate) fn missing(what: &str, feature: &str) -> String {
    format!(
        "`{what}` needs the feature `{feature}` of `tool-runtime`, which this program is built without; add the feature to the dependency in Cargo.toml"
    )
}

/// The option `--name`.
pub(crate) fn option(option: &CommandOption) -> Arg {
    let arg = Arg::new(option.name).long(option.name).help(option.help);
    match option.value {
        None => arg.action(ArgAction::SetTrue),
        Some(value) => {
            let action = if option.is_repeatable { ArgAction::Append } else { ArgAction::Set };
            let hint = match value {
                "FILE" | "PATH" => ValueHint::AnyPath,
                "DIR" => ValueHint::DirPath,
                _ => ValueHint::Unknown,
            };
            arg.value_name(value)
                .value_hint(hint)
                .value_parser(NonEmptyStringValueParser::new())
                .action(action)
                .add(candidates(option.known_values.clone()))
        }
    }
}

/// The values that shells complete.
pub(crate) fn candidates<T: Into<String>>(
    values: impl IntoIterator<Item = T>,
) -> ArgValueCandidates {
    let values: Vec<String> = values.into_iter().map(Into::into).collect();
    ArgValueCandidates::new(move || values.iter().map(CompletionCandidate::new).collect())
}

/// The id of an argument. Several may have one name, of which the last is repeated.
fn id(index: usize) -> String {
    format!("argument {index}")
}

fn argument((index, argument): (usize, &CommandArgument)) -> Arg {
    let arg = Arg::new(id(index)).value_name(argument.name).help(argument.help);
    let arg = arg.add(candidates(argument.known_values.clone()));
    match argument.count {
        ArgumentCount::One => arg.required(true),
        ArgumentCount::Optional => arg,
        ArgumentCount::Any => arg.num_args(0..).action(ArgAction::Append),
        ArgumentCount::Rest => arg.num_args(0..).action(ArgAction::Append).last(true),
    }
}

/// The values that were given for arguments and options.
pub(crate) fn given(
    arguments: &[CommandArgument],
    options: &[CommandOption],
    matches: &ArgMatches,
) -> CommandArguments {
    let texts = |name: &str| matches.get_many::<String>(name).into_iter().flatten().cloned();
    let positional = (0..arguments.len()).flat_map(|index| texts(&id(index)));
    let options = options.iter().flat_map(|option| {
        let values: Vec<String> = match option.value {
            Some(_) => texts(option.name).collect(),
            None if matches.get_flag(option.name) => vec![String::new()],
            None => Vec::new(),
        };
        values.into_iter().map(|value| (option.name, value))
    });
    CommandArguments::new(positional, options.collect::<Vec<_>>())
}

/// The reason why a form cannot be added to the commands of a program, for the author of the command.
pub(super) fn problem(form: &CommandForm, program: &Command) -> Option<String> {
    let problem = name_problem(form.name, program)
        .or_else(|| order_problem(form))
        .or_else(|| option_problem(&form.options, [program]));
    problem.map(|what| format!("the command `{}` {what}", form.name))
}

fn name_problem(name: &str, program: &Command) -> Option<String> {
    let words: Vec<&str> = name.split(' ').collect();
    if words.len() > 2 || !words.iter().all(|word| is_word(word)) {
        return Some(
            "needs another name: one or two words of small letters, digits and `-`".to_owned(),
        );
    }
    let because =
        |other: &str| Some(format!("needs another name, because of the command `{other}`"));
    if words[0] == "help" {
        return because("help");
    }
    let other = program.find_subcommand(words[0])?;
    // `log` next to `log verify` could not be told from the beginning of it.
    match (other.get_subcommands().next(), words.get(1)) {
        (None, _) => because(words[0]),
        (Some(first), None) => because(&format!("{} {}", words[0], first.get_name())),
        (Some(_), Some(word)) => other.find_subcommand(word).and_then(|_| because(name)),
    }
}

fn order_problem(form: &CommandForm) -> Option<String> {
    let mut optional = form.arguments.iter().skip_while(|it| it.count == ArgumentCount::One);
    if let Some(late) = optional.find(|it| it.count == ArgumentCount::One) {
        return Some(format!("requires `{}` after an argument that is optional", late.name));
    }
    let mut early = form.arguments.iter().rev().skip(1);
    let early = early.find(|it| matches!(it.count, ArgumentCount::Any | ArgumentCount::Rest))?;
    Some(format!("has an argument after `{}`, which takes all values", early.name))
}

/// The reason why options cannot be added next to those of commands.
pub(super) fn option_problem<'a>(
    options: &[CommandOption],
    others: impl IntoIterator<Item = &'a Command>,
) -> Option<String> {
    let taken = others.into_iter().flat_map(Command::get_arguments).filter_map(Arg::get_long);
    let mut taken: HashSet<&str> = taken.chain(["help", "version"]).collect();
    options.iter().find_map(|option| match option.name {
        name if !is_word(name) => {
            Some(format!("has the option `{name}`; use small letters, digits and `-`"))
        }
        name if !taken.insert(name) => {
            Some(format!("has the option `--{name}`, which exists already"))
        }
        _ => None,
    })
}

fn is_word(text: &str) -> bool {
    let mut letters = text.bytes();
    letters.next().is_some_and(|first| first.is_ascii_lowercase())
        && letters.all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == b'-')
}
