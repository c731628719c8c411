//! Several policies, hooks and engines: deny beats ask beats allow.

use super::{builder, fate, pool, reading, yaml, yes};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tool_runtime::Principal;
use tool_runtime::audit::EventLog;
use tool_runtime::govern::{Approval, ApprovalRequest, CallView, MetaParameters, Risk};
use tool_runtime::hook::HookCall;
use tool_runtime::policy::{
    CanUse, ConfirmRisk, Confirmation, Hint, LimitKeeper, PermissionMode, Permissions, Policies,
    PoolRules as _, SecurityAnalyzer,
};
use tool_runtime::prelude::*;
use tool_runtime::tool::Execution;

const ALLOW: &str = "rules: [{id: all, then: allow}]";
const ASK: &str = "rules: [{id: ask, then: ask}]";
const DENY: &str = "rules: [{id: no, then: deny}]";

#[tokio::test]
async fn the_strictest_of_files_engines_and_hooks_counts_in_any_order() {
    for (policies, expected, approved) in [
        ([ALLOW, ALLOW], "ran", "ran"),
        ([ALLOW, ASK], "denied", "ran"),
        ([ASK, ALLOW], "denied", "ran"),
        ([ASK, DENY], "denied", "denied"),
        ([DENY, ALLOW], "denied", "denied"),
        ([ALLOW, DENY], "denied", "denied"),
    ] {
        let together =
            || policies.into_iter().fold(Policies::new(), |all, text| all.policy(yaml(text)));
        let apart = || policies.into_iter().fold(builder(), |pool, text| pool.policy(yaml(text)));
        for pool in [builder().install(together()), apart()] {
            assert_eq!(fate(&pool.build().unwrap(), reading("a")).await, expected);
        }
        for pool in [builder().install(together()), apart()] {
            let pool = pool.approver(yes).build().unwrap();
            assert_eq!(fate(&pool, reading("a")).await, approved, "{policies:?}");
        }
    }
}

/// The people of one policy do not answer for those of another.
#[tokio::test]
async fn the_questions_of_all_policies_are_asked() {
    let by = |person: &str| {
        let then = format!("{{decision: ask, approval: {{approvers: [{person}]}}}}");
        yaml(&format!("rules: [{{id: by-{person}, then: {then}}}]"))
    };
    let grace = |_: ApprovalRequest| async { Approval::approved().by("grace") };
    let asked_person = |request: ApprovalRequest| async move {
        let rule = request.rule().unwrap_or_default();
        Approval::approved().by(rule.trim_start_matches("by-"))
    };
    for policies in [["grace", "ada"], ["ada", "grace"]] {
        let together = || policies.iter().fold(Policies::new(), |all, id| all.policy(by(id)));
        let pool = builder().install(together()).approver(grace).build().unwrap();
        assert_eq!(fate(&pool, reading("a")).await, "rejected", "{policies:?}");
        let pool = builder().install(together()).approver(asked_person).build().unwrap();
        assert_eq!(fate(&pool, reading("a")).await, "ran", "{policies:?}");
    }
}

/// A rule and a mode that ask the same people.
#[tokio::test]
async fn questions_to_the_same_people_are_one() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let all = Arc::clone(&asked);
    let approver = move |request: ApprovalRequest| {
        let text = format!("{}: {}", request.rule().unwrap_or_default(), request.question());
        all.lock().unwrap().push(text);
        async { Approval::approved() }
    };
    let rules = yaml("rules: [{id: ours, then: {decision: ask, reason: Really?}}]");
    let path = serde_json::json!({ "path": "a" });
    let policies = Policies::new().policy(rules).engine(Permissions::new(PermissionMode::Default));
    let pool = builder().install(policies).approver(approver).build().unwrap();
    assert_eq!(fate(&pool, ToolCall::json("fs.write", path)).await, "ran");
    let expected = "ours, mode:default: Really? (rule `ours`); Let `fs.write` run?";
    assert_eq!(*asked.lock().unwrap(), [expected]);
}

