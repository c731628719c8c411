//! The risk is asked for where something decides by it, without a setting of the pool.

use super::{ReadAction, WriteAction, external, properties};
use crate::support::{Directory, class};
use serde_json::{Value, json};
use std::fs;
use tool_runtime::ToolPoolBuilder;
use tool_runtime::export::Api;
use tool_runtime::govern::{CallView, Risk};
use tool_runtime::policy::{
    ConfirmRisk, Confirmation, Format, LivePolicy, Policies, Policy, PolicyFolder, SecurityAnalyzer,
};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;

const BY_RISK: &str =
    "rules: [{id: risky, when: {risk: [high, unknown]}, then: deny}, {id: rest, then: allow}]\n";
const BY_TOOL: &str = "rules: [{id: rest, when: {tools: ['*']}, then: allow}]\n";

/// The judgement of the model, unless it is about secrets.
struct Secrets;

impl SecurityAnalyzer for Secrets {
    fn analyze(&self, call: &CallView<'_>) -> Risk {
        if call.name().contains("secret") { Risk::High } else { call.risk() }
    }

    fn reads_model_risk(&self) -> bool {
        true
    }
}

/// Knows nothing.
struct Nothing;

impl SecurityAnalyzer for Nothing {
    fn analyze(&self, _: &CallView<'_>) -> Risk {
        Risk::Unknown
    }
}

type Govern = Box<dyn Fn(ToolPoolBuilder) -> ToolPoolBuilder>;

fn pool(govern: &Govern) -> ToolPool {
    let builder = ToolPool::builder().tool::<WriteAction>().tool::<ReadAction>();
    govern(builder.add_from(&Source::mcp("remote"), [external()])).build().unwrap()
}

fn policy(text: &str) -> Policy {
    Policy::parse(text, Format::Yaml).unwrap()
}

fn govern(add: impl Fn(ToolPoolBuilder) -> ToolPoolBuilder + 'static) -> Govern {
    Box::new(add)
}

/// Ways to decide by the risk that a model states.
fn reading(directory: &Directory) -> Vec<Govern> {
    let file = directory.path().join("policy.yaml");
    fs::write(&file, BY_RISK).unwrap();
    let folder = directory.path().join("callers");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("_global.yaml"), BY_RISK).unwrap();
    vec![
        govern(move |pool| pool.install(LivePolicy::open(&file).unwrap())),
        govern(move |pool| pool.policy(PolicyFolder::from_folder(&folder).unwrap())),
        govern(|pool| pool.install(policy(BY_RISK))),
        govern(move |pool| pool.install(policy(BY_RISK).analyzer(Secrets))),
        govern(|pool| {
            pool.install(Policies::new().policy(policy(BY_TOOL)).policy(policy(BY_RISK)))
        }),
        govern(|pool| pool.policy(ConfirmRisk::new(Confirmation::high()))),
        govern(move |pool| pool.policy(ConfirmRisk::new(Confirmation::high()).analyzer(Secrets))),
    ]
}

/// Pools in which nothing reads it.
fn not_reading() -> Vec<Govern> {
    vec![
        govern(|pool| pool),
        govern(|pool| pool.install(policy(BY_TOOL))),
        govern(|pool| pool.install(policy(BY_RISK).analyzer(Nothing))),
        govern(|pool| pool.policy(ConfirmRisk::new(Confirmation::high()).analyzer(Nothing))),
    ]
}

/// The tools whose definitions have the parameter, as clients and models get them.
fn asked(pool: &ToolPool) -> Vec<String> {
    let listed: Vec<Value> = serde_json::from_str(&pool.definitions_json()).unwrap();
    let exported = pool.snapshot().export(Api::Anthropic);
    let has = |tools: &[Value], schema: &str| -> Vec<String> {
        let has = |tool: &&Value| properties(&tool[schema]).contains(&"security_risk".to_owned());
        tools.iter().filter(has).map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let names = has(&listed, "inputSchema");
    assert_eq!(has(exported.definitions(), "input_schema"), names);
    names
}

/// Calls a tool as a model does by the exported definitions.
async fn called(pool: &ToolPool, tool: &str, input: Value) -> ToolResult {
    let content = json!([{ "type": "tool_use", "id": "t", "name": tool, "input": input }]);
    let answer = json!({ "role": "assistant", "content": content });
    let calls = pool.snapshot().export(Api::Anthropic).calls(&answer).unwrap();
    pool.call(calls.into_iter().next().unwrap()).await
}

#[tokio::test]
async fn models_are_asked_for_the_risk_where_a_policy_decides_by_it() {
    let directory = Directory::new();
    for (position, govern) in reading(&directory).iter().enumerate() {
        let pool = pool(govern);
        assert_eq!(asked(&pool), ["external", "write"], "{position}");
        let low = json!({ "security_risk": "LOW", "q": "a" });
        let ran = called(&pool, "external", low).await;
        assert_eq!(ran.observation().to_text(), r#"{"q":"a"}"#, "{position}: the tool's own");
        let low = json!({ "security_risk": "LOW", "path": "a" });
        let wrote = called(&pool, "write", low).await;
        assert_eq!(wrote.observation().to_text(), "wrote a []", "{position}");
        for high in [json!({ "security_risk": "HIGH", "path": "a" }), json!({ "path": "a" })] {
            let denied = called(&pool, "write", high).await;
            assert_eq!(class(&denied), ErrorClass::Denied, "{position}: high or not stated");
        }
    }
}

#[tokio::test]
async fn models_are_not_asked_for_a_risk_that_nothing_reads() {
    for (position, govern) in not_reading().iter().enumerate() {
        let pool = pool(govern);
        assert_eq!(asked(&pool), [""; 0], "{position}");
        let stated = json!({ "security_risk": "LOW", "path": "a" });
        let result = called(&pool, "write", stated).await;
        assert_eq!(class(&result), ErrorClass::Input, "{position}: an unknown argument");
    }
}
