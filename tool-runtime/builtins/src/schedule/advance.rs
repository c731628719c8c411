//! One step of a host: every due time becomes a run, or is recorded as skipped or missed, in one transaction.

use super::event::ScheduleEvent;
use super::job::{Job, OnMissed, Run, RunState, time};
use super::timetable::Timetable;
use jiff::{SignedDuration, Timestamp};
use std::time::Duration;
use tool_runtime_store::rusqlite::{self, Connection, params};

/// The runs of a job that are kept.
const KEPT_RUNS: u32 = 100;
/// Missed times that one step records; the next step goes on.
const MAX_MISSED: u32 = 10_000;
/// Attempts of a run whose host died.
const MAX_ATTEMPTS: u32 = 3;

/// The reason for missed times.
const NO_HOST: &str = "no host lived";

/// The request of a host.
pub(super) struct HostStep<'a> {
    pub(super) now: Timestamp,
    pub(super) grace: Duration,
    /// Whether the host begins: runs in progress are those of one that died.
    pub(super) begins: bool,
    /// Whether the clock went back since the step before.
    pub(super) is_back: bool,
    /// Whether the call of a job may run again although its outcome is unknown.
    pub(super) is_repeatable: &'a dyn Fn(&Job) -> bool,
}

/// A run that the host makes now.
#[derive(Debug)]
pub(super) struct Started {
    pub(super) run: i64,
    pub(super) job: Job,
    pub(super) due: Timestamp,
    pub(super) attempt: u32,
}

#[derive(Debug, Default)]
pub(super) struct Advanced {
    pub(super) started: Vec<Started>,
    pub(super) events: Vec<ScheduleEvent>,
}

impl HostStep<'_> {
    pub(super) fn run(&self, connection: &Connection) -> rusqlite::Result<Advanced> {
        let mut advanced = Advanced::default();
        if self.begins {
            let process = (std::process::id(), self.now.as_millisecond());
            connection.execute("DELETE FROM host", [])?;
            connection.execute("INSERT INTO host (process, started) VALUES (?1, ?2)", process)?;
            self.recover(connection, &mut advanced)?;
        }
        if self.begins || self.is_back {
            self.rewind(connection)?;
        }
        let due = "enabled AND next_due <= ?1 ORDER BY next_due, id";
        for job in Job::all(connection, due, [self.now.as_second()])? {
            self.process_due(connection, job, &mut advanced)?;
        }
        Ok(advanced)
    }

    /// Ends or repeats the runs of a host that died.
    fn recover(&self, connection: &Connection, advanced: &mut Advanced) -> rusqlite::Result<()> {
        let mut query = connection.prepare(
            "SELECT id, job, due, attempt FROM runs WHERE state = 'running' ORDER BY id",
        )?;
        let found = query.query_map([], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get(2)?, row.get::<_, u32>(3)?))
        })?;
        for (run, id, due, attempt) in found.collect::<rusqlite::Result<Vec<_>>>()? {
            let Some(job) = Job::all(connection, "id = ?1", [id])?.pop() else { continue };
            let (due, now) = (time(due), self.now.as_millisecond());
            if job.enabled && attempt < MAX_ATTEMPTS && (self.is_repeatable)(&job) {
                let repeat = "UPDATE runs SET attempt = ?2, started = ?3 WHERE id = ?1";
                connection.execute(repeat, params![run, attempt + 1, now])?;
                let text = "its host died; the call is safe to repeat";
                advanced.events.push(job.event(due, RunState::Running, text));
                advanced.started.push(Started { run, job, due, attempt: attempt + 1 });
            } else {
                let text =
                    "its host died before the end was recorded; the call may have had its effect";
                let end =
                    "UPDATE runs SET state = 'interrupted', ended = ?2, outcome = ?3 WHERE id = ?1";
                connection.execute(end, params![run, now, text])?;
                advanced.events.push(job.event(due, RunState::Interrupted, text));
            }
        }
        Ok(())
    }

    /// Finds the next times again of jobs that would wait for long because the clock was far ahead. The difference must be
    /// more than a time of the job and a day: after a small correction, a time would run twice.
    fn rewind(&self, connection: &Connection) -> rusqlite::Result<()> {
        for job in Job::all(connection, "enabled AND next_due > ?1", [self.now.as_second()])? {
            let (Some(stored), Ok(timetable)) = (job.next_due, job.timetable()) else { continue };
            let times = timetable.next(self.now, 2);
            let (Some(&next), Some(&second)) = (times.first(), times.last()) else { continue };
            if stored.duration_since(second) > SignedDuration::from_hours(24) {
                tracing::warn!(job = job.public_id(), %stored, %next, "the clock was ahead; the job runs earlier");
                let update = "UPDATE jobs SET next_due = ?2 WHERE id = ?1";
                connection.execute(update, params![job.id, next.as_second()])?;
            }
        }
        Ok(())
    }

    /// Accounts for all times of a job up to now.
    fn process_due(
        &self,
        connection: &Connection,
        job: Job,
        advanced: &mut Advanced,
    ) -> rusqlite::Result<()> {
        let (Some(first), Ok(timetable)) = (job.next_due, job.timetable()) else {
            let event = "its time zone or expression is not valid any more; the job is disabled";
            connection.execute("UPDATE jobs SET enabled = 0 WHERE id = ?1", [job.id])?;
            advanced.events.push(job.event(self.now, RunState::Skipped, event));
            return Ok(());
        };
        let (times, next) = self.times(first, &timetable);
        connection.execute(
            "UPDATE jobs SET next_due = ?2 WHERE id = ?1",
            params![job.id, next.map(Timestamp::as_second)],
        )?;
        let mut is_running = job.is_running(connection)?;
        let mut missed = times.missed;
        let is_last = next.is_none_or(|next| next > self.now) && times.on_time.is_empty();
        let late = match (&missed, is_last && !is_running) {
            (Some(range), true) if job.on_missed == OnMissed::RunOnce => Some(range.last),
            _ => None,
        };
        if late.is_some() {
            missed = missed.and_then(Missed::without_last);
        }
        if let Some(missed) = missed {
            missed.run(job.id, NO_HOST).insert(connection)?;
            let mut event = job.event(missed.first, RunState::Missed, NO_HOST);
            event.times = missed.times;
            advanced.events.push(event);
        }
        for due in late.into_iter().chain(times.on_time) {
            let state = if is_running { RunState::Skipped } else { RunState::Running };
            let text = match state {
                RunState::Skipped => "the run before it had not ended",
                _ if late.is_some() => "missed, and run once now",
                _ => "",
            };
            let run = self.new_run(job.id, due, state, text).insert(connection)?;
            advanced.events.push(job.event(due, state, text));
            if state == RunState::Running {
                advanced.started.push(Started { run, job: job.clone(), due, attempt: 1 });
            }
            is_running = true;
        }
        prune(connection, job.id)
    }

    /// The times up to now, and the one after.
    fn times(&self, first: Timestamp, timetable: &Timetable) -> (Times, Option<Timestamp>) {
        let grace = SignedDuration::try_from(self.grace).unwrap_or(SignedDuration::MAX);
        let limit = self.now.saturating_sub(grace).unwrap_or(Timestamp::MIN);
        let (missed, mut next) = missed_before(limit, first, timetable);
        let mut times = Times { missed, on_time: Vec::new() };
        while let Some(due) = next.filter(|due| (limit..=self.now).contains(due)) {
            times.on_time.push(due);
            next = timetable.after(due);
        }
        (times, next)
    }

    fn new_run(&self, job: i64, due: Timestamp, state: RunState, text: &str) -> Run {
        let now = Some(self.now.as_millisecond());
        let is_running = state == RunState::Running;
        Run {
            job,
            due,
            last_due: due,
            times: 1,
            state,
            attempt: 1,
            started: now.filter(|_| is_running),
            ended: now.filter(|_| !is_running),
            outcome: (!text.is_empty()).then(|| text.to_owned()),
        }
    }
}

