//! A call as the host receives it.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use std::fmt;
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// One call that the host program executes and answers. Cheap to clone.
///
/// The JSON form, for hosts that execute the call elsewhere, has `id`, `call_id`, `name`,
/// `arguments` and `deadline`, the last in milliseconds since 1970; absent members are `null`.
///
/// ```
/// # use std::time::Duration;
/// # use tool_runtime::tool::ClientTools;
/// # use tool_runtime::prelude::*;
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let client = ClientTools::new(Duration::from_secs(60));
/// let tool = client.tool(ToolDefinition::new("pick_file", "Let the user pick a file."));
/// let pool = ToolPool::builder().add(tool).build()?;
/// let host = async {
///     let call = client.next().await;
///     assert_eq!(serde_json::to_value(&call)?["name"], "pick_file");
///     assert!(call.arguments().is_empty() && call.deadline().is_some());
///     Ok::<_, Box<dyn std::error::Error>>(client.answer(call.id(), "/tmp/a")?)
/// };
/// let (_, answered) = tokio::join!(pool.call(ToolCall::new("pick_file", "")), host);
/// answered
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ClientCall(Arc<Parts>);

#[derive(Serialize)]
struct Parts {
    id: String,
    #[serde(flatten)]
    request: Request,
}

/// Without the arguments, which may be secret.
impl fmt::Debug for ClientCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientCall")
            .field("id", &self.0.id)
            .field("name", &self.0.request.name)
            .finish_non_exhaustive()
    }
}

/// A call without its id.
#[derive(Serialize)]
pub(super) struct Request {
    pub(super) call_id: Option<String>,
    pub(super) name: String,
    /// The validated arguments. Parsing the caller's text again could choose another value of a duplicate
    /// key.
    pub(super) arguments: Map<String, Value>,
    pub(super) deadline: Option<Deadline>,
}

/// The deadline as an instant of this process and as wall-clock time for others.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(into = "u64")]
pub(super) struct Deadline {
    pub(super) instant: Instant,
    unix_milliseconds: u64,
}

impl Deadline {
    /// Takes the wall clock's time for a moment that is `now` or later.
    pub(super) fn new(instant: Instant, now: Instant) -> Self {
        let time_left = instant.saturating_duration_since(now);
        let moment = SystemTime::now().checked_add(time_left);
        let since = moment.and_then(|moment| moment.duration_since(UNIX_EPOCH).ok());
        let milliseconds = since.map_or(u128::MAX, |since| since.as_millis());
        let unix_milliseconds = u64::try_from(milliseconds).unwrap_or(u64::MAX);
        Self { instant, unix_milliseconds }
    }
}

impl From<Deadline> for u64 {
    fn from(deadline: Deadline) -> Self {
        deadline.unix_milliseconds
    }
}

impl ClientCall {
    pub(super) fn new(id: &str, request: Request) -> Self {
        Self(Arc::new(Parts { id: id.to_owned(), request }))
    }

    /// The id by which the host answers: the caller's id, or a new one if the caller gave none or
    /// one that is in use or was used recently.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The id that the caller gave it, if any.
    pub fn call_id(&self) -> Option<&str> {
        self.0.request.call_id.as_deref()
    }

    /// The tool's name.
    pub fn name(&self) -> &str {
        &self.0.request.name
    }

    /// The arguments, which satisfy the tool's schema.
    pub fn arguments(&self) -> &Map<String, Value> {
        &self.0.request.arguments
    }

    /// The time after which an answer is rejected. `None` if the clock cannot represent it.
    pub fn deadline(&self) -> Option<Instant> {
        Some(self.0.request.deadline?.instant)
    }
}

/// Written out, because serde serializes an `Arc` only with its feature `rc`.
impl Serialize for ClientCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Parts::serialize(&self.0, serializer)
    }
}
