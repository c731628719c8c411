//! The commands, on files in a folder.

use super::*;
use crate::{LivePolicy, Policies};
use std::fs;
use tempfile::TempDir;
use tool_runtime_command::seam::Commands as _;
use tool_runtime_core::pool::ToolPoolBuilder;
use tool_runtime_core::tool::Tool;

#[test]
fn a_pool_has_the_commands_once_and_also_if_its_policy_is_broken() {
    let policy = Policy::builder().build().unwrap();
    let missing = LivePolicy::open("missing.yaml");
    let pool = ToolPool::builder().install(missing).install(policy).install(Policies::new());
    let names: Vec<&str> = pool.commands().iter().map(|command| command.form().name).collect();
    assert_eq!(names, ["policy check", "policy explain", "policy test"]);
    let error = pool.allow_empty().build().unwrap_err().to_string();
    assert!(error.contains("extension `LivePolicy`") && error.contains("missing.yaml"), "{error}");
}

#[test]
fn each_way_to_install_a_policy_brings_the_commands() {
    let count = |builder: ToolPoolBuilder| builder.commands().len();
    let builder = || ToolPool::builder().allow_empty();
    assert_eq!(count(builder().install(Policy::builder().build())), 3);
    assert_eq!(count(builder().install(Policies::new())), 3);
    assert_eq!(count(builder().install(LivePolicy::open_or_deny("missing.yaml"))), 3);
}

const RULES: &str = "rules:
  - {id: reads, when: {tools: [read], arguments: {path: {equals: a}}}, then: allow}
tests:
  - {name: a, call: {tool: read, arguments: {path: a}}, expect: allow}
  - {name: b, call: {tool: read, arguments: {path: b}}, expect: deny}
";

/// A folder with a policy, one with mistakes, and a folder for callers.
fn files() -> TempDir {
    let directory = TempDir::new().unwrap();
    let write = |name: &str, text: &str| fs::write(directory.path().join(name), text).unwrap();
    write("good.yaml", RULES);
    write("failing.yaml", &RULES.replace("deny", "allow"));
    write("bad.yaml", "rules: [{id: a, then: dny}]");
    fs::create_dir(directory.path().join("callers")).unwrap();
    write("callers/ada.yaml", RULES);
    write("callers/bob.yaml", &RULES.replace("deny", "allow"));
    directory
}

/// Whether all is fine, and what is printed, without the path of the folder.
fn printed(directory: &TempDir, report: &Report) -> (bool, String) {
    let folder = format!("{}/", directory.path().display());
    (report.is_fine, report.text.replace(&folder, ""))
}

#[test]
fn check_prints_all_mistakes_and_test_what_differs() {
    let directory = files();
    let path = |name: &str| directory.path().join(name);
    for (name, expected) in [
        ("good.yaml", (true, "good.yaml: ok, without the tools of the program\n")),
        ("callers", (true, "callers: ok, without the tools of the program\n")),
        (
            "bad.yaml",
            (false, "bad.yaml:1: `rules[0].then`: unknown decision `dny`; did you mean `deny`?\n"),
        ),
    ] {
        let (is_fine, text) = printed(&directory, &check(&path(name), None, false));
        assert_eq!((is_fine, &*text), expected);
    }
    let passed = "ok      a\nok      b\n2 passed, 0 failed\n";
    let failed =
        "ok      a\nFAILED  b: expected allow, got deny by the default\n1 passed, 1 failed\n";
    for (name, expected) in [
        ("good.yaml", (true, format!("good.yaml\n{passed}"))),
        ("failing.yaml", (false, format!("failing.yaml\n{failed}"))),
        ("callers", (false, format!("callers/ada\n{passed}callers/bob\n{failed}"))),
    ] {
        let found = printed(&directory, &test(&path(name), None));
        assert_eq!(found, expected);
    }
    let (is_fine, text) = printed(&directory, &test(&path("bad.yaml"), None));
    assert!(!is_fine && text.contains("`rules[0].then`"), "{text}");
}

#[test]
fn tests_are_about_the_tools_of_the_program() {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("policy.yaml");
    let rules = "rules:
  - {id: reads, when: {annotations: {read_only: true}}, then: allow}
tests:
  - {name: known, call: {tool: read}, expect: allow}
  - {name: stated, call: {tool: read, annotations: {read_only: false}}, expect: deny}
";
    fs::write(&file, rules).unwrap();
    let tool = Tool::builder("read", "Read.").read_only(true).handler(|| async { "read" });
    let pool = ToolPool::builder().add(tool).build().unwrap();
    let (is_passed, text) = printed(&directory, &test(&file, Some(&pool)));
    assert!(is_passed, "{text}");
    let (is_passed, text) = printed(&directory, &test(&file, None));
    assert!(!is_passed && text.contains("FAILED  known"), "{text}");
    fs::write(&file, rules.replace("tool: read}", "tool: raed}")).unwrap();
    let (_, text) = printed(&directory, &test(&file, Some(&pool)));
    assert!(text.contains("got deny by the default; the program has no such tool"), "{text}");
}

