//! Steps of runs that are repeated: what ran in an earlier attempt.

use crate::chain::LogLine;
use crate::error::{LogError, LogErrorKind};
use crate::record::{LogRecord, RecordKind};
use serde::Deserialize;
use tool_runtime_core::{CallError, Observation};

/// The state of a step, from its records.
#[derive(Debug)]
pub(crate) enum StepState {
    /// It did not start, or an operator says that it had no effect.
    New,
    /// It started, and its end is not recorded.
    Open(Box<LogRecord>),
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
    pub(crate) fn of(lines: &[LogLine]) -> Result<Self, LogError> {
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
            RecordKind::Started => Self::Open(Box::new(record)),
            RecordKind::Succeeded | RecordKind::Failed if ran => ended(&record, line)?,
            RecordKind::Resolved if record.outcome.is_some() => ended(&record, line)?,
            RecordKind::Resolved => Self::New,
            RecordKind::Indeterminate | RecordKind::Cancelled if ran => Self::Indeterminate,
            RecordKind::Indeterminate if matches!(self, Self::Open(_)) => Self::Indeterminate,
            _ => self,
        })
    }
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
