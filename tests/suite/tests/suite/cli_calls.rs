//! `call`, `prompt`, `read` and `list` of a program, by scripts.

use serde_json::{Value, json};
use std::io::Write as _;
use std::process::{Command, Output, Stdio};
use suite::limit::{self, Limit};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_terminal_tools");

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).stdin(Stdio::null()).env_remove("RUST_LOG");
    command
}

/// The exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    parts(limit::output(&mut command(arguments)).expect("it starts"))
}

fn run_with_input(arguments: &[&str], input: &str) -> (Option<i32>, String, String) {
    let mut command = command(arguments);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let _limit = Limit::of(&child);
    drop(child.stdin.take().expect("piped").write_all(input.as_bytes()));
    parts(child.wait_with_output().expect("it ends"))
}

fn parts(output: Output) -> (Option<i32>, String, String) {
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

fn found(arguments: &[&str]) -> Value {
    let (code, stdout, stderr) = run(&[&["call", "search"], arguments].concat());
    assert_eq!(code, Some(0), "{arguments:?} {stderr}");
    serde_json::from_str(&stdout).expect("JSON")
}

#[test]
fn the_example_of_a_tool_with_objects_runs() {
    let (code, help, _) = run(&["call", "deliver", "--help"]);
    assert_eq!(code, Some(0));
    for words in [
        r#"as {"book":"TEXT","count":1,"note":"TEXT"}"#,
        r#"as {"by":"mail","street":"TEXT"} or {"by":"pickup"}"#,
        r#"as {"NAME":0}"#,
        "--way <JSON>",
    ] {
        assert!(help.contains(words), "{words} is not in {help}");
    }
    let (_, example) = help.split_once("Example: ").expect("one");
    let (example, _) = example.split_once("\n\n").expect("a hint");
    let line = example.replace("terminal_tools", PROGRAM);
    let output = Command::new("sh").args(["-c", &line]).output().expect("a shell");
    let (code, stdout, stderr) = parts(output);
    assert_eq!(code, Some(0), "{example}: {stderr}");
    assert_eq!(stdout, "1 of TEXT, 0 notes, to TEXT, 0 shelves\n");
}

#[test]
fn arguments_are_options_by_their_type() {
    let value = found(&[
        "--query",
        "rust",
        "--sort",
        "best",
        "--limit",
        "7",
        "--tags",
        "a",
        "--tags",
        "b",
        "--exact",
        "--book.title",
        "Dune",
        "--book.year",
        "-5",
    ]);
    assert_eq!(
        value,
        json!({
            "query": "rust", "sort": "best", "limit": 7, "tags": ["a", "b"], "exact": true, "env": {},
            "book": { "title": "Dune", "year": -5 }
        })
    );
}

#[test]
fn options_pairs_and_json_mean_the_same() {
    let expected = found(&["--query", "7", "--limit=3", "--tags=[\"x\"]"]);
    assert_eq!((&expected["query"], &expected["limit"]), (&json!("7"), &json!(3)));
    for arguments in [
        &["query=7", "limit=3", "tags=x"][..],
        &["query=7", "--limit", "3", "--tags", "x"],
        &["--args", r#"{"query":"7","limit":3,"tags":["x"]}"#],
    ] {
        assert_eq!(found(arguments), expected, "{arguments:?}");
    }
    let nested = found(&["query=q", "book.title=T", "env.KEY=v", "--exact=false"]);
    assert_eq!((&nested["book"]["title"], &nested["env"]["KEY"]), (&json!("T"), &json!("v")));
    assert_eq!(nested["exact"], false);
}

#[test]
fn values_come_from_files_and_standard_input() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("query.txt");
    std::fs::write(&path, "from a file").expect("room");
    let file = format!("@{}", path.display());
    assert_eq!(found(&["--query", &file])["query"], "from a file");
    let (_, stdout, stderr) = run_with_input(&["call", "search", "--query", "-"], "typed");
    assert!(stdout.contains("\"query\":\"typed\""), "{stdout} {stderr}");
}

/// `--json` is an option of `call`, and an argument of the tool.
#[test]
fn an_option_after_the_tool_is_the_tools() {
    assert!(found(&["--query", "q", "--json", "xml"]).is_object());
    let (_, stdout, _) = run(&["call", "--json", "search", "--query", "q"]);
    assert!(stdout.starts_with("{\"content\""), "{stdout}");
    let (_, stdout, _) = run(&["call", "draw", "--json"]);
    assert!(stdout.starts_with("{\"content\""), "{stdout}");
}

#[test]
fn the_help_of_a_tool_has_all_its_arguments() {
    let (code, help, _) = run(&["call", "search", "--help"]);
    assert_eq!(code, Some(0));
    for line in [
        "Search the shelf.",
        "Usage: terminal_tools call search --query <TEXT> [OPTIONS]",
        "--query <TEXT>",
        "The text to search for. [required] [1 to 200 characters]",
        "Order of the results. [possible values: newest, best]",
        "The most results. [1 to 50] [default: 5]",
        "Only books with these tags. [repeatable]",
        "--book.title <TEXT>",
        "--exact",
        "Example: terminal_tools call search --query TEXT",
        "Hints: read-only, idempotent",
    ] {
        assert!(help.contains(line), "`{line}` is not in {help}");
    }
    assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
}

#[test]
fn mistakes_name_the_remedy() {
    for (arguments, words) in [
        (
            &["call", "search", "--qury", "x"][..],
            &["unexpected argument '--qury'", "'--query'"][..],
        ),
        (&["call", "search", "--query"], &["a value is required for '--query <TEXT>'"]),
        (&["call", "search", "--limit", "x", "query=q"], &["`limit` must be", "search --help"]),
        (&["call", "search"], &["missing required argument `query`", "search --help"]),
        (&["call", "serch"], &["did you mean `search`?"]),
        (&["call"], &["<TOOL>"]),
        (&["call", "search", "query=a", "--query", "b"], &["`query` is given twice"]),
        (&["call", "search", "--args", "{}", "--query", "b"], &["use one of the two"]),
        (&["prompt", "gret"], &["`gret`"]),
        (&["prompt", "greet"], &["`name`"]),
        (&["read", "shelf://none"], &["shelf://none"]),
        (&["list", "--allow", "serch"], &["`serch` picks no tool", "did you mean `search`?"]),
        (&["list", "--log-level", "x=y=z"], &["'--log-level <LEVELS>'"]),
    ] {
        let (code, stdout, stderr) = run(arguments);
        assert_eq!((code, &*stdout), (Some(2), ""), "{arguments:?} {stderr}");
        for word in words {
            assert!(stderr.contains(word), "{arguments:?}: `{word}` is not in {stderr}");
        }
    }
}

#[test]
fn an_error_names_a_command_that_helps() {
    let (_, _, stderr) = run(&["call", "search", "limit=x"]);
    let (_, hint) = stderr.split_once("try 'terminal_tools ").expect("a hint");
    let words: Vec<&str> = hint.trim().trim_end_matches("'.").split(' ').collect();
    let (code, help, stderr) = run(&words);
    assert_eq!(code, Some(0), "{words:?} {stderr}");
    assert!(help.contains("--query <TEXT>"), "{help}");
}

#[test]
fn secrets_do_not_stand_on_the_command_line() {
    let (code, _, stderr) = run(&["call", "login", "--user", "ada", "--password", "hunter2"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("`password` is secret") && !stderr.contains("hunter2"), "{stderr}");
    let (code, _, pair) = run(&["call", "login", "user=ada", "password=hunter2"]);
    assert_eq!((code, &pair), (Some(2), &stderr));
    let (_, stdout, stderr) =
        run_with_input(&["call", "login", "--user", "ada", "--password", "-"], "hunter2\n");
    assert_eq!(stdout, "ada has a password of 7 characters\n", "{stderr}");
    let (code, _, stderr) = run(&["call", "login", "--user", "ada", "--password"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("no person is at the terminal"), "{stderr}");
}

#[test]
fn images_and_resources_are_saved() {
    let directory = TempDir::new().expect("a directory");
    let path = directory.path().join("dot.png").display().to_string();
    let (code, stdout, stderr) = run(&["call", "draw", "--output", &path]);
    assert_eq!((code, &*stdout), (Some(0), ""), "{stderr}");
    assert!(stderr.contains(&format!("saved {path}")), "{stderr}");
    assert!(std::fs::read(&path).expect("the file").starts_with(b"\x89PNG"));
    let (_, stdout, _) = run(&["read", "shelf://cover", "--output", &path]);
    assert_eq!((&*stdout, std::fs::read(&path).expect("the file")), ("", b"hello".to_vec()));
    let (_, stdout, _) = run(&["read", "shelf://rules"]);
    assert_eq!(stdout, "Be kind.\n");
    let (_, stdout, _) = run(&["read", "shelf://rules", "--json"]);
    assert!(stdout.starts_with("{\"contents\":[{"), "{stdout}");
}

#[test]
fn progress_and_logs_are_lines_on_standard_error() {
    let (_, stdout, stderr) = run(&["call", "copy", "--count", "3"]);
    assert_eq!(stdout, "3 files\n");
    for line in ["progress: 1/3 file 1", "progress: 3/3 file 3", "warning: one file is old"] {
        assert!(stderr.lines().any(|other| other == line), "`{line}` is not in {stderr}");
    }
    assert!(!stderr.contains("hidden") && !stderr.contains('\u{1b}'), "{stderr}");
}

#[test]
fn prompts_have_arguments_too() {
    for arguments in [
        &["prompt", "greet", "--name", "Ada"][..],
        &["prompt", "greet", "name=Ada"],
        &["prompt", "greet", "--args", r#"{"name":"Ada"}"#],
    ] {
        let (_, stdout, stderr) = run(arguments);
        assert_eq!(stdout, "Hello, Ada!\n", "{arguments:?} {stderr}");
    }
    let (_, stdout, _) = run(&["prompt", "greet", "--name", "Ada", "--json"]);
    let messages: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(messages["messages"][0]["role"], "user");
    let (_, help, _) = run(&["prompt", "greet", "--help"]);
    assert!(help.contains("The person. [required]"), "{help}");
}

#[test]
fn lists_in_a_pipe_and_on_request_are_complete() {
    let (_, list, _) = run(&["list"]);
    assert!(!list.contains(".."), "{list}");
    for words in ["search", "read-only", "greet", "name [greeting]", "shelf://rules", "text/plain"]
    {
        assert!(list.contains(words), "`{words}` is not in {list}");
    }
    let (_, long, _) = run(&["list", "--long"]);
    assert!(long.contains("read-only, idempotent"), "{long}");
    let (_, json, _) = run(&["list", "prompts", "--json"]);
    let prompts: Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(prompts[0]["arguments"][0]["name"], "name");
    let (_, json, _) = run(&["list", "resources", "--json"]);
    assert!(json.contains("\"uri\":\"shelf://rules\""), "{json}");
}

#[test]
fn every_help_names_the_levels_of_the_log() {
    for arguments in [&["--help"][..], &["list", "--help"], &["serve", "--help"]] {
        let (_, help, _) = run(arguments);
        assert!(help.contains("--log-level") && help.contains("RUST_LOG"), "{help}");
    }
    let (_, help, _) = run(&["--help"]);
    for heading in ["Tools:", "Servers:", "Setup:", "Options of all commands:"] {
        assert!(help.lines().any(|line| line == heading), "`{heading}` is not in {help}");
    }
}
