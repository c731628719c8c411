//! The names of subjects, streams and consumers of a namespace.

use crate::board::Topic;
use crate::names::{CallerName, Queue, StepKey};
use std::fmt;
use tool_runtime_core::tool::StepId;

/// The names of one installation.
#[derive(Clone, Debug)]
pub(super) struct Names {
    namespace: String,
}

/// The consumer of a queue.
pub(super) const RUNNERS: &str = "runners";

impl Names {
    /// The names of a namespace.
    ///
    /// # Errors
    /// The namespace has other characters than lower-case letters, digits and `-`, or is too long.
    pub(super) fn new(namespace: &str) -> Result<Self, String> {
        let is_plain =
            |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if (1..=32).contains(&namespace.len()) && namespace.bytes().all(is_plain) {
            return Ok(Self { namespace: namespace.to_owned() });
        }
        Err(format!(
            "`{namespace}` is not a valid namespace; write 1 to 32 of the characters `a-z`, `0-9` and `-`"
        ))
    }

    pub(super) fn namespace(&self) -> &str {
        &self.namespace
    }

    /// A subject of the namespace.
    pub(super) fn subject(&self, rest: impl fmt::Display) -> String {
        format!("tr.{}.{rest}", self.namespace)
    }

    pub(super) fn job(&self, queue: &Queue, caller: &CallerName) -> String {
        self.subject(format_args!("job.{queue}.{caller}"))
    }

    pub(super) fn jobs(&self, queue: &Queue) -> String {
        self.subject(format_args!("job.{queue}.*"))
    }

    pub(super) fn step(&self, StepKey { queue, caller, step }: &StepKey) -> String {
        self.subject(format_args!("step.{queue}.{caller}.{step}"))
    }

    /// A step of a caller that does not exist.
    pub(super) fn step_of_nobody(&self, caller: &CallerName) -> String {
        self.subject(format_args!("step.none.{caller}.none"))
    }

    pub(super) fn steps(&self) -> String {
        self.subject("step.>")
    }

    /// Records that were written.
    pub(super) fn live(&self) -> String {
        self.subject("live.>")
    }

    /// The records of the steps of a caller.
    pub(super) fn live_of(&self, caller: &CallerName) -> String {
        self.subject(format_args!("live.*.{caller}.*"))
    }

    /// The notes on the steps of a caller.
    pub(super) fn notes_of(&self, caller: &CallerName) -> String {
        self.subject(format_args!("note.*.{caller}.*"))
    }

    /// The subject of messages on a topic from this caller or runner.
    pub(super) fn topic(&self, topic: &Topic, from: &CallerName) -> String {
        match topic {
            Topic::Step(StepKey { queue, caller, step }) => {
                self.subject(format_args!("note.{queue}.{caller}.{step}"))
            }
            Topic::Control(queue) => self.subject(format_args!("control.{queue}.{from}")),
            Topic::Presence(queue) => self.subject(format_args!("presence.{queue}")),
            Topic::AllPresence => self.subject("presence.*"),
            Topic::Roll => self.subject(format_args!("roll.{from}")),
        }
    }

    /// The subject to which the listeners of a topic subscribe.
    pub(super) fn listened(&self, topic: &Topic, by: &CallerName) -> String {
        match topic {
            Topic::Control(queue) => self.subject(format_args!("control.{queue}.*")),
            Topic::Roll => self.subject("roll.*"),
            topic => self.topic(topic, by),
        }
    }

    /// The account with the streams.
    pub(super) fn account(&self) -> String {
        format!("TR_{}", self.namespace)
    }

    /// The prefix of the interface of streams in an account that imports it: as that of a domain with the namespace's name.
    pub(super) fn imported_streams(&self) -> String {
        format!("$JS.{}.API", self.namespace)
    }

    /// The stream of records.
    pub(super) fn steps_stream(&self) -> String {
        format!("TR_{}_STEPS", self.namespace)
    }

    /// The stream of the jobs of a queue.
    pub(super) fn jobs_stream(&self, queue: &Queue) -> String {
        format!("{}{queue}", self.jobs_prefix())
    }

    pub(super) fn jobs_prefix(&self) -> String {
        format!("TR_{}_JOBS_", self.namespace)
    }

    /// The bucket of blobs.
    pub(super) fn blobs(&self) -> String {
        format!("TR_{}_BLOBS", self.namespace)
    }

    /// The key of a step in a subject of three more tokens: queue, caller and step.
    pub(super) fn key(&self, subject: &str) -> Option<StepKey> {
        let rest = subject.strip_prefix(&*self.subject(""))?;
        let [_, queue, caller, step] = rest.split('.').collect::<Vec<_>>().try_into().ok()?;
        Some(StepKey::new(queue.parse().ok()?, caller.parse().ok()?, StepId::new(step)))
    }
}

/// Checks that the id of a step can be a token of a subject. Those that this program makes can.
pub(super) fn check(step: &StepId) -> Result<(), String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let id = step.as_str();
    if (1..=128).contains(&id.len()) && id.bytes().all(is_plain) {
        return Ok(());
    }
    let id: String = id.chars().take(128).collect();
    Err(format!("the step `{id}` has no id that NATS takes: 1 to 128 of `A-Z a-z 0-9 _ -`"))
}

/// The last token of a subject: the caller of a job or of an order.
pub(super) fn last_token(subject: &str) -> Option<CallerName> {
    subject.rsplit('.').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_has_characters_that_a_subject_may_have() {
        for (namespace, is_valid) in [
            ("tools", true),
            ("eu-1", true),
            ("", false),
            ("a.b", false),
            ("A", false),
            ("*", false),
        ] {
            assert_eq!(Names::new(namespace).is_ok(), is_valid, "{namespace}");
        }
        assert!(Names::new(&"x".repeat(33)).is_err());
    }

    #[test]
    fn the_key_of_a_step_is_read_from_its_subjects() {
        let names = Names::new("tools").unwrap();
        let key = StepKey::new(
            "web".parse().unwrap(),
            "pool1".parse().unwrap(),
            StepId::new("0123456789abcdef"),
        );
        let caller = key.caller.clone();
        for subject in [names.step(&key), names.topic(&Topic::Step(key.clone()), &caller)] {
            assert_eq!(names.key(&subject), Some(key.clone()), "{subject}");
        }
        assert_eq!(names.key("tr.other.step.web.pool1.0123456789abcdef"), None);
        assert_eq!(names.key("tr.tools.presence.web"), None);
    }
}
