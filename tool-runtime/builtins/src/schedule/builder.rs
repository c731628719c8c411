//! The schedule of a program, and what its operator sets.

use super::database;
use super::target::{Target, TargetError, Targets};
use crate::workspace::Workspace;
use jiff::Timestamp;
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;
use tempfile::TempDir;
use tool_runtime::__seam::lock;
use tool_runtime::tool::SessionId;
use tool_runtime::{Principal, ToolContext};
use tool_runtime_store::{Store, StoreError};

/// Decides about the creator of a job at each run.
type Principals = Arc<dyn Fn(&Principal) -> Option<Principal> + Send + Sync>;

/// Jobs and triggers in a SQLite file, which several processes may share. One of them is its host. Clones share everything.
///
/// [`Builtins::schedule`](crate::Builtins::schedule) adds the tools by which models change it. The jobs run while a
/// host lives: the command `schedule` of the program, or [`Schedule::run`].
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime_builtins::schedule::Schedule;
/// use tool_runtime_builtins::{Builtins, Workspace};
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let workspace = Workspace::builder().root(env!("CARGO_MANIFEST_DIR")).build()?;
/// let schedule = Schedule::builder(&workspace).open()?;
/// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
/// let builtins = Builtins::new(workspace).schedule(&schedule);
/// let pool = ToolPool::builder().add(ping).install(builtins).build()?;
///
/// let job = r#"{ "name": "morning", "schedule": "0 9 * * MON-FRI", "time_zone": "Europe/Berlin", "tool": "ping" }"#;
/// let created = pool.call(ToolCall::new("CronCreate", job)).await;
/// assert!(created.observation().to_text().starts_with("created `cron_1`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct Schedule(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) store: Store,
    pub(super) options: Options,
    pub(super) targets: Targets,
    workspace: Workspace,
    /// The sessions of the runs of this process.
    pub(super) running: Mutex<HashSet<SessionId>>,
    /// The name of `RemoteTrigger` in the pool.
    pub(super) trigger_tool: OnceLock<String>,
    /// Deleted after the store is closed.
    _directory: Option<TempDir>,
}

#[derive(Clone)]
pub(super) struct Options {
    pub(super) min_interval: Duration,
    pub(super) max_jobs: u32,
    pub(super) time_zone: String,
    pub(super) grace: Duration,
    pub(super) run_timeout: Duration,
    pub(super) stop_timeout: Duration,
    pub(super) jobs_may_schedule: bool,
    pub(super) principals: Option<Principals>,
}

/// Assembles a [`Schedule`].
#[must_use = "a builder does nothing until the schedule is opened"]
pub struct ScheduleBuilder {
    file: Option<PathBuf>,
    workspace: Workspace,
    options: Options,
    targets: Vec<Target>,
}

impl Schedule {
    /// A schedule by the clock of a workspace.
    pub fn builder(workspace: &Workspace) -> ScheduleBuilder {
        ScheduleBuilder {
            file: None,
            workspace: workspace.clone(),
            options: Options {
                min_interval: Duration::from_secs(60),
                max_jobs: 100,
                time_zone: "UTC".to_owned(),
                grace: Duration::from_secs(60),
                run_timeout: Duration::from_secs(3600),
                stop_timeout: Duration::from_secs(10),
                jobs_may_schedule: false,
                principals: None,
            },
            targets: Vec::new(),
        }
    }

    /// Sets the name of `RemoteTrigger` in the pool, with its prefix.
    pub(crate) fn set_trigger_tool(&self, name: String) {
        // A schedule in two pools has the name of the first.
        let _ = self.0.trigger_tool.set(name);
    }

    pub(super) fn now(&self) -> Timestamp {
        // A clock beyond the year 9999 is not a clock.
        Timestamp::try_from(self.0.workspace.clock().now()).unwrap_or(Timestamp::MAX)
    }

    /// Whether the call is made by a job, or by an agent that a job started: its session is within that of the run.
    pub(super) fn is_job(&self, context: &ToolContext) -> bool {
        let running = lock(&self.0.running);
        context.sessions().any(|session| running.contains(session))
    }
}

impl ScheduleBuilder {
    /// Sets the file, which is created if it does not exist. Default: a temporary one, only for this process and as
    /// long as the schedule lives.
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.file = Some(path.into());
        self
    }

    /// Sets the shortest interval between two times of a job. Default: one minute.
    ///
    /// Changes of the clock do not count: with a day, daily jobs are allowed.
    pub fn min_interval(mut self, interval: Duration) -> Self {
        self.options.min_interval = interval;
        self
    }

    /// Sets the most jobs, and the most triggers, of a principal. Default: 100.
    pub fn max_jobs(mut self, count: u32) -> Self {
        self.options.max_jobs = count;
        self
    }

    /// Sets the time zone of jobs that name none. Default: `UTC`.
    pub fn time_zone(mut self, name: impl Into<String>) -> Self {
        self.options.time_zone = name.into();
        self
    }

    /// Sets the time after which a run that no host has started is missed. Default: one minute.
    pub fn grace(mut self, time: Duration) -> Self {
        self.options.grace = time;
        self
    }

    /// Sets the time limit of a run, besides that of its tool. Default: one hour.
    pub fn run_timeout(mut self, time: Duration) -> Self {
        self.options.run_timeout = time;
        self
    }

    /// Sets the time that a host which stops gives its runs before it cancels them. Default: 10 seconds.
    pub fn stop_timeout(mut self, time: Duration) -> Self {
        self.options.stop_timeout = time;
        self
    }

    /// Lets jobs create and change jobs. Default: calls of `CronCreate`, and of `RemoteTrigger` with a `schedule`, are
    /// refused within a job.
    pub fn jobs_may_schedule(mut self) -> Self {
        self.options.jobs_may_schedule = true;
        self
    }

    /// Sets a function that gets the creator of a job, as stored, at each run, and returns the principal to run as: with
    /// the scopes of today, for instance. `None` fails the run. Default: as stored.
    pub fn principals(
        mut self,
        decide: impl Fn(&Principal) -> Option<Principal> + Send + Sync + 'static,
    ) -> Self {
        self.options.principals = Some(Arc::new(decide));
        self
    }

    /// Adds a target of `RemoteTrigger`. Without targets the tool is hidden.
    pub fn target(mut self, target: Target) -> Self {
        self.targets.push(target);
        self
    }

    /// Opens the file.
    ///
    /// # Errors
    /// The file cannot be opened or written, is damaged or of a newer version, or a target is invalid.
    pub fn open(self) -> Result<Schedule, ScheduleError> {
        let Self { file, workspace, options, targets } = self;
        let targets = Targets::new(targets)?;
        let (store, directory) = database::open(file)?;
        Ok(Schedule(Arc::new(Inner {
            store,
            options,
            targets,
            workspace,
            running: Mutex::default(),
            trigger_tool: OnceLock::new(),
            _directory: directory,
        })))
    }
}

impl fmt::Debug for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedule").field("file", &self.0.store.path()).finish_non_exhaustive()
    }
}

/// The reason why a schedule or settings cannot be opened, or a host cannot work.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// The file.
    #[error("the file of the schedule: {0}")]
    Store(String),
    /// A temporary file cannot be created.
    #[error("a temporary directory: {0}")]
    Directory(#[from] std::io::Error),
    /// A target of webhooks.
    #[error(transparent)]
    Target(#[from] TargetError),
}

tool_runtime::__private::debug_as_message!(ScheduleError);

impl From<StoreError> for ScheduleError {
    fn from(error: StoreError) -> Self {
        Self::Store(error.to_string())
    }
}
