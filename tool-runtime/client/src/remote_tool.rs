//! Runs a server's tool as a tool of the pool.

use super::connection::Connection;
use super::convert_result;
use super::definition;
use super::failure::Failure;
use super::in_flight_call::InFlightCall;
use super::input_required::{self, Answer, ToolRequest};
use super::listing;
use super::nulls;
use super::request_timeouts::RequestTimeouts;
use super::schema::{Checker, Examiner, Verdict, on_blocking_thread};
use super::server::Server;
use super::tasks;
use rmcp::model::ErrorCode;
use serde_json::{Map, Value};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};
use tool_runtime_core::seam::InputModel;
use tool_runtime_core::tool::{
    Arguments, Executor, Observation, Tool, ToolContext, ToolDefinition,
};
use tool_runtime_core::vocabulary::BoxFuture;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass, Issue};
use tool_runtime_mcp::numbers::{has_long_integer, lost_integer};

/// Time limit of a list that a call waits for.
const RELIST: Duration = Duration::from_secs(10);

/// Metadata key of a result that does not fit the tool's output schema.
const MISMATCH: &str = "tool-runtime/output-mismatch";
/// Metadata key of a result that was not checked.
const UNCHECKED: &str = "tool-runtime/output-not-checked";

/// Time limits of calls.
#[derive(Clone, Debug)]
pub(super) struct CallTimeouts {
    /// Limit on the time without progress.
    pub(super) idle: Duration,
    /// Limit on the whole call, regardless of progress.
    pub(super) max: Duration,
    /// Idle timeouts of single tools, by the server's names.
    pub(super) of_tools: std::collections::BTreeMap<String, Duration>,
}

impl CallTimeouts {
    /// The idle timeout and the deadline of a tool. A tool's own timeout extends the deadline.
    fn for_tool(&self, tool: &str) -> (Duration, Duration) {
        match self.of_tools.get(tool) {
            Some(own) => (*own, self.max.max(*own)),
            None => (self.idle, self.max),
        }
    }
}

/// The executor of a server's tool.
pub(super) struct RemoteTool {
    server: Arc<Server>,
    /// The server's name of the tool.
    name: String,
    definition: Arc<ToolDefinition>,
    /// Created when the first call is shown or rejected: it is as large as the schema.
    input: OnceLock<Arc<InputModel>>,
    arguments: Arc<Checker>,
    output: Option<Arc<Checker>>,
    /// Whether a call may be sent twice, by the hints of a trusted server.
    is_repeatable: bool,
    /// Whether the server accepts calls only as tasks, as far as known.
    is_task: AtomicBool,
    idle: Duration,
    max: Duration,
}

impl RemoteTool {
    /// A tool of the pool from a server's definition.
    pub(super) fn tool(
        server: &Arc<Server>,
        name: &str,
        definition: &Arc<ToolDefinition>,
        timeouts: &CallTimeouts,
    ) -> Tool {
        let (idle, max) = timeouts.for_tool(name);
        let remote = Self {
            server: Arc::clone(server),
            name: name.to_owned(),
            definition: Arc::clone(definition),
            input: OnceLock::new(),
            arguments: Checker::of_input(definition),
            output: Checker::of_output(definition),
            is_repeatable: definition.effective_annotations().is_idempotent(),
            is_task: AtomicBool::new(false),
            idle,
            max,
        };
        Tool::foreign(Arc::clone(definition), remote, server.name(), name)
    }

    /// The arguments to send.
    async fn arguments(&self, arguments: Arguments<'_>) -> Result<Map<String, Value>, CallError> {
        if has_long_integer(arguments.as_str()) {
            return Err(self.rejection(
                "an integer of more than 64 bits cannot be passed on unchanged; pass a smaller one, or text",
            ));
        }
        let parsed = self.parsed(arguments).map_err(|error| {
            self.rejection(&format!("the arguments are not valid JSON: {error}"))
        })?;
        match self.issues(parsed).await? {
            (Value::Object(map), issues) if issues.is_empty() => Ok(map),
            (_, issues) => Err(self.input().rejection(issues)),
        }
    }

