//! A question to a person about a call.

use super::policy::Decision;
use crate::approval::Approvers;
use std::time::Duration;

/// A question of a policy or a hook to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) text: String,
    pub(crate) rule: Option<String>,
    pub(crate) approvers: Approvers,
    /// The time for an answer.
    pub(crate) expiry: Option<Duration>,
}

impl Question {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), rule: None, approvers: Approvers::default(), expiry: None }
    }

    /// The texts of several questions.
    pub(crate) fn texts(questions: &[Self]) -> String {
        let texts: Vec<&str> = questions.iter().map(|question| question.text.as_str()).collect();
        texts.join("; ")
    }
}

impl From<&Decision> for Question {
    fn from(decision: &Decision) -> Self {
        Self {
            text: decision.reason().to_owned(),
            rule: decision.rule().map(str::to_owned),
            approvers: decision.approvers().clone(),
            expiry: decision.expiry(),
        }
    }
}
