//! Questions that wait for a person, and their answers.

use crate::digest;
use crate::remembered::RememberedApproval;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::future::ready;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
#[cfg(feature = "cli")]
use tool_runtime_core::govern::QuestionText;
use tool_runtime_core::govern::{ApprovalRequest, Approvers, Remember, Risk};
use tool_runtime_core::seam::printable;
use tool_runtime_core::vocabulary::BoxFuture;

/// Time after which requests without a waiting call are removed.
const MAX_AGE: Duration = Duration::from_secs(7 * 86_400);

/// Time in which a late answer to an expired or answered question is told so.
const MAX_LATE: Duration = Duration::from_secs(3_600);

/// Limit on answered questions that are kept for late answers.
const MAX_TOLD: usize = 100;

/// A question that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct PendingApproval {
    /// Identifies the question. Of a call that is a step of an execution, it is the same whenever the
    /// execution is repeated.
    pub id: String,
    /// The tool's id.
    pub tool: String,
    /// The arguments as JSON text, without secret ones.
    pub arguments: String,
    /// The text that shows the call.
    pub visual: String,
    /// The question.
    pub question: String,
    /// The rule that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// The risk, as the model judges it.
    #[serde(default)]
    pub risk: Risk,
    /// The purpose of the call in the words of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// The id of the caller. Empty if it is anonymous.
    #[serde(default)]
    pub caller: String,
    /// The people who may approve.
    #[serde(default)]
    pub approvers: Approvers,
    /// Whether the call belongs to a session, for which an approval may count.
    #[serde(default)]
    pub has_session: bool,
    /// Whether the call is a step of an execution: when that is repeated, the answer counts. Older versions did not say so, and
    /// theirs count as such.
    #[serde(default = "yes")]
    pub is_repeatable: bool,
    /// Milliseconds since 1970.
    pub asked_at: u64,
    /// The time when the question is denied, in milliseconds since 1970.
    pub expires_at: u64,
}

/// The answer of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ApprovalAnswer {
    /// Whether the call may run.
    pub is_approved: bool,
    /// The reason of a denial, which the model reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Other arguments, edited on the basis of [`PendingApproval::arguments`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The person, as the channel has verified.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The calls that an approval is meant for.
    #[serde(default)]
    pub remember: Remember,
}

impl ApprovalAnswer {
    /// The call may run.
    pub fn approve() -> Self {
        Self { is_approved: true, ..Self::deny(None::<String>) }
    }

    /// The call must not run.
    pub fn deny(reason: impl Into<Option<String>>) -> Self {
        Self {
            is_approved: false,
            reason: reason.into(),
            arguments: None,
            by: None,
            remember: Remember::Call,
        }
    }

    /// Who answered what, and when.
    fn history(&self, at: Option<u64>) -> String {
        let done = if self.is_approved { "approved" } else { "denied" };
        let by = self.by.as_ref().map(|by| format!(" by {}", printable(by))).unwrap_or_default();
        let time = |at| humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_millis(at));
        let at = at.map(|at| format!(" at {}", time(at))).unwrap_or_default();
        format!("it was {done}{by}{at}")
    }

    /// Sets the person, which must have been verified. Default: the store knows, or nobody does.
    #[must_use]
    pub fn by(mut self, person: impl Into<String>) -> Self {
        self.by = Some(person.into());
        self
    }
}

/// A question with its answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StoredApproval {
    /// The question.
    #[serde(flatten)]
    pub request: PendingApproval,
    /// The answer, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<ApprovalAnswer>,
    /// The time of the answer, in milliseconds since 1970, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_at: Option<u64>,
    /// Whether its call stopped waiting for an answer, which then came too late.
    #[serde(default)]
    pub is_expired: bool,
    /// Whether the process of its call has ended before an answer.
    #[serde(default)]
    pub is_abandoned: bool,
}

