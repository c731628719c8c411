//! Ways around a rule that a pool offers: other names, repairs, hooks, other tools.

use super::{builder, fate, pool, reading, yaml};
use crate::support::class;
use tool_runtime::govern::Effect;
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::policy::{CanUse, PoolRules as _, SampleCall};
use tool_runtime::prelude::*;

const NO_SECRETS: &str = "
default: allow
rules:
  - {id: secrets, when: {tools: [fs.read], arguments: {path: {contains: secret}}}, then: deny}";

#[tokio::test]
async fn another_spelling_of_a_call_does_not_pass_a_rule() {
    let pool = pool(NO_SECRETS);
    for (name, arguments, expected) in [
        ("fs.read", r#"{"path": "a"}"#, "ran"),
        ("fs.read", r#"{"path": "secret"}"#, "denied"),
        ("fs__read", r#"{"path": "secret"}"#, "denied"),
        ("fs.read", r#"{"file": "a"}"#, "ran"),
        ("fs.read", r#"{"file": "secret"}"#, "denied"),
        ("fs.read", r#"{"f\u0069le": "s\u0065cret"}"#, "denied"),
        ("fs.read", r#"{"file": "secret", "path": "a"}"#, "invalid"),
        ("fs.read", r#"{"path": "a", "path": "secret"}"#, "invalid"),
        ("fs.read", r#"{"Path": "secret"}"#, "invalid"),
        ("fs.read", r#"{"path": "se\u200bcret"}"#, "denied"),
    ] {
        assert_eq!(
            fate(&pool, ToolCall::new(name, arguments)).await,
            expected,
            "{name} {arguments}"
        );
    }
    for name in ["fs_read", "FS.READ", "fs.Read"] {
        let result = pool.call(ToolCall::new(name, r#"{"path": "secret"}"#)).await;
        assert!(result.is_error(), "{name}");
    }
}

#[test]
fn an_explanation_reads_aliases_and_wire_names_like_a_call() {
    let (pool, policy) = (pool(NO_SECRETS), yaml(NO_SECRETS));
    let decided = |tool: &str, arguments: &str| {
        let call = SampleCall::new(tool).arguments_text(arguments).in_pool(&pool);
        policy.try_call(&call).effect()
    };
    for tool in ["fs.read", "fs__read"] {
        assert_eq!(decided(tool, r#"{"file": "a"}"#), Effect::Allow, "{tool}");
        assert_eq!(decided(tool, r#"{"file": "secret"}"#), Effect::Deny, "{tool}");
        assert_eq!(decided(tool, r#"{"file": "a", "path": "a"}"#), Effect::Deny, "{tool}");
    }
}

#[tokio::test]
async fn repaired_arguments_are_decided_about_as_they_will_run() {
    let pool = builder().install(yaml(NO_SECRETS)).repair().build().unwrap();
    for arguments in [
        r#"{"Path": "secret"}"#,
        r#"{"FILE": "secret"}"#,
        r"{'path': 'secret'}",
        r#"{"path": "secret",}"#,
        r#"```json
{"path": "secret"}
```"#,
        r#"{"path": ["secret"]}"#,
    ] {
        let result = pool.call(ToolCall::new("fs.read", arguments)).await;
        assert!(result.is_error(), "{arguments}");
        assert!(!result.observation().to_text().contains("read secret"), "{arguments}");
    }
}

#[tokio::test]
async fn arguments_that_a_hook_wrote_are_decided_about() {
    let hook =
        Hook::before("fs.read", |_: HookCall| async { Before::rewrite(r#"{"path": "secret"}"#) });
    let pool = builder().install(yaml(NO_SECRETS)).hook(hook).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "denied");
    let callback = |_: HookCall| async { CanUse::Rewrite(r#"{"path": "secret"}"#.to_owned()) };
    let pool = builder().install(yaml(NO_SECRETS)).can_use(callback).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "denied");
}

#[tokio::test]
async fn calls_of_tools_and_of_child_handles_pass_the_same_rules() {
    let pool = pool(NO_SECRETS);
    let call = ToolCall::json("agent", serde_json::json!({ "path": "secret" }));
    let text = pool.call(call).await.observation().to_text();
    assert!(text.contains("is not allowed"), "{text}");

    let child = pool.scope();
    let _narrow = child.restrict(["fs.*", "*"]).unwrap();
    assert_eq!(fate(&child, reading("secret")).await, "denied");
    assert_eq!(fate(&child, reading("a")).await, "ran");
    let session = pool.session();
    assert_eq!(fate(session.pool(), reading("secret")).await, "denied");
}

#[tokio::test]
async fn duplicate_keys_of_raw_arguments_are_uncertain() {
    let raw =
        Tool::builder("raw", "Take anything.").handler(
            |arguments: serde_json::Map<String, serde_json::Value>| async move {
                format!("{arguments:?}")
            },
        );
    let rules = "
default: allow
rules: [{id: r, when: {arguments: {path: {equals: secret}}}, then: deny}]";
    let pool = ToolPool::builder().add(raw).install(yaml(rules)).build().unwrap();
    assert_eq!(fate(&pool, ToolCall::new("raw", r#"{"path": "a"}"#)).await, "ran");
    for arguments in [
        r#"{"path": "a", "path": "secret"}"#,
        r#"{"path": "secret", "path": "a"}"#,
        r#"{"path": "secret", "path": "a", "other": "\n"}"#,
        r#"{"p\u0061th": "secret", "path": "a"}"#,
    ] {
        assert_eq!(fate(&pool, ToolCall::new("raw", arguments)).await, "denied", "{arguments}");
    }
}

#[tokio::test]
async fn a_denial_says_which_rule_and_what_to_do() {
    let pool = pool(NO_SECRETS);
    let result = pool.call(reading("secret")).await;
    assert_eq!(class(&result), ErrorClass::Denied);
    assert_eq!(
        result.observation().to_text(),
        "the call to `fs.read` is not allowed: rule `secrets` denies it; do it in another way"
    );
}
