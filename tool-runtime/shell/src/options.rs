//! Options by which the words of a command make a program run another command or code, for deny lists.

mod table;

use crate::allowed;
use crate::wrappers::base_name;
use table::{Program, Rule};

/// A rejected word.
#[derive(Debug, Clone, Copy)]
enum RejectedWord {
    /// `--NAME`, `--NAME=VALUE`, and abbreviations such as `--NA`.
    Long(&'static str),
    /// `-C`, also with a value attached or among other letters.
    Short(char),
    /// `-C` before the subcommand.
    Leading(char),
    /// `C` among the letters of the first word, as in `tar xfC`.
    Letter(char),
    /// `-NAME` or `--NAME`, also with `=VALUE`.
    Flag(&'static str),
    /// The word itself.
    Word(&'static str),
    /// Any word that contains the text.
    Text(&'static str),
    /// The subcommand as such.
    Subcommand,
    /// A script of sed that may run commands.
    SedCode,
}

/// Finds a word by which a command runs another one, or code.
pub(crate) fn code(words: &[String]) -> Option<(&'static str, &String)> {
    let (name, program) = find(&table::OPAQUE, &words[0])?;
    program.rejected_word(&words[1..]).map(|word| (name, word))
}

/// Finds a program by its name, with or without a version: `python3.12`.
fn find(table: &'static [Program], word: &str) -> Option<(&'static str, &'static Program)> {
    let (name, plain) = (base_name(word), plain_name(word));
    table.iter().find_map(|program| {
        let known = program.names.iter().find(|known| **known == name || **known == plain)?;
        Some((*known, program))
    })
}

/// The name of a program without directory and version.
pub(crate) fn plain_name(program: &str) -> &str {
    base_name(program).trim_end_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-'))
}

impl Program {
    fn rejected_word<'a>(&self, words: &'a [String]) -> Option<&'a String> {
        let subcommands = subcommands(words);
        let position = |rule: &Rule| rule.positions(words, &subcommands).into_iter().next();
        self.rules.iter().find_map(position).map(|at| &words[at])
    }
}

/// Positions of words that may be the subcommand: the first word that is not an option, and, since
/// that may be the value of an option before it, the next ones likewise.
fn subcommands(words: &[String]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut after_option = false;
    for (index, word) in words.iter().enumerate() {
        let option = word.starts_with(['-', '+']);
        if !option {
            found.push(index);
            if !after_option {
                break;
            }
        }
        after_option = option && !word.contains('=');
    }
    found
}

impl Rule {
    /// Positions of rejected words.
    fn positions(&self, words: &[String], subcommands: &[usize]) -> Vec<usize> {
        let named = |at: &&usize| self.subcommand.is_none_or(|name| words[**at] == name);
        let subcommand = subcommands.iter().find(named).copied();
        if self.subcommand.is_some() && subcommand.is_none() {
            return Vec::new();
        }
        let end = match self.rejected_word {
            RejectedWord::Letter(_) => words.len().min(1),
            RejectedWord::Leading(_) => subcommands.last().copied().unwrap_or(words.len()),
            _ => words.len(),
        };
        match self.rejected_word {
            RejectedWord::SedCode => allowed::sed_code_positions(words),
            RejectedWord::Subcommand => subcommand.into_iter().collect(),
            rejected_word => (0..end).filter(|at| rejected_word.hits(&words[*at])).collect(),
        }
    }
}

impl RejectedWord {
    fn hits(self, word: &str) -> bool {
        match self {
            Self::Long(name) => word.strip_prefix("--").is_some_and(|given| {
                let name_start = given.split('=').next().unwrap_or_default();
                !name_start.is_empty() && name.starts_with(name_start)
            }),
            Self::Short(letter) => word
                .strip_prefix('-')
                .is_some_and(|rest| !rest.starts_with('-') && rest.contains(letter)),
            Self::Leading(letter) => {
                word.strip_prefix('-').is_some_and(|rest| rest.starts_with(letter))
            }
            Self::Letter(letter) => !word.starts_with('-') && word.contains(letter),
            Self::Flag(name) => flag(word) == Some(name),
            Self::Word(text) => word == text,
            Self::Text(text) => word.contains(text),
            Self::Subcommand | Self::SedCode => false,
        }
    }
}

fn flag(word: &str) -> Option<&str> {
    let name = word.strip_prefix('-')?;
    name.strip_prefix('-').unwrap_or(name).split('=').next()
}
