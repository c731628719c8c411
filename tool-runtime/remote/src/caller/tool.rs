//! A tool of runners, as a tool of the pool.

use super::attend::Attempt;
use super::link::Link;
use crate::LONGEST;
use crate::backoff::persist;
use crate::catalogue::Announced;
use crate::message::{Accepts, Asserted, Client, Job, Kind, Run, millis};
use crate::names::{Queue, StepKey};
use crate::outcome;
use crate::payload::{Digest, Json, MAX_BLOB, MAX_INLINE, Payload};
use crate::random;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tool_runtime_core::seam::current_trace;
use tool_runtime_core::tool::peer::LogLevel;
use tool_runtime_core::tool::{
    Arguments, Executor, Observation, Tool, ToolContext, ToolDefinition,
};
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};
use tool_runtime_core::vocabulary::{BoxFuture, RetryMode};

/// The key of the runner in the metadata of a result.
const RUNNER: &str = "tool-runtime/runner";

/// The executor of a tool of runners.
pub(super) struct RemoteTool {
    pub(super) link: Arc<Link>,
    pub(super) queue: Queue,
    /// Its name at the runners.
    pub(super) name: String,
    contract: Digest,
    timeout: Duration,
    pub(super) mode: RetryMode,
    has_secrets: bool,
}

impl RemoteTool {
    /// A tool of the pool, with this definition.
    pub(super) fn tool(
        link: &Arc<Link>,
        queue: &Queue,
        announced: &Announced,
        definition: ToolDefinition,
    ) -> Tool {
        // The runner's own hints, also if they are not trusted: repeating its calls harms nobody else, and it
        // takes the stricter one of this mode and its own.
        let hints = || RetryMode::from_annotations(&announced.definition.annotations);
        let remote = Self {
            link: Arc::clone(link),
            queue: queue.clone(),
            name: announced.definition.name.clone(),
            contract: announced.contract.clone(),
            timeout: announced.timeout.map_or(LONGEST, Duration::from_millis).min(LONGEST),
            mode: announced.retry_mode.unwrap_or_else(hints),
            has_secrets: has_secrets(&Value::Object(definition.input_schema.clone())),
        };
        Tool::remote(Arc::new(definition), remote, random::step)
    }

    async fn run(
        &self,
        arguments: Arguments<'_>,
        context: &ToolContext,
    ) -> Result<Observation, CallError> {
        self.check_confidential()?;
        let until = self.limit(context);
        let arguments = self.payload(arguments, until).await?;
        let permit = timeout_at(until, self.link.permits.acquire()).await;
        let _permit =
            permit.map_err(|_| self.timed_out("too many calls of this program are in flight"))?;
        let job = self.job(arguments, context, until);
        let step =
            StepKey::new(self.queue.clone(), self.link.board.caller().clone(), job.step().clone());
        Attempt::new(self, step, context, job, until).run().await
    }

    /// The time when the call ends at the latest.
    fn limit(&self, context: &ToolContext) -> Instant {
        let own = Instant::now() + self.timeout;
        context.deadline().map_or(own, |deadline| own.min(deadline.into()))
    }

    /// Secret arguments travel in clear.
    fn check_confidential(&self) -> Result<(), CallError> {
        if !self.has_secrets || self.link.board.is_confidential() {
            return Ok(());
        }
        let text = format!(
            "`{}` has secret arguments, and the connection to {} is not encrypted; use https there",
            self.name,
            self.link.board.address()
        );
        Err(CallError::new(ErrorClass::Denied, text))
    }

    async fn payload(
        &self,
        arguments: Arguments<'_>,
        until: Instant,
    ) -> Result<Payload, CallError> {
        let text = match arguments.as_str().trim() {
            "" => "{}",
            text => text,
        };
        let rejected = |what: String| {
            let text = format!("invalid arguments for `{}`: {what}", self.name);
            CallError::new(ErrorClass::Input, text)
        };
        let size = text.len();
        if size as u64 > MAX_BLOB {
            return Err(rejected(format!(
                "they have {size} bytes, and at most {MAX_BLOB} can be passed on"
            )));
        }
        let json =
            Json::read(text).map_err(|error| rejected(format!("they are not JSON: {error}")))?;
        if size <= MAX_INLINE {
            return Ok(Payload::Inline(json));
        }
        let bytes = Bytes::from(text.to_owned());
        // As long as smaller ones wait: an earlier attempt of the call may have run.
        let put = persist("a call waits", || self.link.board.put(bytes.clone()));
        match timeout_at(until, put).await {
            Ok(Ok(blob)) => Ok(Payload::Blob(blob)),
            Ok(Err(error)) => Err(self.transient(&error.to_string())),
            Err(_) => Err(self.timed_out("its arguments could not be stored in time")),
        }
    }

