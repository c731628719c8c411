//! From events to records: without secrets, bounded, with what earlier events of the call said.

use crate::event::{Event, Failure, Outcome, Proposal, Stage};
use crate::event_log::Resolution;
use crate::record::{LogRecord, RecordKind, ResultDigest};
use compact_str::CompactString;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest as _, Sha256};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::govern::Effect;
use tool_runtime_core::seam::{HIDDEN, Redactor, canonical, hex, hide_secrets};
use tool_runtime_core::tool::{Observation, Tool};
use tool_runtime_core::vocabulary::RetryMode;
use tool_runtime_core::vocabulary::error::ErrorClass;

/// The longest summary of a result, in characters.
const MAX_SUMMARY: usize = 200;
/// The longest text of a reason, a message or a detail, in characters.
const MAX_TEXT: usize = 2000;
/// The longest name, id or rule, in characters.
const MAX_NAME: usize = 256;
/// The cost of a call, in the metadata of its result.
const COST: &str = "tool-runtime/cost";

/// Makes records, and keeps the calls that did not end yet.
pub(crate) struct Encoder {
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) max_arguments: usize,
    pub(crate) process: String,
    pub(crate) calls: HashMap<u64, OpenCall>,
}

/// A call that did not end.
pub(crate) struct OpenCall {
    tool: Option<Tool>,
    name: String,
    principal: Option<Arc<str>>,
    session: Option<Arc<str>>,
    mcp_session: Option<Arc<str>>,
    trace: Option<Arc<str>>,
    /// As they were recorded last.
    arguments: CompactString,
    run: Option<String>,
    step: Option<String>,
    attempt: Option<u32>,
    is_asked: bool,
}

impl Encoder {
    /// The record of an event, which is not chained yet. `None` for an event of a call that is not known.
    pub(crate) fn record(&mut self, event: Event) -> Option<LogRecord> {
        let Event { time_us, call, stage } = event;
        let mut record =
            LogRecord { time_us, call, process: self.process.clone(), ..LogRecord::default() };
        match stage {
            Stage::Proposed(proposal) => self.propose(*proposal, &mut record),
            Stage::Decided { arguments, effect, by, rule, reason } => {
                record.kind = self.decided(call, effect)?;
                record.by = by.map(|by| self.name(&by));
                record.rule = rule.map(|rule| self.name(&rule));
                record.reason = reason.map(|reason| self.text(&reason));
                self.note_arguments(arguments, &mut record);
            }
            Stage::Suspended => record.kind = RecordKind::Suspended,
            Stage::Started { arguments, mode } => {
                record.kind = RecordKind::Started;
                record.once = (mode == RetryMode::AtMostOnce).then_some(true);
                self.note_arguments(arguments, &mut record);
            }
            Stage::Finished { outcome, duration, is_replayed } => {
                record.duration_us = duration.map(micros);
                record.replayed = is_replayed.then_some(true);
                self.finish(outcome, &mut record);
            }
        }
        self.identify(call, &mut record)?;
        if record.kind.is_end() {
            self.calls.remove(&call);
        }
        Some(record)
    }

    fn decided(&mut self, call: u64, effect: Effect) -> Option<RecordKind> {
        let open = self.calls.get_mut(&call)?;
        Some(match effect {
            Effect::Ask => {
                open.is_asked = true;
                RecordKind::Asked
            }
            Effect::Allow if open.is_asked => RecordKind::Approved,
            Effect::Allow => RecordKind::Allowed,
            _ => RecordKind::Denied,
        })
    }

    fn propose(&mut self, proposal: Proposal, record: &mut LogRecord) {
        record.kind = RecordKind::Proposed;
        record.source = proposal.source.map(|source| self.name(&source.to_string()));
        record.parent = proposal.parent;
        record.call_id = proposal.call_id.map(|id| self.name(&id));
        record.risk = (proposal.risk != tool_runtime_core::govern::Risk::Unknown)
            .then(|| proposal.risk.as_str().to_owned());
        record.summary = proposal.summary.map(|summary| self.text(&summary));
        record.repairs = (proposal.repairs > 0).then_some(proposal.repairs);
        let execution = proposal.execution;
        let attempt = execution.as_ref().map_or(1, |execution| execution.attempt());
        let step = proposal.step.map(|step| match execution {
            // It is looked up as it is.
            Some(_) => step,
            None => self.name(&step),
        });
        let open = OpenCall {
            name: self.name(&proposal.name),
            principal: not_empty(self.name(&proposal.principal)),
            session: proposal.session.map(|session| session.to_string().into()),
            mcp_session: proposal.mcp_session.map(|id| self.name(&id).into()),
            trace: proposal.trace.map(Arc::from),
            tool: proposal.tool,
            arguments: CompactString::default(),
            run: execution.map(|execution| self.name(execution.id())),
            step,
            attempt: (attempt > 1).then_some(attempt),
            is_asked: false,
        };
        self.calls.insert(record.call, open);
        self.note_arguments(proposal.arguments, record);
    }

    /// Adds the identity of the call, as it was proposed.
    fn identify(&self, call: u64, record: &mut LogRecord) -> Option<()> {
        let open = self.calls.get(&call)?;
        record.tool.clone_from(&open.name);
        record.principal.clone_from(&open.principal);
        record.session.clone_from(&open.session);
        record.mcp_session.clone_from(&open.mcp_session);
        record.trace.clone_from(&open.trace);
        record.run.clone_from(&open.run);
        record.step.clone_from(&open.step);
        record.attempt = open.attempt;
        Some(())
    }

