//! The status of queues and runners, for operators.

use super::link::Link;
use super::publish::Publisher;
use crate::board::Depth;
use crate::message::millis;
use crate::names::{Queue, RunnerId};
use crate::roster::Seen;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use tool_runtime_core::seam::one_line;

/// The most characters of a string of a runner, and the most of its labels, that are shown.
const MAX_FIELD: usize = 64;
const MAX_LABELS: usize = 8;

/// The most characters of the id of a runner: queue, host and random digits.
const MAX_RUNNER: usize = 138;

/// The most characters of a problem that are shown: it may quote a runner.
const MAX_PROBLEM: usize = 1000;

/// The queues and runners of a board.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RemoteStatus {
    /// The address of the board.
    pub board: String,
    /// The queues, by name.
    pub queues: Vec<QueueStatus>,
    /// The problems that belong to no queue.
    pub problems: Vec<String>,
    /// What the board cannot see of itself, and an operator has to know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One queue.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct QueueStatus {
    /// The name.
    pub queue: Queue,
    /// The jobs, if the board tells.
    pub depth: Option<Depth>,
    /// The runners that live.
    pub runners: Vec<RunnerStatus>,
    /// The ids of the tools.
    pub tools: Vec<String>,
    /// The problems of the queue.
    pub problems: Vec<String>,
}

/// One runner.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RunnerStatus {
    /// The id.
    pub runner: RunnerId,
    /// The program and its version.
    pub program: String,
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// The number of calls that it runs at the same time.
    pub slots: u32,
    /// The number of calls that it could run in addition.
    pub free: u32,
    /// Whether it claims no more calls.
    pub leaves: bool,
    /// The time since it was heard last, in milliseconds.
    pub heard: u64,
}

impl RemoteStatus {
    /// Whether nothing is wrong.
    pub fn is_healthy(&self) -> bool {
        self.problems.is_empty() && self.queues.iter().all(|queue| queue.problems.is_empty())
    }
}

/// The status of a connection.
pub(super) async fn collect(link: &Link, publisher: &Publisher) -> RemoteStatus {
    let seen = link.roster.all();
    let mut names: BTreeSet<Queue> = publisher.queues().into_iter().collect();
    names.extend(seen.iter().map(|seen| seen.presence.queue.clone()));
    let (mut queues, mut problems, mut notes) = (Vec::new(), publisher.problems(), Vec::new());
    match link.board.state().await {
        Ok(state) => {
            names.extend(state.queues);
            problems.extend(state.problems);
            notes = state.notes;
        }
        Err(error) => problems.push(format!("the hub does not tell its state: {error}")),
    }
    for queue in names {
        let depth = match link.board.depth(&queue).await {
            Ok(depth) => Some(depth),
            Err(error) => {
                problems.push(format!("the calls of queue `{queue}` cannot be counted: {error}"));
                None
            }
        };
        let of_queue = |seen: &&Seen| seen.presence.queue == queue && seen.is_alive();
        let runners: Vec<RunnerStatus> = seen.iter().filter(of_queue).map(runner).collect();
        let (tools, mut wrong) = publisher.of_queue(&queue);
        if runners.iter().all(|runner| runner.leaves) {
            wrong.push("no runner serves it".to_owned());
        }
        queues.push(QueueStatus { queue, depth, runners, tools, problems: wrong });
    }
    problems.extend(publisher.missing().map(|(_, reason)| reason));
    RemoteStatus { board: link.board.address(), queues, problems, notes }
}

fn runner(seen: &Seen) -> RunnerStatus {
    let presence = &seen.presence;
    RunnerStatus {
        runner: presence.runner.clone(),
        program: presence.program.clone(),
        labels: presence.labels.clone(),
        slots: presence.slots,
        free: presence.free,
        leaves: presence.leaves,
        heard: millis(seen.at.elapsed()),
    }
}

impl fmt::Display for RemoteStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "hub {}", self.board)?;
        for queue in &self.queues {
            queue.fmt(f)?;
        }
        let line = |problem: &String| one_line(problem, MAX_PROBLEM);
        self.problems.iter().try_for_each(|problem| writeln!(f, "problem: {}", line(problem)))?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {}", line(note)))
    }
}

impl fmt::Display for QueueStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { queue, depth, runners, tools, problems } = self;
        let counted = |count: usize, what| match count {
            1 => format!("1 {what}"),
            _ => format!("{count} {what}s"),
        };
        let (runners_there, tools) =
            (counted(runners.len(), "runner"), counted(tools.len(), "tool"));
        write!(f, "queue {queue}: {runners_there}, {tools}")?;
        if let Some(Depth { queued, claimed, oldest }) = depth {
            write!(f, ", {queued} queued, {claimed} running")?;
            if let Some(oldest) = oldest {
                write!(f, ", the oldest waits for {} s", oldest / 1000)?;
            }
        }
        writeln!(f)?;
        for runner in runners {
            runner.fmt(f)?;
        }
        let line = |problem: &String| one_line(problem, MAX_PROBLEM);
        problems.iter().try_for_each(|problem| writeln!(f, "  problem: {}", line(problem)))
    }
}

impl fmt::Display for RunnerStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A runner writes what it likes.
        let line = |text: &str| one_line(text, MAX_FIELD);
        let (runner, program) = (one_line(self.runner.as_str(), MAX_RUNNER), line(&self.program));
        write!(f, "  {runner}  {program}  {} of {} slots free", self.free, self.slots)?;
        for (name, value) in self.labels.iter().take(MAX_LABELS) {
            write!(f, "  {}={}", line(name), line(value))?;
        }
        let leaves = if self.leaves { "  leaves" } else { "" };
        writeln!(f, "{leaves}")
    }
}
