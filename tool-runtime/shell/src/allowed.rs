//! Words that a wildcard of a pattern may take: those that a table says to be harmless, written out in full.
//!
//! A program in no table gets only relative paths: any other word may be a subcommand or a command that it runs.

mod awk;
mod sed;
mod table;
mod walk;

use crate::pattern::ShellPattern;
use crate::reason::Reason;
use crate::wrappers::is_wrapper;
use table::Program;

/// Finds a word that a wildcard of the pattern takes, and that may do more than it says.
pub(crate) fn rejected(pattern: &ShellPattern, words: &[String]) -> Option<Reason> {
    let (index, program) = judged_program(pattern, &words[0])?;
    let rest = &words[index + 1..];
    let at = match program {
        Some(program) => walk::rejected(program, rest, &pattern.words()[index + 1..]),
        None => walk::rejected_of_unknown(rest, &pattern.words()[index + 1..]),
    }?;
    let (program, word) = (words[index].clone(), rest[at].clone());
    Some(match word.starts_with('-') {
        true => Reason::Option { program, word },
        false => Reason::Operand { program, word },
    })
}

/// The position of the program whose words are judged, and its table. `None` if the pattern names a wrapper, whose words
/// may be any command.
fn judged_program(
    pattern: &ShellPattern,
    first: &str,
) -> Option<(usize, Option<&'static Program>)> {
    match table::find(&table::PROGRAMS, first) {
        None if is_wrapper(first) => {
            // As `git` in `timeout 10 git *`.
            let literal = pattern.words().iter().enumerate().filter(|(_, word)| word.is_literal());
            let find = |word: &str| table::find(&table::PROGRAMS, word);
            literal.filter_map(|(at, word)| Some((at, Some(find(word.prefix())?)))).next_back()
        }
        program => Some((0, program)),
    }
}

/// Whether a program takes its input as data, and never as code or as arguments.
pub(crate) fn takes_data(program: &str) -> bool {
    let is_filter = || table::find(&table::FILTERS, program).is_some();
    table::find(&table::PROGRAMS, program).is_some_and(|program| program.takes_data) || is_filter()
}

/// Whether a command only passes on a part of its input.
pub(crate) fn is_filter(words: &[String]) -> bool {
    let program = table::find(&table::FILTERS, &words[0]);
    !words[0].contains('/')
        && program.is_some_and(|program| walk::rejected(program, &words[1..], &[]).is_none())
}

/// Positions of scripts that may run commands, for deny lists.
pub(crate) use sed::code_positions as sed_code_positions;
