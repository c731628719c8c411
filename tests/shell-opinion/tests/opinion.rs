//! Compares shell patterns with brush-parser: a line that is split into commands must be lists and pipelines of simple
//! commands with the same words there.

mod brush;
#[path = "../../../tool-runtime/core/property.rs"]
mod property;

use brush::Opinion;
use proptest::prelude::*;
use tool_runtime_shell::ShellPattern;

/// Patterns that every command is compared with, besides the one of its own first word.
const PATTERNS: &[&str] =
    &["git *", "npm run test:*", "cargo test*", "env *", "sudo *", "bash *", "git * *"];

/// One command a line; a line that begins with a double quote is a JSON string.
fn commands() -> Vec<String> {
    let decode = |line: &str| match line.starts_with('"') {
        true => serde_json::from_str(line).expect("a JSON string"),
        false => line.to_owned(),
    };
    include_str!("commands.txt").lines().map(decode).collect()
}

/// Compares the two parsers, and returns whether patterns allow each command of a line.
fn compare(line: &str) -> Result<bool, String> {
    let Ok(commands) = tool_runtime_shell::commands(line) else { return Ok(false) };
    let words = match brush::opinion(line) {
        Opinion::Other(what) => return Err(format!("{line:?} is split: brush finds {what}")),
        Opinion::Plain(words) => words,
    };
    if words.len() != commands.len() {
        return Err(format!("{line:?}: brush finds {words:?}"));
    }
    for (command, words) in commands.iter().zip(&words) {
        same_words(command.text(), words)?;
    }
    Ok(commands.iter().all(|command| command.is_filter() || is_allowed(command.text())))
}

/// Whether a pattern of [`PATTERNS`], or the one of its own first word, allows a command.
fn is_allowed(command: &str) -> bool {
    let own = command.split(' ').next().map(|program| format!("{program} *"));
    let texts = own.iter().map(String::as_str).chain(PATTERNS.iter().copied());
    let mut patterns = texts.filter_map(|pattern| ShellPattern::parse(pattern).ok());
    patterns.any(|pattern| pattern.matches(command).is_yes())
}

/// A pattern that quotes each word matches if, and only if, the words are the same.
fn same_words(command: &str, words: &[String]) -> Result<(), String> {
    let quoted: Vec<_> = words.iter().map(|word| quote(word)).collect();
    let exact = ShellPattern::parse(&quoted.join(" ")).map_err(|error| error.to_string())?;
    match exact.matches(command).is_yes() {
        true => Ok(()),
        false => Err(format!("brush decodes {command:?} to {words:?}")),
    }
}

fn quote(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\"'\"'"))
}

#[test]
fn brush_agrees_on_each_command() {
    let commands = commands();
    assert!(commands.len() >= 300, "{} commands", commands.len());
    let mut allowed = 0;
    for command in &commands {
        allowed += usize::from(compare(command).unwrap_or_else(|error| panic!("{error}")));
    }
    assert!(allowed >= 120, "{allowed} commands are allowed");
    assert!(
        commands.len() - allowed >= 180,
        "{allowed} of {} commands are allowed",
        commands.len()
    );
}

#[test]
fn what_is_no_simple_command_to_brush_is_never_allowed() {
    let compound = commands().into_iter().filter(|command| brush::opinion(command).is_other());
    let mut count = 0;
    for command in compound {
        assert!(!compare(&command).unwrap_or(true), "{command:?}");
        count += 1;
    }
    assert!(count >= 120, "brush rejects {count} commands");
}

/// Pieces of commands, of which most mean something to a shell.
fn piece() -> impl Strategy<Value = String> {
    let syntax = prop::sample::select(vec![
        ";", "&", "&&", "|", "||", "\n", "\t", "$", "$(", ")", "(", "`", "'", "\"", "\\", "<", ">",
        "<<", "<<<", ">>", "2>", "<(", "{", "}", "{a,b}", "[", "]", "*", "?", "~", "#", "!", "=",
        "A=1", "A+=1", ",", "..", "${", "$'", "$\"", "^", "%", ":", "@", "+(", "-", "--", "\r",
        "\0", "\u{a0}", "\u{feff}", "é", "[[", "]]", "((", "))",
    ]);
    let words = prop::sample::select(vec![
        "git",
        "log",
        "status",
        "HEAD",
        "time",
        "env",
        "if",
        "then",
        "fi",
        "for",
        "in",
        "do",
        "done",
        "case",
        "esac",
        "function",
        "coproc",
        "select",
        "exec",
        "export",
        "1",
        "a",
        "-n",
        "--oneline",
        "''",
        "\"\"",
        "'a b'",
        "\"a b\"",
    ]);
    prop_oneof![
        3 => words.prop_map(str::to_owned),
        3 => Just(" ".to_owned()),
        2 => syntax.prop_map(str::to_owned),
        1 => "[a-zA-Z0-9_./:@%+=^~#-]{1,6}",
    ]
}

proptest! {
    #![proptest_config(property::cases(4000))]

    #[test]
    fn brush_agrees_on_random_commands(pieces in prop::collection::vec(piece(), 0..12)) {
        let command = pieces.concat();
        prop_assert_eq!(compare(&command).err(), None);
        prop_assert_eq!(compare(&format!("git {command}")).err(), None);
    }

    #[test]
    fn brush_agrees_on_random_arguments(
        words in prop::collection::vec("[a-zA-Z0-9_./:@%+,=^~#'\"-]{1,8}", 0..6),
    ) {
        prop_assert_eq!(compare(&format!("git {}", words.join(" "))).err(), None);
    }

    #[test]
    fn any_text_is_compared_without_a_panic(command in any::<String>(), pattern in any::<String>()) {
        let _ = ShellPattern::parse("git *").map(|pattern| pattern.matches(&command));
        let _ = ShellPattern::parse(&pattern).map(|pattern| pattern.matches(&command));
    }
}
