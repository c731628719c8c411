//! The process that makes the calls of jobs.

use super::advance::{Advanced, Started, Step};
use super::builder::{Schedule, ScheduleError};
use super::event::ScheduleEvent;
use super::hosted_run::HostedRun;
use super::job::Job;
use jiff::Timestamp;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::{AbortHandle, JoinSet};
use tool_runtime::tool::RetryMode;
use tool_runtime::{CancellationToken, ToolPool};
use tool_runtime_store::rusqlite::{self, Connection, OptionalExtension as _, params};

/// The pause between two looks at the file, which others change.
const POLL: Duration = Duration::from_secs(1);

pub(super) type Notify = Arc<dyn Fn(&ScheduleEvent) + Send + Sync>;

/// A host of the jobs of a [`Schedule`]: makes their calls through a pool.
///
/// [`Schedule::run`] is the usual way. A program with a loop of its own calls [`Self::tick`].
///
/// ```
/// use tool_runtime::ToolPool;
/// use tool_runtime_builtins::Workspace;
/// use tool_runtime_builtins::schedule::Schedule;
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
/// let schedule = Schedule::builder(&workspace).open()?;
/// let pool = ToolPool::builder().build()?;
/// let mut host = schedule.host(&pool).on_event(|event| eprintln!("{event}"));
/// let _pause = host.tick().await?;
/// host.stop().await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct ScheduleHost {
    schedule: Schedule,
    pool: ToolPool,
    id: String,
    notify: Notify,
    /// The time of the last write; `None` before the first.
    renewed: Option<Timestamp>,
    /// The runs of this host.
    running: HashMap<i64, Running>,
    tasks: JoinSet<()>,
}

/// A run in progress.
struct Running {
    cancel: CancellationToken,
    task: AbortHandle,
}

impl Schedule {
    /// A host that makes the calls of jobs through a pool, as their creators: policies, limits and hooks of the pool
    /// apply. The pool is that of the whole program, not a narrowed handle.
    pub fn host(&self, pool: &ToolPool) -> ScheduleHost {
        ScheduleHost {
            schedule: self.clone(),
            pool: pool.clone(),
            id: crate::random::hex(32),
            notify: Arc::new(|event| tracing::info!("{event}")),
            renewed: None,
            running: HashMap::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Is a host until the token is cancelled. Runs in progress are given time to end, and then cancelled.
    ///
    /// # Errors
    /// The file cannot be written for longer than the lease lasts.
    pub async fn run(&self, pool: &ToolPool, stop: CancellationToken) -> Result<(), ScheduleError> {
        self.host(pool).run(stop).await
    }
}

impl ScheduleHost {
    /// Sets the receiver of news. Default: the log.
    #[must_use]
    pub fn on_event(mut self, notify: impl Fn(&ScheduleEvent) + Send + Sync + 'static) -> Self {
        self.notify = Arc::new(notify);
        self
    }

    /// Is a host until the token is cancelled, see [`Schedule::run`].
    ///
    /// # Errors
    /// Those of [`Schedule::run`].
    pub async fn run(mut self, stop: CancellationToken) -> Result<(), ScheduleError> {
        let mut failing: Option<Instant> = None;
        while !stop.is_cancelled() {
            let pause = match self.tick().await {
                Ok(pause) => {
                    failing = None;
                    pause
                }
                Err(error) => {
                    // Another process may hold the file. Without a lease the host must stop.
                    let since = *failing.get_or_insert_with(Instant::now);
                    if since.elapsed() >= self.schedule.0.options.lease {
                        self.cancel_all();
                        return Err(error);
                    }
                    tracing::warn!(%error, "the schedule cannot be advanced; trying again");
                    POLL
                }
            };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        self.stop().await
    }

    /// Starts the runs that are due, and records what was missed. Returns the longest time until the next call.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub async fn tick(&mut self) -> Result<Duration, ScheduleError> {
        let now = self.schedule.now();
        let view = self.watch(now).await?;
        let renewal = self.schedule.0.options.lease / 3;
        let is_stale =
            self.renewed.is_none_or(|at| now.duration_since(at).unsigned_abs() >= renewal);
        let is_due = view.next_due.is_some_and(|due| due <= now);
        if is_stale || is_due || view.has_orphans {
            self.advance(now).await?;
        }
        let next = view
            .next_due
            .filter(|due| *due > now)
            .map(|due| due.duration_since(now).unsigned_abs());
        Ok(next.unwrap_or(POLL).min(POLL).min(renewal))
    }

    /// Waits until the runs of this host have ended. Keeps its lease meanwhile, and cancels runs of jobs that are
    /// deleted.
    pub async fn idle(&mut self) {
        let pause = POLL.min(self.schedule.0.options.lease / 3);
        let mut next = tokio::time::Instant::now() + pause;
        while !self.tasks.is_empty() {
            if tokio::time::timeout_at(next, self.tasks.join_next()).await.is_ok() {
                continue;
            }
            next = tokio::time::Instant::now() + pause;
            let kept = match self.watch(self.schedule.now()).await {
                Ok(_) => self.renew().await,
                Err(error) => Err(error),
            };
            if let Err(error) = kept {
                tracing::warn!(%error, "the lease of the schedule cannot be renewed; trying again");
            }
        }
        self.forget_ended();
    }

    /// Gives runs in progress the time of [`stop_timeout`](super::ScheduleBuilder::stop_timeout), then cancels them, and
    /// waits until their ends are recorded.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn stop(mut self) -> Result<(), ScheduleError> {
        let timeout = self.schedule.0.options.stop_timeout;
        // The lease is renewed meanwhile, so that no other host takes the runs for its own.
        let deadline = tokio::time::Instant::now() + timeout;
        while !self.tasks.is_empty() && tokio::time::Instant::now() < deadline {
            let pause = deadline.min(tokio::time::Instant::now() + POLL);
            let _ = tokio::time::timeout_at(pause, self.tasks.join_next()).await;
            self.renew().await?;
        }
        self.cancel_all();
        self.idle().await;
        let id = self.id.clone();
        let delete = move |connection: &rusqlite::Transaction<'_>| {
            connection.execute("DELETE FROM hosts WHERE id = ?1", [id])
        };
        self.schedule.0.store.write(delete).await?;
        Ok(())
    }

