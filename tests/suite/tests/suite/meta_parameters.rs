//! Parameters that a pool adds to its tools: listed first, and removed from each call.

mod asked_risk;

use super::export::generate::Rng;
use super::support::{Echo, class};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tool_runtime::export::Api;
use tool_runtime::govern::{
    Approval, ApprovalRequest, CallView, Decision, MetaParameters, PolicyEngine, Risk,
};
use tool_runtime::hook::{Before, Hook, HookCall};
use tool_runtime::pool::Source;
use tool_runtime::prelude::*;
use tool_runtime::testing::TestClient;

/// Write a file.
#[tool(register = false)]
async fn write(
    /// Its path.
    path: String,
    /// The lines.
    #[arg(default = Vec::new())]
    lines: Vec<String>,
) -> String {
    format!("wrote {path} {lines:?}")
}

/// Read a file.
#[tool(read_only, register = false)]
async fn read(
    /// Its path.
    path: String,
) -> String {
    format!("read {path}")
}

/// File a report.
#[tool(register = false)]
async fn report(
    /// The report in short.
    summary: String,
) -> String {
    format!("reported {summary}")
}

/// Risk, summary, and the arguments without them.
type RecordedCall = (Risk, Option<String>, String);

/// Records the meta parameters of each call.
#[derive(Clone, Default)]
struct RecordedCalls(Arc<Mutex<Vec<RecordedCall>>>);

impl RecordedCalls {
    fn all(&self) -> Vec<RecordedCall> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    fn one(&self) -> RecordedCall {
        let calls = self.all();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls.into_iter().next().unwrap()
    }
}

impl PolicyEngine for RecordedCalls {
    fn decide(&self, call: &CallView<'_>) -> Decision {
        let summary = call.summary().map(str::to_owned);
        self.0.lock().unwrap().push((call.risk(), summary, call.arguments().to_owned()));
        Decision::allow()
    }
}

/// A tool as an external server defines it.
fn external() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "q": { "type": "string" } },
        "required": ["q"],
        "additionalProperties": false,
    });
    Tool::new(ToolDefinition::new("external", "Echo.").with_input_schema(schema), Echo)
}

fn builder(recorded: &RecordedCalls) -> tool_runtime::ToolPoolBuilder {
    ToolPool::builder()
        .tool::<WriteAction>()
        .tool::<ReadAction>()
        .tool::<ReportAction>()
        .add_from(&Source::mcp("remote"), [external()])
        .meta_parameters(MetaParameters::all())
        .policy(recorded.clone())
}

fn pool(recorded: &RecordedCalls) -> ToolPool {
    builder(recorded).build().unwrap()
}

fn properties(schema: &Value) -> Vec<String> {
    schema["properties"].as_object().unwrap().keys().cloned().collect()
}

#[test]
fn meta_parameters_are_listed_first() {
    let pool = pool(&RecordedCalls::default());
    let list: Vec<Value> = serde_json::from_str(&pool.definitions_json()).unwrap();
    let listed: Vec<(&str, Vec<String>)> = list
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap(), properties(&tool["inputSchema"])))
        .collect();
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    assert_eq!(
        listed,
        [
            ("external", names(&["security_risk", "summary", "q"])),
            ("read", names(&["summary", "path"])),
            ("report", names(&["security_risk", "summary"])),
            ("write", names(&["security_risk", "summary", "path", "lines"])),
        ]
    );
    let risk = &list[3]["inputSchema"]["properties"]["security_risk"];
    assert_eq!(risk["enum"], json!(["LOW", "MEDIUM", "HIGH", "UNKNOWN"]));
    assert_eq!(list[3]["inputSchema"]["required"], json!(["path"]));
    let own_summary = &list[2]["inputSchema"]["properties"]["summary"];
    assert_eq!(own_summary["description"], "The report in short.");
    let snapshot = pool.snapshot();
    assert!(snapshot.definition("read").unwrap().argument("summary").is_some());
    assert!(snapshot.get("read").unwrap().definition().argument("summary").is_none());
}

#[test]
fn a_pool_adds_only_its_selected_meta_parameters() {
    let added = |parameters| {
        let pool = ToolPool::builder().tool::<WriteAction>().meta_parameters(parameters);
        let list: Value = serde_json::from_str(&pool.build().unwrap().definitions_json()).unwrap();
        properties(&list[0]["inputSchema"])
    };
    assert_eq!(added(MetaParameters::security_risk()), ["security_risk", "path", "lines"]);
    assert_eq!(added(MetaParameters::summary()), ["summary", "path", "lines"]);
    assert_eq!(added(MetaParameters::default()), ["path", "lines"]);
}

#[tokio::test]
async fn meta_parameters_are_removed_before_the_call_runs() {
    let recorded = RecordedCalls::default();
    let pool = pool(&recorded);
    let arguments = r#"{"security_risk":"LOW","summary":"Keep a note","path":"a","lines":["x"]}"#;
    let result = pool.call(ToolCall::new("write", arguments)).await;
    assert_eq!(result.observation().to_text(), "wrote a [\"x\"]");
    let rest = r#"{"path":"a","lines":["x"]}"#.to_owned();
    assert_eq!(recorded.one(), (Risk::Low, Some("Keep a note".to_owned()), rest));
}

