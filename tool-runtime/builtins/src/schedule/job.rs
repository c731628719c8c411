//! Jobs and their runs, as they are stored.

use super::timetable::Timetable;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use tool_runtime::ToolError;
use tool_runtime_store::rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use tool_runtime_store::rusqlite::{self, Connection, OptionalExtension as _, Row, params};

/// A choice about runs that were missed because no host lived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum OnMissed {
    /// They are recorded.
    #[default]
    Skip,
    /// The last one runs once when a host starts; the others are recorded.
    RunOnce,
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RunState {
    /// A host makes the call.
    Running,
    /// The call returned a result.
    Succeeded,
    /// The call returned an error, or the exit code of a command that failed.
    Failed,
    /// The host stopped, or the job was deleted, before the call returned.
    Cancelled,
    /// The host died before it recorded the end: the call may have had its effect.
    Interrupted,
    /// The run before it had not ended.
    Skipped,
    /// No host lived.
    Missed,
}

const STATES: [RunState; 7] = [
    RunState::Running,
    RunState::Succeeded,
    RunState::Failed,
    RunState::Cancelled,
    RunState::Interrupted,
    RunState::Skipped,
    RunState::Missed,
];

impl RunState {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Interrupted => "interrupted",
            Self::Skipped => "skipped",
            Self::Missed => "missed",
        }
    }
}

impl fmt::Display for RunState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A state as it is stored.
struct StoredState(RunState);

impl FromSql for StoredState {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let name = value.as_str()?;
        let state = STATES.into_iter().find(|it| it.name() == name);
        state.map(Self).ok_or(FromSqlError::InvalidType)
    }
}

/// A job.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub(super) id: i64,
    pub(super) owner: String,
    pub(super) name: String,
    pub(super) schedule: String,
    pub(super) time_zone: String,
    pub(super) tool: String,
    /// JSON.
    pub(super) arguments: String,
    pub(super) on_missed: OnMissed,
    pub(super) enabled: bool,
    /// JSON of a `StoredPrincipal`.
    pub(super) principal: String,
    /// The first time that was not run, skipped or missed yet.
    pub(super) next_due: Option<Timestamp>,
}

const COLUMNS: &str = "SELECT id, owner, name, schedule, time_zone, tool, arguments, run_once, enabled, principal, next_due FROM jobs";

impl Job {
    pub(super) fn of_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        let next_due: Option<i64> = row.get(10)?;
        let run_once: bool = row.get(7)?;
        Ok(Self {
            id: row.get(0)?,
            owner: row.get(1)?,
            name: row.get(2)?,
            schedule: row.get(3)?,
            time_zone: row.get(4)?,
            tool: row.get(5)?,
            arguments: row.get(6)?,
            on_missed: if run_once { OnMissed::RunOnce } else { OnMissed::Skip },
            enabled: row.get(8)?,
            principal: row.get(9)?,
            next_due: next_due.map(time),
        })
    }

    pub(super) fn all(
        connection: &Connection,
        condition: &str,
        values: impl rusqlite::Params,
    ) -> rusqlite::Result<Vec<Self>> {
        let mut query = connection.prepare(&format!("{COLUMNS} WHERE {condition}"))?;
        query.query_map(values, Self::of_row)?.collect()
    }

    pub(super) fn timetable(&self) -> Result<Timetable, ToolError> {
        Timetable::new(&self.schedule, &self.time_zone)
    }

    /// Whether both are due at the same times.
    pub(super) fn has_times_of(&self, other: &Self) -> bool {
        self.schedule == other.schedule && self.time_zone == other.time_zone
    }

    pub(super) fn public_id(&self) -> String {
        public_id(self.id)
    }

    /// Inserts the job, or replaces that of the same owner and name. Returns its number.
    pub(super) fn save(&self, connection: &Connection) -> rusqlite::Result<i64> {
        let values = params![
            self.owner,
            self.name,
            self.schedule,
            self.time_zone,
            self.tool,
            self.arguments,
            self.on_missed == OnMissed::RunOnce,
            self.enabled,
            self.principal,
            self.next_due.map(Timestamp::as_second)
        ];
        connection.query_row(
            "INSERT INTO jobs (owner, name, schedule, time_zone, tool, arguments, run_once, enabled, principal, next_due)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (owner, name) DO UPDATE SET schedule = ?3, time_zone = ?4, tool = ?5, arguments = ?6,
                run_once = ?7, enabled = ?8, principal = ?9, next_due = ?10
             RETURNING id",
            values,
            |row| row.get(0),
        )
    }

    pub(super) fn is_running(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let query = "SELECT 1 FROM runs WHERE job = ?1 AND state = 'running'";
        Ok(connection.query_row(query, [self.id], |_| Ok(())).optional()?.is_some())
    }
}

pub(super) fn public_id(id: i64) -> String {
    format!("cron_{id}")
}

/// The number of an id that the tools return.
pub(super) fn number(id: &str, kind: &str) -> Option<i64> {
    id.strip_prefix(kind)?.strip_prefix('_')?.parse().ok()
}

pub(super) fn time(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap_or(Timestamp::MAX)
}

/// A run, or times that were missed in a row.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) job: i64,
    pub(super) due: Timestamp,
    pub(super) last_due: Timestamp,
    pub(super) times: u32,
    pub(super) state: RunState,
    pub(super) attempt: u32,
    pub(super) started: Option<i64>,
    pub(super) ended: Option<i64>,
    pub(super) outcome: Option<String>,
}

impl Run {
    /// The last runs of a job, the newest first.
    pub(super) fn last(
        connection: &Connection,
        job: i64,
        count: u32,
    ) -> rusqlite::Result<Vec<Self>> {
        let mut query = connection.prepare(
            "SELECT job, due, last_due, times, state, attempt, started, ended, outcome FROM runs
             WHERE job = ?1 ORDER BY due DESC LIMIT ?2",
        )?;
        let run = |row: &Row<'_>| {
            Ok(Self {
                job: row.get(0)?,
                due: time(row.get(1)?),
                last_due: time(row.get(2)?),
                times: row.get(3)?,
                state: row.get::<_, StoredState>(4)?.0,
                attempt: row.get(5)?,
                started: row.get(6)?,
                ended: row.get(7)?,
                outcome: row.get(8)?,
            })
        };
        query.query_map(params![job, count], run)?.collect()
    }

    /// Records a run. It replaces a run of the same time, which exists if the clock was set back and the job replaced.
    pub(super) fn insert(&self, connection: &Connection) -> rusqlite::Result<i64> {
        connection.execute(
            "INSERT OR REPLACE INTO runs (job, due, last_due, times, state, attempt, started, ended, outcome)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            params![
                self.job,
                self.due.as_second(),
                self.last_due.as_second(),
                self.times,
                self.state.name(),
                self.attempt,
                self.started,
                self.ended,
                self.outcome
            ],
        )?;
        Ok(connection.last_insert_rowid())
    }
}
