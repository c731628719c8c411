//! Policies of Rebuno, of both generations of its language, written with the keys of this one, decide as there, except that
//! a condition which cannot be evaluated counts as the stricter result.

use super::{effect, try_call, yaml};
use crate::SampleCall;
use std::time::Duration;
use tool_runtime_core::govern::Effect::{self, Allow, Ask, Deny};
use tool_runtime_core::vocabulary::Principal;

const FIRST: &str = "
rules:
  - id: deny-prod-writes
    priority: 5
    when:
      tools: ['db.*']
      labels: {env: prod}
    then: {decision: deny, reason: no writes in production}
  - id: cap-steps
    priority: 10
    when: {min_step_count: 50}
    then: {decision: deny, reason: too many steps}
  - id: cap-time
    priority: 11
    when: {longer_than: 60s}
    then: {decision: deny, reason: too long}
  - id: researcher-search
    priority: 20
    when:
      principals: researcher
      tools: web.*
      arguments:
        - {field: query, required: true, max_length: 20}
    then: {decision: allow}
    rate_limit: {max: 2, window: 1m0s}
  - id: mail
    priority: 30
    when: {tools: 'mail.send'}
    then: {decision: ask, reason: mail leaves the house}
  - id: calc
    priority: 40
    when:
      tools: calc
      arguments:
        - {field: op, one_of: [add, sub]}
        - {field: n, min: 1, max: 10}
    then: {decision: allow}
default: {decision: deny, reason: not listed}
";

fn call(tool: &str, arguments: &str) -> SampleCall {
    let researcher = Principal::new("researcher");
    SampleCall::new(tool)
        .arguments_text(arguments)
        .principal(researcher)
        .steps(0)
        .elapsed(Duration::ZERO)
        .label("env", "dev")
}