/// The rule that allows comes later, and does not make up for the question.
#[tokio::test]
async fn a_rule_that_asks_and_cannot_be_evaluated_asks() {
    let rules = "
rules:
  - {id: large, priority: 1, when: {arguments: {size: {min: 10}}}, then: ask}
  - {id: all, priority: 2, then: allow}";
    assert_eq!(fate(&pool(rules), reading("a")).await, "denied");
    let asking = builder().install(yaml(rules)).approver(yes).build().unwrap();
    assert_eq!(fate(&asking, reading("a")).await, "ran");
    let denying =
        rules.replace("id: all, priority: 2, then: allow", "id: no, priority: 2, then: deny");
    let denying = builder().install(yaml(&denying)).approver(yes).build().unwrap();
    assert_eq!(fate(&denying, reading("a")).await, "denied");
}

#[tokio::test]
async fn a_callback_that_allows_loosens_nothing() {
    for (answer, expected) in [
        (CanUse::Allow, "denied"),
        (CanUse::Deny("no".into()), "denied"),
        (CanUse::Ask("Sure?".into()), "denied"),
    ] {
        let answer = Arc::new(answer);
        let callback = move |_: HookCall| {
            let answer = CanUse::clone(&answer);
            async move { answer }
        };
        let pool = builder().install(yaml(DENY)).can_use(callback).approver(yes).build().unwrap();
        assert_eq!(fate(&pool, reading("a")).await, expected);
    }
    let deny = |_: HookCall| async { CanUse::Deny("no".into()) };
    let pool = builder().install(yaml(ALLOW)).can_use(deny).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "denied");
}

#[tokio::test]
async fn rules_in_one_line() {
    let write = || ToolCall::json("fs.write", serde_json::json!({ "path": "a" }));
    let pool = builder().read_only().build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "ran");
    assert_eq!(fate(&pool, write()).await, "denied");
    assert!(pool.tools().iter().all(|tool| tool.name() != "fs.write"));
    let pool = builder().confirm(Hint::Destructive).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "ran");
    assert_eq!(fate(&pool, write()).await, "denied");
    let pool = builder().confirm(Hint::Destructive).approver(yes).build().unwrap();
    assert_eq!(fate(&pool, write()).await, "ran");
}

#[tokio::test]
async fn a_dry_run_lets_everything_run_and_counts_nothing() {
    let limited = "rules: [{id: one, then: allow, rate_limit: {max: 1, window: 1h}}]";
    for rules in [DENY, ASK, limited] {
        let pool =
            builder().install(Policies::new().policy(yaml(rules)).dry_run()).build().unwrap();
        for _ in 0..3 {
            assert_eq!(fate(&pool, reading("a")).await, "ran");
        }
    }
}

#[tokio::test]
async fn a_dry_run_records_what_would_have_happened() {
    for (policies, expected) in [
        ([ALLOW, ALLOW], "dry-run: allow by all"),
        ([ALLOW, ASK], "dry-run: ask by ask"),
        ([DENY, ALLOW], "dry-run: deny by no"),
        ([ALLOW, "rules: []"], "dry-run: deny by default"),
    ] {
        let policies = policies.into_iter().fold(Policies::new(), |all, it| all.policy(yaml(it)));
        let log = EventLog::memory();
        let pool = builder().install(policies.dry_run()).install(log.clone()).build().unwrap();
        assert_eq!(fate(&pool, reading("a")).await, "ran");
        let mut records = log.reader().await.unwrap().records();
        let rule = records.find_map(|record| record.unwrap().rule);
        assert_eq!(rule.as_deref(), Some(expected));
    }
}

#[tokio::test]
async fn tools_that_a_caller_may_never_call_are_hidden_if_wanted() {
    let rules = "
rules:
  - {id: ops, priority: 1, when: {tools: [fs.write], principals: [ada]}, then: allow}
  - {id: own, priority: 2, when: {tools: [fs.read], arguments: {path: {inside: /work}}}, then: allow}
  - {id: no-agent, priority: 3, when: {tools: [agent]}, then: deny}";
    let names = |pool: &ToolPool| -> Vec<String> {
        pool.tools().iter().map(|tool| tool.name().to_owned()).collect()
    };
    let shown = builder().install(yaml(rules)).build().unwrap();
    assert_eq!(names(&shown).len(), 3);
    let hiding = builder().install(yaml(rules).hide_denied()).build().unwrap();
    assert_eq!(names(&hiding), ["fs.read"]);
    let ada = hiding.for_principal(Principal::new("ada"));
    assert_eq!(names(&ada), ["fs.read", "fs.write"]);
}

