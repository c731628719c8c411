//! Completions in bash. `tests/external` has those in zsh.

use std::process::Command;
use suite::limit;

const PROGRAM: &str = env!("CARGO_BIN_EXE_terminal_tools");

/// What bash offers for the last of these words.
fn completions(words: &[&str]) -> Vec<String> {
    let list: String = words.iter().map(|word| format!("'{word}' ")).collect();
    let script = format!(
        "source <('{PROGRAM}' completions bash)
COMP_WORDS=(terminal_tools {list}) COMP_CWORD={count} COMP_TYPE=9
$(complete -p terminal_tools | sed -E 's/.*-F ([^ ]+) .*/\\1/') terminal_tools '{last}'
printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        count = words.len(),
        last = words.last().expect("a word"),
    );
    let output = limit::output(Command::new("bash").args(["-c", &script])).expect("bash");
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && stderr.is_empty(), "{stderr}");
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
}

#[test]
fn bash_completes_commands_tools_arguments_and_values() {
    for (words, expected) in [
        (&["cal"][..], &["call"][..]),
        (&["call", "se"], &["search"]),
        (&["call", "search", "--book.t"], &["--book.title"]),
        (&["call", "search", "--sort", "n"], &["newest"]),
        (&["prompt", "greet", "--na"], &["--name"]),
        (&["completions", "z"], &["zsh"]),
        (&["list", "--log-l"], &["--log-level"]),
        (&["install", "co"], &["codex"]),
        (&["uninstall", "zed", "--scope", "p"], &["project"]),
        (&["schema", "lo"], &["login"]),
    ] {
        assert_eq!(completions(words), expected, "{words:?}");
    }
    assert!(completions(&["call", ""]).contains(&"draw".to_owned()));
    assert!(completions(&["call", "search", "--"]).contains(&"--yes".to_owned()));
    assert!(!completions(&["prompt", "greet", "--"]).contains(&"--yes".to_owned()));
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = limit::output(Command::new(PROGRAM).args(["completions", shell]));
        let output = output.expect("it starts");
        let script = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && script.contains("terminal_tools"), "{shell}: {script}");
    }
    let output =
        limit::output(Command::new(PROGRAM).args(["completions", "csh"])).expect("it starts");
    assert_eq!(output.status.code(), Some(2));
}