#[test]
fn the_first_generation() {
    let policy = yaml(FIRST);
    let expect = |call: SampleCall, effect: Effect, rule: Option<&str>| {
        let decision = policy.try_call(&call);
        assert_eq!((decision.effect(), decision.rule()), (effect, rule), "{call:?}");
    };
    let search = || call("web.search", r#"{"query": "rust"}"#);
    expect(search(), Allow, Some("researcher-search"));
    expect(call("web.deep.search", r#"{"query": "rust"}"#), Allow, Some("researcher-search"));
    expect(call("web.search", r#"{"query": ""}"#), Deny, None);
    expect(
        call("web.search", r#"{"query": "12345678901234567890"}"#),
        Allow,
        Some("researcher-search"),
    );
    expect(call("web.search", r#"{"query": "123456789012345678901"}"#), Deny, None);
    expect(
        call("web.search", r#"{"query": "ääääääääääääääääääää"}"#),
        Allow,
        Some("researcher-search"),
    );
    expect(call("web.search", "{}"), Deny, None);
    expect(search().principal(Principal::new("writer")), Deny, None);
    expect(search().steps(49), Allow, Some("researcher-search"));
    expect(search().steps(50), Deny, Some("cap-steps"));
    expect(search().elapsed(Duration::from_secs(60)), Allow, Some("researcher-search"));
    expect(search().elapsed(Duration::from_millis(60_001)), Deny, Some("cap-time"));
    expect(call("mail.send", "{}"), Ask, Some("mail"));
    expect(call("db.query", "{}"), Deny, None);
    expect(
        call("db.query", "{}").label("env", "prod").label("team", "a"),
        Deny,
        Some("deny-prod-writes"),
    );
    for (arguments, effect) in [
        (r#"{"op": "add", "n": 1}"#, Allow),
        (r#"{"op": "add", "n": 10}"#, Allow),
        (r#"{"op": "add", "n": 10.5}"#, Deny),
        (r#"{"op": "mul", "n": 1}"#, Deny),
        (r#"{"op": "add", "n": "1"}"#, Deny),
        (r#"{"op": "add"}"#, Deny),
    ] {
        assert_eq!(policy.try_call(&call("calc", arguments)).effect(), effect, "{arguments}");
    }
    let reason = policy.try_call(&call("other", "{}"));
    assert_eq!(reason.reason(), "not listed");
}

#[test]
fn the_later_generation() {
    let policy = yaml(
        "
default: allow
rules:
  - id: no-secrets
    when: {tools: ['fs.*'], arguments: {path: {contains: secret}}}
    then: {decision: deny, reason: secret}
  - id: regions
    when: {tools: deploy, arguments: {region: {one_of: [eu, us]}, count: {equals: 1}}}
    then:
      decision: ask
      approval: {message: 'Deploy?'}
  - id: names
    when: {tools: name, arguments: {name: {pattern: '^[a-z]+$'}}}
    then: {decision: allow, rate_limit: {max: 5, window: 60s, per: execution}}
",
    );
    for (tool, arguments, expected) in [
        ("fs.read", r#"{"path": "a"}"#, Allow),
        ("fs.read", r#"{"path": "a/secret"}"#, Deny),
        ("deploy", r#"{"region": "eu", "count": 1}"#, Ask),
        ("deploy", r#"{"region": "ap", "count": 1}"#, Allow),
        ("name", r#"{"name": "abc"}"#, Allow),
        ("other", "{}", Allow),
    ] {
        assert_eq!(effect(&policy, tool, arguments), expected, "{tool} {arguments}");
    }
    let asked = try_call(&policy, "deploy", r#"{"region": "eu", "count": 1}"#);
    assert_eq!(asked.reason(), "Deploy? (rule `regions`)");
    assert_eq!(try_call(&policy, "name", r#"{"name": "abc"}"#).limits().len(), 1);
}

#[test]
fn time_limits_are_those_of_the_rule_that_lets_the_call_run() {
    let policy = yaml(
        "
rules:
  - {id: search, when: {tools: web.search}, then: {decision: allow, time_limit: 5s}}
  - {id: global, when: {tools: web.fetch}, then: allow}
  - {id: mail, when: {tools: mail.send}, then: {decision: ask, time_limit: 250ms}}
  - {id: never, when: {tools: fs.*}, then: {decision: deny, time_limit: 250ms}}
",
    );
    for (tool, expected) in [
        ("web.search", Some(5000)),
        ("web.fetch", None),
        ("mail.send", Some(250)),
        ("fs.read", None),
        ("other", None),
    ] {
        let limit = try_call(&policy, tool, "{}").time_limit();
        assert_eq!(limit, expected.map(Duration::from_millis), "{tool}");
    }
}

#[test]
fn the_first_match_is_by_priority_then_by_position() {
    let policy = yaml(
        "
rules:
  - {id: c, priority: 3, then: deny}
  - {id: b, priority: -1, when: {tools: [t]}, then: ask}
  - {id: d, when: {tools: [t]}, then: allow}
  - {id: e, when: {tools: [u]}, then: allow}
  - {id: f, when: {tools: [u]}, then: deny}
",
    );
    assert_eq!(try_call(&policy, "t", "").rule(), Some("b"));
    assert_eq!(try_call(&policy, "u", "").rule(), Some("e"));
    assert_eq!(try_call(&policy, "v", "").rule(), Some("c"));
}

#[test]
fn without_a_rule_everything_is_denied() {
    let policy = yaml("rules: []");
    let decision = try_call(&policy, "t", "");
    assert_eq!((decision.effect(), decision.rule()), (Deny, None));
}

#[test]
fn schedules_decide_by_the_time() {
    let policy = yaml(
        "rules: [{id: night, when: {schedule: 'mon-fri 22:00-06:00 Europe/Berlin'}, then: allow}]",
    );
    for (at, expected) in [
        ("2026-01-05T22:30:00Z", Allow),
        ("2026-01-06T04:59:00Z", Allow),
        ("2026-01-06T05:00:00Z", Deny),
        ("2026-01-05T12:00:00Z", Deny),
    ] {
        let call = SampleCall { at: at.parse().ok(), ..SampleCall::new("t") };
        assert_eq!(policy.try_call(&call).effect(), expected, "{at}");
    }
}
