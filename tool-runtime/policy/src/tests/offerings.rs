//! Rules about resources and prompts.

use super::yaml;
use crate::SampleCall;
use serde_json::json;
use std::sync::{Arc, Mutex};
use tool_runtime::govern::{CallEvent, CallStage, Receipt, Recorder};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;
use tool_runtime::tool::TextArguments;
use tool_runtime_core::govern::Effect::{self, Allow, Ask, Deny};
use tool_runtime_core::govern::{Approval, ApprovalRequest};
use tool_runtime_core::pool::ToolPoolBuilder;

#[track_caller]
fn check(rules: &str, cases: &[(SampleCall, Effect)]) {
    let policy = yaml(rules);
    for (call, expected) in cases {
        let decision = policy.try_call(call);
        assert_eq!(decision.effect(), *expected, "{}: {}", call.tool, decision.reason());
    }
}

#[test]
fn no_pattern_of_tools_selects_a_resource_or_a_prompt() {
    check(
        "rules: [{id: all-tools, when: {tools: ['*']}, then: allow}]",
        &[
            (SampleCall::new("a"), Allow),
            (SampleCall::resource("config://app"), Deny),
            (SampleCall::prompt("review"), Deny),
        ],
    );
    check(
        "rules:
  - {id: configs, when: {resources: ['config://*'], tools: [b]}, then: allow}
  - {id: prompts, when: {prompts: [review], arguments: {topic: {equals: rust}}}, then: ask}",
        &[
            (SampleCall::new("a"), Deny),
            (SampleCall::new("b"), Allow),
            (SampleCall::resource("config://app/a"), Allow),
            (SampleCall::resource("file:///etc"), Deny),
            (SampleCall::prompt("review").arguments(json!({"topic": "rust"})), Ask),
            (SampleCall::prompt("review").arguments(json!({"topic": "c"})), Deny),
            (SampleCall::prompt("config://app"), Deny),
        ],
    );
}

#[test]
fn rules_without_a_selector_are_about_all_that_only_read() {
    check(
        "rules: [{id: reads, when: {annotations: {read_only: true}}, then: allow}]",
        &[
            (SampleCall::new("a"), Deny),
            (SampleCall::resource("config://app"), Allow),
            (SampleCall::prompt("review"), Allow),
        ],
    );
}

#[test]
fn rules_about_arguments_of_tools_are_not_about_resources() {
    check(
        "default: allow\nrules: [{id: keys, when: {arguments: {path: {matches: '.*key'}}}, then: deny}]",
        &[
            (SampleCall::new("a"), Deny),
            (SampleCall::resource("config://app"), Allow),
            (SampleCall::prompt("review"), Allow),
            (SampleCall::prompt("review").arguments(json!({"path": "a.key"})), Deny),
        ],
    );
}

#[test]
fn tests_beside_the_rules_name_resources_and_prompts() {
    let policy = yaml(
        "rules: [{id: configs, when: {resources: ['config://*']}, then: allow}]
tests:
  - {call: {resource: 'config://app'}, expect: allow, rule: configs}
  - {call: {prompt: review}, expect: deny}
",
    );
    assert!(policy.test().is_passed(), "{}", policy.test());
    let text = "rules: []\ntests: [{call: {tool: a, prompt: b}, expect: deny}]";
    let error = crate::Policy::parse(text, crate::Format::Yaml).unwrap_err().to_string();
    assert!(error.contains("a call is about one of them"), "{error}");
}

/// The stages of calls, by name.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Recorder for Log {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let call = event.call;
        let line = match event.stage {
            CallStage::Decided { decision, .. } => format!("{:?}", decision.effect()),
            CallStage::Finished { outcome: Ok(result), .. } => format!("ok {}", result.to_text()),
            CallStage::Finished { outcome: Err(error), .. } => format!("{}", error.class()),
            _ => return Receipt::recorded(),
        };
        self.0.lock().unwrap().push(format!("{} {} {line}", call.name(), call.arguments()));
        Receipt::recorded()
    }
}

