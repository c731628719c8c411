//! Commands in the background. A job runs as long as one of its processes does.

use super::command::Running;
use super::result::{CommandOutput, JobOutput, JobStatus, SURVIVORS, join_notices};
use regex::Regex;
use std::collections::BTreeMap;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tool_runtime::__seam::lock;
use tool_runtime::{CancellationToken, ToolContext, ToolError};

/// Jobs that have ended and whose output can still be read.
const MAX_ENDED: usize = 32;

/// The jobs of all callers.
pub(super) struct Jobs {
    jobs: Mutex<BTreeMap<u64, Arc<Job>>>,
    /// A permit for each job that starts or runs.
    permits: Arc<Semaphore>,
}

/// A command in the background.
pub(super) struct Job {
    number: u64,
    command: String,
    /// The principal that started it; for others it does not exist.
    owner: String,
    state: watch::Receiver<State>,
    kill: CancellationToken,
    streams: Streams,
}

/// The output of a job.
struct Streams {
    stdout: Arc<super::capture::Capture>,
    stderr: Arc<super::capture::Capture>,
}

#[derive(Clone, Copy)]
struct State {
    status: JobStatus,
    /// The end of the shell, whose processes may still run.
    exit: Option<ExitStatus>,
    /// Processes could not be ended.
    has_survivors: bool,
}

impl Jobs {
    /// At most so many run at the same time.
    pub(super) fn new(limit: usize) -> Self {
        let permits = Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)));
        Self { jobs: Mutex::default(), permits }
    }

    /// The permit of a job that starts.
    pub(super) fn permit(&self, context: &ToolContext) -> Result<OwnedSemaphorePermit, ToolError> {
        Arc::clone(&self.permits).try_acquire_owned().map_err(|_| {
            let jobs = self.lock();
            let own = jobs.values().filter(|job| job.is_running() && job.is_of(context));
            let own: Vec<String> = own.map(|job| job.id()).collect();
            ToolError::user(match own.is_empty() {
                true => "other callers run as many background jobs as the operator allows; try again later".to_owned(),
                false => format!(
                    "as many background jobs run as the operator allows; end one by `KillBash`: {}",
                    own.join(", ")
                ),
            })
        })
    }

    /// Keeps a command as a job and returns the job.
    pub(super) fn add(
        &self,
        number: u64,
        command: String,
        running: Running,
        permit: OwnedSemaphorePermit,
        context: &ToolContext,
    ) -> Arc<Job> {
        let status = JobStatus::Running;
        let (sender, state) = watch::channel(State { status, exit: None, has_survivors: false });
        let kill = CancellationToken::new();
        let streams =
            Streams { stdout: Arc::clone(&running.stdout), stderr: Arc::clone(&running.stderr) };
        let owner = context.principal().id().to_owned();
        let job = Arc::new(Job { number, command, owner, state, kill: kill.clone(), streams });
        tokio::spawn(run(running, kill, sender, permit));
        let mut jobs = self.lock();
        jobs.insert(number, Arc::clone(&job));
        forget_oldest(&mut jobs, context);
        job
    }

    /// The job of a caller with this id.
    pub(super) fn find(&self, id: &str, context: &ToolContext) -> Result<Arc<Job>, ToolError> {
        let jobs = self.lock();
        let mut own = jobs.values().filter(|job| job.is_of(context));
        if let Some(job) = own.clone().find(|job| job.id() == id) {
            return Ok(Arc::clone(job));
        }
        let known: Vec<String> = own.by_ref().map(|job| job.id()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(ToolError::user(format!(
            "`{id}` is not the id of a background job; known jobs: {known}"
        )))
    }

    /// Ends all jobs, which may clean up, and waits for that.
    pub(super) async fn kill_all(&self) {
        let jobs: Vec<Arc<Job>> = self.lock().values().cloned().collect();
        jobs.iter().for_each(|job| job.kill.cancel());
        for job in jobs {
            // Fails only if the runtime shuts down.
            let _ = job.kill().await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Job>>> {
        lock(&self.jobs)
    }
}

/// Removes the oldest of a caller's jobs that have ended, if these are too many.
fn forget_oldest(jobs: &mut BTreeMap<u64, Arc<Job>>, context: &ToolContext) {
    let ended = jobs.values().filter(|job| !job.is_running() && job.is_of(context));
    let ended: Vec<u64> = ended.map(|job| job.number).collect();
    for number in ended.iter().take(ended.len().saturating_sub(MAX_ENDED)) {
        jobs.remove(number);
    }
}

/// Waits for the end of all processes of a command, or ends them.
async fn run(
    mut running: Running,
    kill: CancellationToken,
    sender: watch::Sender<State>,
    permit: OwnedSemaphorePermit,
) {
    let end = async {
        let exit = running.status().await.ok();
        sender.send_modify(|state| state.exit = exit);
        running.end().await;
    };
    let status = tokio::select! {
        () = end => JobStatus::Ended,
        () = kill.cancelled() => {
            let has_survivors = !running.terminate().await;
            sender.send_modify(|state| state.has_survivors = has_survivors);
            JobStatus::Killed
        }
    };
    running.drain().await;
    drop(permit);
    sender.send_modify(|state| state.status = status);
}

impl Job {
    pub(super) fn id(&self) -> String {
        format!("job_{}", self.number)
    }

    fn is_of(&self, context: &ToolContext) -> bool {
        self.owner == context.principal().id()
    }

    fn is_running(&self) -> bool {
        self.state.borrow().status == JobStatus::Running
    }

    /// State and new output. Lines that a filter does not match are counted, and cannot be read later.
    pub(super) fn read(&self, filter: Option<&Regex>) -> JobOutput {
        let State { status, exit, has_survivors } = *self.state.borrow();
        let is_running = status == JobStatus::Running;
        let [stdout, stderr] = [&self.streams.stdout, &self.streams.stderr]
            .map(|stream| stream.take_lines(!is_running, filter));
        let removed = stdout.removed + stderr.removed;
        let removed = (removed > 0).then(|| format!("lines that do not match `filter`: {removed}"));
        let outlived = exit.filter(|_| is_running).map(|exit| {
            format!("the shell has ended ({exit}), and processes that it started still run; end them by `KillBash`")
        });
        let survivors = has_survivors.then(|| SURVIVORS.to_owned());
        let notice = join_notices(outlived.into_iter().chain(removed).chain(survivors));
        let output = CommandOutput { notice, ..CommandOutput::default() }
            .with_texts(stdout, stderr)
            .with_status(exit.filter(|_| status == JobStatus::Ended));
        JobOutput { job_id: self.id(), command: self.command.clone(), status, output }
    }

    /// Ends the job and waits for that.
    pub(super) async fn kill(&self) -> io::Result<()> {
        self.kill.cancel();
        let mut state = self.state.clone();
        let has_ended = |state: &State| state.status != JobStatus::Running;
        state.wait_for(has_ended).await.map(drop).map_err(io::Error::other)
    }
}