/// Keeps questions until they are answered. Several processes may share one.
pub trait ApprovalStore: Send + Sync + 'static {
    /// Adds a question. One with the same id that is answered or still open is kept, and given with
    /// its answer.
    ///
    /// # Errors
    /// The store cannot be written, or is full.
    fn open(&self, request: PendingApproval) -> BoxFuture<'_, Result<StoredApproval, StoreError>>;

    /// A question by its id.
    ///
    /// # Errors
    /// The store cannot be read.
    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<StoredApproval>, StoreError>>;

    /// All questions, the oldest first.
    ///
    /// # Errors
    /// The store cannot be read.
    fn list(&self) -> BoxFuture<'_, Result<Vec<StoredApproval>, StoreError>>;

    /// Answers a question. The first answer counts.
    ///
    /// # Errors
    /// The question is unknown, answered or expired; its call is gone and cannot be repeated; the person may not approve
    /// it; the store cannot be written.
    fn answer<'a>(
        &'a self,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Ends the time for an answer, and gives the question with the answer that came before, if one did. Answers after it
    /// are refused as expired: the process that waits decides, whatever the clocks of others say. `None`: the question is
    /// gone.
    ///
    /// # Errors
    /// The store cannot be written.
    fn expire<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredApproval>, StoreError>>;

    /// Removes a question whose call no longer waits.
    ///
    /// # Errors
    /// The store cannot be written.
    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Waits until a question may have been answered.
    fn changed(&self) -> BoxFuture<'_, ()>;

    /// Where the questions are, for people. Default: not said.
    fn location(&self) -> Option<String> {
        None
    }

    /// Keeps an approval for later calls, and removes those that have expired.
    ///
    /// # Errors
    /// The store cannot be written. Default: it keeps none.
    fn remember(&self, approval: RememberedApproval) -> BoxFuture<'_, Result<(), StoreError>> {
        let _ = approval;
        let error = StoreError::Failed("it keeps no approvals for later calls".to_owned());
        Box::pin(ready(Err(error)))
    }

    /// The approvals for later calls that have not expired, the oldest first. Default: none.
    ///
    /// # Errors
    /// The store cannot be read.
    fn remembered(&self) -> BoxFuture<'_, Result<Vec<RememberedApproval>, StoreError>> {
        Box::pin(ready(Ok(Vec::new())))
    }

    /// Removes an approval for later calls.
    ///
    /// # Errors
    /// There is none with this id, or the store cannot be written.
    fn forget<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(ready(Err(StoreError::NotRemembered(id.to_owned()))))
    }

    /// Whether other processes see the questions, so that a command can answer them. Default: true.
    fn is_shared(&self) -> bool {
        true
    }

    /// Whether a command may answer in the name of a person that nobody has verified. Default: false.
    fn trusts_names(&self) -> bool {
        false
    }
}

impl<S: ApprovalStore + ?Sized> ApprovalStore for Arc<S> {
    fn open(&self, request: PendingApproval) -> BoxFuture<'_, Result<StoredApproval, StoreError>> {
        (**self).open(request)
    }

    fn get<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<Option<StoredApproval>, StoreError>> {
        (**self).get(id)
    }

    fn list(&self) -> BoxFuture<'_, Result<Vec<StoredApproval>, StoreError>> {
        (**self).list()
    }

    fn answer<'a>(
        &'a self,
        id: &'a str,
        answer: ApprovalAnswer,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        (**self).answer(id, answer)
    }

    fn expire<'a>(
        &'a self,
        id: &'a str,
    ) -> BoxFuture<'a, Result<Option<StoredApproval>, StoreError>> {
        (**self).expire(id)
    }

    fn remove<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        (**self).remove(id)
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        (**self).changed()
    }

    fn location(&self) -> Option<String> {
        (**self).location()
    }

    fn remember(&self, approval: RememberedApproval) -> BoxFuture<'_, Result<(), StoreError>> {
        (**self).remember(approval)
    }

    fn remembered(&self) -> BoxFuture<'_, Result<Vec<RememberedApproval>, StoreError>> {
        (**self).remembered()
    }

    fn forget<'a>(&'a self, id: &'a str) -> BoxFuture<'a, Result<(), StoreError>> {
        (**self).forget(id)
    }

    fn trusts_names(&self) -> bool {
        (**self).trusts_names()
    }

    fn is_shared(&self) -> bool {
        (**self).is_shared()
    }
}

/// The reason why a question cannot be asked or answered.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store has no such question.
    #[error("`{0}` is not the id of a question; `approvals list` shows all")]
    Unknown(String),
    /// The store has no such approval for later calls.
    #[error("`{0}` is not the id of a remembered approval; `approvals remembered` shows all")]
    NotRemembered(String),
    /// Several ids begin so.
    #[error("several ids begin with `{0}`; write more of it")]
    Ambiguous(String),
    /// It has an answer.
    #[error("`{id}` is answered already: {answer}")]
    Answered {
        /// The question.
        id: String,
        /// Who answered what, and when.
        answer: String,
    },
    /// Its time is up.
    #[error("`{0}` has expired")]
    Expired(String),
    /// The process of its call has ended, and the call cannot be repeated.
    #[error("`{0}`: the call is gone: its process has ended; nothing runs")]
    Abandoned(String),
    /// The person is not among the approvers.
    #[error("`{id}`: {reason}")]
    NotAllowed {
        /// The question.
        id: String,
        /// The reason.
        reason: String,
    },
    /// Too many questions are open.
    #[error("{0} questions are open, which is the limit; answer some first")]
    Full(usize),
    /// The store cannot be read or written.
    #[error("the store of approvals cannot be used: {0}")]
    Failed(String),
}

tool_runtime_core::debug_as_message!(StoreError);

