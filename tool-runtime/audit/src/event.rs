//! Events of calls, as the thread of the call hands them over: copied, and not yet processed.

use compact_str::CompactString;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tool_runtime_core::govern::{CallEvent, CallStage, CallView, Decision, Effect, Risk};
use tool_runtime_core::tool::{Execution, Observation, SessionId, Source, Tool};
use tool_runtime_core::vocabulary::RetryMode;
use tool_runtime_core::vocabulary::content::ContentBlock;
use tool_runtime_core::vocabulary::error::{CallError, ErrorClass};

/// An event of a call.
#[derive(Debug)]
pub(crate) struct Event {
    pub(crate) time_us: u64,
    pub(crate) call: u64,
    pub(crate) stage: Stage,
}

/// The stage, with what is recorded of it.
#[derive(Debug)]
pub(crate) enum Stage {
    Proposed(Box<Proposal>),
    /// Most rules have short ids and no reason, which takes no memory.
    Decided {
        arguments: CompactString,
        effect: Effect,
        by: Option<String>,
        rule: Option<CompactString>,
        reason: Option<Box<str>>,
    },
    Suspended,
    Started {
        arguments: CompactString,
        mode: RetryMode,
    },
    Finished {
        outcome: Outcome,
        duration: Option<Duration>,
        is_replayed: bool,
    },
}

/// All that is known of a call at its beginning.
#[derive(Debug)]
pub(crate) struct Proposal {
    pub(crate) name: CompactString,
    pub(crate) tool: Option<Tool>,
    pub(crate) source: Option<Source>,
    pub(crate) arguments: CompactString,
    pub(crate) principal: CompactString,
    pub(crate) session: Option<SessionId>,
    pub(crate) mcp_session: Option<String>,
    pub(crate) trace: Option<String>,
    pub(crate) parent: Option<u64>,
    pub(crate) call_id: Option<CompactString>,
    pub(crate) step: Option<String>,
    /// The execution that the step is one of.
    pub(crate) execution: Option<Arc<Execution>>,
    pub(crate) risk: Risk,
    pub(crate) summary: Option<String>,
    pub(crate) repairs: u64,
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// A success that is one text, as most are.
    Text(CompactString),
    Done(Box<Observation>),
    Failed(Box<Failure>),
}

/// An error of a call.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) class: ErrorClass,
    pub(crate) message: String,
    pub(crate) detail: Option<String>,
    /// The whole error as JSON, of a step of an execution.
    pub(crate) json: Option<String>,
}

impl Event {
    pub(crate) fn from_call_event(event: &CallEvent<'_>) -> Option<Self> {
        let call = event.call;
        let arguments = || CompactString::from(call.masked_arguments());
        let stage = match event.stage {
            CallStage::Proposed => Stage::Proposed(Box::new(Proposal::from_call(call))),
            CallStage::Decided { decision, by, .. } => Stage::Decided {
                arguments: arguments(),
                effect: decision.effect(),
                by: by.map(|by| call.masked(by).into_owned()),
                rule: decision.rule().map(Into::into),
                reason: reason(decision, &call),
            },
            CallStage::Suspended => Stage::Suspended,
            CallStage::Started { mode, .. } => Stage::Started { arguments: arguments(), mode },
            CallStage::Finished { outcome, duration, is_replayed, .. } => Stage::Finished {
                outcome: Outcome::from_outcome(outcome, call),
                duration,
                is_replayed,
            },
            _ => return None,
        };
        Some(Self { time_us: now_us(), call: call.number().get(), stage })
    }

    /// About the memory that the event takes.
    pub(crate) fn size(&self) -> usize {
        let bytes = match &self.stage {
            Stage::Proposed(proposal) => proposal.arguments.len(),
            Stage::Decided { arguments, .. } | Stage::Started { arguments, .. } => arguments.len(),
            Stage::Finished { outcome: Outcome::Text(text), .. } => text.len(),
            Stage::Finished { outcome: Outcome::Done(observation), .. } => size_of(observation),
            Stage::Finished { outcome: Outcome::Failed(failure), .. } => failure.message.len(),
            Stage::Suspended => 0,
        };
        bytes + 256
    }
}

