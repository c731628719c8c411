//! The tables, read from `programs.txt`, which explains their format, and `filters.txt`.

use crate::wrappers::base_name;
use std::sync::LazyLock;

/// What is known of programs that share their options.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) names: Vec<&'static str>,
    /// Whether input is data.
    pub(super) takes_data: bool,
    /// Whether the words after the first operand are of the script that it names.
    pub(super) has_script: bool,
    /// Whether single-letter options stand alone, and longer names have one dash, too.
    pub(super) has_long_names: bool,
    pub(super) max_operands: Option<usize>,
    /// The options in all subcommands, and before them.
    pub(super) own: Words,
    pub(super) subcommands: Vec<Subcommand>,
}

#[derive(Debug)]
pub(super) struct Subcommand {
    /// A name, or two as `bisect/start`.
    pub(super) name: &'static str,
    pub(super) words: Words,
}

/// The words after a program or subcommand.
#[derive(Debug, Default, Clone)]
pub(super) struct Words {
    pub(super) takes_all_options: bool,
    /// Whether the words after `--` are of another program, which the pattern allows as well.
    pub(super) forwards: bool,
    pub(super) operands: Operands,
    pub(super) options: Vec<OptionName>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    #[default]
    Any,
    /// No `=` and no `$`, which set variables, and no `@FILE`, which is a file of options.
    Targets,
    /// `http` and `https`.
    WebAddresses,
    /// No `HELPER::ADDRESS`.
    Remotes,
    /// The first is letters of options.
    OptionLetters,
    SedScript,
    AwkProgram,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OptionName {
    /// With its dashes.
    pub(super) name: &'static str,
    pub(super) has_value: bool,
    /// Whether a pattern must contain it.
    pub(super) must_be_written: bool,
}

pub(super) static PROGRAMS: LazyLock<Vec<Program>> =
    LazyLock::new(|| read(include_str!("programs.txt")));

pub(super) static FILTERS: LazyLock<Vec<Program>> =
    LazyLock::new(|| read(include_str!("filters.txt")));

/// Finds a program by its name, with or without a version: `python3.12`.
pub(super) fn find(table: &'static [Program], word: &str) -> Option<&'static Program> {
    let (name, plain) = (base_name(word), crate::options::plain_name(word));
    table.iter().find(|program| program.names.iter().any(|known| *known == name || *known == plain))
}

fn read(text: &'static str) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if !line.starts_with(' ') {
            programs.push(Program::default());
        }
        let Some(program) = programs.last_mut() else { continue };
        match line.trim_start().strip_prefix('@') {
            Some(rest) => program.add_subcommands(rest),
            None => line.split_whitespace().for_each(|word| program.add(word)),
        }
    }
    programs
}

impl Program {
    fn add(&mut self, word: &'static str) {
        match word {
            "%data" => self.takes_data = true,
            "%script" => self.has_script = true,
            "%long" => self.has_long_names = true,
            _ if word.starts_with(['%', '-', '!']) => match word[1..].parse() {
                Ok(number) if word.starts_with('%') => self.max_operands = Some(number),
                _ => self.own.add(word),
            },
            name => self.names.push(name),
        }
    }

    /// Reads `NAME,NAME/SECOND WORD..`; what is known of a name already stays.
    fn add_subcommands(&mut self, line: &'static str) {
        let (names, words) = line.split_once(' ').unwrap_or((line, ""));
        for name in names.split(',') {
            let known = self.subcommands.iter().position(|subcommand| subcommand.name == name);
            let at = known.unwrap_or_else(|| {
                self.subcommands.push(Subcommand { name, words: Words::default() });
                self.subcommands.len() - 1
            });
            words.split_whitespace().for_each(|word| self.subcommands[at].words.add(word));
        }
    }

    pub(super) fn subcommand(&self, name: &str) -> Option<&Subcommand> {
        self.subcommands.iter().find(|subcommand| subcommand.name == name)
    }

    /// Whether a word is the first of the two names of subcommands.
    pub(super) fn is_group(&self, word: &str) -> bool {
        let first = |name: &str| name.split_once('/').is_some_and(|(first, _)| first == word);
        self.subcommands.iter().any(|subcommand| first(subcommand.name))
    }
}

impl Words {
    fn add(&mut self, word: &'static str) {
        match word {
            "%options" => self.takes_all_options = true,
            "%forwards" => self.forwards = true,
            "%targets" => self.operands = Operands::Targets,
            "%web" => self.operands = Operands::WebAddresses,
            "%remotes" => self.operands = Operands::Remotes,
            "%letters" => self.operands = Operands::OptionLetters,
            "%sed" => self.operands = Operands::SedScript,
            "%awk" => self.operands = Operands::AwkProgram,
            _ => {
                let (must_be_written, name) = match word.strip_prefix('!') {
                    Some(name) => (true, name),
                    None => (false, word),
                };
                let value = name.strip_suffix(':');
                let (name, has_value) = (value.unwrap_or(name), value.is_some());
                self.options.push(OptionName { name, has_value, must_be_written });
            }
        }
    }

    pub(super) fn option(&self, name: &str) -> Option<&OptionName> {
        self.options.iter().find(|option| option.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_word_of_the_tables_is_well_formed() {
        for program in PROGRAMS.iter().chain(FILTERS.iter()) {
            assert!(!program.names.is_empty(), "{program:?}");
            let words = program.subcommands.iter().map(|it| &it.words).chain([&program.own]);
            for option in words.flat_map(|words| &words.options) {
                let name = option.name.trim_start_matches('-');
                let is_short = !option.name.starts_with("--");
                assert!(option.name.starts_with('-') && !name.is_empty(), "{option:?}");
                assert!(!is_short || program.has_long_names || name.len() == 1, "{option:?}");
            }
        }
    }

    #[test]
    fn each_program_is_listed_once() {
        for table in [&PROGRAMS, &FILTERS] {
            let mut names: Vec<_> = table.iter().flat_map(|program| &program.names).collect();
            names.sort_unstable();
            let count = names.len();
            names.dedup();
            assert_eq!(names.len(), count);
        }
    }
}
