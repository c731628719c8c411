//! Commands in the background.

use super::command::Running;
use super::result::{CommandOutput, JobOutput, JobStatus};
use regex::Regex;
use std::collections::BTreeMap;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use tool_runtime::{CancellationToken, ToolContext, ToolError};

/// Jobs that have ended and whose output can still be read.
const MAX_ENDED: usize = 32;

/// The jobs of all callers.
#[derive(Default)]
pub(super) struct Jobs(Mutex<BTreeMap<u64, Arc<Job>>>);

/// A command in the background.
pub(super) struct Job {
    number: u64,
    command: String,
    /// The principal that started it; for others it does not exist.
    owner: String,
    end: watch::Receiver<Option<End>>,
    kill: CancellationToken,
    streams: Streams,
}

/// The output of a job.
struct Streams {
    stdout: Arc<super::capture::Capture>,
    stderr: Arc<super::capture::Capture>,
}

#[derive(Clone, Copy)]
struct End {
    status: JobStatus,
    exit: Option<ExitStatus>,
}

impl Jobs {
    /// Whether as many jobs run as the operator allows.
    pub(super) fn check_limit(&self, limit: usize) -> Result<(), ToolError> {
        let jobs = self.lock();
        let running: Vec<String> =
            jobs.values().filter(|job| job.is_running()).map(|job| job.id()).collect();
        if running.len() < limit {
            return Ok(());
        }
        Err(ToolError::user(format!(
            "{limit} background jobs run already; end one by `KillBash`: {}",
            running.join(", ")
        )))
    }

    /// Keeps a command as a job and returns the job.
    pub(super) fn add(
        &self,
        number: u64,
        command: String,
        running: Running,
        context: &ToolContext,
    ) -> Arc<Job> {
        let (sender, end) = watch::channel(None);
        let kill = CancellationToken::new();
        let streams =
            Streams { stdout: Arc::clone(&running.stdout), stderr: Arc::clone(&running.stderr) };
        let owner = context.principal().id().to_owned();
        let job = Arc::new(Job { number, command, owner, end, kill: kill.clone(), streams });
        tokio::spawn(run(running, kill, sender));
        let mut jobs = self.lock();
        jobs.insert(number, Arc::clone(&job));
        forget_oldest(&mut jobs);
        job
    }

    /// The job of a caller with this id.
    pub(super) fn find(&self, id: &str, context: &ToolContext) -> Result<Arc<Job>, ToolError> {
        let jobs = self.lock();
        let mut own = jobs.values().filter(|job| job.owner == context.principal().id());
        if let Some(job) = own.clone().find(|job| job.id() == id) {
            return Ok(Arc::clone(job));
        }
        let known: Vec<String> = own.by_ref().map(|job| job.id()).collect();
        let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
        Err(ToolError::user(format!(
            "`{id}` is not the id of a background job; known jobs: {known}"
        )))
    }

    /// Ends all jobs.
    pub(super) fn kill_all(&self) {
        self.lock().values().for_each(|job| job.kill.cancel());
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Job>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes the oldest of too many jobs that have ended.
fn forget_oldest(jobs: &mut BTreeMap<u64, Arc<Job>>) {
    let ended: Vec<u64> =
        jobs.iter().filter(|(_, job)| !job.is_running()).map(|(number, _)| *number).collect();
    for number in ended.iter().take(ended.len().saturating_sub(MAX_ENDED)) {
        jobs.remove(number);
    }
}

/// Waits for the end of a command, or ends it.
async fn run(mut running: Running, kill: CancellationToken, sender: watch::Sender<Option<End>>) {
    let end = tokio::select! {
        exit = running.status() => End { status: JobStatus::Ended, exit: exit.ok() },
        () = kill.cancelled() => {
            running.terminate().await;
            End { status: JobStatus::Killed, exit: None }
        }
    };
    running.drain().await;
    // Nobody may have asked for the end.
    let _ = sender.send(Some(end));
}

impl Job {
    pub(super) fn id(&self) -> String {
        format!("job_{}", self.number)
    }

    fn is_running(&self) -> bool {
        self.end.borrow().is_none()
    }

    /// State and new output. Lines that a filter does not match are left out, and cannot be read later.
    pub(super) fn read(&self, filter: Option<&Regex>) -> JobOutput {
        let end = *self.end.borrow();
        let (mut stdout, mut stderr) =
            (self.streams.stdout.take(end.is_some()), self.streams.stderr.take(end.is_some()));
        if let Some(filter) = filter {
            for text in [&mut stdout.text, &mut stderr.text] {
                *text = matching_lines(text, filter);
            }
        }
        let output = CommandOutput::default()
            .with_texts(stdout, stderr)
            .with_status(end.and_then(|end| end.exit));
        let status = end.map_or(JobStatus::Running, |end| end.status);
        JobOutput { job_id: self.id(), command: self.command.clone(), status, output }
    }

    /// Ends the job and waits for that.
    pub(super) async fn kill(&self) -> io::Result<()> {
        self.kill.cancel();
        let mut end = self.end.clone();
        end.wait_for(Option::is_some).await.map(drop).map_err(io::Error::other)
    }
}

fn matching_lines(text: &str, filter: &Regex) -> String {
    text.lines().filter(|line| filter.is_match(line)).map(|line| format!("{line}\n")).collect()
}
