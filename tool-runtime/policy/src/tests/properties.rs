//! A stricter policy never allows more.

use super::yaml;
use crate::{Argument, Policy, Rule, SampleCall};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;
use tool_runtime_core::govern::{Approvers, Effect};
use tool_runtime_core::vocabulary::Principal;

/// A rule as data, since rules are not cloned.
#[derive(Clone, Debug)]
struct Draft {
    effect: u8,
    priority: i64,
    tool: &'static str,
    argument: Option<u8>,
    caller: bool,
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let tool = prop::sample::select(vec!["a.x", "a.*", "*", "b.y"]);
    let draft = (0..3_u8, -3..3_i64, tool, prop::option::of(0..5_u8), any::<bool>());
    let draft = draft.prop_map(|(effect, priority, tool, argument, caller)| Draft {
        effect,
        priority,
        tool,
        argument,
        caller,
    });
    prop::collection::vec(draft, 0..8)
}

impl Draft {
    fn rule(&self, id: usize) -> Rule {
        let rule = match self.effect {
            0 => Rule::allow(format!("r{id}")),
            1 => Rule::ask(format!("r{id}")),
            _ => Rule::deny(format!("r{id}")),
        };
        let rule = rule.tool(self.tool).priority(self.priority);
        let rule = if self.caller { rule.principals(["ada"]) } else { rule };
        match self.argument {
            None => rule,
            Some(0) => rule.argument(Argument::new("n").at_most(5)),
            Some(1) => rule.argument(Argument::new("s").pattern("x")),
            Some(2) => rule.argument(Argument::new("s").equals("x")),
            Some(3) => rule.argument(Argument::new("p").inside(["/work"])),
            Some(_) => rule.argument(Argument::new("l[*]").at_least(3)),
        }
    }
}

fn policy(drafts: &[Draft]) -> Policy {
    let rules = drafts.iter().enumerate().map(|(id, draft)| draft.rule(id));
    rules.fold(Policy::builder(), crate::PolicyBuilder::rule).build().unwrap()
}

fn value() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(1),
        json!(9),
        json!("x"),
        json!("y"),
        json!("x\u{200b}"),
        json!("/work/a"),
        json!("/work/../a"),
        json!([1, 5]),
        json!([5]),
        json!([]),
        json!(null),
        json!({}),
    ])
}

fn calls() -> impl Strategy<Value = SampleCall> {
    let tool = prop::sample::select(vec!["a.x", "a.z", "b.y"]);
    let arguments =
        prop::collection::hash_map(prop::sample::select(vec!["n", "s", "p", "l"]), value(), 0..4);
    (tool, arguments, any::<bool>()).prop_map(|(tool, arguments, is_ada)| {
        let arguments = arguments.into_iter().map(|(name, value)| (name.to_owned(), value));
        let ada = if is_ada { Principal::new("ada") } else { Principal::anonymous() };
        SampleCall::new(tool).arguments(Value::Object(arguments.collect())).principal(ada)
    })
}

proptest! {
    #![proptest_config(crate::property::cases(512))]

    #[test]
    fn further_denials_never_allow_more(drafts in drafts(), denial in drafts(), call in calls()) {
        let before = policy(&drafts).try_call(&call).effect();
        let mut stricter = drafts;
        let denial = denial.into_iter().map(|draft| Draft { effect: 2, ..draft });
        stricter.extend(denial);
        let after = policy(&stricter).try_call(&call).effect();
        prop_assert!(after >= before, "{before:?} {after:?}");
    }

    #[test]
    fn a_rule_that_is_taken_away_from_those_that_allow_never_allows_more(
        drafts in drafts(), call in calls(), which in any::<prop::sample::Index>(),
    ) {
        let allowing: Vec<usize> =
            (0..drafts.len()).filter(|index| drafts[*index].effect == 0).collect();
        prop_assume!(!allowing.is_empty());
        let only_allow: Vec<Draft> =
            drafts.iter().filter(|draft| draft.effect == 0).cloned().collect();
        let before = policy(&only_allow).try_call(&call).effect();
        let mut fewer = only_allow;
        fewer.remove(which.index(fewer.len()));
        prop_assert!(policy(&fewer).try_call(&call).effect() >= before);
    }

    #[test]
    fn taking_arguments_away_never_allows_more(drafts in drafts(), call in calls()) {
        let known = policy(&drafts).try_call(&call).effect();
        let unreadable = call.clone().arguments_text("not json");
        let unknown = policy(&drafts).try_call(&unreadable).effect();
        prop_assert!(unknown >= known, "{known:?} {unknown:?}");
    }

    #[test]
    fn every_text_is_a_policy_or_a_mistake(text in "[ a-z:{}\\[\\]\\-\n\"'*&!|>]{0,80}") {
        for format in [crate::Format::Yaml, crate::Format::Json, crate::Format::Toml] {
            if let Err(error) = Policy::parse(&text, format) {
                prop_assert!(!error.problems().is_empty());
            }
        }
    }
}

#[test]
fn an_uncertain_question_is_at_least_a_question() {
    let policy = yaml(
        "
rules:
  - {id: ask, when: {arguments: {n: {min: 1}}}, then: ask}
  - {id: deny, when: {tools: [t]}, then: deny}",
    );
    assert_eq!(super::effect(&policy, "t", "{}"), Effect::Deny);
}

#[test]
fn an_uncertain_question_restricts_what_comes_after_it() {
    let with = |last: &str| {
        yaml(&format!(
            "
rules:
  - {{id: ops, when: {{tools: [t], arguments: {{n: {{min: 1}}}}}}, then: {{decision: ask, approval: {{approvers: [ops]}}}}}}
  - {{id: last, when: {{tools: [t]}}, then: {last}}}"
        ))
    };
    let decide = |policy: &Policy, arguments: &str| {
        policy.try_call(&SampleCall::new("t").arguments_text(arguments))
    };
    let asks = with("{decision: ask, approval: {approvers: [ops, caller], timeout: 5m}}");
    let (known, unknown) = (decide(&asks, r#"{"n": 0}"#), decide(&asks, r#"{"n": "1"}"#));
    assert!(known.approvers().includes_caller());
    assert_eq!(unknown.approvers(), &Approvers::people(["ops"]));
    assert_eq!(unknown.expiry(), Some(Duration::from_secs(300)));
    let caller = with("{decision: ask, approval: {approvers: caller}}");
    let unknown = decide(&caller, "{}");
    assert_eq!(unknown.approvers(), &Approvers::people([""; 0]));
    let limited = with("{decision: allow, rate_limit: {max: 1, window: 1m}, time_limit: 5s}");
    let unknown = decide(&limited, "{}");
    assert_eq!((unknown.effect(), unknown.rule()), (Effect::Ask, Some("ops")));
    assert_eq!(unknown.limits(), decide(&limited, r#"{"n": 0}"#).limits());
    assert_eq!(unknown.time_limit(), Some(Duration::from_secs(5)));
}
