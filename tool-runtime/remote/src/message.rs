//! Messages between callers and runners, as JSON. Durations are milliseconds; no message has a time of a clock.

use crate::names::{CallerName, Queue, RunnerId, StepKey};
use crate::payload::{BlobRef, Digest, Json, Payload};
use crate::version::Version;
use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::time::Duration;
use tool_runtime_core::tool::StepId;
use tool_runtime_core::tool::peer::{LogLevel, PeerCapability, Progress};
use tool_runtime_core::vocabulary::RetryMode;

/// A call that a runner is to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    v: Version,
    /// The step.
    pub(crate) step: StepId,
    /// The number of the attempt to run the tool, from 1.
    pub(crate) round: u32,
    /// The tool, by its name at the runner.
    pub(crate) tool: String,
    /// The contract that the decisions of the caller relied on.
    pub(crate) contract: Digest,
    /// The arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments: Option<Json>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    arguments_blob: Option<BlobRef>,
    /// Whether the call may run again if its outcome is unknown, as the caller sees it.
    pub(crate) mode: RetryMode,
    /// The longest time that the caller waits.
    pub(crate) within: u64,
    /// Whether the runner finishes the call if its caller is gone.
    #[serde(default)]
    pub(crate) keep: bool,
    /// The id that the caller gave the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    /// The execution that the call is a step of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) run: Option<Run>,
    /// The principal, as the caller asserts it.
    #[serde(default)]
    pub(crate) principal: Asserted,
    /// The requests and reports that the peer of the caller accepts.
    #[serde(default)]
    pub(crate) accepts: Accepts,
    /// The client, as it calls itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) client: Option<Client>,
    /// The members of the request's metadata that belong to its trace: `traceparent`, `tracestate`, `baggage`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) trace: Map<String, Value>,
}

impl Job {
    /// A job with the least that it needs.
    pub fn new(
        step: StepId,
        tool: impl Into<String>,
        contract: Digest,
        arguments: Payload,
    ) -> Self {
        let (arguments, arguments_blob) = arguments.into_members();
        Self {
            v: Version,
            step,
            round: 1,
            tool: tool.into(),
            contract,
            arguments,
            arguments_blob,
            mode: RetryMode::AtMostOnce,
            within: 0,
            keep: false,
            call_id: None,
            run: None,
            principal: Asserted::default(),
            accepts: Accepts::default(),
            client: None,
            trace: Map::new(),
        }
    }

    /// The step.
    pub fn step(&self) -> &StepId {
        &self.step
    }

    /// The number of the attempt to run the tool, from 1.
    pub fn round(&self) -> u32 {
        self.round
    }

    /// The tool, by its name at the runner.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The arguments. A job without any has an empty object.
    pub(crate) fn arguments(&self) -> Payload {
        let given = Payload::of_members(self.arguments.clone(), self.arguments_blob.clone());
        given.unwrap_or_else(|| Payload::Inline(Json::from_value(&Map::new())))
    }

    /// The longest time that the caller waits.
    pub(crate) fn limit(&self) -> Duration {
        Duration::from_millis(self.within)
    }
}

/// The execution of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Its id.
    pub(crate) id: String,
    /// The number of the attempt.
    pub(crate) attempt: u32,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
}

/// The principal of a call, as the caller asserts it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Asserted {
    /// The id; empty if anonymous.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) id: String,
    /// The scopes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) scopes: Vec<String>,
    /// Further claims.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(crate) claims: Map<String, Value>,
}

/// The requests and reports that the peer of a caller accepts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Accepts {
    /// Reports of progress.
    #[serde(default)]
    pub(crate) progress: bool,
    /// Log entries from this level on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) log: Option<LogLevel>,
    /// Questions of these kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ask: Vec<Kind>,
}

/// The client of a caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Client {
    /// Its name, for programs.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its name, for display.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) title: Option<String>,
}

/// The kind of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// A form.
    Elicitation,
    /// A web page.
    ElicitationUrl,
    /// A message of the model.
    Sampling,
    /// The directories of the client.
    Roots,
    /// A kind of a newer version.
    #[serde(other)]
    Unknown,
}

