//! Tests of whole patterns against whole commands.

mod attacks;
mod deny;
mod lines;
mod options;
mod ordinary;
mod patterns;

use crate::{Reason, ShellMatch, ShellPattern};

fn compare(pattern: &str, command: &str) -> ShellMatch {
    ShellPattern::parse(pattern).unwrap_or_else(|error| panic!("{error}")).matches(command)
}

fn allows(pattern: &str, command: &str) -> bool {
    compare(pattern, command).is_yes()
}

#[track_caller]
fn explain(pattern: &str, command: &str) -> String {
    match compare(pattern, command) {
        ShellMatch::Undecidable(reason) => reason.to_string(),
        other => panic!("{pattern:?} gives {other:?} for {command:?}"),
    }
}

#[test]
fn reasons_name_the_cause() {
    let cases = [
        (
            "git log | sh",
            "`sh` reads input that it may run, or take for arguments; run it without a pipe",
        ),
        (
            "git log && ls",
            "`git *` describes some commands of the line, and not `ls`; run them apart",
        ),
        ("git log &", "the command contains an `&`; run one plain command"),
        ("git log > out", "the command contains a redirection; run one plain command"),
        ("A=1 git log", "the command contains an assignment; run one plain command"),
        ("git log # x", "the command contains a comment; run one plain command"),
        ("(git log)", "the command contains a parenthesis; run one plain command"),
        (
            "git log \"$HOME\"",
            "`\"$HOME\"` contains an expansion, which the shell may interpret; put it in single quotes",
        ),
        (
            "git log 'a\nb'",
            "the command contains the control character '\\n'; run one command on one line",
        ),
        ("git\u{a0}log", "the command contains '\\u{a0}', which looks like a space and is not one"),
        ("'git' log", "the program is written as `'git'`; write its name without quotes"),
        ("env git log", "`env` runs another command; run that one alone"),
        (
            "git log --output=x",
            "the option `--output=x` of `git` is not known to be harmless; only a pattern that contains it \
             allows it",
        ),
        ("git log '", "the command contains an open quote; run one plain command"),
        ("git commit -m 'a b' (", "the command contains a parenthesis; run one plain command"),
        ("", "the command is empty"),
    ];
    for (command, reason) in cases {
        assert_eq!(explain("git *", command), reason, "{command:?}");
    }
}

#[test]
fn a_long_command_is_not_parsed() {
    let command = format!("git log {}", "a ".repeat(10_000));
    assert_eq!(compare("git *", &command), ShellMatch::Undecidable(Reason::TooLong));
}

#[test]
fn deep_nesting_is_rejected() {
    let command = format!("git log {}{}", "$(".repeat(5_000), ")".repeat(5_000));
    assert!(!allows("git *", &command));
}

/// The scanner of tree-sitter-bash reads beyond its tables for a character after a brace.
#[test]
fn unusual_characters_do_not_reach_the_parser() {
    for c in ['\u{31860}', '\u{10ffff}', '\u{e000}', 'é'] {
        assert!(!allows("git *", &format!("git log {{{c}")));
        assert!(!allows("git *", &format!("{{{c}")));
        assert!(allows("git *", &format!("git log {c} '{{{c}' \"{{{c}\"")));
    }
}
