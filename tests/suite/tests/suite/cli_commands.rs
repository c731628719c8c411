//! Commands that a program adds to its command line.

use std::process::{Command, Stdio};

/// The exit code, standard output and standard error.
fn run(arguments: &[&str], clash: Option<&str>) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_commanding_server"));
    command.args(arguments).stdin(Stdio::null()).envs(clash.map(|clash| ("CLASH", clash)));
    let output = command.output().expect("the program starts");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_command_gets_its_arguments_and_the_pool() {
    for (arguments, code, printed) in [
        (&["check", "a"][..], 0, r#"check ["a"] [] None false"#),
        (
            &["check", "--rule", "x", "a", "b", "--rule=y", "--json"],
            0,
            r#"check ["a", "b"] ["x", "y"] None true"#,
        ),
        (&["check", "fail"], 7, r#"check ["fail"] [] None false"#),
        (&["log", "show"], 0, "log show [] [] None false"),
        (&["log", "show", "f", "--after", "3"], 0, r#"log show ["f"] [] Some("3") false"#),
        (&["log", "verify", "--deny", "ping", "f"], 0, r#"log verify ["f"] [] None false"#),
    ] {
        let tools = if arguments.contains(&"--deny") { 0 } else { 1 };
        let (ended, stdout, stderr) = run(arguments, None);
        assert_eq!(stdout, format!("{printed}\n{tools} tools\n"), "{arguments:?} {stderr}");
        assert_eq!(ended, Some(code), "{arguments:?}");
    }
}

#[test]
fn a_command_whose_feature_is_missing_names_it() {
    let (_, help, _) = run(&["--help"], None);
    assert!(help.contains("later        Wait (needs the feature `clock`)"), "{help}");
    for words in [&["later"][..], &["later", "--unknown", "x"], &["later", "a", "b", "--json"]] {
        let (code, _, stderr) = run(words, None);
        assert_eq!(code, Some(2), "{words:?} {stderr}");
        let error = "error: `later` needs the feature `clock` of `tool-runtime`, which";
        assert!(stderr.starts_with(error), "{words:?} {stderr}");
    }
}

/// The other packages of the workspace turn on all features of `tool-runtime`.
#[test]
fn features_of_other_packages_add_no_commands() {
    let (_, help, _) = run(&["--help"], None);
    let (commands, options) = help.split_once("\nOptions:").expect("options");
    let commands: Vec<&str> = commands
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split("  ").next())
        .collect();
    let expected = "list call prompt read schema report serve doctor completions install uninstall bundle check later log-show log-verify";
    let expected: Vec<String> =
        expected.split(' ').map(|name| name.replace("log-", "log ")).collect();
    assert_eq!(commands, expected);
    assert!(!options.contains("--mcp-config") && options.contains("--allow"), "{options}");
}

#[test]
fn wrong_usage_of_a_command_is_explained() {
    for (arguments, words) in [
        (
            &["check"][..],
            &["not provided:\n  <FIRST>", "commanding_server check <FIRST> [FILE]..."][..],
        ),
        (
            &["check", "a", "--rul", "x"],
            &["unexpected argument '--rul'", "similar argument exists: '--rule'"],
        ),
        (&["check", "a", "--json", "--json"], &["'--json' cannot be used multiple times"]),
        (&["log"], &["Usage: commanding_server log [OPTIONS] <COMMAND>", "verify  Verify the log"]),
        (&["log", "verfy"], &["unrecognized subcommand 'verfy'", "'verify'"]),
        (&["log", "show", "a", "b"], &["unexpected argument 'b' found"]),
        (&["chek", "a"], &["'check'"]),
    ] {
        let (code, _, stderr) = run(arguments, None);
        assert_eq!(code, Some(2), "{arguments:?} {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{arguments:?}: {word} is not in {stderr}");
        }
    }
}

#[test]
fn commands_are_in_the_help() {
    let (code, help, _) = run(&["--help"], None);
    assert_eq!(code, Some(0));
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    for line in ["check Check files by rules", "log verify Verify the log"] {
        assert!(help.lines().any(|other| words(other) == line), "{line} is not in {help}");
    }
    let (_, of_command, _) = run(&["help", "log", "verify"], None);
    assert_eq!(of_command, run(&["log", "verify", "--help"], None).1);
    assert!(
        of_command.contains("Usage: commanding_server log verify [OPTIONS] <FILE>"),
        "{of_command}"
    );
    let (_, check, _) = run(&["check", "-h"], None);
    assert!(check.contains("      --rule <NAME>  Only this rule; repeatable"), "{check}");
    assert!(check.contains("Exit codes: 0 success, 7 a check failed."), "{check}");
}

#[test]
fn a_command_that_cannot_exist_ends_the_program() {
    for (clash, why) in [
        ("list", "the command `list` needs another name, because of the command `list`"),
        ("log", "because of the command `log show`"),
        ("list all", "because of the command `list`"),
        ("log show", "because of the command `log show`"),
        ("Check", "one or two words of small letters"),
        ("a b c", "one or two words of small letters"),
        ("option", "has the option `--tools`, which exists already"),
        ("order", "requires `B` after an argument that is optional"),
    ] {
        let (code, stdout, stderr) = run(&["check", "a"], Some(clash));
        assert_eq!((code, &*stdout), (Some(3), ""), "{clash}");
        assert!(stderr.contains(why), "{clash}: {stderr}");
    }
}

#[test]
fn a_default_that_panics_is_one_error() {
    let (code, _, stderr) = run(&["list"], Some("default"));
    assert_eq!(code, Some(3));
    let problem = "error: the pool of tools cannot be built:\n- tool `count`: the default or example of its argument `start` panicked: the table is missing; write a value that can be computed when the pool is built\n";
    assert_eq!(stderr, problem);
}
