//! Compares the words after a program with its table.

use super::table::{Operands, OptionName, Program, Words};
use super::{awk, sed};
use crate::pattern::WordPattern;

/// Options that only show something, in every program.
const SHOWING: &[&str] = &["--help", "--version"];

/// The position of the first word that neither the table nor the pattern says to be harmless.
pub(super) fn rejected(
    program: &Program,
    words: &[String],
    pattern: &[WordPattern],
) -> Option<usize> {
    if program.own.operands == Operands::SedScript
        && let Some(at) =
            sed::positions(words).into_iter().find(|at| !is_written(pattern.get(*at), &words[*at]))
    {
        return Some(at);
    }
    let mut walk = Walk::new(program);
    (0..words.len()).find(|at| !walk.accepts(&words[*at], pattern.get(*at)))
}

/// The position of the first word that the pattern does not say to be harmless, for a program without a table.
pub(super) fn rejected_of_unknown(words: &[String], pattern: &[WordPattern]) -> Option<usize> {
    let is_harmless = |word: &str| SHOWING.contains(&word) || is_relative_path(word);
    (0..words.len())
        .find(|at| !is_harmless(&words[*at]) && !is_written(pattern.get(*at), &words[*at]))
}

/// Whether the pattern contains the word, or the option up to its value.
fn is_written(pattern: Option<&WordPattern>, word: &str) -> bool {
    pattern.is_some_and(|pattern| {
        let prefix = pattern.prefix();
        let is_option = word.starts_with('-') && prefix.starts_with('-');
        pattern.is_literal() || (is_option && prefix.contains('='))
    })
}

/// A path in the present directory that no program takes for a subcommand: with a slash or an extension.
fn is_relative_path(word: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/');
    let climbs = word.split('/').any(|component| component == "..");
    let is_path = word == "." || word.contains('/') || word.find('.').is_some_and(|at| at > 0);
    is_path && word.chars().all(is_plain) && !word.starts_with(['/', '-']) && !climbs
}

/// The state between two words.
struct Walk<'p> {
    program: &'p Program,
    /// The first name of a subcommand that has two.
    group: Option<String>,
    /// The options of the subcommand; `None` before it.
    subcommand: Option<&'p Words>,
    /// Whether the next word is the value of an option.
    expects_value: bool,
    /// Whether an option was written that may have a value or not.
    is_unclear: bool,
    operands: usize,
    /// Whether more words are of another program.
    is_over: bool,
}

static NOTHING: Words = Words {
    takes_all_options: false,
    forwards: false,
    operands: Operands::Any,
    options: Vec::new(),
};

impl<'p> Walk<'p> {
    fn new(program: &'p Program) -> Self {
        Self {
            program,
            group: None,
            subcommand: None,
            expects_value: false,
            is_unclear: false,
            operands: 0,
            is_over: false,
        }
    }

    fn accepts(&mut self, word: &str, pattern: Option<&WordPattern>) -> bool {
        if self.is_over {
            return true;
        }
        let is_written = is_written(pattern, word);
        let expects_value = std::mem::take(&mut self.expects_value);
        if word == "--" {
            self.is_over = !expects_value && self.words().any(|words| words.forwards);
            return true;
        }
        if word.starts_with('-') && word != "-" {
            return self.accepts_option(word, is_written);
        }
        if expects_value {
            return is_written || self.accepts_value(word);
        }
        let is_named = self.subcommand.is_some() && self.group.is_none();
        if !self.program.subcommands.is_empty() && !is_named {
            return self.accepts_subcommand(word, is_written);
        }
        self.operands += 1;
        let first = self.operands == 1;
        self.is_over = self.program.has_script;
        is_written || self.accepts_operand(word, first)
    }

    fn words(&self) -> impl Iterator<Item = &'p Words> + use<'p> {
        [self.subcommand, Some(&self.program.own)].into_iter().flatten()
    }

    fn option(&self, name: &str) -> Option<&'p OptionName> {
        self.words().find_map(|words| words.option(name))
    }

    fn accepts_option(&mut self, word: &str, is_written: bool) -> bool {
        let (name, value) = match word.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word, None),
        };
        if let Some(option) = self.option(name) {
            self.expects_value = option.has_value && value.is_none();
            return is_written
                || !option.must_be_written && value.is_none_or(|value| self.accepts_value(value));
        }
        if is_written {
            self.is_unclear = value.is_none();
            return true;
        }
        SHOWING.contains(&word)
            || self.words().any(|words| words.takes_all_options)
            || (!word.starts_with("--")
                && !self.program.has_long_names
                && self.accepts_letters(&word[1..]))
    }

    /// Whether letters after one dash, or in the first word of `tar`, are options, the last one with its value.
    fn accepts_letters(&mut self, letters: &str) -> bool {
        if letters.bytes().all(|byte| byte.is_ascii_digit()) && self.option("-#").is_some() {
            return true;
        }
        for (at, letter) in letters.char_indices() {
            let rest = &letters[at + letter.len_utf8()..];
            match self.option(&format!("-{letter}")) {
                Some(option) if option.must_be_written => return false,
                Some(option) if option.has_value => {
                    self.expects_value = rest.is_empty();
                    return self.accepts_value(rest);
                }
                // `-j4`
                Some(_) if !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()) => {
                    return true;
                }
                Some(_) => {}
                None => return false,
            }
        }
        true
    }

    /// curl reads the value after `@` from a file.
    fn accepts_value(&self, value: &str) -> bool {
        self.program.own.operands != Operands::WebAddresses || !value.contains('@')
    }

    fn accepts_subcommand(&mut self, word: &str, is_written: bool) -> bool {
        let name = match self.group.take() {
            Some(group) => format!("{group}/{word}"),
            None if self.program.is_group(word) && (is_written || !self.is_unclear) => {
                self.group = Some(word.to_owned());
                self.subcommand = self.program.subcommand(word).map(|known| &known.words);
                return true;
            }
            None => word.to_owned(),
        };
        let known = self.program.subcommand(&name);
        self.subcommand = Some(known.map_or(&NOTHING, |known| &known.words));
        is_written || (known.is_some() && !self.is_unclear)
    }

    fn accepts_operand(&self, word: &str, is_first: bool) -> bool {
        // `bash +x` is an option, `python -` runs the input.
        if self.program.has_script && word.starts_with(['-', '+'])
            || self.program.max_operands.is_some_and(|max| self.operands > max)
        {
            return false;
        }
        self.words().all(|words| match words.operands {
            Operands::Any | Operands::SedScript => true,
            Operands::Targets => !word.contains(['=', '$']) && !word.starts_with('@'),
            Operands::WebAddresses => is_web_address(word),
            Operands::Remotes => !word.contains("::"),
            Operands::OptionLetters => !is_first || self.accepts_old_letters(word),
            Operands::AwkProgram => !is_first || awk::is_harmless(word),
        })
    }

    /// Whether the first word of `tar xzf` consists of known letters, or is no such word: after an option.
    fn accepts_old_letters(&self, word: &str) -> bool {
        word.chars().all(|letter| {
            self.option(&format!("-{letter}")).is_some_and(|option| !option.must_be_written)
        })
    }
}

fn is_web_address(word: &str) -> bool {
    (word.starts_with("http://") || word.starts_with("https://")) && !word.contains('@')
}
