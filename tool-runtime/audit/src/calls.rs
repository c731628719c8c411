//! Calls, put together from their records.

use crate::record::{LogRecord, RecordKind};
use crate::time::time;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;
use tool_runtime_core::seam::one_line;

/// The longest arguments and results in a line, in characters.
const MAX_SHOWN: usize = 100;

/// A call, as far as it is recorded. `Display` writes a line for a person.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoggedCall {
    /// The number of its first record.
    pub seq: u64,
    /// The number of the call in its process.
    pub call: u64,
    /// The process.
    pub process: String,
    /// The tool.
    pub tool: String,
    /// The arguments, as the caller gave them. A change by a hook or an approver is one of the `stages`.
    pub arguments: String,
    /// The caller.
    pub principal: Option<String>,
    /// The id of the MCP session, as the client has sent it over HTTP.
    pub mcp_session: Option<String>,
    /// The id of the trace that it belongs to.
    pub trace: Option<String>,
    /// The id that its caller gave it: that of the message of an MCP client.
    pub call_id: Option<String>,
    /// The run, if it is a part of one.
    pub run: Option<String>,
    /// The id of the call: in its run, or without a run of a call whose id was made elsewhere or whose tool runs in another
    /// process.
    pub step: Option<String>,
    /// The attempt of the run.
    pub attempt: u32,
    /// The time when it was proposed, in microseconds since 1970 UTC.
    pub time_us: u64,
    /// The last stage that is recorded. A call that was denied has failed as well, and stays [`RecordKind::Denied`].
    pub state: RecordKind,
    /// Whether the tool started.
    pub is_started: bool,
    /// Whether the outcome is that of an earlier attempt.
    pub is_replayed: bool,
    /// The time that the tool ran.
    pub duration: Option<Duration>,
    /// The cost in millionths.
    pub cost_micros: u64,
    /// The events between the proposal and the end, as strings.
    pub stages: Vec<String>,
    /// The kinds of its records, in their order.
    pub kinds: Vec<RecordKind>,
    /// The rule of the last decision.
    pub rule: Option<String>,
    /// The reason of the last decision, or its question; of a call that was cancelled, why.
    pub reason: Option<String>,
    /// The person who approved the call, or resolved its step.
    pub by: Option<String>,
    /// Whether the tool ran until it asked its client.
    is_suspended: bool,
}

impl LoggedCall {
    /// The call as JSON: its members have the names of the fields. `time` is in RFC 3339, `duration` in seconds, `arguments`
    /// are a value, or a string if they are cut.
    ///
    /// ```
    /// use tool_runtime::audit::RunSummary;
    ///
    /// let run = RunSummary::new("order-17", []);
    /// assert!(run.calls.iter().all(|call| call.to_json()["tool"].is_string()));
    /// ```
    pub fn to_json(&self) -> Value {
        let arguments = serde_json::from_str(&self.arguments);
        let mut call = json!({
            "seq": self.seq,
            "call": self.call,
            "process": self.process,
            "time": time(self.time_us).replace(' ', "T"),
            "tool": self.tool,
            "arguments": arguments.unwrap_or_else(|_| Value::from(&*self.arguments)),
            "state": self.state.as_str(),
            "is_started": self.is_started,
            "is_ended": self.is_ended(),
            "is_replayed": self.is_replayed,
            "attempt": self.attempt,
            "stages": self.stages,
            "kinds": self.kinds,
        });
        let optional = [
            ("principal", self.principal.as_deref().map(Value::from)),
            ("mcp_session", self.mcp_session.as_deref().map(Value::from)),
            ("trace", self.trace.as_deref().map(Value::from)),
            ("call_id", self.call_id.as_deref().map(Value::from)),
            ("run", self.run.as_deref().map(Value::from)),
            ("step", self.step.as_deref().map(Value::from)),
            ("rule", self.rule.as_deref().map(Value::from)),
            ("reason", self.reason.as_deref().map(Value::from)),
            ("by", self.by.as_deref().map(Value::from)),
            ("duration", self.duration.map(|duration| Value::from(duration.as_secs_f64()))),
            ("cost_micros", Some(self.cost_micros).filter(|cost| *cost > 0).map(Value::from)),
        ];
        for (name, value) in optional {
            if let Some(value) = value {
                call[name] = value;
            }
        }
        call
    }

    /// Whether its end is recorded.
    pub fn is_ended(&self) -> bool {
        self.state.is_end() || matches!(self.state, RecordKind::Denied | RecordKind::Resolved)
    }

    fn add(&mut self, record: &LogRecord) {
        let text = record.arguments_text().into_owned();
        let mut change = None;
        if record.kind == RecordKind::Proposed || self.arguments.is_empty() {
            self.arguments = text;
        } else if !text.is_empty() {
            change = Some(format!("the arguments are now {}", one_line(&text, MAX_SHOWN)));
        }
        let ends_denied = record.kind == RecordKind::Failed && self.state == RecordKind::Denied;
        if !ends_denied {
            self.state = record.kind;
        }
        self.kinds.push(record.kind);
        let is_said = ends_denied && self.says(record.message.as_deref());
        for (last, given) in [
            (&mut self.rule, &record.rule),
            (&mut self.reason, record.reason_or_cancellation()),
            (&mut self.by, &record.by),
        ] {
            if given.is_some() {
                last.clone_from(given);
            }
        }
        self.is_started |= record.kind == RecordKind::Started;
        self.is_suspended |= record.kind == RecordKind::Suspended;
        if record.says_not_run() && !self.is_suspended {
            self.is_started = false;
        }
        self.is_replayed |= record.replayed == Some(true);
        self.duration = record.duration().or(self.duration);
        self.cost_micros += record.cost_micros.unwrap_or_default();
        self.stages.extend(stage(record).filter(|_| !is_said));
        self.stages.extend(change);
    }