    fn parsed(&self, arguments: Arguments<'_>) -> serde_json::Result<Value> {
        let parsed = match arguments.as_str().trim() {
            "" => Value::Object(Map::new()),
            text => serde_json::from_str(text)?,
        };
        Ok(match parsed {
            Value::Object(map) => {
                nulls::without_needless_nulls(&self.definition.input_schema, map).into()
            }
            other => other,
        })
    }

    /// The arguments to send again.
    fn repeated_arguments(&self, arguments: Arguments<'_>) -> Map<String, Value> {
        match self.parsed(arguments) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        }
    }

    /// The issues of arguments: those of our own walker if it finds any, else those of the
    /// validator.
    async fn issues(&self, value: Value) -> Result<(Value, Vec<Issue>), CallError> {
        let (value, verdict) = self.arguments.check(value).await;
        match verdict.map_err(|reason| self.unusable(reason))? {
            Verdict::Valid if value.is_object() => return Ok((value, Vec::new())),
            Verdict::Valid | Verdict::Invalid => {}
            Verdict::Unchecked => {
                return Err(self.rejection(
                    "they are too large to be checked against the schema that its server gives; pass less in one call",
                ));
            }
        }
        let (input, arguments) = (Arc::clone(self.input()), Arc::clone(&self.arguments));
        Ok(on_blocking_thread(move || {
            let mut issues = input.issues_of(&value);
            if issues.is_empty() {
                issues = arguments.explain(&value);
            }
            (value, issues)
        })
        .await)
    }

    #[cold]
    fn unusable(&self, reason: String) -> CallError {
        let text =
            format!("`{}` cannot be called: the server's input schema is invalid", self.name);
        CallError::new(ErrorClass::Internal, text).with_detail(reason)
    }

    fn input(&self) -> &Arc<InputModel> {
        self.input.get_or_init(|| Arc::new(InputModel::from_schema(&self.definition)))
    }

    fn rejection(&self, what: &str) -> CallError {
        let text = format!("invalid arguments for `{}`: {what}", self.name);
        CallError::new(ErrorClass::Input, text)
    }

    async fn call_server(
        &self,
        text: Arguments<'_>,
        context: &ToolContext,
    ) -> Result<Observation, CallError> {
        let timeouts =
            RequestTimeouts { idle: self.idle, until: Instant::now().checked_add(self.max) };
        // Parsed again only for a second attempt.
        let mut first = Some(self.arguments(text).await?);
        let mut arguments = || first.take().unwrap_or_else(|| self.repeated_arguments(text));
        let (mut may_repeat, mut definition) = (true, Arc::clone(&self.definition));
        // The reason why the first attempt was lost.
        let mut lost = None;
        loop {
            let connection = self.connection(timeouts, lost.as_deref()).await?;
            let call = InFlightCall::new(context, timeouts);
            let as_task = self.is_task.load(Ordering::Relaxed) && connection.is_stateless();
            let request = ToolRequest {
                name: &self.name,
                definition: &definition,
                arguments: &mut arguments,
                as_task,
            };
            let outcome = match input_required::call(&connection, request, &call).await {
                Ok(Answer::Task(task)) => {
                    let connection = Arc::clone(&connection);
                    Box::pin(tasks::follow(&self.server, connection, &call, *task)).await
                }
                Ok(Answer::Done(outcome)) => Ok(outcome),
                Err(stop) => Err(stop),
            };
            let failure = match outcome {
                Ok(outcome) => return self.finished(outcome).await,
                Err(input_required::Stop::Failed(Failure::Rejected(error)))
                    if !as_task && connection.is_stateless() && tasks::is_demanded(&error) =>
                {
                    self.is_task.store(true, Ordering::Relaxed);
                    continue;
                }
                Err(input_required::Stop::Failed(Failure::Rejected(error)))
                    if error.code == ErrorCode::INVALID_PARAMS
                        && !self.is_listed(&connection).await =>
                {
                    return Err(self.connection_closed_error(&connection));
                }
                Err(input_required::Stop::Failed(failure)) => failure,
                Err(input_required::Stop::Ended(error)) => return Err(error),
            };
            connection.end_after(&failure);
            let is_safe = match &failure {
                Failure::Unsent(_) => true,
                // The schema of the tool has changed.
                Failure::Rejected(error) if error.code == ErrorCode::HEADER_MISMATCH => {
                    connection.notifications().changed().notify();
                    match self.current_definition(&connection).await {
                        Some(current) if may_repeat => {
                            definition = current;
                            true
                        }
                        _ => false,
                    }
                }
                Failure::Lost(_) => self.is_repeatable,
                _ => false,
            };
            if !(is_safe && std::mem::take(&mut may_repeat)) {
                return Err(match (failure, lost) {
                    (Failure::Unsent(_), Some(why)) => self.failed(Failure::Lost(why)),
                    (failure, _) => self.failed(failure),
                });
            }
            if let Failure::Lost(why) = failure {
                lost = Some(why);
            }
        }
    }

    /// A connection, within the time limits of the call.
    async fn connection(
        &self,
        timeouts: RequestTimeouts,
        lost: Option<&str>,
    ) -> Result<Arc<Connection>, CallError> {
        let connected = timeout_at(timeouts.end(Instant::now()), self.server.connection()).await;
        connected.unwrap_or_else(|_| Err(self.unconnected(lost)))
    }

    #[cold]
    fn unconnected(&self, lost: Option<&str>) -> CallError {
        let (server, tool) = (self.server.name(), &self.name);
        let text = match lost.map(|why| self.server.redact(why)) {
            None => format!(
                "the MCP server `{server}` was not connected in the time that `{tool}` may take; it was not sent"
            ),
            Some(why) => format!(
                "the MCP server `{server}` was lost during `{tool}` ({why}), and not connected again in the time that it may take"
            ),
        };
        CallError::new(ErrorClass::Transient, text)
    }

    async fn finished(&self, mut result: Value) -> Result<Observation, CallError> {
        // The unredacted value is checked: redaction may change whether it matches.
        let output = self.output.as_ref();
        let structured = output.and_then(|_| result.get("structuredContent").cloned());
        let redactor = &self.server.redactors().results;
        if let Some(content) = result.get_mut("content") {
            redactor.blocks(content);
        }
        redactor.value(&mut result);
        let observation = convert_result::observation(result);
        if let Some(number) = self.lost_integer(structured.as_ref(), &observation) {
            return Err(self.inexact(number));
        }
        Ok(self.check_output(observation, structured).await)
    }

    /// An integer that the transport has rounded, because it passes values instead of text.
    fn lost_integer(&self, structured: Option<&Value>, observation: &Observation) -> Option<f64> {
        let properties = self.definition.output_schema.as_ref()?.get("properties")?;
        let mut members = structured?.as_object()?.iter();
        let number = members.find_map(|(key, value)| lost_integer(value, &properties[key]))?;
        let is_kept = observation.structured_json().is_some_and(has_long_integer);
        (!is_kept).then_some(number)
    }

    fn inexact(&self, number: f64) -> CallError {
        let (server, name) = (self.server.name(), &self.name);
        let text = format!(
            "the MCP server `{server}` answered `{name}` with an integer beyond 64 bits, about {number:e}, whose digits cannot be passed on exactly; the call has had its effect"
        );
        CallError::new(ErrorClass::Tool, text)
    }

    /// The definition that the server lists now.
    async fn current_definition(&self, connection: &Connection) -> Option<Arc<ToolDefinition>> {
        let listing = listing::list(connection, RELIST).await.ok()?;
        let listed = listing.tools.into_iter().find(|tool| tool.name() == self.name)?;
        let id = self.definition.name.clone();
        Some(Arc::new(definition::import(id, listed, &mut Examiner::default()).definition))
    }

    async fn is_listed(&self, connection: &Connection) -> bool {
        let listed = listing::list(connection, RELIST).await;
        // Without an answer the last list is used.
        listed.map_or(true, |listing| {
            listing.gap.is_some() || listing.tools.iter().any(|tool| tool.name() == self.name)
        })
    }

    fn connection_closed_error(&self, connection: &Connection) -> CallError {
        connection.notifications().changed().notify();
        let text = format!(
            "the MCP server `{}` has no tool `{}` any more; its list is being read again",
            self.server.name(),
            self.name
        );
        CallError::new(ErrorClass::NotFound, text)
    }

    /// Checks a result against the output schema. A result that violates it is passed on, marked and logged.
    async fn check_output(
        &self,
        observation: Observation,
        structured: Option<Value>,
    ) -> Observation {
        let Some(output) = self.output.as_ref().filter(|_| !observation.is_error()) else {
            return observation;
        };
        let problem = match structured {
            None => "it has no structured value".to_owned(),
            Some(value) => match output.check(value).await {
                (_, Ok(Verdict::Valid)) => return observation,
                (value, Ok(Verdict::Invalid)) => {
                    let issues = output.explain(&value);
                    issues.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
                }
                (_, Ok(Verdict::Unchecked)) => return self.unchecked(observation),
                (_, Err(reason)) => format!("the output schema is invalid: {reason}"),
            },
        };
        let problem = self.server.redact(&problem);
        let (server, tool) = (&**self.server.name(), &*self.name);
        tracing::warn!(server, tool, "the result does not fit the output schema: {problem}");
        observation.with_meta(MISMATCH, problem)
    }

    #[cold]
    fn unchecked(&self, observation: Observation) -> Observation {
        let problem = "it is too large to be checked against the output schema";
        let (server, tool) = (&**self.server.name(), &*self.name);
        tracing::warn!(server, tool, "the result is passed on unchanged: {problem}");
        observation.with_meta(UNCHECKED, problem)
    }

    #[cold]
    fn failed(&self, failure: Failure) -> CallError {
        let (server, tool) = (self.server.name(), &self.name);
        let redact = |text: &str| self.server.redact(text);
        let (class, text) = match failure {
            Failure::Unsent(None) => (
                ErrorClass::Transient,
                format!("the MCP server `{server}` ended the connection; `{tool}` was not sent"),
            ),
            Failure::Unsent(Some(why)) => (
                ErrorClass::Transient,
                format!("the MCP server `{server}` did not take `{tool}`: {}", redact(&why)),
            ),
            Failure::Lost(why) if self.is_repeatable => (
                ErrorClass::Transient,
                format!(
                    "the MCP server `{server}` was lost during `{tool}`, and repeating that failed: {}",
                    redact(&why)
                ),
            ),
            Failure::Lost(why) => (
                ErrorClass::Indeterminate,
                format!(
                    "the MCP server `{server}` was lost while it worked at `{tool}` ({}); the call may have had its effect, so find that out before you try again",
                    redact(&why)
                ),
            ),
            Failure::Unauthorized(why) => (
                ErrorClass::Tool,
                format!("the MCP server `{server}` requires authorization: {}", redact(&why)),
            ),
            // Our transports report unreadable answers by this code.
            Failure::Rejected(error) if error.code == ErrorCode::PARSE_ERROR => (
                ErrorClass::Indeterminate,
                format!("the MCP server `{server}` answered `{tool}`: {}", redact(&error.message)),
            ),
            Failure::Rejected(error) => {
                let class = match error.code {
                    ErrorCode::INVALID_PARAMS => ErrorClass::Input,
                    _ => ErrorClass::Tool,
                };
                (
                    class,
                    format!(
                        "the MCP server `{server}` refused `{tool}`: {}",
                        redact(&error.message)
                    ),
                )
            }
            Failure::Silent(idle) => {
                (ErrorClass::Timeout, self.timeout_text(idle, "sent nothing for"))
            }
            Failure::Late => {
                (ErrorClass::Timeout, self.timeout_text(self.max, "was not done within"))
            }
        };
        CallError::new(class, text)
    }

    fn timeout_text(&self, time: Duration, what: &str) -> String {
        let time = humantime::format_duration(time);
        format!(
            "the MCP server `{}` {what} {time} while it worked at `{}`, which was cancelled; the call may have had its effect all the same",
            self.server.name(),
            self.name
        )
    }
}

impl Executor for RemoteTool {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(self.call_server(arguments, context))
    }
}
