//! A question to a person about a call.

use super::policy::Decision;
use crate::govern::approval::Approvers;
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

    /// The questions, with those of rules to the same people as one. Those of hooks stay, since answers are remembered
    /// by rule, or else by the question.
    pub(crate) fn merged(questions: Vec<Self>) -> Vec<Self> {
        let mut merged: Vec<Self> = Vec::new();
        for question in questions {
            let is_same = |it: &&mut Self| {
                it.approvers == question.approvers
                    && it.expiry == question.expiry
                    && it.rule.is_some()
                    && question.rule.is_some()
            };
            match merged.iter_mut().find(is_same) {
                Some(first) => first.add(question),
                None => merged.push(question),
            }
        }
        merged
    }

    fn add(&mut self, other: Self) {
        if let (Some(own), Some(rule)) = (&self.rule, other.rule)
            && *own != rule
        {
            self.rule = Some(format!("{own}, {rule}"));
        }
        if self.text != other.text {
            self.text = format!("{}; {}", self.text, other.text);
        }
    }
}

impl From<&Question> for Decision {
    fn from(question: &Question) -> Self {
        let decision = Self::ask(&question.text).approved_by(question.approvers.clone());
        let decision = question.rule.iter().fold(decision, |it, rule| it.with_rule(&**rule));
        question.expiry.into_iter().fold(decision, Self::with_expiry)
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
