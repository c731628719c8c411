//! Rules see the arguments as the tool gets them.

use super::yaml;
use crate::SampleCall;
use serde::Deserialize;
use tool_runtime::prelude::*;
use tool_runtime_core::govern::Effect::{self, Allow, Deny};
use tool_runtime_core::govern::{CallView, Decision, PolicyEngine};

#[derive(Deserialize, schemars::JsonSchema)]
struct Target {
    /// The host.
    #[serde(alias = "h")]
    host: Option<String>,
    /// The stage.
    #[serde(default = "prod")]
    #[schemars(extend("default" = "prod"))]
    stage: String,
    kind: Option<Kind>,
}

fn prod() -> String {
    "prod".to_owned()
}

#[derive(Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    #[serde(alias = "production")]
    Prod,
    Test,
}

/// Deploy.
#[tool(register = false)]
async fn deploy(
    /// The targets.
    #[arg(default = Vec::new())]
    targets: Vec<Target>,
    /// The zone.
    #[arg(default = "prod".to_owned(), alias = "area")]
    zone: String,
    /// The kind.
    kind: Option<Kind>,
) -> usize {
    targets.iter().map(|it| it.stage.len() + it.host.iter().len()).sum::<usize>()
        + zone.len()
        + kind.iter().chain(targets.iter().filter_map(|it| it.kind.as_ref())).count()
}

#[track_caller]
fn check(condition: &str, cases: &[(&str, Effect)]) {
    let pool = ToolPool::builder().tool::<DeployAction>().build().unwrap();
    let rules = format!(
        "default: allow\nrules:\n  - {{id: no-prod, when: {{arguments: {condition}}}, then: deny}}"
    );
    let policy = yaml(&rules);
    for (arguments, expected) in cases {
        pool.get("deploy").unwrap();
        let call = SampleCall::new("deploy").arguments_text(*arguments).in_pool(&pool);
        assert_eq!(policy.try_call(&call).effect(), *expected, "{condition} {arguments}");
    }
}

#[test]
fn defaults_are_filled_in_at_every_depth() {
    check(
        "{zone: {equals: prod, if_absent: no_match}}",
        &[
            ("{}", Deny),
            ("", Deny),
            (r#"{"zone":"test"}"#, Allow),
            (r#"{"area":"prod"}"#, Deny),
            (r#"{"area":"test"}"#, Allow),
        ],
    );
    check(
        "{'targets[*].stage': {equals: prod, if_absent: no_match}}",
        &[
            (r#"{"targets":[{}]}"#, Deny),
            (r#"{"targets":[{"stage":"test"}]}"#, Allow),
            (r#"{"targets":[{"stage":"test"},{"host":"a"}]}"#, Deny),
            (r#"{"targets":[]}"#, Allow),
            ("{}", Allow),
        ],
    );
}

#[test]
fn a_name_that_the_schema_does_not_list_may_be_the_one_of_the_rule() {
    check(
        "{'targets[*].host': {equals: prod, if_absent: no_match}}",
        &[
            (r#"{"targets":[{"h":"prod"}]}"#, Deny),
            (r#"{"targets":[{"host":"prod"}]}"#, Deny),
            (r#"{"targets":[{"host":"a"}]}"#, Allow),
            (r#"{"targets":[{"stage":"a"}]}"#, Allow),
        ],
    );
}

#[test]
fn an_argument_that_the_tool_does_not_have_has_no_other_name() {
    let absent = "{path: {equals: /etc, if_absent: no_match}}";
    check(absent, &[(r#"{"zon":"test"}"#, Allow), (r#"{"path":"/etc"}"#, Deny)]);
    let absent = "{'targets[*].path': {equals: /etc, if_absent: no_match}}";
    check(absent, &[(r#"{"targets":[{"h":"a"}]}"#, Allow)]);
}

#[test]
fn a_default_does_not_hide_a_value_under_another_name() {
    check(
        "{'targets[*].stage': {equals: prod, if_absent: no_match}}",
        &[(r#"{"targets":[{"stage":"test","h":"a"}]}"#, Allow)],
    );
    check(
        "{'targets[*].stage': {equals: test, if_absent: no_match}}",
        &[(r#"{"targets":[{"st":"test"}]}"#, Deny), (r#"{"targets":[{}]}"#, Allow)],
    );
}

#[tokio::test]
async fn policies_in_code_see_defaults_and_aliases() {
    struct NoProd;
    impl PolicyEngine for NoProd {
        fn decide(&self, call: &CallView<'_>) -> Decision {
            match call.argument("zone") {
                Some(zone) if zone == "test" => Decision::allow(),
                zone => Decision::deny(format!("the zone is {zone:?}")),
            }
        }
    }
    let pool = ToolPool::builder().tool::<DeployAction>().policy(NoProd).build().unwrap();
    for (arguments, is_allowed) in [
        ("{}", false),
        ("", false),
        (r#"{"zone":null}"#, false),
        (r#"{"area":"test"}"#, true),
        (r#"{"zone":"test"}"#, true),
        (r#"{"zone":"test","area":"test"}"#, false),
    ] {
        let result = pool.call(ToolCall::new("deploy", arguments)).await;
        assert_eq!(!result.is_error(), is_allowed, "{arguments}: {result:?}");
    }
}

#[test]
fn a_value_that_the_schema_does_not_list_may_be_the_one_of_the_rule() {
    check(
        "{kind: {equals: prod, if_absent: no_match}}",
        &[
            (r#"{"kind":"production"}"#, Deny),
            (r#"{"kind":"prod"}"#, Deny),
            (r#"{"kind":"test"}"#, Allow),
            (r#"{"kind":null}"#, Allow),
            ("{}", Allow),
        ],
    );
    check(
        "{'targets[0].kind': {equals: prod, if_absent: no_match}}",
        &[
            (r#"{"targets":[{"kind":"production"}]}"#, Deny),
            (r#"{"targets":[{"kind":"test"}]}"#, Allow),
        ],
    );
}

#[test]
fn the_reason_tells_a_model_what_to_write() {
    let pool = ToolPool::builder().tool::<DeployAction>().build().unwrap();
    let policy = yaml(
        "default: allow\nrules:\n  - {id: no-prod, when: {arguments: {kind: {equals: prod}}}, then: deny}",
    );
    let call = SampleCall::new("deploy").arguments_text(r#"{"kind":"production"}"#).in_pool(&pool);
    let decision = policy.try_call(&call);
    let expected = "`kind` has a name or a value that the schema of the tool does not list; write it as the schema of the tool does";
    assert!(decision.reason().ends_with(expected), "{}", decision.reason());
}