    fn job(&self, arguments: Payload, context: &ToolContext, until: Instant) -> Job {
        let step = context.step().cloned().unwrap_or_else(random::step);
        let mut job = Job::new(step, &*self.name, self.contract.clone(), arguments);
        let principal = context.principal();
        job.mode = self.mode;
        job.within = millis(until.saturating_duration_since(Instant::now()));
        job.call_id = context.call_id().map(str::to_owned);
        if let Some(execution) = context.execution() {
            job.keep = true;
            job.run = Some(Run {
                id: execution.id().to_owned(),
                attempt: execution.attempt(),
                labels: execution.labels().clone(),
            });
        }
        job.principal = Asserted {
            id: principal.id().to_owned(),
            scopes: principal.scopes().to_vec(),
            claims: principal.claims().clone(),
        };
        job.accepts = accepts(context);
        job.client = context.client().map(|info| Client {
            name: info.name,
            version: info.version,
            title: info.title,
        });
        job.trace = trace(context);
        job
    }

    /// The outcome that a record has.
    pub(super) async fn outcome(
        &self,
        payload: Payload,
        runner: Option<(&str, u32)>,
    ) -> Result<Observation, CallError> {
        let outcome = match payload {
            Payload::Inline(json) => outcome::read(json.as_str()),
            Payload::Blob(blob) => {
                let get = || self.link.board.get(&blob);
                let bytes = persist("a result cannot be read", get).await;
                let bytes = bytes.map_err(|error| self.lost_result(&error.to_string()))?;
                // It is large.
                let read = tokio::task::spawn_blocking(move || {
                    std::str::from_utf8(&bytes)
                        .map(outcome::read)
                        .map_err(|error| error.to_string())
                });
                let read = read.await.map_err(|error| self.lost_result(&error.to_string()))?;
                read.map_err(|error| self.lost_result(&error))?
            }
        };
        let observation = outcome?;
        Ok(match runner {
            Some((id, round)) => observation.with_meta(RUNNER, json!({ "id": id, "round": round })),
            None => observation,
        })
    }

    fn lost_result(&self, why: &str) -> CallError {
        let text =
            format!("`{}` ran, and its result is lost; do not assume that it failed", self.name);
        CallError::new(ErrorClass::Indeterminate, text).with_detail(why)
    }

    pub(super) fn transient(&self, why: &str) -> CallError {
        let text = format!("`{}` could not be called: {why}", self.name);
        CallError::new(ErrorClass::Transient, text)
    }

    pub(super) fn timed_out(&self, why: &str) -> CallError {
        let text = format!("`{}` did not end within its time limit: {why}", self.name);
        CallError::new(ErrorClass::Timeout, text)
    }
}

impl Executor for RemoteTool {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(self.run(arguments, context))
    }
}

fn accepts(context: &ToolContext) -> Accepts {
    let Some(peer) = context.peer() else { return Accepts::default() };
    let can = |kind: &Kind| kind.capability().is_some_and(|capability| peer.can(capability));
    Accepts {
        progress: peer.accepts_progress(),
        log: LEVELS.into_iter().find(|level| peer.accepts_log(*level)),
        ask: Kind::ALL.into_iter().filter(can).collect(),
    }
}

const LEVELS: [LogLevel; 8] = [
    LogLevel::Debug,
    LogLevel::Info,
    LogLevel::Notice,
    LogLevel::Warning,
    LogLevel::Error,
    LogLevel::Critical,
    LogLevel::Alert,
    LogLevel::Emergency,
];

/// The trace of the call: its span, or what its caller has sent if no spans are exported.
fn trace(context: &ToolContext) -> Map<String, Value> {
    let Some(trace) = current_trace().or_else(|| context.sent_trace()) else { return Map::new() };
    trace.named().map(|(name, value)| (name.to_owned(), value.into())).collect()
}

/// Whether a schema marks something as secret.
fn has_secrets(schema: &Value) -> bool {
    match schema {
        Value::Object(members) => {
            members.get("writeOnly") == Some(&Value::Bool(true))
                || members.values().any(has_secrets)
        }
        Value::Array(items) => items.iter().any(has_secrets),
        _ => false,
    }
}