impl PendingApproval {
    /// A question that waits for a limited time.
    pub(crate) fn new(request: &ApprovalRequest, time: Duration) -> Self {
        let rule = request.rule();
        let id = match request.step() {
            Some(step) => digest::from_parts(&[
                step.as_str(),
                rule.unwrap_or_default(),
                request.question(),
                request.arguments(),
            ]),
            None => digest::random(),
        };
        let now = now();
        Self {
            id,
            tool: request.tool().to_owned(),
            arguments: request.display_arguments().to_owned(),
            visual: request.visual().to_owned(),
            question: request.question().to_owned(),
            rule: rule.map(str::to_owned),
            risk: request.risk(),
            summary: request.summary().map(str::to_owned),
            caller: request.principal().id().to_owned(),
            approvers: request.approvers().clone(),
            has_session: request.session().is_some(),
            is_repeatable: request.step().is_some(),
            asked_at: now,
            expires_at: now.saturating_add(u64::try_from(time.as_millis()).unwrap_or(u64::MAX)),
        }
    }
}

impl StoredApproval {
    pub(crate) fn open(request: PendingApproval) -> Self {
        Self { request, answer: None, answered_at: None, is_expired: false, is_abandoned: false }
    }

    /// Whether the question waits for an answer.
    pub fn is_open(&self) -> bool {
        self.answer.is_none() && !self.is_expired && self.time_left() > Duration::ZERO
    }

    /// Whether nothing runs by an answer: the call is gone, and cannot be repeated.
    pub fn is_lost(&self) -> bool {
        self.is_abandoned && !self.request.is_repeatable
    }

    /// The effect of an answer on a call that is gone.
    #[cfg(feature = "cli")]
    pub(crate) fn effect_without_call(&self) -> Option<&'static str> {
        self.is_abandoned.then_some(match self.is_lost() {
            true => "its call is gone: its process has ended; nothing runs",
            false => "its call is gone, and the answer counts when the run is repeated",
        })
    }

    /// The question with its call as people see it.
    #[cfg(feature = "cli")]
    pub(crate) fn text(&self) -> QuestionText<'_> {
        let request = &self.request;
        QuestionText {
            question: &request.question,
            visual: &request.visual,
            summary: request.summary.as_deref(),
            risk: request.risk,
            approvers: &request.approvers,
        }
    }

    /// The time until the question is denied.
    pub(crate) fn time_left(&self) -> Duration {
        Duration::from_millis(self.request.expires_at.saturating_sub(now()))
    }

    /// Whether nobody waits for the question any more, nor answers it.
    pub(crate) fn is_stale(&self) -> bool {
        let since = |time: u64| Duration::from_millis(now().saturating_sub(time));
        let is_late = self.is_expired && since(self.request.expires_at) > MAX_LATE;
        let is_told = self.is_told() && self.answered_at.is_some_and(|at| since(at) > MAX_LATE);
        is_late || is_told || !self.is_open() && since(self.request.asked_at) > MAX_AGE
    }

    /// Whether the question is kept only to tell others of its answer.
    fn is_told(&self) -> bool {
        self.answer.is_some() && !self.request.is_repeatable
    }

    /// Checks that an answer counts.
    ///
    /// # Errors
    /// The question has an answer or has expired; its call is gone; the person may not approve it.
    pub(crate) fn check(&self, answer: &ApprovalAnswer) -> Result<(), StoreError> {
        let PendingApproval { id, caller, approvers, .. } = &self.request;
        if let Some(given) = &self.answer {
            let answer = given.history(self.answered_at);
            return Err(StoreError::Answered { id: id.clone(), answer });
        }
        if self.is_lost() {
            return Err(StoreError::Abandoned(id.clone()));
        }
        if !self.is_open() {
            return Err(StoreError::Expired(id.clone()));
        }
        let reason = approvers.refusal(caller, answer.by.as_deref(), false);
        match reason.filter(|_| answer.is_approved) {
            Some(reason) => Err(StoreError::NotAllowed { id: id.clone(), reason }),
            None => Ok(()),
        }
    }
}

/// The ids of questions that nobody asks or answers any more, and of those that were answered before many others.
pub(crate) fn outdated<'a>(all: impl IntoIterator<Item = &'a StoredApproval>) -> Vec<&'a str> {
    let (mut outdated, rest): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|stored| stored.is_stale());
    let mut told: Vec<_> = rest.into_iter().filter(|stored| stored.is_told()).collect();
    told.sort_by_key(|stored| Reverse(stored.answered_at));
    outdated.extend(told.into_iter().skip(MAX_TOLD));
    outdated.into_iter().map(|stored| &*stored.request.id).collect()
}

const fn yes() -> bool {
    true
}

/// Milliseconds since 1970.
pub(crate) fn now() -> u64 {
    milliseconds(SystemTime::now())
}

/// A time in milliseconds since 1970.
pub(crate) fn milliseconds(time: SystemTime) -> u64 {
    let time = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
