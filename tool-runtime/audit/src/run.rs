//! The projection of a run: its state, counts, times and costs.

use crate::calls::{Calls, LoggedCall};
use crate::record::{LogRecord, RecordKind};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

/// A run, as its records show it. `Display` writes a summary and a timeline for a person.
///
/// ```
/// # use std::sync::Arc;
/// # use tool_runtime::prelude::*;
/// # use tool_runtime::tool::Execution;
/// # use tool_runtime::audit::{EventLog, RunState};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let log = EventLog::memory();
/// # let ping = Tool::builder("ping", "Answer at once.").read_only(true);
/// # let pool = ToolPool::builder().add(ping.handler(|| async { "pong" })).install(log.clone()).build()?;
/// let context = pool.context().in_execution(&Arc::new(Execution::new("order-17")));
/// pool.call_with(ToolCall::new("ping", "{}"), &context).await;
///
/// let run = log.reader().await?.run("order-17")?;
/// assert_eq!((run.state, run.total.calls), (RunState::Settled, 1));
/// println!("{run}");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RunSummary {
    /// The id of the run.
    pub run: String,
    /// The state.
    pub state: RunState,
    /// The number of its attempts.
    pub attempts: u32,
    /// The time of its first record, in microseconds since 1970 UTC.
    pub first_us: u64,
    /// The time of its last record.
    pub last_us: u64,
    /// The sums of all tools.
    pub total: ToolSummary,
    /// The sums of each tool.
    pub tools: BTreeMap<String, ToolSummary>,
    /// The steps whose outcome an operator must state before the run can continue.
    pub unresolved: Vec<String>,
    /// The calls, in the order of their proposals.
    pub calls: Vec<LoggedCall>,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RunState {
    /// All calls have ended.
    Settled,
    /// A call waits for a person.
    Waiting,
    /// A call runs, or its process ended without recording its end.
    Running,
    /// The outcome of a step is not known: an operator must state it.
    Indeterminate,
}

/// Counts, times and costs of calls.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolSummary {
    /// All calls.
    pub calls: u64,
    /// Calls that ended with a result, replayed ones included.
    pub succeeded: u64,
    /// Calls that ended with an error, those included that did not start, but not those that were denied.
    pub failed: u64,
    /// Calls that a policy, a hook, a limit or a person denied.
    pub denied: u64,
    /// Calls whose outcome is that of an earlier attempt.
    pub replayed: u64,
    /// The time that the tools ran.
    pub time: Duration,
    /// The cost in millionths.
    pub cost_micros: u64,
}

impl ToolSummary {
    fn add(&mut self, call: &LoggedCall) {
        self.calls += 1;
        self.succeeded += u64::from(call.state == RecordKind::Succeeded);
        self.failed += u64::from(call.state == RecordKind::Failed);
        self.denied += u64::from(call.kinds.contains(&RecordKind::Denied));
        self.replayed += u64::from(call.is_replayed);
        self.time += call.duration.unwrap_or_default();
        self.cost_micros += call.cost_micros;
    }
}

impl RunSummary {
    /// The projection of the records of a run.
    pub fn new(run: impl Into<String>, records: impl IntoIterator<Item = LogRecord>) -> Self {
        let run = run.into();
        let records = records.into_iter().filter(|record| record.run.as_deref() == Some(&*run));
        let (mut first_us, mut last_us) = (0, 0);
        let calls = Calls::from_records(records.inspect(|record| {
            first_us = if first_us == 0 { record.time_us } else { first_us };
            last_us = record.time_us;
        }));
        let (mut total, mut tools) = (ToolSummary::default(), BTreeMap::<_, ToolSummary>::new());
        for call in &calls {
            total.add(call);
            tools.entry(call.tool.clone()).or_default().add(call);
        }
        let attempts = calls.iter().map(|call| call.attempt).max().unwrap_or(0);
        let unresolved = unresolved(&calls);
        let state = state(&calls, &unresolved);
        Self { run, state, attempts, first_us, last_us, total, tools, unresolved, calls }
    }
}

/// Whether the outcome of a call that started is not known. Refusals of later attempts did not start.
pub(crate) fn is_unresolved(call: &LoggedCall) -> bool {
    call.is_started && matches!(call.state, RecordKind::Indeterminate | RecordKind::Cancelled)
}

fn unresolved(calls: &[LoggedCall]) -> Vec<String> {
    let calls = calls.iter().filter(|call| is_unresolved(call));
    calls.filter_map(|call| call.step.clone()).collect()
}

fn state(calls: &[LoggedCall], unresolved: &[String]) -> RunState {
    let waits = |call: &LoggedCall| matches!(call.state, RecordKind::Asked | RecordKind::Suspended);
    match calls {
        _ if !unresolved.is_empty() => RunState::Indeterminate,
        _ if calls.iter().any(waits) => RunState::Waiting,
        _ if calls.iter().any(|call| !call.is_ended()) => RunState::Running,
        _ => RunState::Settled,
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Settled => "settled",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Indeterminate => "indeterminate",
        })
    }
}

impl fmt::Display for RunSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { run, state, attempts, total, .. } = self;
        let ToolSummary { calls, succeeded, failed, denied, replayed, time, cost_micros } = total;
        writeln!(f, "run {run}: {state}, attempts: {attempts}")?;
        write!(
            f,
            "calls: {calls} (succeeded: {succeeded}, failed: {failed}, denied: {denied}, replayed: {replayed}), tools ran {time:.1?}"
        )?;
        if *cost_micros > 0 {
            write!(f, ", cost: {:.6}", *cost_micros as f64 / 1e6)?;
        }
        for call in &self.calls {
            write!(f, "\n{call}")?;
        }
        for step in &self.unresolved {
            write!(f, "\nto be resolved: step {step}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventLog;
    use crate::testing::tools;
    use std::sync::Arc;
    use tool_runtime_core::tool::{Execution, ToolCall};

    #[tokio::test]
    async fn a_run_is_summed_up_and_told() {
        let log = EventLog::memory();
        for attempt in 1..=2 {
            let execution = Execution::new("order-17").with_attempt(attempt);
            let pool = tools().install(log.clone()).build().unwrap();
            let context = pool.context().in_execution(&Arc::new(execution));
            for (tool, arguments) in
                [("send", r#"{"text": "a"}"#), ("echo", r#"{"text": 1}"#), ("send", "[]")]
            {
                pool.call_with(ToolCall::new(tool, arguments), &context).await;
            }
        }
        let run = log.reader().await.unwrap().run("order-17").unwrap();
        let sums = |sums: &ToolSummary| (sums.calls, sums.succeeded, sums.failed, sums.replayed);
        assert_eq!((sums(&run.total), run.attempts), ((6, 4, 2, 2), 2));
        assert_eq!((sums(&run.tools["send"]), run.state), ((4, 2, 2, 1), RunState::Settled));
        let text = run.to_string();
        assert!(text.starts_with("run order-17: settled, attempts: 2\ncalls: 6 (succ"), "{text}");
        assert!(text.contains("send {\"text\":\"a\"} -> succeeded (replayed): \"a\""), "{text}");
        assert_eq!(text.lines().count(), 8, "{text}");
        let first = &log.reader().await.unwrap().records().next().unwrap().unwrap();
        let call = &run.calls[0];
        assert_eq!((call.seq, call.call, &call.process), (1, first.call, &first.process));
        assert_eq!((call.time_us, run.first_us), (first.time_us, first.time_us));
    }
}