#[tokio::test]
async fn steps_age_and_labels_of_an_execution_are_read_from_its_state() {
    let pool = pool(
        "
rules:
  - {id: steps, priority: 1, when: {min_step_count: 2}, then: deny}
  - {id: time, priority: 2, when: {longer_than: 1h}, then: deny}
  - {id: dev, priority: 3, when: {labels: {env: dev}}, then: allow}",
    );
    let context = |execution: Execution| pool.context().in_execution(&Arc::new(execution));
    let dev = context(Execution::new("a").with_label("env", "dev"));
    let ran = async |context: &ToolContext| !pool.call_with(reading("a"), context).await.is_error();
    assert!(ran(&dev).await);
    assert!(ran(&dev).await);
    assert!(!ran(&dev).await, "two calls ran");
    assert!(!ran(&context(Execution::new("b").with_label("env", "prod"))).await);
    assert!(!ran(&context(Execution::new("c"))).await);
    let early = Instant::now().checked_sub(Duration::from_secs(4000)).unwrap();
    let old = Execution::new("d").with_label("env", "dev").started_at(early);
    assert!(!ran(&context(old)).await);
    // Outside of an execution the record has no such data.
    let result = pool.call(reading("a")).await;
    let text = result.observation().to_text();
    assert!(
        text.contains("the rule counts because the call is not part of an execution"),
        "{text}"
    );
}

struct Panics;

impl SecurityAnalyzer for Panics {
    fn analyze(&self, _: &CallView<'_>) -> Risk {
        panic!("a bug")
    }
}

#[tokio::test]
async fn a_person_is_asked_about_calls_that_are_risky_or_not_known() {
    let write = |risk: &str| {
        let arguments = serde_json::json!({ "path": "a", "security_risk": risk });
        ToolCall::json("fs.write", arguments)
    };
    let built = |confirm: ConfirmRisk| {
        let pool = builder().meta_parameters(MetaParameters::security_risk());
        pool.policy(confirm).build().unwrap()
    };
    let pool = built(ConfirmRisk::new(Confirmation::medium()));
    for (risk, expected) in
        [("LOW", "ran"), ("MEDIUM", "denied"), ("HIGH", "denied"), ("UNKNOWN", "denied")]
    {
        assert_eq!(fate(&pool, write(risk)).await, expected, "{risk}");
    }
    assert_eq!(fate(&pool, reading("a")).await, "ran", "reading is never asked about");
    let pool = built(ConfirmRisk::new(Confirmation::high().allow_unknown()));
    assert_eq!(fate(&pool, write("UNKNOWN")).await, "ran");
    let pool = built(ConfirmRisk::new(Confirmation::high()).analyzer(Panics));
    assert_eq!(fate(&pool, write("LOW")).await, "denied", "a panic is a high risk");
}

#[tokio::test]
async fn rules_read_the_risk_of_an_analyzer() {
    let rules = "rules: [{id: calm, when: {risk: low}, then: allow}]";
    let low = |_: &CallView<'_>| Risk::Low;
    struct Fixed<F>(F);
    impl<F: Fn(&CallView<'_>) -> Risk + Send + Sync + 'static> SecurityAnalyzer for Fixed<F> {
        fn analyze(&self, call: &CallView<'_>) -> Risk {
            (self.0)(call)
        }
    }
    let pool = builder().install(yaml(rules).analyzer(Fixed(low))).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "ran");
    let pool = builder().install(yaml(rules).analyzer(Panics)).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "denied");
    let pool = builder().install(yaml(rules)).limiter(LimitKeeper::new()).build().unwrap();
    assert_eq!(fate(&pool, reading("a")).await, "denied", "an unknown risk is not low");
}
