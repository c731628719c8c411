//! The table, read from `opaque.txt`, which explains its format.

use super::RejectedWord;
use std::sync::LazyLock;

/// Options of programs that share them.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) names: Vec<&'static str>,
    pub(super) rules: Vec<Rule>,
}

/// A rejected word, in all subcommands or in one.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) subcommand: Option<&'static str>,
    pub(super) rejected_word: RejectedWord,
}

pub(super) static OPAQUE: LazyLock<Vec<Program>> =
    LazyLock::new(|| read(include_str!("opaque.txt")));

fn read(text: &'static str) -> Vec<Program> {
    let mut programs: Vec<Program> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if !line.starts_with(' ') {
            let names = line.split_whitespace().collect();
            programs.push(Program { names, rules: Vec::new() });
        } else if let Some(program) = programs.last_mut() {
            program.rules.extend(rules(line.trim()));
        }
    }
    programs
}

fn rules(line: &'static str) -> Vec<Rule> {
    if let Some(names) = line.strip_prefix('!') {
        let rule = |name| Rule { subcommand: Some(name), rejected_word: RejectedWord::Subcommand };
        return names.split_whitespace().map(rule).collect();
    }
    let scoped = line.strip_prefix('@').and_then(|line| line.split_once(' '));
    let (subcommand, words) = match scoped {
        Some((name, words)) => (Some(name), words),
        None => (None, line),
    };
    let rule = |word| Rule { subcommand, rejected_word: parse(word) };
    words.split_whitespace().map(rule).collect()
}

fn parse(word: &'static str) -> RejectedWord {
    let letter = |text: &str| text.chars().next().unwrap_or('-');
    if word == "%sed-code" {
        RejectedWord::SedCode
    } else if let Some(name) = word.strip_prefix("=-") {
        RejectedWord::Flag(name)
    } else if let Some(text) = word.strip_prefix('*') {
        RejectedWord::Text(text)
    } else if let Some(name) = word.strip_prefix('^') {
        RejectedWord::Leading(letter(name))
    } else if let Some(name) = word.strip_prefix('1') {
        RejectedWord::Letter(letter(name))
    } else if let Some(name) = word.strip_prefix("--") {
        RejectedWord::Long(name)
    } else if let Some(name) = word.strip_prefix('-').filter(|name| !name.is_empty()) {
        RejectedWord::Short(letter(name))
    } else {
        RejectedWord::Word(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_of_the_table_is_well_formed() {
        let lines = include_str!("opaque.txt").lines().filter(|line| line.starts_with(' '));
        for word in lines.flat_map(str::split_whitespace) {
            let short = word.starts_with('-') && !word.starts_with("--");
            assert!(!short || word.len() <= 2, "write `=-name` for `{word}`");
            assert!(!word.starts_with('^') || word.len() == 2, "{word}");
            assert!(!matches!(word, "--" | "=-" | "*" | "@"), "{word}");
        }
        assert!(OPAQUE.len() >= 40);
        let is_complete =
            |program: &Program| !program.names.is_empty() && !program.rules.is_empty();
        assert!(OPAQUE.iter().all(is_complete));
    }

    #[test]
    fn each_program_is_listed_once() {
        let mut names: Vec<_> = OPAQUE.iter().flat_map(|program| &program.names).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
