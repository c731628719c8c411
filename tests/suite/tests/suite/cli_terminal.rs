//! A person who calls tools at a terminal.

use crate::pty::Terminal;
use std::process::Command;

fn start(arguments: &[&str]) -> Terminal {
    let mut command = Command::new(env!("CARGO_BIN_EXE_terminal_tools"));
    command.args(arguments).env("TERM", "xterm").env_remove("NO_COLOR");
    Terminal::start(command)
}

#[test]
fn a_destructive_tool_is_confirmed() {
    for (answer, code, shown) in [("y", 0, "purged"), ("n", 1, "[y/N]"), ("", 1, "[y/N]")] {
        let mut terminal = start(&["call", "purge"]);
        terminal.until("`purge` is destructive. Call it? [y/N]");
        terminal.type_in(answer);
        assert_eq!(terminal.code(), Some(code), "{}", terminal.shown);
        assert!(terminal.shown.contains(shown), "{}", terminal.shown);
        assert_eq!(terminal.shown.contains("purged"), code == 0, "{}", terminal.shown);
    }
    let mut terminal = start(&["call", "purge", "--yes"]);
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown);
    assert!(!terminal.shown.contains("[y/N]"), "{}", terminal.shown);
}

#[test]
fn a_call_is_approved_in_the_words_of_the_approver_at_the_terminal() {
    for (answer, code, shown) in [
        ("y", 0, "saved picture.png"),
        ("s", 0, "saved picture.png"),
        ("", 1, "the user denied it"),
        ("use the old one", 1, "use the old one"),
    ] {
        let folder = tempfile::TempDir::new().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_terminal_tools"));
        command.args(["call", "draw", "--output", "picture.png"]).current_dir(folder.path());
        command.env("TERMINAL_TOOLS_ASKS", "1");
        let mut terminal = Terminal::start(command);
        terminal.until("May this run?");
        terminal.until("[y/N, s: all such calls of this session]");
        terminal.until("> ");
        terminal.type_in(answer);
        assert_eq!(terminal.code(), Some(code), "{}", terminal.shown);
        assert!(terminal.shown.contains(shown), "{}", terminal.shown);
    }
}

#[test]
fn a_table_fits_the_terminal() {
    let mut terminal = start(&["list"]);
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown);
    assert!(terminal.shown.contains("read-only"), "{}", terminal.shown);
    let is_narrow = |line: &str| line.chars().count() <= 80;
    assert!(terminal.shown.lines().all(is_narrow), "{}", terminal.shown);
}

#[test]
fn a_tool_asks_with_choices_defaults_and_validation() {
    let mut terminal = start(&["call", "order"]);
    terminal.until("Your order, please.");
    terminal.until("What to drink");
    terminal.until("2. coffee");
    terminal.until("> ");
    terminal.type_in("juice");
    terminal.until("`juice` is no choice");
    terminal.until_times("> ", 2);
    terminal.type_in("2");
    terminal.until_times("> ", 3);
    terminal.type_in("12");
    terminal.until("`cups` must be at most 9");
    // What is typed before a question is discarded.
    terminal.until_times("> ", 4);
    terminal.type_in("");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown);
    assert!(terminal.shown.contains("1 x Coffee"), "{}", terminal.shown);
}

#[test]
fn a_secret_is_asked_for_and_not_shown() {
    let mut terminal = start(&["call", "login", "--user", "ada"]);
    terminal.until("password: ");
    terminal.type_in("hunter2");
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown);
    assert!(terminal.shown.contains("a password of 7 characters"), "{}", terminal.shown);
    assert!(!terminal.shown.contains("hunter2"), "{}", terminal.shown);
}

#[test]
fn structured_values_are_aligned() {
    let mut terminal = start(&["call", "search", "query=rust", "--book.title", "Dune"]);
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown);
    for line in ["query: rust\r\n", "limit: 5\r\n", "  title: Dune\r\n"] {
        assert!(terminal.shown.contains(line), "`{line}` is not in {}", terminal.shown);
    }
}

#[test]
fn a_bar_shows_the_progress_and_goes() {
    let mut terminal = start(&["call", "copy", "--count", "3"]);
    assert_eq!(terminal.code(), Some(0), "{}", terminal.shown);
    assert!(terminal.shown.contains("3/3 file 3"), "{:?}", terminal.shown);
    assert!(!terminal.shown.contains("progress: "), "{:?}", terminal.shown);
}

#[test]
fn the_first_interrupt_cancels_the_call() {
    let mut terminal = start(&["call", "wait"]);
    terminal.until("info:");
    terminal.interrupt();
    assert_eq!(terminal.code(), Some(130), "{}", terminal.shown);
    assert!(terminal.shown.contains("cancelled"), "{}", terminal.shown);
}
