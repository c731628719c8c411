//! Lines of several commands.

use crate::tests::yaml;
use crate::{Policy, SampleCall};
use serde_json::json;
use tool_runtime_core::govern::Decision;
use tool_runtime_core::govern::Effect::{Allow, Ask, Deny};

fn decide(policy: &Policy, line: &str) -> Decision {
    policy.try_call(&SampleCall::new("bash").arguments(json!({ "command": line })))
}

const RULES: &str = "
rules:
  - {id: no-rm, when: {tools: [bash], arguments: {command: {command: 'rm *'}}}, then: deny}
  - {id: publish, when: {tools: [bash], arguments: {command: {command: 'cargo publish *'}}}, then: ask}
  - {id: git, when: {tools: [bash], arguments: {command: {command: 'git *'}}}, then: allow}
  - id: cargo
    when: {tools: [bash], arguments: {command: {command: ['cargo *', 'cd *']}}}
    then: allow
    rate_limit: {max: 5, window: 1m}
";

#[test]
fn a_line_is_allowed_if_each_command_is_also_by_different_rules() {
    let policy = yaml(RULES);
    for (line, expected) in [
        ("git status && cargo test 2>&1 | head", Allow),
        ("git status && git diff", Allow),
        ("cd sub && cargo test", Allow),
        ("git log | head -5", Allow),
        ("git status && ls", Deny),
        ("git status && rm -rf x", Deny),
        ("git status | sh", Deny),
        ("git status > x", Deny),
        ("git status && cargo publish", Ask),
        ("cargo publish; rm x", Deny),
        ("cargo publish && ls", Deny),
        ("git log | head /etc/passwd", Deny),
        ("git status & cargo test", Deny),
    ] {
        assert_eq!(decide(&policy, line).effect(), expected, "{line}");
    }
}

#[test]
fn a_rule_may_deny_a_filter() {
    let policy = yaml(&format!("{RULES}  - {{id: last, when: {{tools: [bash]}}, then: deny}}\n"));
    assert_eq!(decide(&policy, "git log | head").effect(), Deny, "a rule decides about it");
    let policy = yaml(&RULES.replace("'rm *'", "['rm *', 'head *']"));
    assert_eq!(decide(&policy, "git log | head").effect(), Deny);
    assert_eq!(decide(&policy, "git log | tail").effect(), Allow);
}

#[test]
fn a_denied_line_names_the_command_and_the_reason() {
    let policy = yaml(RULES);
    assert_eq!(
        decide(&policy, "git status && ls").reason(),
        "`ls` of the line: no rule of the policy allows it; use another tool, or ask for permission"
    );
    assert_eq!(
        decide(&policy, "git pull -s x").reason(),
        "no rule of the policy allows it; use another tool, or ask for permission; rule `git` does not allow it because \
         `command` is uncertain: the option `-s` of `git` is not known to be harmless; only a pattern that contains it \
         allows it"
    );
    assert_eq!(
        decide(&policy, "git status && rm x").reason(),
        "`rm x` of the line: rule `no-rm` denies it; do it in another way"
    );
    let call = SampleCall::new("bash").arguments(json!({ "command": "git status && rm x" }));
    let text = policy.explain(&call).to_string();
    assert!(text.starts_with("deny by rule `no-rm`"), "{text}");
    assert!(text.contains("\n  for the command: rm x\n"), "{text}");
}

#[test]
fn a_rule_that_allows_several_commands_counts_once() {
    let decision = decide(&yaml(RULES), "cargo build && cargo test && git status");
    assert_eq!(decision.limits().len(), 1);
}

#[test]
fn a_deny_rule_lets_other_commands_of_a_line_run() {
    let policy = yaml(
        "
default: allow
rules:
  - {id: no-rm, when: {tools: [bash], arguments: {command: {command: 'rm *'}}}, then: deny}
  - {id: no-chains, when: {tools: [bash], arguments: {command: {contains: '||'}}}, then: deny}
",
    );
    assert_eq!(decide(&policy, "ls && cargo test | head").effect(), Allow);
    assert_eq!(decide(&policy, "ls && /bin/rm x").effect(), Deny);
    // Other constraints are about the whole line.
    assert_eq!(decide(&policy, "ls || ls").effect(), Deny);
}

#[test]
fn what_is_not_of_a_list_of_commands_can_be_denied() {
    let policy = yaml(
        "
default: allow
rules:
  - {id: only-git, when: {tools: [bash], arguments: {command: {not: {command: 'git *'}}}}, then: deny}
",
    );
    assert_eq!(decide(&policy, "git status && git diff").effect(), Allow);
    assert_eq!(decide(&policy, "git status && ls").effect(), Deny);
    assert_eq!(decide(&policy, "git status | sh").effect(), Deny);
}

#[test]
fn two_lines_in_one_call_are_judged_as_wholes() {
    let policy = yaml(
        "
rules:
  - id: both
    when: {tools: [bash], arguments: {a: {command: 'git *'}, b: {command: 'git *'}}}
    then: allow
",
    );
    let call = |a: &str, b: &str| {
        policy.try_call(&SampleCall::new("bash").arguments(json!({ "a": a, "b": b }))).effect()
    };
    assert_eq!(call("git log; git diff", "git log | head"), Allow);
    assert_eq!(call("git log; git diff", "git log; rm x"), Deny);
    assert_eq!(call("git log; rm x", "git log"), Deny);
    assert_eq!(call("git log", "rm x; git log"), Deny);
}