    /// Whether the text of an error only repeats the reason.
    fn says(&self, message: Option<&str>) -> bool {
        self.reason.as_deref().is_some_and(|reason| message.is_some_and(|it| it.contains(reason)))
    }
}

/// The text of a stage. `None` for those that every call has.
fn stage(record: &LogRecord) -> Option<String> {
    let by = record.by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
    let rule = record.rule.as_ref().map(|rule| format!(" (rule {rule})")).unwrap_or_default();
    let says = |text: &Option<String>| match text {
        Some(text) => format!(": {}", one_line(text, MAX_SHOWN)),
        None => String::new(),
    };
    let kind = record.kind;
    match kind {
        RecordKind::Proposed | RecordKind::Started => None,
        RecordKind::Allowed if rule.is_empty() => None,
        RecordKind::Allowed | RecordKind::Approved => Some(format!("{kind}{by}{rule}")),
        RecordKind::Denied | RecordKind::Asked => {
            Some(format!("{kind}{by}{rule}{}", says(&record.reason)))
        }
        RecordKind::Succeeded | RecordKind::Failed if record.result.is_some() => {
            let summary = record.result.as_ref().map(|result| result.summary.clone());
            Some(format!("{}{}", ended(record), says(&summary)))
        }
        RecordKind::Resolved => Some(format!("{kind}{by}")),
        RecordKind::Cancelled => {
            Some(format!("{}{}", ended(record), says(record.reason_or_cancellation())))
        }
        _ => Some(format!("{}{}", ended(record), says(&record.message))),
    }
}

fn ended(record: &LogRecord) -> String {
    let replayed = if record.replayed == Some(true) { " (replayed)" } else { "" };
    let duration = record.duration().map(|duration| format!(" after {duration:.1?}"));
    format!("{}{}{replayed}", record.kind, duration.unwrap_or_default())
}

impl fmt::Display for LoggedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arguments = one_line(&self.arguments, MAX_SHOWN);
        write!(f, "{}  {} {arguments}", time(self.time_us), self.tool)?;
        if let Some(principal) = &self.principal {
            write!(f, " for {principal}")?;
        }
        // Other logs know the call by it. The steps of a run are known by the run.
        if let (Some(step), None) = (&self.step, &self.run) {
            write!(f, " as step {}", one_line(step, MAX_SHOWN))?;
        }
        let open = match (self.is_ended(), self.is_started) {
            (true, _) => None,
            (false, true) => Some("started, its end is not recorded"),
            (false, false) => Some("not started"),
        };
        let stages: Vec<&str> = self.stages.iter().map(String::as_str).chain(open).collect();
        let [id, trace, session] = [&self.call_id, &self.trace, &self.mcp_session];
        let ids = ids(id.as_deref(), trace.as_deref(), session.as_deref());
        write!(f, " -> {}{ids}", stages.join("; "))
    }
}

/// The ids by which other logs know the call, for the end of its line.
pub(crate) fn ids(id: Option<&str>, trace: Option<&str>, mcp_session: Option<&str>) -> String {
    let ids = [("id", id), ("trace", trace), ("mcp_session", mcp_session)].into_iter();
    ids.filter_map(|(name, id)| id.map(|id| format!(" {name}={id}"))).collect()
}

/// Puts records together to calls, in the order of their proposals.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    calls: Vec<LoggedCall>,
    /// By the process and the number of the call.
    indexes: HashMap<(String, u64), usize>,
    /// The call that started a step of a run last.
    steps: HashMap<String, usize>,
}

impl Calls {
    pub(crate) fn from_records(records: impl IntoIterator<Item = LogRecord>) -> Vec<LoggedCall> {
        let mut calls = Self::default();
        records.into_iter().for_each(|record| calls.add(&record));
        calls.calls
    }

    fn add(&mut self, record: &LogRecord) {
        // Records about the log itself have no call.
        if record.call == 0 {
            return;
        }
        let own = self.indexes.get(&(record.process.clone(), record.call)).copied();
        // An operator, or a later attempt, tells about a step of another process.
        let about = record.step_of_run().and_then(|step| self.steps.get(step)).copied();
        let index = match record.kind {
            RecordKind::Proposed => self.begin(record),
            RecordKind::Resolved => about.or(own).unwrap_or_else(|| self.begin(record)),
            RecordKind::Indeterminate => own.or(about).unwrap_or_else(|| self.begin(record)),
            _ => own.unwrap_or_else(|| self.begin(record)),
        };
        if let (RecordKind::Started, Some(step)) = (record.kind, record.step_of_run()) {
            self.steps.insert(step.to_owned(), index);
        }
        self.calls[index].add(record);
    }

    fn begin(&mut self, record: &LogRecord) -> usize {
        let index = self.calls.len();
        self.indexes.insert((record.process.clone(), record.call), index);
        self.calls.push(LoggedCall {
            seq: record.seq,
            call: record.call,
            process: record.process.clone(),
            tool: record.tool.clone(),
            principal: record.principal.as_deref().map(str::to_owned),
            mcp_session: record.mcp_session.as_deref().map(str::to_owned),
            trace: record.trace.as_deref().map(str::to_owned),
            call_id: record.call_id.clone(),
            run: record.run.clone(),
            step: record.step.clone(),
            attempt: record.attempt.unwrap_or(1),
            time_us: record.time_us,
            ..LoggedCall::default()
        });
        index
    }
}
