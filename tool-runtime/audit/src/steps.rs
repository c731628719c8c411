//! Steps of runs that are repeated: what ran in an earlier attempt.

use crate::chain::LogLine;
use crate::error::{LogError, LogErrorKind};
use crate::event_log::Resolution;
use crate::record::{LogRecord, RecordKind};
use crate::writer::LogThread;
use serde::Deserialize;
use tool_runtime_core::govern::Begin;
use tool_runtime_core::tool::{Observation, StepId};
use tool_runtime_core::vocabulary::RetryMode;
use tool_runtime_core::vocabulary::error::CallError;

/// The state of a step, from its records.
#[derive(Debug)]
pub(crate) enum StepState {
    /// It did not start, or an operator says that it had no effect.
    New,
    /// It started, and its end is not recorded.
    Open {
        start: Box<LogRecord>,
        /// Whether the tool ran until it asked its client.
        is_suspended: bool,
    },
    /// It started, and it is recorded that its outcome is not known.
    Indeterminate,
    /// It ended.
    Ended(Result<Observation, CallError>),
}

/// The outcome of a step, as it is recorded.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredOutcome {
    Ok(Observation),
    Error(CallError),
}

impl StepState {
    /// The state after these records, in their order.
    pub(crate) fn from_lines(lines: &[LogLine]) -> Result<Self, LogError> {
        let mut state = Self::New;
        for line in lines {
            if crate::chain::hash(&line.text) != line.hash {
                return Err(damaged(line, "its hash differs"));
            }
            let record = line.record().map_err(|error| damaged(line, &error.to_string()))?;
            state = state.after(record, line)?;
        }
        Ok(state)
    }

    fn after(self, record: LogRecord, line: &LogLine) -> Result<Self, LogError> {
        // A refusal and a replay change nothing.
        let ran = record.duration_us.is_some() && record.replayed.is_none();
        Ok(match record.kind {
            RecordKind::Started => Self::Open { start: Box::new(record), is_suspended: false },
            RecordKind::Suspended => self.suspended(),
            RecordKind::Succeeded | RecordKind::Failed if ran => ended(&record, line)?,
            RecordKind::Resolved if record.outcome.is_some() => ended(&record, line)?,
            RecordKind::Resolved => Self::New,
            RecordKind::Indeterminate | RecordKind::Cancelled if ran => Self::Indeterminate,
            RecordKind::Indeterminate if matches!(self, Self::Open { .. }) => Self::Indeterminate,
            _ if self.is_refused_by(&record) => Self::New,
            _ => self,
        })
    }

    fn suspended(self) -> Self {
        match self {
            Self::Open { start, .. } => Self::Open { start, is_suspended: true },
            other => other,
        }
    }

    /// Whether a record says that the tool did not run after its start was recorded: the call was refused because the
    /// start was not durable in time, or was dropped until then.
    fn is_refused_by(&self, record: &LogRecord) -> bool {
        let Self::Open { start, is_suspended: false } = self else { return false };
        let is_same = (&start.process, start.call) == (&record.process, record.call);
        is_same && record.says_not_run()
    }
}

/// The work of [`EventLog::resolve`](crate::EventLog::resolve).
pub(crate) fn resolving(
    step: &StepId,
    resolution: Resolution,
    by: &str,
) -> impl FnOnce(&mut LogThread, Result<(), LogError>) -> Result<(), LogError> + Send + 'static {
    let (step, by) = (step.to_string(), by.to_owned());
    move |thread, written| {
        written?;
        thread.resolve(&step, &resolution, &by)
    }
}