impl Kind {
    /// All kinds that this version knows.
    pub(crate) const ALL: [Self; 4] =
        [Self::Elicitation, Self::ElicitationUrl, Self::Sampling, Self::Roots];

    /// The capability that a peer needs for it.
    pub(crate) fn capability(self) -> Option<PeerCapability> {
        Some(match self {
            Self::Elicitation => PeerCapability::Elicitation,
            Self::ElicitationUrl => PeerCapability::ElicitationUrl,
            Self::Sampling => PeerCapability::Sampling,
            Self::Roots => PeerCapability::Roots,
            Self::Unknown => return None,
        })
    }

    pub(crate) fn from_capability(capability: PeerCapability) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.capability() == Some(capability))
    }
}

/// A message of the runner of a step to its caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    v: Version,
    /// The runner.
    pub(crate) runner: RunnerId,
    /// The round.
    pub(crate) round: u32,
    /// The content.
    #[serde(flatten)]
    pub(crate) about: About,
}

impl Note {
    pub(crate) fn new(runner: &RunnerId, round: u32, about: About) -> Self {
        Self { v: Version, runner: runner.clone(), round, about }
    }
}

/// The content of a note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "note", rename_all = "snake_case")]
pub(crate) enum About {
    /// The tool runs.
    Alive,
    /// The progress of the tool.
    Progress(Progress),
    /// A log entry of the tool.
    Log {
        /// The severity.
        level: LogLevel,
        /// A text, or any JSON.
        data: Value,
    },
    /// A question of the tool. It is repeated until it is answered.
    Ask(Question),
    /// A note of a newer version.
    #[serde(other)]
    Unknown,
}

/// A question of a tool to the client of its caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Question {
    /// Identifies the question; nobody else can guess it.
    pub(crate) id: String,
    /// The key of the question within its call.
    pub(crate) key: String,
    /// The kind.
    pub(crate) kind: Kind,
    /// The parameters, as MCP defines them for the kind.
    pub(crate) params: Map<String, Value>,
    /// Whether the answer counts once.
    #[serde(default)]
    pub(crate) single_use: bool,
}

/// A message of a caller to the runners of a queue about a step. It is a hint, except for an answer: what a runner does
/// depends on the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Control {
    v: Version,
    /// The caller of the step.
    pub(crate) caller: CallerName,
    /// The step.
    pub(crate) step: StepId,
    /// The content.
    #[serde(flatten)]
    pub(crate) order: Order,
}

impl Control {
    pub(crate) fn new(StepKey { caller, step, .. }: &StepKey, order: Order) -> Self {
        Self { v: Version, caller: caller.clone(), step: step.clone(), order }
    }
}

/// The content of a control message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
pub(crate) enum Order {
    /// The record has changed: the tool may have to stop.
    Look,
    /// The answer to a question.
    Answer {
        /// The question.
        id: String,
        /// The result that MCP defines for the question.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        result: Option<Value>,
        /// The reason why there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    /// An order of a newer version.
    #[serde(other)]
    Unknown,
}

/// The presence of a runner, repeated every [`BEAT`](crate::BEAT).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Presence {
    v: Version,
    /// The runner.
    pub(crate) runner: RunnerId,
    /// Its queue.
    pub(crate) queue: Queue,
    /// Whether it leaves: it claims no more jobs.
    #[serde(default)]
    pub(crate) leaves: bool,
    /// Whether it has ended: it runs no call any more.
    #[serde(default)]
    pub(crate) gone: bool,
    /// Its labels.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) labels: BTreeMap<String, String>,
    /// The number of calls that it runs at the same time.
    pub(crate) slots: u32,
    /// The number of more calls that it could run now.
    pub(crate) free: u32,
    /// Its tools: a blob with a [`Catalogue`](crate::catalogue::Catalogue).
    pub(crate) catalogue: BlobRef,
    /// Its program and version.
    pub(crate) program: String,
}

