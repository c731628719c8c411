//! A caller, which writes the outcome of each call to a file.

use crate::Failure;
use crate::files::{self, Answer, Line, Outcome, Tool};
use crate::network;
use futures_util::{StreamExt as _, stream};
use serde_json::json;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tool_runtime::govern::{CallEvent, CallStage, Receipt, Recorder};
use tool_runtime::tool::Execution;
use tool_runtime::{ErrorClass, ToolCall, ToolContext, ToolPool, ToolResult};

/// The number of calls at the same time.
const IN_FLIGHT: usize = 32;

/// The time to wait for the first runner: without one there is no tool to call.
const START: Duration = Duration::from_secs(600);

/// The time after the limit of a call from which its record is decided without it.
const GRACE: Duration = Duration::from_millis(80);

/// Of so many calls two have arguments and a result of this many bytes, which travel as blobs.
const CALLS_PER_LARGE: usize = 200;
const LARGE: usize = 300 * 1024;

/// A call to be made.
#[derive(Clone, Copy, Debug)]
struct Planned {
    number: usize,
    tool: Tool,
    in_execution: bool,
    /// Some calls have less time than they need.
    limit: Option<Duration>,
    is_large: bool,
}

impl Planned {
    fn new(number: usize) -> Self {
        let in_execution = number.is_multiple_of(2);
        let tool = if (number / 2).is_multiple_of(2) { Tool::Once } else { Tool::Again };
        let has_limit = !in_execution && number.is_multiple_of(5);
        let limit = has_limit.then(|| Duration::from_millis(200 + number as u64 % 16 * 100));
        // One of each tool.
        let is_large = matches!(number % CALLS_PER_LARGE, 7 | 12);
        Self { number, tool, in_execution, limit, is_large }
    }

    fn arguments(self) -> String {
        let padding = if self.is_large { "x".repeat(LARGE) } else { String::new() };
        json!({ "padding": padding }).to_string()
    }
}

/// The steps of the calls that started, by the ids of the calls.
#[derive(Clone, Default)]
struct Steps(Arc<Mutex<HashMap<String, String>>>);

impl Recorder for Steps {
    fn record(&self, event: CallEvent<'_>) -> Receipt {
        if let (CallStage::Started { .. }, Some(id), Some(step)) =
            (event.stage, event.call.call_id(), event.call.step())
        {
            let mut steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            steps.insert(id.to_owned(), step.to_string());
        }
        Receipt::recorded()
    }
}

impl Steps {
    fn step(&self, id: &str) -> String {
        let steps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        steps.get(id).cloned().unwrap_or_default()
    }
}

struct Caller<'a> {
    pool: ToolPool,
    steps: Steps,
    name: &'a str,
    outcomes: PathBuf,
    /// The number of this process, from 1.
    attempt: u32,
}

pub(crate) async fn run(url: &str, folder: &Path, name: &str, count: usize) -> Result<(), Failure> {
    tokio::select! {
        ended = call_all(url, folder, name, count) => ended,
        orphaned = network::orphaned() => orphaned,
    }
}

async fn call_all(url: &str, folder: &Path, name: &str, count: usize) -> Result<(), Failure> {
    let outcomes = files::outcomes(folder, name);
    let earlier: Vec<Line> = files::read(&outcomes)?;
    files::append(&outcomes, &Line::Start)?;
    let starts = earlier.iter().filter(|line| matches!(line, Line::Start)).count();
    let steps = Steps::default();
    let pool = ToolPool::builder().allow_empty().recorder(steps.clone()).build()?;
    let connected = network::connect(url, name, folder).await?;
    let builder = connected.into_remote().trust(true).start_timeout(START);
    let remote = builder.connect(&pool).await?;
    let attempt = u32::try_from(starts)? + 1;
    let caller = Caller { pool, steps, name, outcomes, attempt };
    let calls = (0..count).map(Planned::new).filter(|call| is_open(*call, &earlier));
    stream::iter(calls).for_each_concurrent(IN_FLIGHT, |call| caller.call(call)).await;
    remote.close().await;
    Ok(())
}

/// Whether a call is to be made. An execution is repeated from its beginning; other calls are over when they are answered.
fn is_open(call: Planned, earlier: &[Line]) -> bool {
    let is_answer =
        |line: &Line| matches!(line, Line::Outcome(outcome) if outcome.call == call.number);
    call.in_execution || !earlier.iter().any(is_answer)
}

impl Caller<'_> {
    async fn call(&self, call: Planned) {
        let (id, until) = (call.number.to_string(), call.limit.map(|it| Instant::now() + it));
        let context = self.context(call, until);
        let result = self
            .pool
            .call_with(
                ToolCall::new(call.tool.name(), call.arguments()).with_call_id(&*id),
                &context,
            )
            .await;
        let is_late = until.is_some_and(|until| Instant::now() >= until + GRACE);
        let result = of_result(&result);
        let is_cut = is_late && result.class == ErrorClass::Timeout.as_str();
        let outcome = Outcome {
            call: call.number,
            in_execution: call.in_execution,
            tool: call.tool,
            step: self.steps.step(&id),
            result,
            is_cut,
        };
        files::append(&self.outcomes, &Line::Outcome(outcome))
            .expect("the outcomes can be written");
    }

    fn context(&self, call: Planned, until: Option<Instant>) -> ToolContext {
        let mut context = self.pool.context();
        if let Some(until) = until {
            context = context.with_deadline(until);
        }
        if call.in_execution {
            let execution = Execution::new(format!("{}-{}", self.name, call.number));
            context = context.in_execution(&Arc::new(execution.with_attempt(self.attempt)));
        }
        context
    }
}

fn of_result(result: &ToolResult) -> Answer {
    match result.error() {
        Some(error) => Answer::new(error.class().as_str(), error.message()),
        None => Answer::new("ok", &result.observation().to_text()),
    }
}
