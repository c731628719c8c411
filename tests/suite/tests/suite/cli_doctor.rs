//! `doctor` for the program's own server.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_terminal_tools");

fn doctor(home: &Path, words: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.arg("doctor").args(words).stdin(Stdio::null()).current_dir(home);
    command.env("HOME", home).env_remove("XDG_CONFIG_HOME").env_remove("CODEX_HOME");
    command.envs(environment.iter().copied()).output().expect("the program starts")
}

fn printed(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Registers a command with a client.
fn register(home: &Path, file: &str, entry: &Value) {
    let file = home.join(file);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, json!({ "mcpServers": { "terminal_tools": entry } }).to_string()).unwrap();
}

#[test]
fn a_healthy_program_has_nothing_to_mend() {
    let home = TempDir::new().unwrap();
    register(home.path(), ".claude.json", &json!({ "command": PROGRAM, "args": ["serve"] }));
    let output = doctor(home.path(), &["--json"], &[]);
    assert_eq!(output.status.code(), Some(0), "{}", printed(&output));
    let subjects: Value = serde_json::from_slice(&output.stdout).unwrap();
    let names: Vec<&Value> =
        subjects.as_array().unwrap().iter().map(|subject| &subject["about"]).collect();
    assert_eq!(names, ["tools", "start", "clients"]);
    let text = printed(&doctor(home.path(), &[], &[]));
    for words in [
        "the program has 8 tools",
        "it answers a client",
        ".claude.json) answers a client",
        "all is well",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn output_at_the_start_is_wrong() {
    let home = TempDir::new().unwrap();
    let output = doctor(home.path(), &[], &[("TERMINAL_TOOLS_GREETS", "1")]);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    let text = printed(&output);
    assert!(
        text.contains("it prints `Hello!` to standard output, which is for messages"),
        "{text}"
    );
}

#[test]
fn each_registration_is_started_with_its_arguments() {
    let home = TempDir::new().unwrap();
    let entry = |arguments: &[&str]| json!({ "command": PROGRAM, "args": arguments });
    register(home.path(), ".claude.json", &entry(&["serve", "--allow", "sarch"]));
    let greets =
        json!({ "command": PROGRAM, "args": ["serve"], "env": { "TERMINAL_TOOLS_GREETS": "1" } });
    register(home.path(), ".cursor/mcp.json", &greets);
    // Under another name.
    let other = json!({ "mcpServers": { "shelf": entry(&["sarve"]) } });
    fs::create_dir_all(home.path().join(".gemini")).unwrap();
    fs::write(home.path().join(".gemini/settings.json"), other.to_string()).unwrap();
    let output = doctor(home.path(), &[], &[]);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    let text = printed(&output);
    for words in [
        "`terminal_tools` of Claude Code (user, ",
        ".claude.json) does not serve: the pattern `sarch` picks no tool",
        ".cursor/mcp.json) prints `Hello!` to standard output",
        "`shelf` of Gemini CLI (user, ",
        "settings.json) does not serve: unrecognized subcommand 'sarve'",
        "3 things are wrong",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn a_registration_for_the_user_is_started_in_another_folder() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("tools.json"), r#"{"tools": ["search"]}"#).unwrap();
    let relative = json!({ "command": PROGRAM, "args": ["serve", "--tools", "tools.json"] });
    register(home.path(), ".claude.json", &relative);
    let output = doctor(home.path(), &[], &[]);
    assert_eq!(output.status.code(), Some(1), "{}", printed(&output));
    let text = printed(&output);
    for words in [
        ".claude.json) does not serve: ",
        "tools.json",
        "No such file",
        "its paths must be absolute",
        "1 thing is wrong",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
}

#[test]
fn options_of_the_program_hold_for_the_server_that_is_started() {
    let home = TempDir::new().unwrap();
    fs::write(home.path().join("tools.json"), r#"{"tools": ["search"]}"#).unwrap();
    let output = doctor(home.path(), &["--tools", "tools.json"], &[]);
    assert!(printed(&output).contains("the program has 1 tool\n"), "{}", printed(&output));
}

#[test]
fn registrations_that_cannot_work_and_secrets_are_shown() {
    let home = TempDir::new().unwrap();
    let secret = json!({ "API_KEY": "hunter2", "OTHER_TOKEN": "${TOKEN}", "LEVEL": "3" });
    register(home.path(), ".mcp.json", &json!({ "command": PROGRAM, "env": secret }));
    register(home.path(), ".cursor/mcp.json", &json!({ "command": "terminal_tools" }));
    register(
        home.path(),
        ".codeium/windsurf/mcp_config.json",
        &json!({ "command": "/gone/terminal_tools" }),
    );
    register(home.path(), ".gemini/settings.json", &json!({ "command": "/bin/sh" }));
    let output = doctor(home.path(), &[], &[]);
    assert_eq!(output.status.code(), Some(1));
    let text = printed(&output);
    for words in [
        "has the value of API_KEY in plain text",
        "which it looks for in the PATH of the desktop",
        "starts `/gone/terminal_tools`, which does not exist",
        "starts `/bin/sh`, another program than this",
        "was not started: only the client knows the value of OTHER_TOKEN",
        "2 things are wrong",
    ] {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    assert!(!text.contains("hunter2") && !text.contains("value of OTHER_TOKEN in"), "{text}");
}
