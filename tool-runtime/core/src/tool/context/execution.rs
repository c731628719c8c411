//! An execution that may be repeated, and the ids of its steps.

use crate::vocabulary::canonical::canonical;
use crate::vocabulary::hex::hex;
use crate::vocabulary::sync::lock;
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Identifies a call within an [`Execution`]: the same call has the same id when the execution is
/// repeated.
///
/// It is the SHA-256, in hex digits, of the execution, the tool, the arguments in canonical form, and
/// the number of equal calls before it. A call of a tool in another process has a random id if it is in no
/// execution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StepId(String);

impl StepId {
    /// An id that was stored before.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Work that is restarted from its beginning after a crash, such as one run of an agent.
///
/// Calls in its context, see [`ToolContext::in_execution`](crate::tool::ToolContext::in_execution), are
/// numbered, so that a [`StepStore`](crate::govern::StepStore) recognises those that ran already. Create a
/// new value for each attempt.
///
/// ```
/// use std::sync::Arc;
/// use tool_runtime::ToolPool;
/// use tool_runtime::tool::Execution;
///
/// let pool = ToolPool::builder().build()?;
/// let execution = Arc::new(Execution::new("order-17").with_attempt(2));
/// let context = pool.context().in_execution(&execution);
/// assert_eq!(context.execution().unwrap().attempt(), 2);
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// ```
#[derive(Debug)]
pub struct Execution {
    id: String,
    attempt: u32,
    labels: BTreeMap<String, String>,
    /// The step elsewhere whose tool makes the calls.
    within: Option<StepId>,
    started: Instant,
    /// The number of calls whose tools started.
    steps: AtomicU64,
    /// The number of equal calls so far.
    equal_calls: Mutex<HashMap<[u8; 32], u64, foldhash::fast::RandomState>>,
}

impl Execution {
    /// The first attempt of an execution.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            attempt: 1,
            labels: BTreeMap::new(),
            within: None,
            started: Instant::now(),
            steps: AtomicU64::new(0),
            equal_calls: Mutex::default(),
        }
    }

    /// Sets the number of the attempt. Default: 1.
    #[must_use]
    pub fn with_attempt(mut self, attempt: u32) -> Self {
        self.attempt = attempt;
        self
    }

    /// Sets a label, which policies read. Default: none.
    ///
    /// ```
    /// use tool_runtime::tool::Execution;
    ///
    /// let order = Execution::new("order-17").with_label("environment", "staging");
    /// assert_eq!(order.labels()["environment"], "staging");
    /// ```
    #[must_use]
    pub fn with_label(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(name.into(), value.into());
        self
    }

    /// Sets the time when the first attempt started. Default: when this value was made.
    #[must_use]
    pub fn started_at(mut self, started: Instant) -> Self {
        self.started = started;
        self
    }

    /// Makes the steps those of calls which the tool of this step makes: two steps of one execution may make equal
    /// calls in two processes. Default: none.
    #[must_use]
    #[doc(hidden)]
    pub fn within(mut self, step: &StepId) -> Self {
        self.within = Some(step.clone());
        self
    }

    /// The labels.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// The time since the execution started.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The number of calls of this attempt whose tools started.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    pub(crate) fn count_step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// The id of the execution.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The number of the attempt, from 1.
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The id of the next call of a tool with these arguments.
    pub(crate) fn next_step(&self, tool: &str, arguments: &str) -> StepId {
        let arguments = match serde_json::from_str::<Value>(arguments) {
            Ok(value) => canonical(&value),
            Err(_) => arguments.to_owned(),
        };
        let content = self.content(tool, &arguments);
        let number = {
            let mut equal_calls = lock(&self.equal_calls);
            let count = equal_calls.entry(content).or_default();
            *count += 1;
            *count
        };
        StepId(hex(&digest(&[&content, &number.to_be_bytes()])))
    }

    /// What equal calls have in common.
    fn content(&self, tool: &str, arguments: &str) -> [u8; 32] {
        let parts = [self.id.as_bytes(), tool.as_bytes(), arguments.as_bytes()];
        match &self.within {
            None => digest(&parts),
            Some(step) => digest(&[&parts[..], &[step.as_str().as_bytes()]].concat()),
        }
    }
}

/// Each part is preceded by its length, so that different lists have different strings.
fn digest(parts: &[&[u8]]) -> [u8; 32] {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_execution_has_the_same_steps() {
        let steps = |execution: &Execution| {
            [("add", r#"{"a":1,"b":2}"#), ("add", r#"{"b":2, "a":1}"#), ("sub", r#"{"a":1,"b":2}"#)]
                .map(|(tool, arguments)| execution.next_step(tool, arguments))
        };
        let first = steps(&Execution::new("one"));
        assert_eq!(first, steps(&Execution::new("one").with_attempt(2)));
        assert_ne!(first[0], first[1], "equal calls differ in their number");
        assert_ne!(first[0], first[2]);
        assert_ne!(first[0], Execution::new("two").next_step("add", r#"{"a":1,"b":2}"#));
    }

    #[test]
    fn ids_of_steps_stay_the_same_between_versions() {
        let execution = Execution::new("order-17");
        let step = || execution.next_step("fs.read", r#"{ "path": "a.txt" }"#).to_string();
        assert_eq!(step(), "e603fe587b7c843d38151027772c89a87e2408be3c4f7e169438e0820a841a62");
        assert_eq!(step(), "897a091d38c54fafa6fad3f08269031e7db20014f46d87a79dbbde5229e33460");
    }

    #[test]
    fn equal_calls_of_two_remote_calls_of_an_execution_are_different_steps() {
        let within = |step: &str| Execution::new("one").within(&StepId::new(step));
        let next = |execution: &Execution| execution.next_step("add", "{}");
        let first = next(&within("a"));
        assert_eq!(first, next(&within("a").with_attempt(2)));
        assert_ne!(first, next(&within("b")));
        assert_ne!(first, next(&Execution::new("one")));
    }

    #[test]
    fn parts_do_not_run_together() {
        let one = Execution::new("a").next_step("bc", "");
        assert_ne!(one, Execution::new("ab").next_step("c", ""));
    }
}