#[test]
fn a_strict_check_fails_for_a_tool_that_the_program_lacks() {
    let directory = files();
    let file = directory.path().join("good.yaml");
    let tool = Tool::builder("reed", "Read.").handler(|| async { "read" });
    let pool = ToolPool::builder().add(tool).build().unwrap();
    for is_strict in [false, true] {
        let checked = printed(&directory, &check(&file, Some(&pool), is_strict));
        assert_eq!(checked.0, !is_strict, "{}", checked.1);
        assert!(
            checked.1.contains("`read` selects no tool; did you mean `reed`?"),
            "{}",
            checked.1
        );
    }
}

#[test]
fn the_pool_is_built_only_if_the_command_needs_it() {
    let directory = files();
    let path = |name: &str| directory.path().join(name).display().to_string();
    for (file, options, explains, checks) in [
        ("good.yaml", vec![("tool", "read")], true, true),
        ("good.yaml", vec![("call", "{tool: read}")], true, true),
        ("good.yaml", vec![], false, true),
        ("good.yaml", vec![("offline", "")], false, false),
        ("good.yaml", vec![("tool", "read"), ("offline", ""), ("strict", "")], true, false),
        ("bad.yaml", vec![("tool", "read")], false, false),
    ] {
        let arguments = CommandArguments::new([path(file)], options.clone());
        assert_eq!(Explain.run_without_pool(&arguments).is_none(), explains, "{file} {options:?}");
        assert_eq!(Check.run_without_pool(&arguments).is_none(), checks, "{file} {options:?}");
        assert_eq!(Test.run_without_pool(&arguments).is_none(), checks);
    }
}

#[test]
fn each_command_has_json() {
    let directory = files();
    let path = |name: &str| directory.path().join(name);
    let checked = check(&path("good.yaml"), None, false).json;
    assert_eq!((&checked["is_fine"], &checked["mistakes"]), (&json!(true), &json!([])));
    let bad = check(&path("bad.yaml"), None, false).json;
    assert!(bad["mistakes"][0].as_str().unwrap().contains("`rules[0].then`"), "{bad}");
    let tested = test(&path("callers"), None).json;
    assert_eq!(tested["policies"][0]["tests"][0], json!({ "name": "a", "failure": null }));
    assert_eq!(tested["is_fine"], false);
    let file = path("good.yaml").display().to_string();
    let arguments = CommandArguments::new([file], [("tool", "read"), ("args", r#"{"path":"a"}"#)]);
    let explained = explain(&arguments, None).unwrap().json;
    assert_eq!((&explained["decision"], &explained["rule"]), (&json!("allow"), &json!("reads")));
    assert_eq!(explained["rules"][0]["conditions"][0]["matches"], "yes");
}

#[test]
fn explain_tries_a_call_on_the_policy_of_its_caller() {
    let directory = files();
    let tool = Tool::builder("read", "Read.").handler(|| async { "read" });
    let pool = ToolPool::builder().add(tool).build().unwrap();
    let path = |name: &str| directory.path().join(name).display().to_string();
    for (file, options, expected) in [
        ("good.yaml", vec![("tool", "read"), ("args", r#"{"path":"a"}"#)], "allow by rule `reads`"),
        ("good.yaml", vec![("tool", "read"), ("args", r#"{"path":"b"}"#)], "deny by default"),
        (
            "good.yaml",
            vec![("call", "{tool: read, arguments: {path: a}}")],
            "allow by rule `reads`",
        ),
        ("callers", vec![("tool", "read"), ("principal", "ada")], "deny by default"),
        ("callers", vec![("tool", "read")], "deny: no policy of the folder applies"),
        ("bad.yaml", vec![("tool", "read")], "bad.yaml:1: `rules[0].then`"),
    ] {
        let arguments = CommandArguments::new([path(file)], options.clone());
        let (is_fine, text) = printed(&directory, &explain(&arguments, Some(&pool)).unwrap());
        assert!(text.starts_with(expected), "{options:?}: {text}");
        assert_eq!(is_fine, file != "bad.yaml");
    }
    for (options, expected) in [
        (vec![], "name the tool by `--tool TOOL`"),
        (vec![("tool", "raed")], "the program has no tool `raed`; did you mean `read`?"),
        (vec![("tool", "send_mail")], "the program has no tool `send_mail`; `list` shows them"),
        (vec![("call", "{tool: read}"), ("args", "{}")], "write `--args` into it"),
        (vec![("call", "{tol: read}")], "did you mean `tool`?"),
    ] {
        let arguments = CommandArguments::new([path("good.yaml")], options);
        let CommandFailure::Usage(text) =
            explain(&arguments, Some(&pool)).map(|report| report.text).unwrap_err()
        else {
            panic!("wrong usage");
        };
        assert!(text.contains(expected), "{text}");
    }
}
