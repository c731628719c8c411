//! Texts for people and models.

use super::{try_call, yaml};
use crate::SampleCall;
use tool_runtime_core::{PolicyEngine as _, Principal, ToolDefinition};

const RULES: &str = "rules:
  - id: no-force
    priority: 1
    when: {tools: ['git.*'], arguments: {force: {equals: true}}}
    then: {decision: deny, reason: history is kept}
  - id: hidden-rule
    priority: 2
    when: {tools: [git.push], principals: [ada]}
    then: allow
  - id: log
    priority: 3
    when: {tools: [git.log]}
    then: allow
tests:
  - {call: {tool: git.log, arguments: {force: false}}, expect: allow, rule: log}
  - {name: push, call: {tool: git.push, arguments: {force: false}, principal: ada}, expect: deny}
  - {call: {tool: git.log, arguments: {force: true}}, expect: deny, rule: log}
";

#[test]
fn denials_name_their_rule_and_the_remedy_and_no_other_rule() {
    let policy = yaml(RULES);
    let reason = |tool, arguments| try_call(&policy, tool, arguments).reason().to_owned();
    assert_eq!(reason("git.push", r#"{"force": true}"#), "history is kept (rule `no-force`)");
    assert_eq!(
        reason("git.push", "{}"),
        "history is kept (rule `no-force`); the rule counts because `force` is absent; write it"
    );
    assert_eq!(
        reason("git.push", r#"{"force": "yes"}"#),
        "history is kept (rule `no-force`); the rule counts because `force` contains characters that look like others, or is of another type"
    );
    let denied = reason("git.push", r#"{"force": false}"#);
    assert_eq!(denied, "no rule of the policy allows it; use another tool, or ask for permission");
}

#[test]
fn an_explanation_shows_rules_conditions_and_what_would_change_the_decision() {
    let policy = yaml(RULES);
    let call = SampleCall::new("git.push").arguments(serde_json::json!({"force": false}));
    assert_eq!(
        policy.explain(&call).to_string(),
        "deny by default: no rule matches
  reason: no rule of the policy allows it; use another tool, or ask for permission
rule `no-force` (line 2), deny: no
  no        `force` is true
rule `hidden-rule` (line 6), allow: no
  no        the caller is `ada`
to change it:
  - rule `hidden-rule` counts if the caller is `ada`
"
    );
    let call = SampleCall::new("git.push");
    let explained = policy.explain(&call);
    assert_eq!(explained.rules().len(), 1, "{explained}");
    assert_eq!(
        explained.changes(),
        ["make it certain whether `force` is true: `force` is absent; write it"]
    );
}

#[test]
fn tests_beside_the_rules_say_what_differs() {
    let report = yaml(RULES).test();
    assert!(!report.is_passed());
    assert_eq!(
        report.to_string(),
        "ok      git.log {\"force\":false}
FAILED  push: expected deny, got allow by rule `hidden-rule`
FAILED  git.log {\"force\":true}: expected deny by rule `log`, got deny by rule `no-force`
1 passed, 2 failed
"
    );
}

#[test]
fn only_a_tool_that_no_call_of_the_caller_may_run_is_hidden() {
    let policy = yaml(
        "
rules:
  - {id: uncertain, when: {tools: [a], arguments: {path: x}}, then: deny}
  - {id: admins, when: {tools: [b], principals: [ada]}, then: allow}
  - {id: never, when: {tools: [b, c]}, then: deny}
  - {id: perhaps, when: {tools: [d], arguments: {path: x}}, then: allow}
  - {id: asks, when: {tools: [e]}, then: ask}
  - {id: rest, when: {tools: [a]}, then: allow}
",
    );
    let is_visible = |policy: &crate::Policy, tool: &str, caller: &str| {
        let mut definition = ToolDefinition::default();
        definition.name = tool.to_owned();
        policy.visible(&definition, &Principal::new(caller))
    };
    assert!(is_visible(&policy, "c", "bob"), "by default, all tools are listed");
    let policy = policy.hide_denied();
    for (tool, caller, expected) in [
        ("a", "bob", true),
        ("b", "ada", true),
        ("b", "bob", false),
        ("c", "ada", false),
        ("d", "bob", true),
        ("e", "bob", true),
        ("f", "bob", false),
    ] {
        assert_eq!(is_visible(&policy, tool, caller), expected, "{tool} for {caller}");
    }
}
