//! What a pool learns from a policy, however the policy is installed.

use super::yaml;
use crate::{
    LivePolicy, ModelRisk, Policies, Policy, PoolRules as _, SampleCall, SecurityAnalyzer,
};
use std::sync::Arc;
use tempfile::TempDir;
use tool_runtime_core::govern::{Approval, ApprovalRequest, CallView, Risk};
use tool_runtime_core::pool::{ToolPool, ToolPoolBuilder};
use tool_runtime_core::tool::Tool;

const RULES: &str = "rules:
  - {id: never, priority: 1, when: {tools: [admin]}, then: deny}
  - id: risky
    priority: 2
    when: {risk: [high]}
    then: {decision: ask, approval: {approvers: [ada]}}
  - {id: rest, priority: 3, then: allow}
";

fn builder() -> ToolPoolBuilder {
    let tool = |name: &str| Tool::builder(name, "Answer at once.").handler(|| async { "pong" });
    ToolPool::builder().add(tool("ping")).add(tool("admin"))
}

/// A builder for each way to install the rules.
fn builders() -> Vec<(&'static str, ToolPoolBuilder)> {
    let directory = TempDir::new().unwrap();
    let file = directory.path().join("_global.yaml");
    std::fs::write(&file, RULES).unwrap();
    let policy = || yaml(RULES).hide_denied();
    let live = |path| LivePolicy::configured(path, Policy::hide_denied);
    let several = || Policies::new().policy(yaml("{rules: [], default: allow}"));
    vec![
        ("installed", builder().install(policy())),
        ("policy", builder().policy(policy())),
        ("shared", builder().policy(Arc::new(policy()))),
        ("several", builder().install(several().policy(policy()))),
        ("file", builder().install(live(file))),
        ("folder", builder().install(live(directory.path().to_owned()))),
    ]
}

#[test]
fn a_pool_hides_tools_and_offers_the_parameter_of_risk() {
    for (name, builder) in builders() {
        let person = |_: ApprovalRequest| async { Approval::approved() };
        let pool = builder.approver(person).build().unwrap();
        let definitions = pool.definitions_json();
        assert!(definitions.contains("security_risk"), "{name}: {definitions}");
        assert_eq!(pool.tools().len(), 1, "{name}");
    }
}

#[test]
fn a_dry_run_reads_the_risk_as_the_policy_does() {
    for (rules, expected) in [(RULES, true), ("{rules: [], default: allow}", false)] {
        let pool =
            builder().install(Policies::new().policy(yaml(rules)).dry_run()).build().unwrap();
        assert_eq!(pool.definitions_json().contains("security_risk"), expected, "{rules}");
    }
}

#[test]
fn a_sample_call_finds_a_tool_by_its_id_and_by_its_wire_name() {
    let tool = Tool::builder("fs.read", "Read.").read_only(true).handler(|| async { "read" });
    let pool = ToolPool::builder().add(tool).build().unwrap();
    let policy = yaml("rules: [{id: a, when: {annotations: {read_only: true}}, then: allow}]");
    let wire_name = pool.tools()[0].definition().wire_name().into_owned();
    assert_ne!(wire_name, "fs.read");
    for name in ["fs.read", &*wire_name] {
        let decision = policy.try_call(&SampleCall::new(name).in_pool(&pool));
        assert_eq!(decision.rule(), Some("a"), "{name}");
    }
}

#[test]
fn tools_that_change_something_are_not_listed_in_a_pool_that_only_reads() {
    let read = Tool::builder("read", "Read.").read_only(true).handler(|| async { "read" });
    let pool = builder().add(read).read_only().build().unwrap();
    assert_eq!(pool.tools().iter().map(Tool::name).collect::<Vec<_>>(), ["read"]);
}

#[test]
fn a_pool_whose_approver_does_not_reach_the_people_of_a_rule_is_not_built() {
    for (name, builder) in builders() {
        let error = builder.build().unwrap_err().to_string();
        assert!(error.contains("question of `risky`"), "{name}: {error}");
    }
}

#[test]
fn the_parameter_of_risk_is_offered_only_if_the_judgement_of_the_model_is_read() {
    let risky = "rules: [{id: r, when: {risk: [high]}, then: deny}]";
    struct Nothing;
    impl SecurityAnalyzer for Nothing {
        fn analyze(&self, _: &CallView<'_>) -> Risk {
            Risk::Unknown
        }
    }
    for (policy, expected) in [
        (yaml(risky), true),
        (yaml("rules: [{id: r, then: deny}]"), false),
        (yaml(risky).analyzer(Nothing), false),
        (yaml(risky).analyzer(ModelRisk), true),
        (yaml("rules: [{id: r, then: deny}]").analyzer(ModelRisk), false),
    ] {
        let name = format!("{policy:?}");
        let definitions = builder().policy(policy).build().unwrap().definitions_json();
        assert_eq!(definitions.contains("security_risk"), expected, "{name}");
    }
}

#[test]
fn a_dry_run_lists_all_tools_and_asks_nobody() {
    let pool = builder().install(Policies::new().policy(yaml(RULES).hide_denied()).dry_run());
    assert_eq!(pool.build().unwrap().tools().len(), 2);
}
