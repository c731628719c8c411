//! Two tasks in small crates, done by an agent with a model of the test, through the program over MCP.

#![allow(missing_docs, clippy::unwrap_used)]

mod model;
mod project;

use model::Script;
use project::Project;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const CONVERT: &str = "\
/// Degrees Celsius of degrees Fahrenheit.
pub fn celsius(fahrenheit: f64) -> f64 {
    (fahrenheit - 32.0) * 9.0 / 5.0
}

/// Degrees Fahrenheit of degrees Celsius.
pub fn fahrenheit(celsius: f64) -> f64 {
    celsius * 9.0 / 5.0 + 32.0
}
";

const TESTS: &str = "\
use project::convert::{celsius, fahrenheit};

#[test]
fn water_boils() {
    assert_eq!(celsius(212.0), 100.0);
}

#[test]
fn water_freezes() {
    assert_eq!(fahrenheit(0.0), 32.0);
}
";

async fn bash(script: &mut Script, command: &str) -> String {
    script.ok("Bash", json!({ "command": command, "timeout_ms": 300_000 })).await
}

/// `path:line:text` of each match.
async fn grep(script: &mut Script, pattern: &str, glob: &str) -> Vec<(String, u64, String)> {
    let arguments = json!({ "pattern": pattern, "glob": glob, "output_mode": "content" });
    let found = script.ok("Grep", arguments).await;
    let matches = found.lines().filter(|line| !line.starts_with('[')).map(|line| {
        let mut parts = line.splitn(3, ':').map(str::to_owned);
        let mut part = || parts.next().unwrap();
        (part(), part().parse().unwrap(), part())
    });
    matches.collect()
}

/// Looks for the failing test, the function it is about, and the line to change: each comes from the result before.
async fn fix_the_test(mut script: Script) -> String {
    let red = bash(&mut script, "cargo test --offline").await;
    assert!(red.contains("[exit code 101]"), "{red}");
    let failed = red.lines().find_map(|line| line.strip_suffix(" ... FAILED")).unwrap();
    let failed = failed.trim_start_matches("test ");

    let test = grep(&mut script, &format!("fn {failed}\\b"), "*.rs").await.remove(0);
    let around = json!({ "file_path": test.0, "offset": test.1, "limit": 3 });
    let body = script.ok("Read", around).await;
    let (name, call) = body.split_once("assert_eq!(").unwrap();
    assert!(name.contains(failed));
    let function = call.split_once('(').unwrap().0;
    // The easy way out is not allowed.
    let expected = call.split_once(", ").unwrap().1.split_once(')').unwrap().0;
    let cheat = json!({ "file_path": test.0, "old_string": expected, "new_string": "324.0" });
    let refused = script.call("Edit", cheat).await;
    assert!(refused.is_error && refused.text.contains("policy"), "{}", refused.text);

    let definition = grep(&mut script, &format!("pub fn {function}\\b"), "src/**").await.remove(0);
    let source = json!({ "file_path": definition.0, "offset": definition.1 + 1, "limit": 1 });
    let line = script.ok("Read", source).await;
    let formula = line.lines().next().unwrap().split_once('\t').unwrap().1;
    let mended = formula.replace("9.0 / 5.0", "5.0 / 9.0");
    let edit = json!({ "file_path": definition.0, "old_string": formula, "new_string": mended });
    script.ok("Edit", edit).await;

    let green = bash(&mut script, "cargo test --offline").await;
    assert!(!green.contains("exit code"), "{green}");
    format!("`{function}` is mended")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failing_test_is_fixed() {
    let files = [
        ("src/lib.rs", "pub mod convert;\n"),
        ("src/convert.rs", CONVERT),
        ("tests/convert.rs", TESTS),
    ];
    let project = Project::new(&files);
    assert!(!project.cargo(&["test"]).status.success());
    let (calls, last) = project.work("Fix the failing test.", fix_the_test).await;
    assert_eq!(last, "`celsius` is mended");
    assert_eq!(calls, ["Bash", "Grep", "Read", "Edit", "Grep", "Read", "Edit", "Bash"]);
    let tested = project.cargo(&["test"]);
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
    assert_eq!(project.text("src/convert.rs"), CONVERT.replacen("9.0 / 5.0", "5.0 / 9.0", 1));
    assert_eq!(project.text("tests/convert.rs"), TESTS);
}

/// Renames in every file that a search finds, with the lines that it shows.
async fn rename(mut script: Script) -> String {
    let found = grep(&mut script, r"\bold_name\b", "*.rs").await;
    let mut files: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (path, _, line) in found {
        let edits = files.entry(path).or_default();
        // Names that only contain the old one stay.
        let new = line.replace("old_name", "new_name").replace("new_name_too", "old_name_too");
        let edit = json!({ "old_string": line, "new_string": new, "replace_all": true });
        if !edits.contains(&edit) {
            edits.push(edit);
        }
    }
    for (path, edits) in &files {
        script.ok("Read", json!({ "file_path": path })).await;
        script.ok("MultiEdit", json!({ "file_path": path, "edits": edits })).await;
    }
    let checked = bash(&mut script, "cargo check --offline --all-targets").await;
    assert!(!checked.contains("exit code"), "{checked}");
    let left = grep(&mut script, r"\bold_name\b", "*.rs").await;
    format!("{} files, {} matches left", files.len(), left.len())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_function_is_renamed_across_files() {
    let lib =
        "mod a;\npub mod b;\npub use a::old_name;\npub fn old_name_too() -> i32 { old_name() }\n";
    let b = "use crate::old_name;\r\n\r\npub fn twice() -> i32 {\r\n    old_name() + old_name()\r\n}\r\n";
    let files = [
        ("src/lib.rs", lib),
        ("src/a.rs", "/// See [`old_name`].\npub fn old_name() -> i32 {\n    21\n}\n"),
        ("src/b.rs", b),
        ("README.md", "Call `old_name`.\n"),
    ];
    let project = Project::new(&files);
    let (calls, last) = project.work("Rename `old_name` to `new_name`.", rename).await;
    assert_eq!(last, "3 files, 0 matches left");
    let each = ["Read", "MultiEdit"];
    assert_eq!(calls, [&["Grep"][..], &each, &each, &each, &["Bash", "Grep"]].concat());
    let checked = project.cargo(&["check", "--all-targets"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    assert_eq!(project.text("src/b.rs"), b.replace("old_name", "new_name"));
    let lib =
        "mod a;\npub mod b;\npub use a::new_name;\npub fn old_name_too() -> i32 { new_name() }\n";
    assert_eq!(project.text("src/lib.rs"), lib);
    assert_eq!(project.text("README.md"), "Call `old_name`.\n");
}
