//! The commands that a policy, a log and an inbox bring to the command line of a program.

use crate::support::Directory;
use std::path::Path;
use std::process::{Command, Stdio};
use suite::limit;

const RULES: &str = "rules:
  - {id: pings, when: {tools: [pnig]}, then: allow}
  - {id: pay, when: {tools: [pay], annotations: {read_only: false}}, then: allow}
tests:
  - {call: {tool: pay}, expect: allow, rule: pay}
";

/// A folder with the files of the program.
struct Files(Directory);

impl Files {
    fn new() -> Self {
        let directory = Directory::new();
        directory.write("policy.yaml", RULES);
        Self(directory)
    }

    fn write(&self, name: &str, text: &str) {
        self.0.write(name, text);
    }

    /// The exit code, standard output and standard error of a command in the folder.
    fn run(&self, log: &str, words: &[&str]) -> (Option<i32>, String, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_governed_server"));
        command.args(words).stdin(Stdio::null()).current_dir(self.0.path());
        command.env("POLICY", "policy.yaml").env("LOG", log).env("INBOX", "inbox");
        let output = limit::output(&mut command).expect("the program runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        (output.status.code(), text(output.stdout), text(output.stderr))
    }
}

#[test]
fn the_help_lists_the_commands() {
    let files = Files::new();
    let (_, help, _) = files.run("calls.db", &["--help"]);
    for (command, about) in [
        ("policy check", "Report all mistakes"),
        ("policy explain", "Show which rule decides"),
        ("policy test", "Run the tests"),
        ("log show", "Show calls"),
        ("log follow", "Show records"),
        ("log verify", "Check that no record"),
        ("log export", "Print records"),
        ("log resolve", "State the outcome"),
        ("approvals list", "Show the open questions"),
        ("approvals approve", "Let a call run"),
        ("approvals deny", "Refuse a call"),
        ("approvals remembered", "Show the approvals for later calls"),
        ("approvals forget", "Withdraw an approval"),
    ] {
        let line = format!("{command:20}  {about}");
        assert!(help.contains(&line), "{line} is not in {help}");
    }
    let (code, _, error) = files.run("calls.db", &["log", "show"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("<FILE>"), "{error}");
    let (code, _, error) = files.run("calls.db", &["policy", "explain", "policy.yaml"]);
    let expected = "error: name the tool by `--tool TOOL`, or describe the call by `--call CALL`\n";
    assert_eq!((code, &*error), (Some(2), expected));
}

#[test]
fn a_call_that_waits_in_the_inbox_says_so() {
    let files = Files::new();
    let asks = "rules:\n  - {id: pay, then: {decision: ask, approval: {timeout: 1s}}}\n";
    files.write("policy.yaml", asks);
    let (code, _, error) = files.run("calls.db", &["call", "pay"]);
    assert_eq!(code, Some(1), "{error}");
    assert!(error.starts_with("info: the call waits for an approval: question "), "{error}");
}

#[test]
fn policies_are_checked_explained_and_tested_with_the_tools_of_the_program() {
    let files = Files::new();
    let (code, checked, _) = files.run("calls.db", &["policy", "check", "policy.yaml"]);
    let warning = "warning: rule `pings`: `pnig` selects no tool; did you mean `ping`?";
    assert_eq!((code, checked), (Some(0), format!("policy.yaml: {warning}\npolicy.yaml: ok\n")));
    let explain = ["policy", "explain", "policy.yaml", "--tool", "ping"];
    let (code, explained, _) = files.run("calls.db", &explain);
    assert_eq!(code, Some(0));
    assert!(explained.starts_with("deny by default: no rule matches"), "{explained}");
    let (code, tested, _) = files.run("calls.db", &["policy", "test", "policy.yaml"]);
    assert_eq!((code, &*tested), (Some(0), "policy.yaml\nok      pay {}\n1 passed, 0 failed\n"));
}

#[test]
fn a_question_that_nobody_can_answer_is_a_mistake_of_the_policy() {
    let files = Files::new();
    files.write(
        "other.yaml",
        "rules: [{id: pings, when: {tools: [ping]}, then: {decision: ask, approval: {approvers: [caller]}}}]",
    );
    let (code, checked, _) = files.run("calls.db", &["policy", "check", "other.yaml"]);
    let expected = "other.yaml: the question of `pings` may be answered by the caller, whom the pool's approver never asks";
    assert!(code == Some(1) && checked.starts_with(expected), "{checked}");
    let (code, checked, _) = files.run("calls.db", &["policy", "check", "other.yaml", "--offline"]);
    let expected = "other.yaml: ok, without the tools of the program\n";
    assert_eq!((code, &*checked), (Some(0), expected));
}

#[test]
fn an_explanation_refuses_an_unknown_tool_and_names_arguments_that_the_tool_lacks() {
    let files = Files::new();
    files.write(
        "policy.yaml",
        "rules: [{id: own, when: {tools: [ping], arguments: {path: a}}, then: allow}]",
    );
    let explain =
        |tool| files.run("calls.db", &["policy", "explain", "policy.yaml", "--tool", tool]);
    let (code, _, error) = explain("pnig");
    let expected = "error: the program has no tool `pnig`; did you mean `ping`?\n";
    assert_eq!((code, &*error), (Some(2), expected));
    let (code, explained, _) = explain("ping");
    let warning = "warning: rule `own`: the argument `path` is not one of `ping`: the rule allows none of their calls\n";
    assert!(code == Some(0) && explained.ends_with(warning), "{explained}");
}

#[test]
fn an_explanation_reads_the_source_of_the_tool() {
    let files = Files::new();
    files.write("policy.yaml", "rules: [{id: own, when: {sources: [linked]}, then: allow}]");
    assert_eq!(files.run("calls.db", &["call", "ping"]).1, "pong\n");
    let explain = ["policy", "explain", "policy.yaml", "--tool", "ping"];
    let (_, explained, _) = files.run("calls.db", &explain);
    assert!(explained.starts_with("allow by rule `own` (line 1)"), "{explained}");
}

#[test]
fn an_explanation_knows_all_that_a_test_can_say_about_a_call() {
    let files = Files::new();
    files.write(
        "policy.yaml",
        "rules:
- {id: office, when: {tools: [ping], schedule: 'mon 09:00-17:00 UTC'}, then: allow}
- {id: risky, when: {tools: [ping], risk: high}, then: ask}",
    );
    let explain = |words: &[&str]| {
        let all = [&["policy", "explain", "policy.yaml"], words].concat();
        files.run("calls.db", &all)
    };
    for (call, expected) in [
        ("{tool: ping, at: 2026-01-05T10:00:00Z}", "allow by rule `office` (line 2)"),
        ("{tool: ping, at: 2026-01-06T10:00:00Z, risk: high}", "ask by rule `risky` (line 3)"),
        ("{tool: ping, at: 2026-01-06T10:00:00Z}", "deny by default"),
    ] {
        let (code, explained, error) = explain(&["--call", call]);
        assert_eq!(code, Some(0), "{error}");
        assert!(explained.starts_with(expected), "{call}: {explained}");
    }
    let (code, _, error) = explain(&["--call", "{tool: ping, risk: hihg}"]);
    let expected = "error: `--call`: line 1: `risk`: unknown risk `hihg`; did you mean `high`?\n";
    assert_eq!((code, &*error), (Some(2), expected));
    let (code, _, error) = explain(&["--call", "{tool: ping}", "--args", "{}"]);
    let expected = "error: `--call` describes the whole call; write `--args` into it\n";
    assert_eq!((code, &*error), (Some(2), expected));
}

#[test]
fn folders_of_policies_are_explained_and_tested() {
    let files = Files::new();
    std::fs::create_dir(files.0.file("rules")).expect("a folder");
    files.write(
        "rules/_global.yaml",
        "\nrules: [{id: pings, when: {tools: [pnig, ping]}, then: ask}]",
    );
    files.write(
        "rules/ada.yaml",
        "rules: [{id: own, when: {tools: [pay]}, then: allow}]
tests: [{name: asks, call: {tool: pnig}, expect: ask, rule: pings}, {call: {tool: pay}, expect: deny}]",
    );
    let explain = |words: &[&str]| {
        let all = [&["policy", "explain", "rules", "--tool"], words].concat();
        files.run("calls.db", &all).1
    };
    let own = explain(&["pay", "--principal", "ada"]);
    assert!(own.starts_with("allow by rule `own` (line 1)"), "{own}");
    assert!(explain(&["pay", "--principal", "bob"]).starts_with("deny by default"));
    let shared = explain(&["ping", "--principal", "ada"]);
    assert!(shared.starts_with("ask by rule `pings`\n"), "{shared}");
    let (code, tested, _) = files.run("calls.db", &["policy", "test", "rules"]);
    let failed = "FAILED  pay {}: expected deny, got allow by rule `own`";
    let expected = format!(
        "rules/_global\nno tests; write some under the key `tests`\nrules/ada\nok      asks\n{failed}\n1 passed, 1 failed\n"
    );
    assert_eq!((code, tested), (Some(1), expected));
    let (_, checked, _) = files.run("calls.db", &["policy", "check", "rules"]);
    assert_eq!(checked.matches("`pnig` selects no tool").count(), 1, "{checked}");
}

#[test]
fn a_broken_policy_is_checked_although_the_pool_cannot_be_built() {
    let files = Files::new();
    assert_eq!(files.run("calls.db", &["call", "pay"]).1, "paid\n");
    files.write(
        "policy.yaml",
        "rules:\n  - {id: a, whn: {}, then: allow}\n  - {id: b, then: alow}\n",
    );
    for command in ["check", "test"] {
        let (code, printed, _) = files.run("calls.db", &["policy", command, "policy.yaml"]);
        assert_eq!(code, Some(1), "{printed}");
        let lines: Vec<&str> = printed.lines().collect();
        assert!(
            lines[0].starts_with("policy.yaml:2: `rules[0].whn`") && lines.len() == 2,
            "{printed}"
        );
    }
    let (code, _, error) = files.run("calls.db", &["call", "ping"]);
    assert_eq!(code, Some(3));
    assert!(error.contains("extension `LivePolicy`") && error.contains("policy.yaml:3"), "{error}");
    // A log is checked all the same.
    assert_eq!(files.run("calls.db", &["log", "verify", "calls.db"]).0, Some(0));
}

#[test]
fn the_log_of_the_program_is_shown_and_verified_and_damage_is_an_exit_code() {
    let files = Files::new();
    assert_eq!(files.run("calls.db", &["call", "pay"]).1, "paid\n");
    let (_, shown, _) = files.run("calls.db", &["log", "show", "calls.db"]);
    assert!(shown.contains("pay {} -> allowed (rule pay); succeeded"), "{shown}");
    let (code, verified, _) = files.run("calls.db", &["log", "verify", "calls.db"]);
    assert!(code == Some(0) && verified.starts_with("records 1 to 4 are"), "{verified}");
    damage(&files.0.file("calls.db"));
    let (code, verified, _) = files.run("calls.db", &["log", "verify", "calls.db"]);
    assert!(code == Some(1) && verified.starts_with("record 2 was changed"), "{verified}");
    let (code, _, error) = files.run("calls.db", &["log", "verify", "other.db"]);
    assert_eq!(code, Some(1));
    assert!(error.starts_with("error: ") && error.contains("other.db"), "{error}");
    let (code, _, error) = files.run("calls.db", &["log", "export", "calls.db", "--after", "x"]);
    assert_eq!((code, &*error), (Some(2), "error: `--after x` is not the number of a record\n"));
}

fn damage(log: &Path) {
    let log = rusqlite::Connection::open(log).expect("a log");
    let text = "UPDATE records SET text = replace(text, 'pay', 'buy') WHERE seq = 2";
    assert_eq!(log.execute(text, []), Ok(1));
}

#[test]
fn a_log_that_looks_up_no_steps_is_an_error_of_the_program() {
    let files = Files::new();
    let (code, _, error) = files.run("calls.jsonl", &["call", "pay"]);
    assert_eq!(code, Some(3));
    assert!(error.contains("calls.jsonl` is a JSONL log, which looks up no steps"), "{error}");
    // Its records can be checked nevertheless.
    let (code, verified, _) = files.run("calls.jsonl", &["log", "verify", "calls.jsonl"]);
    assert!(code == Some(1) && verified.starts_with("the log is empty"), "{verified}");
    let resolve = ["log", "resolve", "calls.jsonl", "step", "--not-run", "--by", "ada"];
    let (code, _, error) = files.run("calls.jsonl", &resolve);
    assert!(code == Some(1) && error.contains("looks up no steps of repeated runs"), "{error}");
}