impl LogThread {
    /// Looks up a step. The first time that a step is found without an end, this is recorded.
    pub(crate) fn begin(&mut self, step: &str, mode: RetryMode) -> Result<Begin, LogError> {
        let state = StepState::from_lines(&self.backend.step(step)?)?;
        let started = match state {
            StepState::New => return Ok(Begin::Run),
            StepState::Ended(outcome) => return Ok(Begin::Replay(outcome)),
            _ if mode == RetryMode::SafeToRetry => return Ok(Begin::Run),
            StepState::Indeterminate => return Ok(Begin::Indeterminate),
            StepState::Open { start, .. } => *start,
        };
        let is_running = started.process == self.encoder.process
            && self.encoder.calls.contains_key(&started.call);
        if !is_running {
            let message = "the call started, and its end is not recorded".to_owned();
            self.add(LogRecord {
                kind: RecordKind::Indeterminate,
                message: Some(message),
                ..about(started)
            });
            self.write()?;
        }
        Ok(Begin::Indeterminate)
    }

    fn resolve(&mut self, step: &str, how: &Resolution, by: &str) -> Result<(), LogError> {
        let lines = self.backend.step(step)?;
        let is_unknown = matches!(
            StepState::from_lines(&lines)?,
            StepState::Open { .. } | StepState::Indeterminate
        );
        let last = lines.last().filter(|_| is_unknown).and_then(|line| line.record().ok());
        let Some(last) = last else {
            let text = format!(
                "step `{step}` is not one of a run, did not start, or its outcome is known"
            );
            return Err(LogError::new(LogErrorKind::NotFound, text));
        };
        let (by, kind) = (Some(self.encoder.name(by)), RecordKind::Resolved);
        let outcome = self.encoder.stated(how);
        self.add(LogRecord { kind, by, outcome, ..about(last) });
        self.write()
    }
}

/// A record about the same step, of the same caller.
fn about(record: LogRecord) -> LogRecord {
    let LogRecord { tool, run, step, call, principal, session, mcp_session, trace, .. } = record;
    let about = LogRecord { tool, run, step, call, principal, ..LogRecord::default() };
    LogRecord { session, mcp_session, trace, ..about }
}

fn ended(record: &LogRecord, line: &LogLine) -> Result<StepState, LogError> {
    let outcome = record.outcome.as_deref().map(|outcome| serde_json::from_str(outcome.get()));
    match outcome {
        Some(Ok(StoredOutcome::Ok(observation))) => Ok(StepState::Ended(Ok(observation))),
        Some(Ok(StoredOutcome::Error(error))) => Ok(StepState::Ended(Err(error))),
        Some(Err(error)) => Err(damaged(line, &error.to_string())),
        None => Err(damaged(line, "it has no outcome")),
    }
}

fn damaged(line: &LogLine, reason: &str) -> LogError {
    let text = format!("record {} of the log cannot be used: {reason}", line.position);
    LogError::new(LogErrorKind::Damaged, text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::Head;

    /// The state after records of one call.
    fn state(kinds: &[(RecordKind, Option<u64>)]) -> String {
        let mut head = Head::empty();
        let line = |(kind, duration_us): &(RecordKind, Option<u64>)| {
            let (kind, duration_us) = (*kind, *duration_us);
            let process = "p".to_owned();
            let mut record = LogRecord { kind, duration_us, process, ..LogRecord::default() };
            LogLine::chained(&mut record, &mut head)
        };
        let lines: Vec<LogLine> = kinds.iter().map(line).collect();
        let text = format!("{:?}", StepState::from_lines(&lines).unwrap());
        text.split([' ', '(']).next().unwrap().to_owned()
    }

    #[test]
    fn a_start_that_was_refused_has_no_effect() {
        use RecordKind::{Cancelled, Failed, Started, Suspended};
        let (refused, ran) = (None, Some(5));
        assert_eq!(state(&[(Started, None)]), "Open");
        assert_eq!(state(&[(Started, None), (Failed, refused)]), "New");
        assert_eq!(state(&[(Started, None), (Cancelled, refused)]), "New");
        assert_eq!(state(&[(Started, None), (Cancelled, ran)]), "Indeterminate");
        assert_eq!(state(&[(Started, None), (Suspended, None), (Failed, refused)]), "Open");
    }
}