    fn cancel_all(&self) {
        self.running.values().for_each(|run| run.cancel.cancel());
    }

    fn forget_ended(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.running.retain(|_, run| !run.task.is_finished());
    }

    /// Compares the runs of this host with those that the file has.
    async fn watch(&mut self, now: Timestamp) -> Result<View, ScheduleError> {
        self.forget_ended();
        let read = |connection: &Connection| View::read(connection, &self.id, now);
        let view = self.schedule.0.store.read(read)?;
        for (run, running) in &self.running {
            // The job was deleted, or this host was taken for dead.
            if !view.own.contains(run) {
                running.cancel.cancel();
            }
        }
        let lost = view.own.iter().filter(|run| !self.running.contains_key(run));
        let lost: Vec<i64> = lost.copied().collect();
        if !lost.is_empty() {
            tracing::error!(?lost, "runs have ended without a record of it");
            self.interrupt(lost, now).await?;
        }
        Ok(view)
    }

    /// Ends runs whose end was not recorded: later runs of the job would wait for it.
    async fn interrupt(&self, runs: Vec<i64>, now: Timestamp) -> Result<(), ScheduleError> {
        let text = "its end was not recorded; the call may have had its effect";
        let end = "UPDATE runs SET state = 'interrupted', ended = ?2, outcome = ?3
             WHERE id = ?1 AND state = 'running'";
        let write = move |connection: &rusqlite::Transaction<'_>| {
            let end = |run| connection.execute(end, params![run, now.as_millisecond(), text]);
            runs.iter().try_for_each(|run| end(*run).map(drop))
        };
        self.schedule.0.store.write(write).await?;
        Ok(())
    }

    async fn renew(&mut self) -> Result<(), ScheduleError> {
        let now = self.schedule.now().as_millisecond();
        let lease = self.schedule.0.options.lease.as_millis();
        let expires = now.saturating_add(i64::try_from(lease).unwrap_or(i64::MAX));
        let id = self.id.clone();
        let update = "UPDATE hosts SET expires = ?2 WHERE id = ?1";
        let write = move |connection: &rusqlite::Transaction<'_>| {
            connection.execute(update, params![id, expires])
        };
        self.schedule.0.store.write(write).await?;
        Ok(())
    }

    async fn advance(&mut self, now: Timestamp) -> Result<(), ScheduleError> {
        let (host, pool) = (self.id.clone(), self.pool.clone());
        let options = self.schedule.0.options.clone();
        let step = move |connection: &rusqlite::Transaction<'_>| {
            let (grace, lease) = (options.grace, options.lease);
            let is_repeatable = |job: &Job| is_repeatable(&pool, &job.tool);
            let is_repeatable = &is_repeatable;
            Step { host: &host, now, grace, lease, is_repeatable }.run(connection)
        };
        let Advanced { started, events } = self.schedule.0.store.write(step).await?;
        self.renewed = Some(now);
        events.iter().for_each(|event| (self.notify)(event));
        for started in started {
            self.start(started);
        }
        Ok(())
    }

    fn start(&mut self, started: Started) {
        let (id, cancel) = (started.run, CancellationToken::new());
        let run = HostedRun {
            schedule: self.schedule.clone(),
            pool: self.pool.clone(),
            host: self.id.clone(),
            notify: Arc::clone(&self.notify),
            started,
        };
        let task = self.tasks.spawn(run.make(cancel.clone()));
        self.running.insert(id, Running { cancel, task });
    }
}

impl fmt::Debug for ScheduleHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleHost").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Whether the call of a tool may run again although its outcome is unknown.
fn is_repeatable(pool: &ToolPool, tool: &str) -> bool {
    let Ok(tool) = pool.resolve(tool) else { return false };
    let definition = tool.definition();
    let of_hints = || RetryMode::of(&definition.effective_annotations());
    definition.retry_mode.unwrap_or_else(of_hints) == RetryMode::SafeToRetry
}

/// State that a host reads before it decides whether to write.
struct View {
    next_due: Option<Timestamp>,
    /// Whether a dead host has left runs.
    has_orphans: bool,
    own: Vec<i64>,
}

impl View {
    fn read(connection: &Connection, host: &str, now: Timestamp) -> rusqlite::Result<Self> {
        let next = "SELECT min(next_due) FROM jobs WHERE enabled";
        let next: Option<i64> = connection.query_row(next, [], |row| row.get(0))?;
        let orphans = "SELECT 1 FROM runs LEFT JOIN hosts ON hosts.id = runs.host
             WHERE state = 'running' AND (hosts.id IS NULL OR expires <= ?1)";
        let orphan =
            connection.query_row(orphans, [now.as_millisecond()], |_| Ok(())).optional()?;
        let mut own =
            connection.prepare("SELECT id FROM runs WHERE host = ?1 AND state = 'running'")?;
        let own = own.query_map([host], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        Ok(Self { next_due: next.map(super::job::time), has_orphans: orphan.is_some(), own })
    }
}
