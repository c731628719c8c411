//! Records, as they are stored.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// A record of the log. Its text is canonical JSON (RFC 8785), so the fields are in the order of their
/// names; only the members of an outcome keep the order of the result. Fields that do not apply are left out.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct LogRecord {
    /// The arguments, without secrets: of a proposal, and of a later record if they were changed. A text
    /// that was cut if [`Self::arguments_bytes`] is present.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Box<RawValue>>,
    /// The length of arguments that were too long and are cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_bytes: Option<u64>,
    /// The SHA-256 of the whole arguments without secrets, in hex digits, if they are cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments_sha256: Option<String>,
    /// The attempt of the run, from 1. Absent for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// The person who approved the call, or resolved a step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The number of the call, unique within its process. 0 for records about the log itself.
    pub call: u64,
    /// The id that the caller gave the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
    /// The class of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The cost of the call in millionths, from `tool-runtime/cost` in the metadata of its result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// The detail of an error, for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The time that the tool ran, in microseconds. Absent if it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_us: Option<u64>,
    /// The kind.
    pub kind: RecordKind,
    /// The number of records that are missing after a failure of the log, see [`RecordKind::Lost`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost: Option<u64>,
    /// The id of the MCP session, as the client has sent it over HTTP, in each record of a call.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared_text")]
    pub mcp_session: Option<Arc<str>>,
    /// The text of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Whether the call must not run twice. Of [`RecordKind::Started`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub once: Option<bool>,
    /// The whole outcome of a step of a run, which is given back when its run is repeated: `{"ok": RESULT}` or
    /// `{"error": ERROR}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Box<RawValue>>,
    /// The number of the call whose tool made this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<u64>,
    /// The hash of the record before this one, in hex digits.
    pub prev: String,
    /// The id of the caller, in each record of a call. Absent if anonymous.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared_text")]
    pub principal: Option<Arc<str>>,
    /// The process that wrote the record: random, chosen when the log was opened.
    pub process: String,
    /// The reason of a decision, or the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The corrections of what the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub repairs: Option<u64>,
    /// Whether the outcome is that of an earlier attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<bool>,
    /// The result of a call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<ResultDigest>,
    /// The risk, as the model judges it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk: Option<String>,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The run ([`Execution`](tool_runtime_core::tool::Execution)) of the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The number of the record: 1, 2, 3 and so on.
    pub seq: u64,
    /// The session of the call, in each of its records.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared_text")]
    pub session: Option<Arc<str>>,
    /// The origin of the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The id of the call: in its run, or without a run of a call whose id was made elsewhere or whose tool runs in another
    /// process.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The purpose of the call in the words of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The last of the records that were removed, see [`RecordKind::Pruned`], with its hash in
    /// [`Self::through_hash`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through: Option<u64>,
    /// The hash of the record [`Self::through`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub through_hash: Option<String>,
    /// The time of the event, in microseconds since 1970 UTC.
    pub time_us: u64,
    /// The tool. Empty for records about the log itself.
    pub tool: String,
    /// The id of the trace that the call belongs to, in each of its records: 32 hex digits.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "shared_text")]
    pub trace: Option<Arc<str>>,
}

/// Strings that the records of a call share.
mod shared_text {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};
    use std::sync::Arc;

    pub(super) fn serialize<S: Serializer>(
        text: &Option<Arc<str>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        text.as_deref().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Arc<str>>, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.map(Arc::from))
    }
}

/// The result of a call, in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ResultDigest {
    /// The length of the result's JSON, without secrets.
    pub bytes: u64,
    /// The SHA-256 of the result's JSON without secrets, in hex digits.
    pub sha256: String,
    /// The beginning of its text, without secrets, on one line.
    pub summary: String,
}

/// The kind of a [`LogRecord`].
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordKind {
    /// The call arrived.
    #[default]
    Proposed,
    /// The call may run.
    Allowed,
    /// The call may not run: a policy, a hook, a limit or a person says so.
    Denied,
    /// A person is asked about the call.
    Asked,
    /// A person was asked, and the call may run.
    Approved,
    /// The call waits for the answer to a question of its tool, which a later request brings.
    Suspended,
    /// The tool is about to run.
    Started,
    /// The call ended with a result.
    Succeeded,
    /// The call ended with an error.
    Failed,
    /// The call was cancelled or dropped.
    Cancelled,
    /// The outcome of the call is not known.
    Indeterminate,
    /// An operator stated the outcome of a step that was indeterminate.
    Resolved,
    /// Earlier records were removed, as the retention asks for.
    Pruned,
    /// Records are missing, because the log could not be written.
    Lost,
}

impl RecordKind {
    /// The name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Proposed => "proposed",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::Asked => "asked",
            Self::Approved => "approved",
            Self::Suspended => "suspended",
            Self::Started => "started",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Indeterminate => "indeterminate",
            Self::Resolved => "resolved",
            Self::Pruned => "pruned",
            Self::Lost => "lost",
        }
    }

    /// Whether it ends a call.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Succeeded | Self::Failed | Self::Cancelled | Self::Indeterminate)
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl LogRecord {
    /// The time of the event.
    pub fn time(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_micros(self.time_us)
    }

    /// The time that the tool ran.
    pub fn duration(&self) -> Option<Duration> {
        self.duration_us.map(Duration::from_micros)
    }

    /// Whether the tool did not run, or not again: the call was refused, or dropped before.
    pub(crate) fn says_not_run(&self) -> bool {
        let is_end = matches!(self.kind, RecordKind::Failed | RecordKind::Cancelled);
        is_end && self.duration_us.is_none() && self.replayed.is_none()
    }

    /// The reason, or why the call was cancelled.
    pub(crate) fn reason_or_cancellation(&self) -> &Option<String> {
        match self.kind {
            RecordKind::Cancelled if self.detail.is_some() => &self.detail,
            RecordKind::Cancelled => &self.message,
            _ => &self.reason,
        }
    }

    /// The step, if it is one of a run: others are not looked up.
    pub(crate) fn step_of_run(&self) -> Option<&str> {
        self.step.as_deref().filter(|_| self.run.is_some())
    }

    /// The arguments as text.
    pub fn arguments_text(&self) -> Cow<'_, str> {
        let text = self.arguments.as_deref().map(RawValue::get).unwrap_or_default();
        match self.arguments_bytes {
            Some(_) => serde_json::from_str(text).map_or_else(|_| text.into(), Cow::Owned),
            None => text.into(),
        }
    }
}