impl Log {
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

fn builder(rules: &str, log: &Log) -> ToolPoolBuilder {
    let config = Resource::builder("config://{name}", "config", "A configuration.")
        .handler(|_: TextArguments| async { "verbose = true" });
    let review = Prompt::builder("review", "Review text.").handler(|| async { "Review this." });
    ToolPool::builder()
        .add_resource(config)
        .add_prompt(review)
        .install(yaml(rules))
        .recorder(log.clone())
}

#[tokio::test]
async fn resources_and_prompts_pass_policy_and_log() {
    let log = Log::default();
    let rules = "rules: [{id: app, when: {resources: ['config://app']}, then: allow}]";
    let pool = builder(rules, &log).build().unwrap();
    let read = async |uri| pool.read_resource(uri, &pool.context()).await;
    let contents = read("config://app").await.unwrap();
    assert_eq!(contents[0].text.as_deref(), Some("verbose = true"));
    let call = r#"resources:config://app {"uri":"config://app"}"#;
    let recorded = log.take();
    assert_eq!(recorded[0], format!("{call} Allow"));
    assert!(recorded[1].starts_with(&format!("{call} ok")), "{recorded:?}");

    let denied = read("config://other").await.unwrap_err();
    assert_eq!(denied.class(), ErrorClass::Denied);
    let call = r#"resources:config://other {"uri":"config://other"}"#;
    assert_eq!(log.take(), [format!("{call} Deny"), format!("{call} denied")]);

    let denied = pool.get_prompt("review", &TextArguments::new(), &pool.context()).await;
    assert_eq!(denied.unwrap_err().class(), ErrorClass::Denied);
    assert_eq!(log.take().len(), 2);

    let unknown = read("nowhere://app").await.unwrap_err();
    assert_eq!(unknown.message(), "there is no resource `nowhere://app`");
    let call = r#"resources:nowhere://app {"uri":"nowhere://app"}"#;
    assert_eq!(log.take(), [format!("{call} not_found")]);
}

#[tokio::test]
async fn limits_and_people_are_asked_about_resources() {
    let rules = "rules:
  - {id: app, when: {resources: ['config://app']}, then: allow, rate_limit: {max: 2, window: 1h}}
  - {id: others, when: {resources: ['*'], prompts: ['*']}, then: ask}";
    let log = Log::default();
    let approver = |request: ApprovalRequest| async move {
        match request.tool().ends_with("review") {
            true => Approval::approved(),
            false => Approval::rejected("no"),
        }
    };
    let pool = builder(rules, &log).approver(approver).build().unwrap();
    let read = async |uri| pool.read_resource(uri, &pool.context()).await;
    assert!(read("config://app").await.is_ok());
    assert!(read("config://app").await.is_ok());
    assert_eq!(read("config://app").await.unwrap_err().class(), ErrorClass::RateLimited);
    assert_eq!(read("config://b").await.unwrap_err().class(), ErrorClass::ApprovalRejected);
    let prompt = pool.get_prompt("review", &TextArguments::new(), &pool.context()).await.unwrap();
    assert_eq!(prompt.messages[0].content.as_text(), Some("Review this."));
}

#[tokio::test]
async fn rules_about_sources_see_that_of_a_resource() {
    let rules = "default: allow\nrules: [{id: own, when: {sources: ['owner:notes']}, then: deny}]";
    let pool = builder(rules, &Log::default()).build().unwrap();
    let note = Resource::builder("note://1", "note", "A note.").handler(|| async { "a note" });
    pool.add_resources(&Source::owner("notes"), [note]).unwrap();
    let read = async |uri| pool.read_resource(uri, &pool.context()).await;
    assert!(read("config://app").await.is_ok());
    assert_eq!(read("note://1").await.unwrap_err().class(), ErrorClass::Denied);
}

#[test]
fn the_check_names_resources_and_prompts_that_the_default_denies() {
    let log = Log::default();
    let pool = builder("default: allow\nrules: []", &log).build().unwrap();
    let policy = yaml("rules: []");
    let expected = [
        "the default denies the resources `config://{name}`; a rule with `resources` allows them",
        "the default denies the prompts `review`; a rule with `prompts` allows them",
    ];
    assert_eq!(policy.unused_patterns(&pool), expected);
    let policy = yaml(
        "default: allow\nrules: [{id: app, when: {resources: ['confg://*', 'config://*'], prompts: [rview]}, then: allow}]",
    );
    let expected =
        ["rule `app`: `confg://*` selects no resource", "rule `app`: `rview` selects no prompt"];
    assert_eq!(policy.unused_patterns(&pool), expected);
    for rules in [
        "default: allow\nrules: []",
        "rules: [{id: a, when: {resources: ['config://app'], prompts: ['r*']}, then: allow}]",
    ] {
        assert!(yaml(rules).unused_patterns(&pool).is_empty(), "{rules}");
    }
}
