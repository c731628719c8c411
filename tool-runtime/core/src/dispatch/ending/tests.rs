//! Calls of tools that the pool does not have.

use crate::govern::{
    Begin, CallEvent, CallStage, MetaParameters, Receipt, RecordError, Recorder, StepStore,
};
use crate::pool::{ToolPool, ToolPoolBuilder};
use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::context::{Execution, StepId};
use crate::tool::results::observation::Observation;
use crate::tool::tool::Tool;
use crate::vocabulary::annotations::RetryMode;
use crate::vocabulary::error::{CallError, ErrorClass};
use crate::vocabulary::future::BoxFuture;
use std::collections::HashMap;
use std::future::ready;
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

/// The end of a step: the text of a success, or class and message of an error.
type End = Result<String, (ErrorClass, String)>;

/// The ends of the steps that started, and the last stage of each call.
#[derive(Clone, Default)]
struct Log {
    steps: Arc<Mutex<HashMap<StepId, Option<End>>>>,
    ends: Arc<Mutex<Vec<String>>>,
}

impl Recorder for Log {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let step = event.call.step().cloned();
        let mut steps = self.steps.lock().unwrap();
        match event.stage {
            CallStage::Started { .. } => drop(step.map(|step| steps.insert(step, None))),
            CallStage::Finished { outcome, duration, is_replayed, .. } => {
                let end = outcome.map(|it| it.to_text());
                let end = end.map_err(|error| (error.class(), error.message().to_owned()));
                let text = end.as_deref().unwrap_or("failed");
                self.ends.lock().unwrap().push(format!("{text}, replayed: {is_replayed}"));
                let ran = step.filter(|_| duration.is_some());
                ran.map(|step| steps.insert(step, Some(end)));
            }
            _ => {}
        }
        Receipt::recorded()
    }
}

impl StepStore for Log {
    fn begin<'a>(
        &'a self,
        step: &'a StepId,
        mode: RetryMode,
    ) -> BoxFuture<'a, Result<Begin, RecordError>> {
        let found = self.steps.lock().unwrap().get(step).cloned();
        let begin = match (found, mode) {
            (Some(Some(ended)), _) => Begin::Replay(
                ended.map(Observation::text).map_err(|(class, text)| CallError::new(class, text)),
            ),
            (Some(None), RetryMode::AtMostOnce) => Begin::Indeterminate,
            _ => Begin::Run,
        };
        Box::pin(ready(Ok(begin)))
    }
}

fn builder(log: &Log) -> ToolPoolBuilder {
    ToolPool::builder().allow_empty().recorder(log.clone()).step_store(log.clone())
}

fn tools() -> [Tool; 2] {
    let schema = serde_json::json!({ "type": "object", "properties": { "to": {} } });
    let tool = |name: &str| Tool::builder(name, "Send text.").input_schema(schema.clone());
    [
        tool("send").handler(|| ready("sent")),
        tool("fail").handler(|| ready(Err::<String, _>("no such address"))),
    ]
}

fn full(log: &Log) -> ToolPoolBuilder {
    tools().into_iter().fold(builder(log), ToolPoolBuilder::add)
}

async fn attempt(pool: &ToolPool, call: ToolCall) -> ToolResult {
    pool.call_with(call, &pool.context().in_execution(&Arc::new(Execution::new("order-17")))).await
}

fn send(arguments: &str) -> ToolCall {
    ToolCall::new("send", arguments)
}

#[tokio::test]
async fn a_repeated_call_of_an_absent_tool_is_answered_from_the_record() {
    let log = Log::default();
    let (first, second) = (full(&log).build().unwrap(), builder(&log).build().unwrap());
    attempt(&first, send(r#"{"to": "a"}"#)).await;
    let failed = attempt(&first, ToolCall::new("fail", "{}")).await;
    assert_eq!(attempt(&second, send(r#"{"to":"a"}"#)).await.observation().to_text(), "sent");
    let again = attempt(&second, ToolCall::new("fail", "{}")).await;
    assert_eq!(again.error().unwrap().message(), failed.error().unwrap().message());
    assert_eq!(again.error().unwrap().class(), ErrorClass::Tool);
    let ends = log.ends.lock().unwrap();
    assert_eq!(ends[2..], ["sent, replayed: true", "failed, replayed: true"]);
}

#[tokio::test]
async fn a_call_of_an_absent_tool_without_a_record_fails_and_runs_when_the_tool_is_back() {
    let log = Log::default();
    let (without, with) = (builder(&log).build().unwrap(), full(&log).build().unwrap());
    let unknown = attempt(&without, send("{}")).await;
    assert_eq!(unknown.error().unwrap().class(), ErrorClass::NotFound);
    assert_eq!(attempt(&with, send("{}")).await.observation().to_text(), "sent");
    let other = attempt(&without, send(r#"{"to": "b"}"#)).await;
    assert_eq!(other.error().unwrap().class(), ErrorClass::NotFound, "other arguments");
    let outside = without.call(send("{}")).await;
    assert_eq!(outside.error().unwrap().class(), ErrorClass::NotFound, "no execution");
    let ends = ["failed, replayed: false", "sent, replayed: false"];
    assert_eq!(log.ends.lock().unwrap()[..2], ends);
}

#[tokio::test]
async fn what_the_model_says_about_a_call_is_no_part_of_the_repeated_call() {
    let log = Log::default();
    let build =
        |builder: ToolPoolBuilder| builder.meta_parameters(MetaParameters::all()).build().unwrap();
    let call = || send(r#"{"security_risk": "LOW", "summary": "greet", "to": "a"}"#);
    attempt(&build(full(&log)), call()).await;
    let again = attempt(&build(builder(&log)), call()).await;
    assert_eq!(again.observation().to_text(), "sent");
}

#[tokio::test]
async fn neither_a_closed_pool_nor_a_cancelled_caller_is_answered_from_the_record() {
    let log = Log::default();
    attempt(&full(&log).build().unwrap(), send("{}")).await;
    let pool = builder(&log).build().unwrap();
    let token = CancellationToken::new();
    token.cancel();
    let context = pool.context().in_execution(&Arc::new(Execution::new("order-17")));
    let late = pool.call_with(send("{}"), &context.with_cancellation(token)).await;
    assert_eq!(late.error().unwrap().class(), ErrorClass::Cancelled);
    pool.close().await;
    assert_eq!(attempt(&pool, send("{}")).await.error().unwrap().class(), ErrorClass::Cancelled);
}
