//! Texts for people and models.

use super::{try_call, yaml};
use crate::SampleCall;
use tool_runtime_core::govern::PolicyEngine as _;
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::Principal;

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
    let failures: Vec<bool> = report.results().iter().map(|it| it.failure.is_some()).collect();
    assert_eq!(failures, [false, true, true]);
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

#[test]
fn conditions_are_described_in_words() {
    for (condition, expected) in [
        ("sources: [linked, 'mcp:git']", "uncertain the source is `linked` or `mcp:git`"),
        ("tags: [edit]", "no        the tool has the tag `edit`"),
        ("annotations: {read_only: true}", "no        the tool is `read_only`"),
        ("annotations: {destructive: false}", "no        the tool is not `destructive`"),
        ("annotations: {idempotent: true}", "no        the tool is `idempotent`"),
        ("annotations: {open_world: true}", "yes       the tool is `open_world`"),
        ("principals: [ada, 'b*']", "yes       the caller is `ada` or `b*`"),
        ("scopes: [admin]", "no        the caller has the scopes `admin`"),
        ("anonymous: true", "no        the caller is anonymous"),
        ("anonymous: false", "yes       the caller is authenticated"),
        ("risk: [low, high]", "uncertain the risk is `LOW` or `HIGH`"),
        ("labels: {env: prod}", "uncertain the execution has the labels `env=prod`"),
        ("min_step_count: 2", "uncertain at least 2 calls ran before"),
        ("max_step_count: 2", "uncertain at most 2 calls ran before"),
        ("longer_than: 1500ms", "uncertain the execution runs for more than 1.5s"),
    ] {
        let policy = yaml(&format!("rules: [{{id: r, when: {{{condition}}}, then: allow}}]"));
        let call = SampleCall::new("t").principal(Principal::new("ada"));
        let text = policy.explain(&call).to_string();
        assert!(text.contains(&format!("\n  {expected}")), "{condition}: {text}");
    }
}