    /// Adds the arguments, if they are not those that were recorded last.
    fn note_arguments(&mut self, arguments: CompactString, record: &mut LogRecord) {
        let Some(open) = self.calls.get_mut(&record.call) else { return };
        if open.arguments == arguments {
            return;
        }
        let text = self.redactor.redacted_arguments(&arguments, open.tool.as_ref());
        open.arguments = arguments;
        if text.len() <= self.max_arguments {
            record.arguments = RawValue::from_string(text).ok();
            return;
        }
        let end = (0..=self.max_arguments).rfind(|end| text.is_char_boundary(*end)).unwrap_or(0);
        record.arguments = to_raw_value(&text[..end]).ok();
        record.arguments_bytes = Some(text.len() as u64);
        record.arguments_sha256 = Some(hex(&Sha256::digest(&text)));
    }

    fn finish(&self, outcome: Outcome, record: &mut LogRecord) {
        // A step without a run is not given back.
        let is_step = self.calls.get(&record.call).is_some_and(|open| open.run.is_some());
        // A refusal, and a replay, are not the outcome of the step.
        let is_outcome = is_step && record.duration_us.is_some() && record.replayed.is_none();
        match outcome {
            Outcome::Text(text) => {
                self.finish_done(&Observation::text(text), is_outcome, record);
            }
            Outcome::Done(observation) => self.finish_done(&observation, is_outcome, record),
            Outcome::Failed(failure) => self.finish_failed(*failure, is_outcome, record),
        }
    }

    fn finish_done(&self, observation: &Observation, is_outcome: bool, record: &mut LogRecord) {
        record.kind = RecordKind::Succeeded;
        let json = serde_json::to_string(observation).unwrap_or_default();
        let text = self.redactor.redacted_json(json);
        if observation.is_error() {
            record.kind = RecordKind::Failed;
            record.class = Some(ErrorClass::Tool.as_str().to_owned());
        }
        let cost = observation.meta().and_then(|meta| meta.get(COST)).and_then(Value::as_f64);
        // A cast saturates.
        record.cost_micros = cost.map(|cost| (cost * 1e6).round() as u64);
        record.result = Some(ResultDigest {
            bytes: text.len() as u64,
            sha256: hex(&Sha256::digest(&text)),
            summary: self.redactor.line(&observation.to_text(), MAX_SUMMARY),
        });
        if is_outcome {
            record.outcome = RawValue::from_string(format!("{{\"ok\":{text}}}")).ok();
        }
    }

    fn finish_failed(&self, failure: Failure, is_outcome: bool, record: &mut LogRecord) {
        record.kind = match failure.class {
            ErrorClass::Cancelled => RecordKind::Cancelled,
            ErrorClass::Indeterminate => RecordKind::Indeterminate,
            _ => RecordKind::Failed,
        };
        record.class = Some(failure.class.as_str().to_owned());
        record.message = Some(self.text(&failure.message));
        record.detail = failure.detail.map(|detail| self.text(&detail));
        if is_outcome && record.kind == RecordKind::Failed {
            let json = failure.json.map(|json| self.redactor.redacted_json(json));
            record.outcome =
                json.and_then(|json| RawValue::from_string(format!("{{\"error\":{json}}}")).ok());
        }
    }

    /// The outcome that an operator states.
    pub(crate) fn stated(&self, resolution: &Resolution) -> Option<Box<RawValue>> {
        let (name, json) = match resolution {
            Resolution::NotRun => return None,
            Resolution::Ran(observation) => ("ok", serde_json::to_string(observation)),
            Resolution::Failed(error) => ("error", serde_json::to_string(error)),
        };
        let json = self.redactor.redacted_json(json.unwrap_or_default());
        RawValue::from_string(format!("{{\"{name}\":{json}}}")).ok()
    }

    /// A text of a person or a program, without secrets and control characters.
    fn text(&self, text: &str) -> String {
        self.redactor.line(text, MAX_TEXT)
    }

    pub(crate) fn name(&self, text: &str) -> String {
        self.redactor.line(text, MAX_NAME)
    }
}

/// Removes secrets from JSON strings.
trait RedactJson {
    fn redacted_arguments(&self, text: &str, tool: Option<&Tool>) -> String;
    fn redacted_json(&self, text: String) -> String;
}

impl RedactJson for Redactor {
    /// Arguments in canonical form. Those that are not JSON become a string.
    fn redacted_arguments(&self, text: &str, tool: Option<&Tool>) -> String {
        let text = if text.trim().is_empty() { "{}" } else { text };
        let mut value = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        match (tool, &mut value) {
            (Some(tool), value) => {
                hide_secrets(value, &tool.definition().input_schema, HIDDEN);
            }
            // Nothing says which are secret: the name may be a misspelt one, or its server is gone.
            (None, Value::Object(arguments)) => {
                arguments.values_mut().for_each(|value| *value = HIDDEN.into());
            }
            (None, value) => *value = HIDDEN.into(),
        }
        self.value(&mut value);
        canonical(&value)
    }

    /// Unchanged if it has no secrets, so that its order stays.
    fn redacted_json(&self, text: String) -> String {
        if self.longest() == 0 {
            return text;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&text) else {
            return Value::from(self.text(&text).into_owned()).to_string();
        };
        self.value(&mut value);
        value.to_string()
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn not_empty(text: String) -> Option<Arc<str>> {
    (!text.is_empty()).then(|| text.into())
}
