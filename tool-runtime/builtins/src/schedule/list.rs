//! Jobs as the tools return them.

use super::builder::Schedule;
use super::database::failed;
use super::host::HOST_LOCK;
use super::job::{Job, OnMissed, Run, RunState, public_id};
use super::timetable::Timetable;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt;
use tool_runtime::__seam::excerpt_of;
use tool_runtime::ToolError;
use tool_runtime_store::ProcessLock;
use tool_runtime_store::rusqlite::{self, Connection, OptionalExtension as _};

/// The next runs that are shown.
const NEXT_RUNS: usize = 3;
/// The last runs that are shown.
const LAST_RUNS: u32 = 5;
/// Characters of arguments and outcomes in the text of a list.
const MAX_SHOWN: usize = 120;

/// A job.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct CronJob {
    /// The id, for `CronDelete`.
    pub id: String,
    /// The name.
    pub name: String,
    /// The cron expression.
    pub schedule: String,
    /// Its time zone.
    pub time_zone: String,
    /// The tool that is called.
    pub tool: String,
    /// Its arguments.
    pub arguments: Value,
    /// Whether the job runs.
    pub enabled: bool,
    /// The handling of missed runs.
    pub on_missed: OnMissed,
    /// The next three times, in the time zone of the job. Empty if it is disabled.
    pub next: Vec<String>,
    /// The last five runs, the newest first.
    pub runs: Vec<CronRun>,
}

/// A run of a job, or several that were missed in a row.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct CronRun {
    /// The state.
    pub state: RunState,
    /// The time when it was due.
    pub due: String,
    /// The last of several missed times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_due: Option<String>,
    /// The number of times: one, but for missed ones.
    pub times: u32,
    /// The number of attempts: more than one if a host died.
    pub attempts: u32,
    /// Time at which the call began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// Time at which the call ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<String>,
    /// The beginning of the result, or the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
}

/// A process that makes the calls of jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct ScheduleHostInfo {
    /// Its id in the system.
    pub process: u32,
    /// Time at which it began.
    pub since: String,
}

/// The result of `CronList`.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
pub struct CronJobs {
    /// The jobs of the caller, in the order of their creation.
    pub jobs: Vec<CronJob>,
    /// The host. Without one no job runs.
    pub host: Option<ScheduleHostInfo>,
}

impl Schedule {
    pub(super) fn list(&self, owner: &str) -> Result<CronJobs, ToolError> {
        let now = self.now();
        let read = |connection: &Connection| read(connection, owner, now);
        let mut jobs = self.0.store.read(read).map_err(failed)?;
        jobs.host = jobs.host.filter(|_| ProcessLock::is_taken(self.0.store.path(), HOST_LOCK));
        Ok(jobs)
    }
}

fn read(connection: &Connection, owner: &str, now: Timestamp) -> rusqlite::Result<CronJobs> {
    let mut jobs = Vec::new();
    for job in Job::all(connection, "owner = ?1 ORDER BY id", [owner])? {
        let runs = Run::last(connection, job.id, LAST_RUNS)?;
        jobs.push(CronJob::from_job(job, runs, now));
    }
    let host = |row: &rusqlite::Row<'_>| {
        Ok(ScheduleHostInfo { process: row.get(0)?, since: render(None, row.get(1)?) })
    };
    let host = connection.query_row("SELECT process, started FROM host", [], host).optional()?;
    Ok(CronJobs { jobs, host })
}

impl CronJob {
    fn from_job(job: Job, runs: Vec<Run>, now: Timestamp) -> Self {
        let timetable = job.timetable().ok();
        // Times that a host has not seen yet are due.
        let start = job.next_due.map_or(now, |due| due - jiff::SignedDuration::from_secs(1));
        let next = timetable.as_ref().filter(|_| job.enabled).map(|timetable| {
            let next = timetable.next(start, NEXT_RUNS);
            next.into_iter().map(|time| timetable.render(time)).collect()
        });
        Self {
            id: job.public_id(),
            name: job.name,
            schedule: job.schedule,
            time_zone: job.time_zone,
            tool: job.tool,
            arguments: serde_json::from_str(&job.arguments).unwrap_or_default(),
            enabled: job.enabled,
            on_missed: job.on_missed,
            next: next.unwrap_or_default(),
            runs: runs.into_iter().map(|run| CronRun::from_run(run, timetable.as_ref())).collect(),
        }
    }
}

impl CronRun {
    fn from_run(run: Run, timetable: Option<&Timetable>) -> Self {
        let due = |time: Timestamp| render(timetable, time.as_millisecond());
        Self {
            state: run.state,
            due: due(run.due),
            last_due: (run.times > 1).then(|| due(run.last_due)),
            times: run.times,
            attempts: run.attempt,
            started: run.started.map(|time| render(timetable, time)),
            ended: run.ended.map(|time| render(timetable, time)),
            outcome: run.outcome,
        }
    }
}

/// A time in milliseconds.
fn render(timetable: Option<&Timetable>, time: i64) -> String {
    let time = Timestamp::from_millisecond(time).unwrap_or_default();
    timetable.map_or_else(|| time.to_string(), |timetable| timetable.render(time))
}

impl CronJobs {
    pub(super) fn into_job(self, id: i64) -> Option<CronJob> {
        self.jobs.into_iter().find(|job| job.id == public_id(id))
    }

    /// Whether jobs run.
    pub(super) fn host_text(&self) -> String {
        match &self.host {
            None => "no host lives, so no job runs: the server of the program or its command `schedule` runs them"
                .to_owned(),
            Some(host) => format!(
                "host: process {} since {}; others wait until it ends",
                host.process, host.since
            ),
        }
    }
}

impl fmt::Display for CronJobs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for job in &self.jobs {
            writeln!(f, "{job}")?;
        }
        if self.jobs.is_empty() {
            writeln!(f, "no jobs")?;
        }
        f.write_str(&self.host_text())
    }
}

impl fmt::Display for CronJob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, name, schedule, time_zone, tool, arguments, .. } = self;
        let arguments = arguments.to_string();
        let arguments = excerpt_of(&arguments, MAX_SHOWN);
        write!(f, "{id} `{name}`: {tool} {arguments} at `{schedule}` ({time_zone})")?;
        match self.next.as_slice() {
            [] => f.write_str("; disabled")?,
            next => write!(f, "; next {}", next.join(", "))?,
        }
        self.runs.iter().try_for_each(|run| write!(f, "\n  {run}"))
    }
}

impl fmt::Display for CronRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.state, self.due)?;
        if let Some(last) = &self.last_due {
            write!(f, " to {last} ({} times)", self.times)?;
        }
        if self.attempts > 1 {
            write!(f, " (attempt {})", self.attempts)?;
        }
        match &self.outcome {
            Some(outcome) if !outcome.is_empty() => {
                write!(f, ": {}", excerpt_of(&outcome.replace('\n', " "), MAX_SHOWN))
            }
            _ => Ok(()),
        }
    }
}