/// The length of the structured value and of the largest members of the blocks.
fn size_of(observation: &Observation) -> usize {
    let structured = observation.structured_json().map_or(0, str::len);
    let block = |block: &ContentBlock| match block {
        ContentBlock::Text(text) => text.text().len(),
        ContentBlock::Image(media) | ContentBlock::Audio(media) => media.data.len(),
        _ => 1024,
    };
    structured + observation.content().iter().map(block).sum::<usize>()
}

fn reason(decision: &Decision, call: &CallView<'_>) -> Option<Box<str>> {
    let reason = decision.reason();
    (!reason.is_empty()).then(|| call.masked(reason).into())
}

impl Proposal {
    fn from_call(call: CallView<'_>) -> Self {
        Self {
            name: call.masked(call.name()).into(),
            tool: call.tool().cloned(),
            source: call.source().cloned(),
            arguments: call.masked_arguments().into(),
            principal: call.masked(call.principal().id()).into(),
            session: call.session().copied(),
            mcp_session: call
                .context()
                .header("mcp-session-id")
                .map(|id| call.masked(&id).into_owned()),
            trace: call.context().trace_id(),
            parent: call.parent().map(|parent| parent.get()),
            call_id: call.call_id().map(|id| call.masked(id).into()),
            step: call.step().map(ToString::to_string),
            execution: call.step().and(call.context().execution()).cloned(),
            risk: call.risk(),
            summary: call.summary().map(|summary| call.masked(summary).into_owned()),
            repairs: call.repairs().len() as u64,
        }
    }
}

impl Outcome {
    fn from_outcome(outcome: Result<&Observation, &CallError>, call: CallView<'_>) -> Self {
        match outcome {
            Ok(observation) => match plain_text(observation) {
                Some(text) => Self::Text(text.into()),
                None => Self::Done(Box::new(observation.clone())),
            },
            Err(error) => Self::Failed(Box::new(Failure {
                class: error.class(),
                message: call.masked(error.message()).into_owned(),
                detail: error.detail().map(|detail| call.masked(detail).into_owned()),
                json: whole(error, call),
            })),
        }
    }
}

/// The error as JSON, if it can be given back: that of a step of an execution.
fn whole(error: &CallError, call: CallView<'_>) -> Option<String> {
    call.step().and(call.context().execution())?;
    serde_json::to_string(error).ok()
}

/// The text of a success that is one text without more.
fn plain_text(observation: &Observation) -> Option<&str> {
    let has_more = observation.is_error()
        || observation.structured_json().is_some()
        || observation.meta().is_some()
        || observation.other().is_some();
    match observation.content() {
        [ContentBlock::Text(block)] if !has_more && block.extra.is_none() => Some(block.text()),
        _ => None,
    }
}

pub(crate) fn now_us() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finished(outcome: Outcome) -> usize {
        let stage = Stage::Finished { outcome, duration: None, is_replayed: false };
        Event { time_us: 0, call: 1, stage }.size()
    }

    /// The queue is bounded by these sizes.
    #[test]
    fn an_event_is_as_large_as_its_texts() {
        let text = "x".repeat(1000);
        let structured = Observation::json(&text).unwrap();
        let both = structured.clone().with_content(ContentBlock::text(&*text));
        let failure = |message: &str| {
            let (class, message) = (ErrorClass::Tool, message.to_owned());
            Outcome::Failed(Box::new(Failure { class, message, detail: None, json: None }))
        };
        let small = finished(Outcome::Text("".into()));
        assert_eq!(finished(Outcome::Text(text.as_str().into())), small + 1000);
        assert_eq!(finished(failure(&text)), finished(failure("")) + 1000);
        let done = |observation| finished(Outcome::Done(Box::new(observation)));
        assert_eq!(done(Observation::text(&*text)), small + 1000);
        assert_eq!(done(structured.clone()), small + 1002, "with quotes");
        assert_eq!(done(both), small + 2002);
    }
}