#[tokio::test]
async fn an_omitted_parameter_is_unknown() {
    let recorded = RecordedCalls::default();
    let pool = pool(&recorded);
    for arguments in [r#"{"path":"a"}"#, r#"{"path":"a","security_risk":null,"summary":" "}"#] {
        assert!(!pool.call(ToolCall::new("write", arguments)).await.is_error());
        assert_eq!(recorded.one(), (Risk::Unknown, None, r#"{"path":"a"}"#.to_owned()));
    }
}

#[tokio::test]
async fn an_invalid_value_is_rejected_with_the_valid_ones() {
    let recorded = RecordedCalls::default();
    let pool = pool(&recorded);
    for (value, text) in [
        (
            r#""security_risk":"SOME""#,
            "`security_risk` must be one of `LOW`, `MEDIUM`, `HIGH`, `UNKNOWN`",
        ),
        (
            r#""security_risk":1"#,
            "`security_risk` must be one of `LOW`, `MEDIUM`, `HIGH`, `UNKNOWN`",
        ),
        (r#""summary":1"#, "`summary` must be a string"),
    ] {
        let call = ToolCall::new("write", format!(r#"{{"path":"a",{value}}}"#));
        let result = pool.call(call).await;
        assert_eq!(class(&result), ErrorClass::Input);
        assert_eq!(result.observation().to_text(), text);
    }
    assert!(recorded.all().is_empty());
}

#[tokio::test]
async fn a_tool_keeps_its_own_parameter_of_the_same_name() {
    let recorded = RecordedCalls::default();
    let arguments = r#"{"security_risk":"HIGH","summary":"all is well"}"#;
    let result = pool(&recorded).call(ToolCall::new("report", arguments)).await;
    assert_eq!(result.observation().to_text(), "reported all is well");
    let rest = r#"{"summary":"all is well"}"#.to_owned();
    assert_eq!(recorded.one(), (Risk::High, None, rest));
}

#[tokio::test]
async fn a_read_only_tool_has_no_risk() {
    let recorded = RecordedCalls::default();
    let pool = pool(&recorded);
    let call = ToolCall::new("read", r#"{"path":"a","security_risk":"LOW"}"#);
    assert_eq!(class(&pool.call(call).await), ErrorClass::Input);
}

#[tokio::test]
async fn an_external_tool_gets_only_its_own_arguments() {
    let recorded = RecordedCalls::default();
    let arguments = r#"{"summary":"s","q":"1e400 \u0041","security_risk":"medium"}"#;
    let result = pool(&recorded).call(ToolCall::new("external", arguments)).await;
    assert_eq!(result.observation().to_text(), r#"{"q":"1e400 \u0041"}"#);
    assert_eq!(recorded.one().0, Risk::Medium);
}

#[tokio::test]
async fn other_arguments_are_not_rewritten() {
    let schema = json!({ "type": "object" });
    let echo = Tool::new(ToolDefinition::new("echo", "Echo.").with_input_schema(schema), Echo);
    let pool = ToolPool::builder().add(echo).meta_parameters(MetaParameters::all());
    let pool = pool.build().unwrap();
    let mut rng = Rng::new();
    for _ in 0..200 {
        let value = super::export::instances::instance(&serde_json::Map::new(), &mut rng);
        let text = json!({ "a b\"": value, "n": 1 }).to_string();
        let result = pool.call(ToolCall::new("echo", text.as_str())).await;
        assert_eq!(result.observation().to_text(), text);
        let with = format!(r#"{{"summary":"s",{}"#, &text[1..]);
        let result = pool.call(ToolCall::new("echo", with)).await;
        assert_eq!(result.observation().to_text(), text);
    }
    let huge = r#"{"n":340282366920938463463374607431768211455,"n":1.50}"#;
    let with = huge.replace("{", r#"{"summary":"s","#);
    let result = pool.call(ToolCall::new("echo", with)).await;
    assert_eq!(result.observation().to_text(), huge);
}

#[tokio::test]
async fn repair_accepts_meta_parameters() {
    let recorded = RecordedCalls::default();
    let pool = builder(&recorded).repair().build().unwrap();
    let arguments = "{\"securityRisk\":\"low\",\"Summary\":\"s\",\"Path\":\"a\",\"lines\":\"[\\\"x\\\"]\"}</call>";
    let result = pool.call(ToolCall::new("functions.write", arguments)).await;
    assert_eq!(result.observation().to_text(), "wrote a [\"x\"]");
    assert_eq!(
        result.observation().meta().unwrap()["tool-runtime/repairs"],
        json!([
            "corrected the name of the tool",
            "arguments: removed text after the last bracket",
            "`security_risk`: corrected the name",
            "`summary`: corrected the name",
            "`path`: corrected the name",
            "`lines`: parsed JSON from a string",
        ])
    );
    let (risk, summary, _) = recorded.one();
    assert_eq!((risk, summary.as_deref()), (Risk::Low, Some("s")));
    let strict = self::pool(&recorded);
    let call = ToolCall::new("write", r#"{"securityRisk":"LOW","path":"a"}"#);
    assert_eq!(class(&strict.call(call).await), ErrorClass::Input);
}

#[tokio::test]
async fn hooks_and_the_approver_see_meta_parameters_also_after_a_rewrite() {
    let request_text = Arc::new(Mutex::new(String::new()));
    let log = Arc::clone(&request_text);
    let approver = move |request: ApprovalRequest| {
        *log.lock().unwrap() = format!("{} {:?}", request.risk(), request.summary());
        async { Approval::approved() }
    };
    let hook = Hook::before("*", |call: HookCall| async move {
        assert_eq!((call.risk(), call.summary()), (Risk::High, Some("s")));
        Before::ask("Sure?").rewriting(r#"{"path":"b"}"#)
    });
    let pool = ToolPool::builder().tool::<WriteAction>().hook(hook).approver(approver);
    let pool = pool.meta_parameters(MetaParameters::all()).build().unwrap();
    let arguments = r#"{"security_risk":"HIGH","summary":"s","path":"a"}"#;
    let result = pool.call(ToolCall::new("write", arguments)).await;
    assert_eq!(result.observation().to_text(), "wrote b []");
    assert_eq!(*request_text.lock().unwrap(), r#"HIGH Some("s")"#);
}

#[tokio::test]
async fn exports_list_meta_parameters_first() {
    let recorded = RecordedCalls::default();
    let pool = pool(&recorded);
    let input = json!({ "security_risk": "LOW", "summary": "s", "path": "a" });
    let anthropic = pool.snapshot().export(Api::Anthropic);
    let write = anthropic.definitions().iter().find(|tool| tool["name"] == "write").unwrap();
    assert_eq!(properties(&write["input_schema"])[..2], ["security_risk", "summary"]);
    let answer = json!({ "role": "assistant", "content": [
        { "type": "tool_use", "id": "t", "name": "write", "input": input.clone() }
    ] });
    let strict = pool.snapshot().export(Api::OpenAiChat.strict());
    let nulls = json!({ "security_risk": null, "summary": null, "path": "b", "lines": [] });
    let chat = json!({ "choices": [{ "message": { "role": "assistant", "tool_calls": [
        { "id": "u", "type": "function",
          "function": { "name": "write", "arguments": nulls.to_string() } }
    ] } }] });
    let calls = [anthropic.calls(&answer).unwrap(), strict.calls(&chat).unwrap()].concat();
    let results = pool.call_all(calls).await;
    let texts: Vec<String> = results.iter().map(|one| one.observation().to_text()).collect();
    assert_eq!(texts, ["wrote a []", "wrote b []"]);
    let risks: Vec<Risk> = recorded.all().into_iter().map(|(risk, ..)| risk).collect();
    assert_eq!(risks, [Risk::Low, Risk::Unknown]);
}

/// The beginnings and ends of calls.
#[derive(Default)]
struct Order(Mutex<Vec<&'static str>>);

/// Declare the resource, and record the call.
#[tool(writes("part:one"), register = false)]
async fn declared(order: &Order) {
    order.0.lock().unwrap().push("declared starts");
    tokio::task::yield_now().await;
    order.0.lock().unwrap().push("declared ends");
}

/// Record the call without a declaration.
#[tool(register = false)]
async fn undeclared(order: &Order) {
    order.0.lock().unwrap().push("undeclared runs");
}

#[tokio::test]
async fn meta_parameters_do_not_change_the_order_of_a_batch() {
    let order = Arc::new(Order::default());
    let pool = ToolPool::builder().tool::<DeclaredAction>().tool::<UndeclaredAction>();
    let pool = pool.state(Arc::clone(&order)).meta_parameters(MetaParameters::all());
    let pool = pool.build().unwrap();
    let calls = ["declared", "undeclared"].map(|name| ToolCall::new(name, r#"{"summary":"s"}"#));
    assert!(pool.call_all(calls).await.iter().all(|result| !result.is_error()));
    let expected = ["declared starts", "declared ends", "undeclared runs"];
    assert_eq!(*order.0.lock().unwrap(), expected);
}

#[tokio::test]
async fn an_mcp_client_lists_and_sends_meta_parameters() {
    let recorded = RecordedCalls::default();
    let pool = pool(&recorded);
    let arguments = json!({ "summary": "s", "security_risk": "HIGH", "path": "a" });
    for client in [TestClient::stateless(&pool).await, TestClient::stateful(&pool).await] {
        let tools = client.list_tools().await;
        let write = tools.iter().find(|tool| tool.name == "write").unwrap();
        let schema = Value::Object(write.input_schema.clone());
        assert_eq!(properties(&schema)[..2], ["security_risk", "summary"]);
        let written = client.call("write", arguments.clone()).await.unwrap();
        assert_eq!(written.to_text(), "wrote a []");
        assert_eq!(recorded.one().0, Risk::High);
    }
}