impl Presence {
    /// A runner that arrives.
    pub(crate) fn new(runner: RunnerId, queue: Queue, slots: u32, catalogue: BlobRef) -> Self {
        Self {
            v: Version,
            runner,
            queue,
            leaves: false,
            gone: false,
            labels: BTreeMap::new(),
            slots,
            free: slots,
            catalogue,
            program: String::new(),
        }
    }
}

impl Presence {
    /// Reads a presence.
    ///
    /// # Errors
    /// It cannot be read, or is so long that many of them would fill the memory of a caller.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, String> {
        if bytes.len() > MAX_PRESENCE {
            let size = bytes.len();
            return Err(format!(
                "a runner announces itself with {size} bytes; at most {MAX_PRESENCE} are read"
            ));
        }
        read("a presence", bytes)
    }

    /// Whether the tools or the queue of callers may change by this later presence of the same runner.
    pub(crate) fn differs(&self, later: &Self) -> bool {
        let parts = |it: &Self| (it.leaves, it.gone, it.catalogue.clone(), it.labels.clone());
        parts(self) != parts(later) || self.queue != later.queue
    }
}

/// The most bytes of a presence.
pub(crate) const MAX_PRESENCE: usize = 16 * 1024;

/// Asks all runners to announce themselves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Roll {
    v: Version,
    /// A catalogue that is to be stored again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) catalogue: Option<Digest>,
}

impl Roll {
    pub(crate) fn new(catalogue: Option<Digest>) -> Self {
        Self { v: Version, catalogue }
    }
}

/// The bytes of a message.
pub(crate) fn write(message: &impl Serialize) -> Bytes {
    let json = serde_json::to_vec(message);
    json.expect("messages have keys of text").into()
}

/// Reads a message of another process.
///
/// # Errors
/// It is not a message of this kind, or of a newer version. The text says which.
pub(crate) fn read<M: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<M, String> {
    serde_json::from_slice(bytes).map_err(|error| format!("{what} cannot be read: {error}"))
}

/// A time in milliseconds, as messages have it.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn written(message: &impl Serialize) -> Value {
        serde_json::from_slice(&write(message)).unwrap()
    }

    #[test]
    fn messages_are_written_as_documented() {
        let runner = RunnerId::from("web.h1-1");
        let note = Note::new(&runner, 1, About::Progress(Progress::new(3.0)));
        let json = json!({
            "v": 1, "runner": "web.h1-1", "round": 1,
            "note": "progress", "done": 3.0, "total": null, "message": null,
        });
        assert_eq!(written(&note), json);
        assert_eq!(read::<Note>("a note", &write(&note)).unwrap(), note);
        let (queue, caller) = ("web".parse().unwrap(), "pool1".parse().unwrap());
        let key = StepKey::new(queue, caller, StepId::new("ab"));
        let control = Control::new(&key, Order::Look);
        let json = json!({ "v": 1, "caller": "pool1", "step": "ab", "do": "look" });
        assert_eq!(written(&control), json);
        let arguments = Payload::Inline(Json::from_value(&json!({ "q": 1 })));
        let job = Job::new(StepId::new("ab"), "search", Digest::from_bytes(b""), arguments);
        let json = written(&job);
        assert_eq!(
            (&json["mode"], &json["arguments"]),
            (&json!("at_most_once"), &json!({ "q": 1 }))
        );
        assert_eq!(read::<Job>("a job", &write(&job)).unwrap(), job);
    }

    #[test]
    fn what_a_newer_program_adds_is_ignored_and_a_newer_version_refused() {
        let read = |json: Value| read::<Note>("a note", json.to_string().as_bytes());
        let added = json!({ "v": 1, "runner": "r", "round": 1, "note": "song", "text": "la" });
        assert_eq!(read(added).unwrap().about, About::Unknown);
        let more = json!({ "v": 1, "runner": "r", "round": 1, "note": "alive", "mood": "calm" });
        assert_eq!(read(more).unwrap().about, About::Alive);
        let newer = read(json!({ "v": 2, "runner": "r", "round": 1, "note": "alive" }));
        let error = newer.unwrap_err();
        assert!(error.contains("a note cannot be read: it has version 2"), "{error}");
    }
}
