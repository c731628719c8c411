//! Names: queues, callers, runners, and the key of a step.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;
use tool_runtime_core::tool::StepId;

/// The longest name, in bytes.
const MAX_LENGTH: usize = 64;

/// A name that is not allowed.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not a valid {what}; write 1 to {MAX_LENGTH} of `A-Z a-z 0-9 _ -`")]
pub struct NameError {
    what: &'static str,
    given: String,
}

tool_runtime_core::debug_as_message!(NameError);

fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=MAX_LENGTH).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// The text as a name: other characters become `-`, and too many are cut off. `otherwise` replaces an empty text.
fn normal(text: &str, otherwise: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' };
    let text: String = text.chars().map(allowed).take(MAX_LENGTH).collect();
    let text = text.trim_matches('-');
    if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
}

macro_rules! name {
    ($(#[$docs:meta])* $name:ident, $what:literal) => {
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(into = "String", try_from = "String")]
        pub struct $name(String);

        impl $name {
            /// The name as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl FromStr for $name {
            type Err = NameError;

            fn from_str(text: &str) -> Result<Self, NameError> {
                Self::try_from(text.to_owned())
            }
        }

        impl TryFrom<String> for $name {
            type Error = NameError;

            fn try_from(text: String) -> Result<Self, NameError> {
                if is_name(&text) {
                    return Ok(Self(text));
                }
                Err(NameError { what: $what, given: text })
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> Self {
                name.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

name! {
    /// A queue: a set of equal runners, which are replicas of one program. 1 to 64 of `A-Z a-z 0-9 _ -`.
    Queue, "name of a queue"
}

name! {
    /// A caller: a pool that calls remote tools, as its board authenticates it. 1 to 64 of `A-Z a-z 0-9 _ -`.
    CallerName, "name of a caller"
}

impl CallerName {
    /// The name of a caller that has none but that of its program.
    #[cfg(feature = "nats")]
    pub(crate) fn of_program(name: &str) -> Self {
        Self(normal(name, "tools"))
    }
}

impl Queue {
    /// The queue of a program, by the program's name.
    pub(crate) fn of_program(name: &str) -> Self {
        Self(normal(name, "tools"))
    }
}

/// A runner: one process of a queue, `QUEUE.HOST-RANDOM`. A restarted process is another runner.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunnerId(String);

impl RunnerId {
    /// A new id for a process of a queue on this host.
    pub(crate) fn new(queue: &Queue) -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
        let host = host.or_else(|| std::env::var("COMPUTERNAME").ok()).unwrap_or_default();
        let random = crate::random::hex_digits::<4>();
        Self(format!("{queue}.{}-{random}", normal(host.trim(), "host")))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for RunnerId {
    fn from(id: &str) -> Self {
        Self(id.to_owned())
    }
}

impl fmt::Display for RunnerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of a step. The steps of one caller are out of reach of others, also if their ids are the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct StepKey {
    /// The queue that it was sent to.
    pub queue: Queue,
    /// The caller that sent it.
    pub caller: CallerName,
    /// Its id: 16 to 128 hexadecimal digits.
    pub step: StepId,
}

impl StepKey {
    /// The key of a step.
    pub fn new(queue: Queue, caller: CallerName, step: StepId) -> Self {
        Self { queue, caller, step }
    }
}

impl fmt::Display for StepKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.queue, self.caller, self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bad_name_is_refused_with_the_rule() {
        let error = "web.search".parse::<Queue>().unwrap_err().to_string();
        assert!(error.starts_with("`web.search` is not a valid name of a queue; write 1 to 64"));
        assert!("".parse::<CallerName>().is_err());
        assert!("x".repeat(65).parse::<CallerName>().is_err());
        assert!(serde_json::from_str::<Queue>(r#""a/b""#).is_err());
    }

    #[test]
    fn the_queue_of_a_program_is_a_valid_name() {
        for (program, queue) in
            [("my_tools", "my_tools"), ("Ünsinn.exe", "nsinn-exe"), ("..", "tools")]
        {
            assert_eq!(Queue::of_program(program).as_str(), queue);
            assert!(is_name(queue));
        }
    }
}
