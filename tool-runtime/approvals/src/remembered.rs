//! Approvals for later calls, as stores keep them.

use crate::digest;
use crate::store::now;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::time::Duration;
use tool_runtime_core::govern::{Approval, ApprovalRequest, Remember};
use tool_runtime_core::vocabulary::matching::MatchAs;

/// An approval that counts for later calls: of the same caller and tool, with the same question, if an argument
/// matches a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct RememberedApproval {
    /// Identifies the approval.
    pub id: String,
    /// The tool's id.
    pub tool: String,
    /// The id of the caller. Never empty: approvals for anonymous callers are not stored.
    pub caller: String,
    /// The rule that asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The question. The approval counts where the same rule asks the same.
    pub question: String,
    /// The name of the argument.
    pub argument: String,
    /// The names of the other arguments of the call, which may have any value in later calls.
    #[serde(default)]
    pub others: Vec<String>,
    /// The kind of pattern.
    pub kind: MatchAs,
    /// The pattern.
    pub pattern: String,
    /// The person who approved, as the channel has verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Whether the caller itself approved.
    #[serde(default)]
    pub is_caller: bool,
    /// Milliseconds since 1970.
    pub approved_at: u64,
    /// The time after which the approval does not count, in milliseconds since 1970.
    pub expires_at: u64,
}

impl RememberedApproval {
    /// The approval of a request, if it is meant for a pattern.
    pub(crate) fn new(
        request: &ApprovalRequest,
        approval: &Approval,
        time: Duration,
    ) -> Option<Self> {
        let Approval::Approved { by, is_caller, remember, .. } = approval else { return None };
        let Remember::Pattern { argument, kind, pattern, .. } = remember else { return None };
        let (now, time) = (now(), u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        Some(Self {
            id: digest::random(),
            tool: request.tool().to_owned(),
            caller: request.principal().id().to_owned(),
            rule: request.rule().map(str::to_owned),
            question: request.question().to_owned(),
            argument: argument.clone(),
            others: other_arguments(request.display_arguments(), argument),
            kind: *kind,
            pattern: pattern.clone(),
            by: by.clone(),
            is_caller: *is_caller,
            approved_at: now,
            expires_at: now.saturating_add(time),
        })
    }

    /// The time until the approval expires.
    pub fn time_left(&self) -> Duration {
        Duration::from_millis(self.expires_at.saturating_sub(now()))
    }

    /// Whether the request is of the same caller and tool, with the same question.
    pub(crate) fn concerns(&self, request: &ApprovalRequest) -> bool {
        self.rule.as_deref() == request.rule()
            && self.question == request.question()
            && !self.caller.is_empty()
            && self.caller == request.principal().id()
            && self.tool == request.tool()
    }

    /// The answer to later requests.
    pub(crate) fn answer(&self) -> Approval {
        let approval = match &self.by {
            Some(by) => Approval::approved().by(by),
            None => Approval::approved(),
        };
        if self.is_caller { approval.by_caller() } else { approval }
    }
}

/// The names of the arguments besides one.
pub(crate) fn other_arguments(arguments: &str, argument: &str) -> Vec<String> {
    let all: Map<String, Value> = serde_json::from_str(arguments).unwrap_or_default();
    all.into_iter().map(|(name, _)| name).filter(|name| name != argument).collect()
}
