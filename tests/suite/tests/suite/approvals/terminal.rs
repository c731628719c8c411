//! A person at the terminal, or a script whose answers come through a pipe.

use super::super::pty::Terminal;
use std::io::Write as _;
use std::process::{Command, Stdio};

#[test]
fn a_person_answers_through_a_pipe() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_approving_server"))
        .arg("terminal")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = child.stdin.take().expect("piped");
    write!(input, "y\nnot this one\ne {{\"path\": \"d\"}}\n").expect("it reads");
    drop(input);
    let ended = child.wait_with_output().expect("it ends");
    let output = String::from_utf8(ended.stdout).expect("UTF-8");
    assert_eq!(
        output.lines().collect::<Vec<_>>(),
        [
            "removed a",
            "the call to `remove` was not approved: the person at the terminal said: not this one",
            "removed d"
        ]
    );
    let prompts = String::from_utf8(ended.stderr).expect("UTF-8");
    assert_eq!(prompts.matches("Remove it?\n  remove(path: \"").count(), 3, "{prompts}");
    assert!(!prompts.contains('\u{1b}'), "{prompts:?}");
}

#[test]
fn lines_typed_before_a_question_do_not_answer_it() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_approving_server"));
    command.arg("terminal");
    let mut terminal = Terminal::start(command);
    terminal.until("remove(path: \"a\")");
    terminal.type_in("y\ny\ny");
    terminal.until("remove(path: \"b\")");
    terminal.type_in("n");
    terminal.until("was not approved");
    assert!(!terminal.shown.contains("removed b"), "{}", terminal.shown);
}
