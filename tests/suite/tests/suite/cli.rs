//! The command line of the quickstart, used interactively and by scripts.

use super::quickstart::binary;
use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Output, Stdio};
use suite::limit::{self, Limit};

fn run(arguments: &[&str]) -> Output {
    run_with_input(arguments, "")
}

fn run_with_input(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(binary())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the quickstart starts");
    let _limit = Limit::of(&child);
    let mut stdin = child.stdin.take().expect("piped");
    // A command that does not read its input may have exited.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("UTF-8")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("UTF-8")
}

#[test]
fn list_is_a_table() {
    let output = run(&["list", "--long"]);
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert_eq!(lines.len(), 5);
    assert!(lines[0].starts_with("NAME"), "{}", lines[0]);
    for word in ["add", "read-only, idempotent", "Add two integers."] {
        assert!(lines[1].contains(word), "{}", lines[1]);
    }
    let json: Value = serde_json::from_str(stdout(&run(&["list", "--json"]))).expect("JSON");
    assert_eq!(json[0]["name"], "add");
}

#[test]
fn call_types_its_values_by_the_schema() {
    for (arguments, expected) in [
        (vec!["call", "add", "a=2", "b=40"], "42\n"),
        (vec!["call", "add", "a=-2"], "-1\n"),
        (vec!["call", "add", "--args", r#"{"a":2,"b":40}"#], "42\n"),
        (vec!["call", "divide", "a=1", "b=4"], "0.25\n"),
        (vec!["call", "search_notes", "query=7"], "{\"notes\":[],\"total\":0}\n"),
    ] {
        let output = run(&arguments);
        assert_eq!(stdout(&output), expected, "{arguments:?} {}", stderr(&output));
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn call_reads_standard_input() {
    for arguments in [["call", "add", "-"].as_slice(), &["call", "add", "--args", "-"]] {
        let output = run_with_input(arguments, "{\"a\": 2,\n \"b\": 40}\n");
        assert_eq!(stdout(&output), "42\n", "{}", stderr(&output));
    }
}

#[test]
fn exit_codes_distinguish_wrong_usage_from_a_tools_error() {
    for (arguments, code, message) in [
        (vec!["call", "divide", "a=1", "b=0"], 1, "cannot divide by zero"),
        (vec!["call", "add", "a=x"], 2, "`a` must be an integer"),
        (vec!["call", "add", "a=1.5"], 2, "`a` must be an integer"),
        (vec!["call", "add"], 2, "missing required argument `a`"),
        (vec!["call", "add", "a=1", "c=2"], 2, "unknown argument `c`"),
        (vec!["call", "add", "a"], 2, "`a` is not an argument; write `key=value`"),
        (vec!["call", "add", "--args", "{"], 2, "not valid JSON"),
        (vec!["call", "ad", "a=1"], 2, "did you mean `add`?"),
        (vec!["schema", "ad"], 2, "did you mean `add`?"),
        (vec!["call"], 2, "Usage:"),
        (vec!["lst"], 2, "list"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn a_mistake_is_reported_with_a_remedy() {
    for (arguments, message) in [
        (vec!["serv"], "a similar subcommand exists: 'serve'"),
        (vec!["help", "serv"], "unrecognized subcommand 'serv'"),
        (vec!["--versoin"], "a similar argument exists: '--version'"),
        (vec!["list", "--jsn"], "a similar argument exists: '--json'"),
        (vec!["list", "--json=x"], "unexpected value 'x' for '--json' found"),
        (vec!["list", "--json", "--json"], "'--json' cannot be used multiple times"),
        (vec!["list", "more"], "[possible values: tools, prompts, resources]"),
        (vec!["call", "add", "-x"], "to pass '-x' as a value, use '-- -x'"),
        (vec!["call", "add", "--", "-x"], "`-x` is not an argument; write `key=value`"),
        (vec!["call", "add", "--args"], "a value is required for '--args <OBJECT>'"),
        (vec!["call", "add", "--args", "--json"], "a value is required for '--args <OBJECT>'"),
        (vec!["call", "add", "a=1", "--args={}"], "use one of the two"),
        (vec!["call", ""], "not provided:\n  <TOOL>"),
        (vec!["schema", "add", "sub"], "unexpected argument 'sub' found"),
    ] {
        let output = run(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(message), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn options_are_allowed_anywhere_after_their_command() {
    for arguments in [
        ["call", "--json", "add", "a=1"].as_slice(),
        &["call", "add", "--json", "a=1"],
        &["call", "add", "a=1", "--json"],
    ] {
        let output = run(arguments);
        assert!(stdout(&output).starts_with("{\"content\""), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn every_command_has_help() {
    for name in ["serve", "list", "call", "schema"] {
        let help = run(&["help", name]);
        assert_eq!(stdout(&run(&[name, "--help"])), stdout(&help));
        assert_eq!(stdout(&run(&[name, "-h"])), stdout(&help));
        assert!(stdout(&help).contains(&format!("Usage: quickstart {name}")), "{}", stdout(&help));
        assert_eq!(help.status.code(), Some(0));
    }
    assert!(!stdout(&run(&["help"])).contains('\u{1b}'), "no colours in a pipe");
}

#[test]
fn schema_is_the_definition_as_mcp_json() {
    let output = run(&["schema", "add"]);
    let definition: Value = serde_json::from_str(stdout(&output)).expect("JSON");
    assert_eq!(definition["name"], "add");
    assert_eq!(definition["inputSchema"]["required"], json!(["a"]));
    assert_eq!(definition["annotations"]["readOnlyHint"], true);
}

#[test]
fn json_is_the_whole_result() {
    let output = run(&["call", "search_notes", "query=rust", "--json"]);
    let result: Value = serde_json::from_str(stdout(&output)).expect("JSON");
    assert_eq!(result["structuredContent"]["total"], 1);
}

#[test]
fn report_is_text_or_json() {
    assert!(stdout(&run(&["report"])).contains("add"));
    let report: Value = serde_json::from_str(stdout(&run(&["report", "--json"]))).expect("JSON");
    assert_eq!(report["tools"][0]["name"], "add");
}

#[test]
fn version_and_help_name_the_package() {
    assert_eq!(stdout(&run(&["--version"])), "quickstart 0.1.0\n");
    let help = run(&["--help"]);
    for word in ["serve", "list", "call", "schema"] {
        assert!(stdout(&help).contains(word), "{}", stdout(&help));
    }
}

#[test]
fn logs_go_to_standard_error_filtered_by_rust_log() {
    let run = |level: Option<&str>| {
        let mut command = Command::new(binary());
        command.stdin(Stdio::null()).env_remove("RUST_LOG");
        if let Some(level) = level {
            command.env("RUST_LOG", level);
        }
        limit::output(command.arg("serve")).expect("it runs")
    };
    let quiet = run(None);
    assert_eq!((stdout(&quiet), stderr(&quiet)), ("", ""));
    let loud = run(Some("info"));
    assert_eq!(stdout(&loud), "");
    assert!(stderr(&loud).contains("serving MCP on stdio"), "{}", stderr(&loud));
}

fn misbehaving(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_misbehaving_tools"));
    limit::output(command.args(arguments).stdin(Stdio::null())).expect("it runs")
}

#[test]
fn content_without_text_is_described() {
    assert_eq!(stdout(&misbehaving(&["call", "picture"])), "[image image/png, 3 bytes]\n");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a device");
    let mut command = Command::new(binary());
    command.args(["call", "add", "a=1"]).stdin(Stdio::null()).stdout(full).stderr(Stdio::null());
    let mut child = command.spawn().expect("it starts");
    let _limit = Limit::of(&child);
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
}

#[test]
fn internal_errors_are_shown_only_to_the_operator() {
    let output = misbehaving(&["call", "broken"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("detail: the database is gone"), "{}", stderr(&output));
    assert_eq!(stderr(&output).matches("error:").count(), 1);
    assert!(!stderr(&output).contains("\u{1b}["), "no colours in a pipe");
}

/// `script` runs the command in a terminal instead of a pipe.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_shows_the_call_and_the_result() {
    let command = format!("{} call search_notes query=rust", binary().display());
    let mut script = Command::new("script");
    script.args(["--quiet", "--return", "--command", &command, "/dev/null"]).stdin(Stdio::null());
    let output = limit::output(&mut script).expect("`script` of util-linux is installed");
    let shown = stdout(&output);
    assert!(shown.contains(r#"search_notes(query: "rust")"#), "{shown}");
    assert!(shown.contains("total: 1"), "structured values are aligned: {shown}");
}

/// Text of a foreign server does not control the terminal of the person who reads it.
#[test]
#[cfg(target_os = "linux")]
fn a_terminal_is_not_controlled_by_text_of_tools() {
    let program = env!("CARGO_BIN_EXE_misbehaving_tools");
    for fail in ["false", "true"] {
        let mut script = Command::new("script");
        let command = format!("{program} call escape fail={fail}");
        script.args(["--quiet", "--return", "--command", &command, "/dev/null"]);
        let output = limit::output(script.stdin(Stdio::null())).expect("`script` is installed");
        let text = stdout(&output);
        assert!(text.contains("title\\u{7}line\r\nnext\\u{202e}"), "{text:?}");
        assert!(!text.contains("\u{1b}]") && !text.contains('\u{202e}'), "{text:?}");
    }
    let piped = |fail| misbehaving(&["call", "escape", fail]);
    assert!(stdout(&piped("fail=false")).contains("\u{1b}]0;"), "a pipe gets the text");
    assert!(!stderr(&piped("fail=true")).contains('\u{1b}'));
}

#[test]
fn an_error_is_reported_once() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_closing_server"));
    let output = limit::output(command.args(["call", "shop.read"])).expect("it starts");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output).matches("No such file").count(), 1, "{}", stderr(&output));
}