/// The first times before a limit, and the one after them.
fn missed_before(
    limit: Timestamp,
    first: Timestamp,
    timetable: &Timetable,
) -> (Option<Missed>, Option<Timestamp>) {
    let (mut all, mut next) = (None, Some(first));
    while let Some(due) = next.filter(|due| *due < limit) {
        next = timetable.after(due);
        let missed = all.get_or_insert(Missed::beginning(due));
        missed.add(due);
        if missed.times == MAX_MISSED {
            break;
        }
    }
    (all, next)
}

/// Records the times of a job up to now as missed, because it is replaced.
pub(super) fn miss_due(connection: &Connection, job: &Job, now: Timestamp) -> rusqlite::Result<()> {
    let (true, mut next, Ok(timetable)) = (job.enabled, job.next_due, job.timetable()) else {
        return Ok(());
    };
    let after_now = now.saturating_add(SignedDuration::from_secs(1)).unwrap_or(Timestamp::MAX);
    let text = format!("{NO_HOST}, until the job was replaced");
    while let Some(first) = next {
        let (missed, after) = missed_before(after_now, first, &timetable);
        let Some(missed) = missed else { break };
        missed.run(job.id, &text).insert(connection)?;
        next = after;
    }
    prune(connection, job.id)
}

/// Due times of one job, by their outcome.
struct Times {
    missed: Option<Missed>,
    on_time: Vec<Timestamp>,
}

#[derive(Clone, Copy)]
struct Missed {
    first: Timestamp,
    before_last: Timestamp,
    last: Timestamp,
    times: u32,
}

impl Missed {
    fn beginning(first: Timestamp) -> Self {
        Self { first, before_last: first, last: first, times: 0 }
    }

    fn add(&mut self, due: Timestamp) {
        (self.before_last, self.last, self.times) = (self.last, due, self.times + 1);
    }

    /// These times except the last, which is run now.
    fn without_last(self) -> Option<Self> {
        let last = self.before_last;
        let times = self.times - 1;
        (times > 0).then_some(Self { last, times, ..self })
    }

    fn run(&self, job: i64, text: &str) -> Run {
        let Self { first, last, times, .. } = *self;
        let outcome = Some(text.to_owned());
        let (due, last_due, state) = (first, last, RunState::Missed);
        Run { job, due, last_due, times, state, attempt: 0, started: None, ended: None, outcome }
    }
}

impl Job {
    pub(super) fn event(&self, due: Timestamp, state: RunState, text: &str) -> ScheduleEvent {
        let due = self.timetable().map_or_else(|_| due.to_string(), |it| it.render(due));
        let (job, name, text) = (self.public_id(), self.name.clone(), text.to_owned());
        ScheduleEvent { job, name, due, state, times: 1, text }
    }
}

fn prune(connection: &Connection, job: i64) -> rusqlite::Result<()> {
    connection.execute(
        "DELETE FROM runs WHERE job = ?1 AND state <> 'running' AND id NOT IN
            (SELECT id FROM runs WHERE job = ?1 ORDER BY id DESC LIMIT ?2)",
        params![job, KEPT_RUNS],
    )?;
    Ok(())
}
