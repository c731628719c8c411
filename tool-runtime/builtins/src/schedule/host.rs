//! The process that makes the calls of jobs.

use super::advance::{Advanced, HostStep, Started};
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
use tool_runtime_store::ProcessLock;
use tool_runtime_store::rusqlite::{self, Connection, params};

/// The pause between two looks at the file, which others change.
const POLL: Duration = Duration::from_secs(1);

/// The time for which a file may fail.
const MAX_FAILING: Duration = Duration::from_secs(30);

/// The ending of the file that the host of a schedule locks.
pub(super) const HOST_LOCK: &str = ".host";

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
/// host.stop().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct ScheduleHost {
    schedule: Schedule,
    pool: ToolPool,
    notify: Notify,
    /// Whether this host has said that it waits.
    waits: bool,
    /// Whether the runs of a host that died are ended or repeated.
    has_begun: bool,
    /// The time of the last tick.
    last: Timestamp,
    /// The runs of this host.
    running: HashMap<i64, Running>,
    tasks: JoinSet<()>,
    /// `None` while another host lives. Released after the runs are aborted.
    pub(super) lock: Option<ProcessLock>,
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
            notify: Arc::new(|event| tracing::info!("{event}")),
            lock: None,
            waits: false,
            has_begun: false,
            last: Timestamp::MIN,
            running: HashMap::new(),
            tasks: JoinSet::new(),
        }
    }

    /// Is a host until the token is cancelled. Runs in progress are given time to end, and then cancelled. While another
    /// host of the file lives, this one waits.
    ///
    /// # Errors
    /// The file cannot be written for half a minute.
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
                    // Another process may write for long.
                    let since = *failing.get_or_insert_with(Instant::now);
                    if since.elapsed() >= MAX_FAILING {
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
        self.stop().await;
        Ok(())
    }

    /// Starts the runs that are due, and records what was missed. While another host of the file lives, nothing is done,
    /// and the log says so once. Returns the longest time until the next call.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub async fn tick(&mut self) -> Result<Duration, ScheduleError> {
        if !self.take_over()? {
            return Ok(POLL);
        }
        let now = self.schedule.now();
        if !self.has_begun || now < self.last {
            self.advance(now).await?;
            self.has_begun = true;
        }
        self.last = now;
        let mut next_due = self.watch(now).await?;
        // One step records a bounded number of missed times.
        while next_due.is_some_and(|due| due <= now) {
            self.advance(now).await?;
            next_due = self.watch(now).await?;
        }
        let next = next_due.map(|due| due.duration_since(now).unsigned_abs());
        Ok(next.unwrap_or(POLL).min(POLL))
    }

    /// Becomes the host of the file, unless there is one.
    fn take_over(&mut self) -> Result<bool, ScheduleError> {
        if self.lock.is_none() {
            let file = self.schedule.0.store.path();
            self.lock = ProcessLock::take(file, HOST_LOCK)
                .map_err(|error| ScheduleError::Store(format!("the lock of its host: {error}")))?;
            if self.lock.is_none() && !self.waits {
                self.waits = true;
                tracing::warn!(?file, "the schedule has a host already; waiting until it ends");
            }
        }
        Ok(self.lock.is_some())
    }

    /// Waits until the runs of this host have ended, and cancels runs of jobs that are deleted.
    pub async fn idle(&mut self) {
        let mut next = tokio::time::Instant::now() + POLL;
        while !self.tasks.is_empty() {
            if tokio::time::timeout_at(next, self.tasks.join_next()).await.is_ok() {
                continue;
            }
            next = tokio::time::Instant::now() + POLL;
            if let Err(error) = self.watch(self.schedule.now()).await {
                tracing::warn!(%error, "the schedule cannot be read; trying again");
            }
        }
        self.forget_ended();
    }

    /// Gives runs in progress the time of [`stop_timeout`](super::ScheduleBuilder::stop_timeout), then cancels them, and
    /// waits until their ends are recorded.
    pub async fn stop(mut self) {
        let timeout = self.schedule.0.options.stop_timeout;
        let deadline = tokio::time::Instant::now() + timeout;
        while !self.tasks.is_empty()
            && tokio::time::timeout_at(deadline, self.tasks.join_next()).await.is_ok()
        {}
        self.cancel_all();
        self.idle().await;
    }

    fn cancel_all(&self) {
        self.running.values().for_each(|run| run.cancel.cancel());
    }

    fn forget_ended(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        self.running.retain(|_, run| !run.task.is_finished());
    }

    /// Compares the runs of this host with those that the file has. Returns the next due time.
    async fn watch(&mut self, now: Timestamp) -> Result<Option<Timestamp>, ScheduleError> {
        self.forget_ended();
        let (next_due, in_file) = self.schedule.0.store.read(view)?;
        for (run, running) in &self.running {
            // The job was deleted.
            if !in_file.contains(run) {
                running.cancel.cancel();
            }
        }
        let lost = in_file.iter().filter(|run| !self.running.contains_key(run));
        let lost: Vec<i64> = lost.copied().collect();
        if !lost.is_empty() {
            tracing::error!(?lost, "runs have ended without a record of it");
            self.interrupt(lost, now).await?;
        }
        Ok(next_due)
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

    async fn advance(&mut self, now: Timestamp) -> Result<(), ScheduleError> {
        let (begins, is_back) = (!self.has_begun, now < self.last);
        let pool = self.pool.clone();
        let grace = self.schedule.0.options.grace;
        let step = move |connection: &rusqlite::Transaction<'_>| {
            let is_repeatable = |job: &Job| is_repeatable(&pool, &job.tool);
            HostStep { now, grace, begins, is_back, is_repeatable: &is_repeatable }.run(connection)
        };
        let Advanced { started, events } = self.schedule.0.store.write(step).await?;
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
            notify: Arc::clone(&self.notify),
            started,
        };
        let task = self.tasks.spawn(run.make(cancel.clone()));
        self.running.insert(id, Running { cancel, task });
    }
}

impl fmt::Debug for ScheduleHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ScheduleHost").finish_non_exhaustive()
    }
}

/// Whether the call of a tool may run again although its outcome is unknown.
fn is_repeatable(pool: &ToolPool, tool: &str) -> bool {
    let Ok(tool) = pool.resolve(tool) else { return false };
    let definition = tool.definition();
    let of_hints = || RetryMode::from_annotations(&definition.effective_annotations());
    definition.retry_mode.unwrap_or_else(of_hints) == RetryMode::SafeToRetry
}

/// The next due time, and the runs in progress.
fn view(connection: &Connection) -> rusqlite::Result<(Option<Timestamp>, Vec<i64>)> {
    let next = "SELECT min(next_due) FROM jobs WHERE enabled";
    let next: Option<i64> = connection.query_row(next, [], |row| row.get(0))?;
    let mut runs = connection.prepare("SELECT id FROM runs WHERE state = 'running'")?;
    let runs = runs.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    Ok((next.map(super::job::time), runs))
}
