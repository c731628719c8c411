//! Mistakes in documents: all of them, with lines and remedies.

use super::{mistakes, yaml};
use crate::{Format, Policy, SampleCall};
use std::time::Duration;
use tool_runtime_core::govern::{Approvers, Effect};

const YAML: &str = r#"default: alow
rules:
  - id: one
    priority: 1
    whn: {tools: [a]}
    then: allow
  - id: one
    priority: 1
    when:
      toolz: ["web.*"]
      tools: ["web.{a"]
      arguments:
        - {field: path, patern: x}
        - field: path
          pattern: "("
        - {field: ""}
        - {pattern: x}
      schedule: mon 9-17 UTC
      risk: hihg
    then: {decision: maybe, raeson: x}
    rate_limit: {max: 0, window: 1m}
  - when: {}
    then: deny
"#;

#[test]
fn a_range_may_be_one_number_and_is_explained() {
    let rule = |constraints: &str| {
        super::yaml(&format!(
            "rules: [{{id: a, when: {{arguments: {{n: {{{constraints}}}}}}}, then: allow}}]"
        ))
    };
    let explained = |constraints: &str, arguments: &str| {
        let call = crate::SampleCall::new("t").arguments_text(arguments);
        rule(constraints).explain(&call).to_string()
    };
    assert!(explained("min: 3, max: 3", r#"{"n":3}"#).starts_with("allow"));
    assert!(explained("present: true", r#"{"n":null}"#).starts_with("deny"));
    assert!(explained("present: true", r#"{"n":0}"#).starts_with("allow"));
    for (constraints, expected) in [
        ("max_length: 5", "at most 5"),
        ("min_length: 2", "at least 2"),
        ("min_items: 2, max_items: 4", "2 to 4"),
    ] {
        let text = explained(constraints, "{}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn all_mistakes_of_a_file_are_reported_at_once_with_their_lines() {
    let problems = mistakes(YAML, Format::Yaml);
    let expected = [
        "line 1: `default`: unknown decision `alow`; did you mean `allow`?",
        "line 5: `rules[0].whn`: unknown key `whn`; did you mean `when`?",
        "line 10: `rules[1].when.toolz`: unknown key `toolz`; did you mean `tools`?",
        "line 11: `rules[1].when.tools[0]`: `{` at character 5 of `web.{a` is never closed; add `}`; write an id, or a glob such as `fs.*`",
        "line 13: `rules[1].when.arguments[0]`: the condition has no constraint; write one, such as `equals` or `pattern`",
        "line 13: `rules[1].when.arguments[0].patern`: unknown key `patern`; did you mean `pattern`?",
        "line 15: `rules[1].when.arguments[1].pattern`: `(` is not a valid regular expression: unclosed group; correct it; the syntax is that of the crate `regex`",
        "line 16: `rules[1].when.arguments[2].field`: the text is empty; write a string, or remove the key",
        "line 16: `rules[1].when.arguments[2]`: the condition has no constraint; write one, such as `equals` or `pattern`",
        "line 17: `rules[1].when.arguments[3]`: the key `field` is missing; write the name of the argument, as in `field: path`",
        "line 18: `rules[1].when.schedule`: `9-17` is not a range of hours; write days, hours and a time zone, as in `mon-fri 09:00-17:00 Europe/Berlin`",
        "line 19: `rules[1].when.risk`: unknown risk `hihg`; did you mean `high`?",
        "line 20: `rules[1].then.decision`: unknown decision `maybe`; write one of `allow`, `ask`, `deny`",
        "line 20: `rules[1].then.raeson`: unknown key `raeson`; did you mean `reason`?",
        "line 21: `rules[1].rate_limit`: the limit is 0; write a larger one, or deny the calls",
        "line 22: `rules[2]`: the key `id` is missing; give the rule a name of its own, as in `id: read-only`",
    ];
    for line in expected {
        assert!(problems.contains(&line.to_owned()), "{line}\nis not in {problems:#?}");
    }
    assert_eq!(problems.len(), expected.len(), "{problems:#?}");
}

#[test]
fn a_mistake_of_form_in_a_rule_hides_no_mistake_of_another_one() {
    let policy = r#"{"rules": [
{"id": "a", "then": "deny", "whenn": {"tools": ["a"]}},
{"id": "b", "then": "deny", "when": {"annotations": {"readOnly": true}}},
{"id": "c", "then": "deny", "when": {"arguments": {"path": {"pattern": "("}}}},
{"id": "a", "then": "deny"}]}"#;
    for format in [Format::Json, Format::Yaml] {
        let found = mistakes(policy, format);
        let starts = [
            "line 2: `rules[0].whenn`: unknown key",
            "line 3: `rules[1].when.annotations.readOnly`: unknown key",
            "line 4: `rules[2].when.arguments.path.pattern`: `(` is not a valid regular expression",
            "line 5: `rules[3].id`: rule 1 has the id `a`, too",
        ];
        assert_eq!(found.len(), starts.len(), "{found:#?}");
        let agree = |(line, start): (&String, &str)| line.starts_with(start);
        assert!(found.iter().zip(starts).all(agree), "{found:#?}");
    }
}

#[test]
fn the_lines_are_those_of_json_and_toml_too() {
    let json = "{\n  \"rules\": [\n    {\"id\": \"a\",\n     \"when\": {\"tols\": [\"a\"]},\n     \"then\": \"deny\"}\n  ]\n}";
    assert_eq!(
        mistakes(json, Format::Json),
        ["line 4: `rules[0].when.tols`: unknown key `tols`; did you mean `tools`?"]
    );
    let toml = "default = \"deny\"\n\n[[rules]]\nid = \"a\"\nthen = \"deny\"\n[rules.when]\ntols = [\"a\"]\nlabels = 3\n";
    assert_eq!(
        mistakes(toml, Format::Toml),
        [
            "line 7: `rules[0].when.tols`: unknown key `tols`; did you mean `tools`?",
            "line 8: `rules[0].when.labels`: this is a number; write an object with keys",
        ]
    );
}

#[test]
fn an_item_of_any_type_has_its_line() {
    for item in ["null", "true", "-3", "3", "0.5"] {
        let rule = format!(
            "{{\"id\": \"a\", \"then\": \"deny\", \"when\": {{\"tools\": [\n\"a\",\n{item}]}}}}"
        );
        let text = format!("{{\"rules\": [\n{rule}]}}");
        for format in [Format::Json, Format::Yaml] {
            let found = mistakes(&text, format);
            assert!(found[0].starts_with("line 4: `rules[0].when.tools[1]`: this is"), "{found:?}");
        }
    }
}

#[test]
fn duplicate_keys_are_mistakes_in_every_syntax() {
    let yaml = "rules:\n  - id: a\n    then: allow\n    then: deny\n";
    assert_eq!(
        mistakes(yaml, Format::Yaml),
        ["line 4: `rules[0].then`: this key appears twice in one object; remove one of the two"]
    );
    let json = "{\"rules\": [\n{\"id\": \"a\", \"then\": \"allow\",\n\"then\": \"deny\"}]}";
    assert_eq!(
        mistakes(json, Format::Json),
        ["line 3: `rules[0].then`: this key appears twice in one object; remove one of the two"]
    );
    let toml = "[[rules]]\nid = \"a\"\nthen = \"allow\"\nthen = \"deny\"\n";
    let problems = mistakes(toml, Format::Toml);
    assert!(problems[0].starts_with("line 4: this is not TOML: duplicate key"), "{problems:?}");
    // A number that no integer holds is found when the values are read.
    let large = "version = 99999999999999999999999\nrules = []\n";
    let problems = mistakes(large, Format::Toml);
    assert!(problems[0].starts_with("line 1: this is not TOML: "), "{problems:?}");
}

#[test]
fn a_key_has_one_name_and_another_one_is_a_mistake_that_names_it() {
    for (rule, expected) in [
        ("when: {tool_ids: [a]}, then: allow", "unknown key `tool_ids`; write `tools`"),
        ("when: {tool_id: a}, then: allow", "unknown key `tool_id`; write `tools`"),
        ("when: {target: a}, then: allow", "unknown key `target`; write `tools`"),
        ("when: {agent_id: a}, then: allow", "unknown key `agent_id`; write `principals`"),
        ("when: {principal: a}, then: allow", "did you mean `principals`?"),
        ("when: {source: linked}, then: allow", "did you mean `sources`?"),
        ("when: {max_duration_ms: 5}, then: allow", "write `longer_than`"),
        ("when: {step_kind: llm_call}, then: allow", "unknown key `step_kind`; write one of"),
        ("when: {arguments: {a: {regex: a}}}, then: allow", "write `pattern`"),
        ("when: {arguments: {a: {url: a}}}, then: allow", "write `host`"),
        ("then: require_approval", "write one of `allow`, `ask`, `deny`"),
        ("then: {decision: ask, approval_config: {}}", "write `approval`"),
        ("then: {decision: allow, timeout_ms: 5}", "unknown key `timeout_ms`; write `time_limit`"),
        ("then: allow, rate_limit: {max_calls: 5, max: 5, window: 1s}", "write `max`"),
        ("then: allow, rate_limit: {max: 5, window: 1s, per_what: rule}", "write `per`"),
        ("then: allow, rate_limit: {max: 5, window: 1s, per: agent}", "unknown share `agent`"),
    ] {
        let problems = mistakes(&format!("rules:\n- {{id: a, {rule}}}\n"), Format::Yaml);
        assert!(problems.iter().any(|it| it.contains(expected)), "{rule}: {problems:?}");
    }
    let found = mistakes("default_action: allow\nrules: []\n", Format::Yaml);
    assert_eq!(found, ["line 1: `default_action`: unknown key `default_action`; write `default`"]);
    let case = "tests: [{call: {tool_id: a, agent_id: b}, expect: allow}]\nrules: []\n";
    let found = mistakes(case, Format::Yaml);
    assert!(found.iter().any(|it| it.contains("`tool_id`; write `tool`")), "{found:?}");
    assert!(found.iter().any(|it| it.contains("`agent_id`; write `principal`")), "{found:?}");
}

#[test]
fn mistakes_of_rules_are_refused_when_they_are_loaded() {
    for (rules, expected) in [
        ("- {id: a, then: allow}\n- {id: a, then: deny}", "has the id `a`, too"),
        (
            "- {id: a, priority: 1, then: allow}\n- {id: b, priority: 1, then: deny}",
            "has the priority 1, too",
        ),
        ("- {id: '', then: allow}", "the text is empty"),
        ("- {id: a}", "the key `then` is missing"),
        ("- {id: a, then: {reason: x}}", "the key `decision` is missing"),
        ("- {id: a, when: {tools: []}, then: allow}", "the list is empty"),
        ("- {id: a, when: {arguments: {}}, then: allow}", "the object is empty"),
        ("- {id: a, when: {arguments: {x: {}}}, then: allow}", "the condition has no constraint"),
        ("- {id: a, when: {arguments: {x: {one_of: []}}}, then: allow}", "the list is empty"),
        ("- {id: a, when: {arguments: {x: {min: '1'}}}, then: allow}", "this is a string"),
        ("- {id: a, when: {arguments: {x: {min: 2, max: 1}}}, then: allow}", "`min` is larger"),
        ("- {id: a, when: {arguments: {x: {equals: [1]}}}, then: allow}", "cannot be compared"),
        ("- {id: a, when: {arguments: {'x[': {equals: 1}}}, then: allow}", "is not the path"),
        ("- {id: a, when: {arguments: {'x]': {equals: 1}}}, then: allow}", "is not the path"),
        ("- {id: a, when: {arguments: {'x..y': {equals: 1}}}, then: allow}", "is not the path"),
        ("- {id: a, when: {arguments: {x: {inside: '/a/../b'}}}, then: allow}", "contains `..`"),
        ("- {id: a, when: {arguments: {x: {host: 'a b'}}}, then: allow}", "is not a valid host"),
        ("- {id: a, when: {min_step_count: -1}, then: allow}", "this is a number"),
        ("- {id: a, when: {longer_than: 0s}, then: allow}", "the time is zero"),
        ("- {id: a, when: {sources: [mpc]}, then: allow}", "unknown source `mpc`"),
        (
            "- {id: a, when: {annotations: {readonly: true}}, then: allow}",
            "did you mean `read_only`?",
        ),
        ("- {id: a, when: {labels: {env: 1}}, then: allow}", "this is a number"),
        ("- {id: a, then: allow, rate_limit: {max: 1}}", "`max` or `window` is missing"),
        ("- {id: a, then: allow, rate_limit: {max: 1, window: 1x}}", "`1x` is not a valid time"),
        ("- {id: a, then: allow, rate_limit: {max: 1, window: 0s}}", "the time is zero"),
        (
            "- {id: a, then: allow, rate_limit: {max: 1, window: 1s, per: [tol]}}",
            "did you mean `tool`?",
        ),
        ("- {id: a, then: allow, budget: {}}", "the budget has no amount"),
        ("- {id: a, then: deny, budget: {calls: 1}}", "a rule that denies has a limit"),
        ("- {id: a, then: {decision: allow, time_limit: 5}}", "this is a number"),
        ("- {id: a, then: {decision: allow, approval: {approvers: [ada]}}}", "asks nobody"),
        ("- {id: a, then: {decision: deny, approval: {timeout: 1m}}}", "asks nobody"),
        ("- {id: a, then: {decision: ask, approval: {approvers: []}}}", "the list is empty"),
        ("- {id: a, then: {decision: ask, approval: {timeout: 15}}}", "this is a number"),
        (
            "- {id: a, then: {decision: ask, approval: {approver: [a]}}}",
            "did you mean `approvers`?",
        ),
        ("- 5", "this is a number; write an object"),
    ] {
        let text = format!("rules:\n{rules}\n");
        let problems = mistakes(&text, Format::Yaml);
        assert!(problems.iter().any(|it| it.contains(expected)), "{rules}: {problems:?}");
    }
    assert!(mistakes("rules: {}", Format::Yaml)[0].contains("write a list"));
    assert!(mistakes("- a", Format::Yaml)[0].contains("write an object"));
    assert!(mistakes("{}", Format::Json)[0].contains("the key `rules` is missing"));
    assert!(mistakes("rules: [", Format::Yaml)[0].contains("this is not YAML"));
}

#[test]
fn an_approval_names_its_people_and_its_time() {
    let ask = |approval: &str| {
        let rule = format!("- {{id: a, then: {{decision: ask, approval: {approval}}}}}");
        let policy = Policy::parse(&format!("rules:\n{rule}\n"), Format::Yaml).unwrap();
        policy.try_call(&SampleCall::new("mail.send"))
    };
    let imported = ask("{approvers: [ada, grace], timeout: 15m, message: Send it?}");
    assert_eq!(imported.approvers(), &Approvers::people(["ada", "grace"]));
    assert_eq!(imported.expiry(), Some(Duration::from_secs(900)));
    assert_eq!(imported.reason(), "Send it? (rule `a`)");
    assert_eq!(ask("{approvers: caller}").approvers(), &Approvers::caller());
    let either = ask("{approvers: [caller, '*']}");
    assert_eq!(either.approvers(), &Approvers::others().or_caller());
    let both = ask("{approvers: [ada, caller]}");
    assert_eq!(both.approvers(), &Approvers::people(["ada"]).or_caller());
    assert_eq!(ask("{message: Send it?}").approvers(), &Approvers::everyone());

    for outcome in
        ["{decision: ask, approval: {approvers: [ada]}}", "{decision: allow, budget: {calls: 2}}"]
    {
        let default = format!("default: {outcome}\nrules: []\n");
        let mistakes = mistakes(&default, Format::Yaml);
        assert!(mistakes[0].contains("the default names no approvers"), "{mistakes:?}");
    }
}

#[test]
fn the_three_syntaxes_and_code_mean_the_same() {
    let json = r#"{"rules": [{"id": "web", "when": {"tools": ["web.*"]}, "then": "allow"}]}"#;
    let toml = "[[rules]]\nid = \"web\"\nthen = \"allow\"\nwhen = { tools = [\"web.*\"] }\n";
    let policies = [
        yaml("rules: [{id: web, when: {tools: ['web.*']}, then: allow}]"),
        Policy::parse(json, Format::Json).unwrap(),
        Policy::parse(toml, Format::Toml).unwrap(),
        serde_json::from_str(json).unwrap(),
        Policy::builder().rule(crate::Rule::allow("web").tool("web.*")).build().unwrap(),
    ];
    for policy in policies {
        let decision = super::try_call(&policy, "web.search", "{}");
        assert_eq!(decision.rule(), Some("web"));
        assert_eq!(super::effect(&policy, "fs.read", "{}"), Effect::Deny);
    }
}

#[test]
fn mistakes_in_code_are_reported_together() {
    let rule = crate::Rule::deny("x")
        .tool("a{")
        .source("mpc")
        .schedule("never")
        .argument(crate::Argument::new("p").pattern("("))
        .argument(crate::Argument::new("q"));
    let error = Policy::builder().rule(rule).rule(crate::Rule::allow("x")).build().unwrap_err();
    let keys: Vec<&str> = error.problems().iter().map(|problem| &*problem.key).collect();
    let expected = [
        "rule `x`: when.tools",
        "rule `x`: when.sources",
        "rule `x`: when.schedule",
        "rule `x`: when.arguments.p",
        "rule `x`: when.arguments.q",
        "rules[1].id",
    ];
    assert_eq!(keys, expected, "{error}");
}

#[test]
fn thousands_of_mistakes_are_located_in_one_pass() {
    let yaml: String =
        (0..5000).map(|i| format!("  - {{id: r{i}, whn: 1, then: allow}}\n")).collect();
    let json: Vec<String> = (0..5000)
        .map(|i| format!("{{\"id\": \"r{i}\", \"whn\": 1, \"then\": \"allow\"}}\n"))
        .collect();
    let toml: String =
        (0..5000).map(|i| format!("[[rules]]\nid = 'r{i}'\nwhn = 1\nthen = 'allow'\n")).collect();
    let began = std::time::Instant::now();
    let last = |text: &str, format| mistakes(text, format).pop().unwrap();
    assert!(
        last(&format!("rules:\n{yaml}"), Format::Yaml).starts_with("line 5001: `rules[4999].whn`")
    );
    let json = format!("{{\"rules\": [{}]}}", json.join(","));
    assert!(last(&json, Format::Json).starts_with("line 5000: `rules[4999].whn`"));
    assert!(last(&toml, Format::Toml).starts_with("line 19999: `rules[4999].whn`"));
    assert!(began.elapsed().as_secs() < 60, "{:?}", began.elapsed());
}

#[test]
fn lines_are_those_of_nested_lists_and_of_repeated_keys() {
    let text = "
rules:
  - id: a
    when:
      tools:
        - fine
        - 'a{'
      arguments:
        path:
          one_of:
            - 1
            - [2]
    then: allow
    then: deny
";
    let found = mistakes(text, Format::Yaml);
    let lines: Vec<&str> = found.iter().filter_map(|text| text.split(':').next()).collect();
    assert_eq!(lines, ["line 7", "line 12", "line 14"], "{found:?}");
}

#[test]
fn a_hundred_thousand_open_brackets_are_a_mistake_at_once() {
    let began = std::time::Instant::now();
    let open = "[".repeat(100_000);
    for text in [format!("rules: {open}"), format!("rules: {open}{}", "]".repeat(100_000))] {
        let found = mistakes(&text, Format::Yaml);
        assert_eq!(found, ["line 1: more than 1000 lists and objects are open; correct it there"]);
    }
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
}

#[test]
fn what_would_hold_for_all_or_means_something_else_is_a_mistake() {
    let cases = [
        (
            "when: {claims: {}}, then: allow",
            "`rules[0].when.claims`: the object is empty; write a key, or remove this one",
        ),
        (
            "when: {labels: {}}, then: allow",
            "`rules[0].when.labels`: the object is empty; write a key, or remove this one",
        ),
        (
            "when: {annotations: {}}, then: allow",
            "`rules[0].when.annotations`: the object is empty; write a key, or remove this one",
        ),
        (
            "then: {decision: ask, approval: {approvers: [ada, Caller]}}",
            "`rules[0].then.approval.approvers[1]`: `Caller` is taken for the id of a person; write `caller` for the \
             caller itself",
        ),
        (
            "when: {arguments: {path: {inside: [/tmp, ~/work]}}}, then: allow",
            "`rules[0].when.arguments.path.inside`: `~` in `~/work` is not replaced by the home directory; write the \
             absolute path",
        ),
    ];
    for (rule, expected) in cases {
        let found = mistakes(&format!("rules: [{{id: a, {rule}}}]"), Format::Yaml);
        assert_eq!(found, [format!("line 1: {expected}")], "{rule}");
    }
}

#[test]
fn a_policy_without_tests_says_so() {
    let policy = yaml("rules: []");
    assert_eq!(policy.test().to_string(), "no tests; write some under the key `tests`\n");
}

#[test]
fn a_policy_within_another_configuration_has_keys_and_no_lines() {
    let read = serde_json::from_str::<Policy>;
    let error =
        read("{\"rules\":\n[{\"id\": \"a\",\n\"then\": \"alow\"}]}").unwrap_err().to_string();
    let expected = "`rules[0].then`: unknown decision `alow`; did you mean `allow`?";
    assert!(error.contains(&format!("\n- {expected}")), "{error}");
    let policy = read("{\"rules\":\n[{\"id\": \"a\",\n\"then\": \"allow\"}]}").unwrap();
    let explanation = policy.explain(&SampleCall::new("t")).to_string();
    assert!(explanation.contains("\nrule `a`, allow: yes"), "{explanation}");
}

#[test]
fn examples_of_the_documentation_pass_their_own_tests() {
    let reference = include_str!("../../../docs/policy.md").split("```yaml\n").nth(1);
    let reference = reference.and_then(|rest| rest.split("```").next());
    let guide = include_str!("../../../docs/guide/governing.md").split("RULES: &str = \"").nth(1);
    let guide = guide.and_then(|rest| rest.split("\";").next());
    for example in [reference, guide] {
        let policy = Policy::parse(example.expect("an example"), Format::Yaml).unwrap();
        let report = policy.test();
        let results = report.results();
        assert_eq!(results.len(), 2);
        for result in results {
            assert_eq!(result.failure, None, "{}", result.name);
        }
    }
}
