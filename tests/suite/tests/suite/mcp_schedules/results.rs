//! The results of calls, and the requests that servers received.

use super::plan::{REMOVED_BY_CHANGE, TOOLS};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::path::Path;
use std::time::Duration;
use tokio::time::timeout;
use tool_runtime::ErrorClass;
use tool_runtime::prelude::*;

/// Time that a call may hang; see [`super::simulation`].
pub(super) const IDLE_LIMIT: Duration = Duration::from_millis(150);
/// Time limit of any call. Only a call whose answer is lost reaches it, and fails.
pub(super) const MAX_DURATION: Duration = Duration::from_secs(60);
/// Work that takes longer hangs.
const HANG_LIMIT: Duration = Duration::from_secs(300);

/// One call with a unique number.
#[derive(Clone, Debug)]
pub(super) struct IssuedCall {
    pub(super) number: u64,
    pub(super) server: usize,
    pub(super) tool: &'static str,
    /// Nothing prevents the call from reaching its server.
    pub(super) is_undisturbed: bool,
    /// The list of the server may lack the tool.
    pub(super) may_change_list: bool,
    pub(super) may_be_cancelled: bool,
}

impl IssuedCall {
    pub(super) fn arguments(&self) -> Value {
        let changed: Vec<_> = TOOLS.iter().filter(|tool| **tool != REMOVED_BY_CHANGE).collect();
        match self.tool {
            "slow" | "slow-ro" => json!({ "number": self.number, "ms": 15, "steps": 3 }),
            "flood" => json!({ "number": self.number, "n": 40 }),
            "change" => json!({ "number": self.number, "tools": changed, "times": 3 }),
            _ => json!({ "number": self.number }),
        }
    }

    /// The expected result of a call that succeeds.
    fn expected(&self) -> Option<String> {
        let text = match self.tool {
            "echo" | "echo-ro" => return Some(self.arguments().to_string()),
            "slow" | "slow-ro" => "done",
            "garbage" => "clean",
            "twice" => "first",
            "flood" => "dry",
            "change" => "changed",
            // The tool is listed: the server's rejection is then an ordinary result.
            "gone-text" => "Unknown tool: gone-text",
            _ => return None,
        };
        Some(text.to_owned())
    }

    /// # Errors
    /// The result is not allowed for this call.
    pub(super) fn check(&self, result: &ToolResult) -> Result<(), String> {
        let is_right = match result.error() {
            None => match self.expected() {
                Some(text) => result.observation().to_text() == text && !result.is_error(),
                None => false,
            },
            Some(error) => self.may_fail(error.class()) && self.ends_by(error.message()),
        };
        if is_right { Ok(()) } else { Err(format!("{self:?}: {result:?}")) }
    }

    /// A server that is silent about a call ends it by the limit on silence, not by that on the whole call.
    fn ends_by(&self, message: &str) -> bool {
        let is_hang = self.is_undisturbed && self.tool == "hang";
        !is_hang || self.may_be_cancelled || message.contains("sent nothing for 150ms")
    }

    fn may_fail(&self, class: ErrorClass) -> bool {
        let is_expected = match self.tool {
            "hang" => class == ErrorClass::Timeout,
            "reject" => class == ErrorClass::Tool,
            "die" => class == ErrorClass::Indeterminate,
            REMOVED_BY_CHANGE => self.may_change_list && class == ErrorClass::NotFound,
            _ => false,
        };
        let by_interruption = matches!(
            class,
            ErrorClass::Transient
                | ErrorClass::Denied
                | ErrorClass::Indeterminate
                | ErrorClass::Tool
                | ErrorClass::NotFound
        );
        is_expected
            || self.may_be_cancelled && class == ErrorClass::Cancelled
            || !self.is_undisturbed && by_interruption
    }

    /// Number of requests that the server may receive: a read-only call may be repeated once.
    fn max_requests(&self) -> u64 {
        if self.tool.ends_with("-ro") { 2 } else { 1 }
    }

    /// # Errors
    /// The server received the call too often, or not at all although there is a result.
    pub(super) fn count(&self, requests: u64, result: Option<&ToolResult>) -> Result<(), String> {
        let is_answered = result.is_some_and(|result| result.error().is_none());
        let is_unsent = result
            .and_then(ToolResult::error)
            .is_some_and(|error| error.message().ends_with("was not sent"));
        let least = u64::from(is_answered);
        let most = if is_unsent { 0 } else { self.max_requests() };
        if (least..=most).contains(&requests) {
            return Ok(());
        }
        Err(format!("{self:?} arrived {requests} times: {result:?}"))
    }
}

/// # Errors
/// The future does not end.
pub(super) async fn with_hang_limit<T>(
    what: impl std::fmt::Debug,
    work: impl Future<Output = T>,
) -> Result<T, String> {
    timeout(HANG_LIMIT, work).await.map_err(|_| format!("{what:?} does not end"))
}

/// Number of requests by call number.
pub(super) fn requests(log: &Path) -> HashMap<u64, u64> {
    let mut requests = HashMap::new();
    for line in std::fs::read_to_string(log).unwrap_or_default().lines() {
        let call: Value = serde_json::from_str(line).expect("a whole line");
        *requests.entry(call["arguments"]["number"].as_u64().expect("a number")).or_default() += 1;
    }
    requests
}
