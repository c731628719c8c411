//! The log: handles, and what a pool needs of it.

use crate::builder::EventLogBuilder;
use crate::error::{LogError, LogErrorKind};
use crate::event::{Event, Stage};
use crate::open_file::OpenFile;
use crate::reader::LogReader;
use crate::steps::resolving;
use crate::writer::{Item, Job, LogStatus, LogThread, Queue};
use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use tokio::sync::oneshot;
use tool_runtime_core::govern::{
    Begin, CallEvent, CallStage, Receipt, RecordError, Recorder, StepStore,
};
use tool_runtime_core::pool::{PoolExtension, ToolPoolBuilder};
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::{Observation, StepId};
use tool_runtime_core::vocabulary::error::CallError;
use tool_runtime_core::vocabulary::{BoxFuture, RetryMode};

/// An append-only, hash-chained log of the calls of a pool. Cheap to clone.
///
/// A log is a [`Recorder`], which keeps what was proposed, decided and done, and a [`StepStore`], which
/// gives the results of a repeated run back instead of calling its tools again. `install` adds both:
///
/// ```
/// use tool_runtime::prelude::*;
/// use tool_runtime::audit::{EventLog, RecordKind};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("event-log-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("calls.db");
/// let log = EventLog::open(&path)?;
/// let ping = Tool::builder("ping", "Answer at once.").read_only(true);
/// let pool = ToolPool::builder()
///     .add(ping.handler(|| async { "pong" }))
///     .install(log.clone())
///     .build()?;
/// pool.call(ToolCall::new("ping", "{}")).await;
///
/// let records = log.reader().await?.records().collect::<Result<Vec<_>, _>>()?;
/// let kinds: Vec<RecordKind> = records.iter().map(|record| record.kind).collect();
/// use RecordKind::{Allowed, Proposed, Started, Succeeded};
/// assert_eq!(kinds, [Proposed, Allowed, Started, Succeeded]);
/// # drop((pool, log));
/// # std::fs::remove_dir_all(folder)?;
/// # Ok(())
/// # }
/// ```
///
/// Records are written in batches by a thread of the log. The start of a call that must not run twice is
/// durable before its tool runs; other records follow within 20 milliseconds, or at once with
/// [`EventLogBuilder::durable`]. The thread ends with the last handle, after everything is written: a
/// program that ends by [`std::process::exit`] calls [`Self::flush_blocking`] first.
#[derive(Clone, Debug)]
pub struct EventLog(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    queue: Arc<Queue>,
    /// Of a log in a file.
    file: Option<Arc<OpenFile>>,
    /// Whether a call waits until its end is recorded.
    is_durable: bool,
    records_only: bool,
    continues: bool,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// The outcome of a step, as an operator states it; see [`EventLog::resolve`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Resolution {
    /// The call had no effect, and runs when the run is repeated.
    NotRun,
    /// The call had its effect. This is its result when the run is repeated.
    Ran(Observation),
    /// The call failed for good. This is its error when the run is repeated.
    Failed(CallError),
}

impl EventLog {
    /// Opens a log: a JSONL file if the name ends with `.jsonl`, else a SQLite file. One that does not exist is created,
    /// only for its owner, when a pool with it is built, or by its first use. A JSONL log only records, see
    /// [`EventLogBuilder::record_only`].
    ///
    /// # Errors
    /// The file cannot be opened or written, or is damaged. A JSONL file is open in another process.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, LogError> {
        Self::builder().open(path)
    }

    /// A log in memory, for tests.
    pub fn memory() -> Self {
        Self::builder().memory().expect("threads can be started")
    }

    /// A builder, for everything but the defaults.
    pub fn builder() -> EventLogBuilder {
        EventLogBuilder::default()
    }

    /// Whether the log in a file of this name has lines of JSON, and not a database.
    ///
    /// ```
    /// use tool_runtime::audit::EventLog;
    ///
    /// assert!(EventLog::is_lines("calls.jsonl"));
    /// assert!(!EventLog::is_lines("calls.db"));
    /// ```
    pub fn is_lines(path: impl AsRef<Path>) -> bool {
        path.as_ref().extension().is_some_and(|extension| extension == "jsonl")
    }

    /// Starts the thread.
    pub(crate) fn start(
        thread: LogThread,
        file: Option<Arc<OpenFile>>,
        is_durable: bool,
        records_only: bool,
    ) -> Result<Self, LogError> {
        let (queue, continues) = (Arc::clone(&thread.queue), thread.continues);
        let (ends, own) = (Arc::clone(&queue), Arc::clone(&queue));
        let run = move || {
            let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| thread.run()));
            let reason = if ended.is_ok() { "is closed" } else { "has panicked" };
            if ended.is_err() {
                tracing::error!("the log of calls has panicked; later calls are not recorded");
            }
            ends.end(LogError::new(LogErrorKind::Other, format!("the log {reason}")));
        };
        let spawned = std::thread::Builder::new().name("event-log".to_owned()).spawn(run);
        let thread =
            spawned.map_err(|error| LogError::new(LogErrorKind::Other, error.to_string()))?;
        let thread = Mutex::new(Some(thread));
        Ok(Self(Arc::new(Inner { queue: own, file, is_durable, records_only, continues, thread })))
    }

    /// Waits until everything up to now is written.
    ///
    /// # Errors
    /// The log cannot be written.
    pub async fn flush(&self) -> Result<(), LogError> {
        self.run(|_, written| written).await?
    }

    /// Like [`Self::flush`], for threads without `.await`.
    ///
    /// # Errors
    /// The log cannot be written.
    pub fn flush_blocking(&self) -> Result<(), LogError> {
        self.run_blocking(|_, written| written)
    }

    /// The number of written and waiting records, and the failure, if there is one. A file that was removed or renamed is
    /// noticed also while nothing is written.
    pub fn status(&self) -> LogStatus {
        let mut status = self.0.queue.status();
        status.error = status.error.or_else(|| self.moved());
        status
    }

    /// The failure, if the file was removed or renamed.
    fn moved(&self) -> Option<LogError> {
        self.0.file.as_ref()?.check().err()
    }

    /// Opens a reader, once everything up to now is written. It sees later records, too.
    ///
    /// # Errors
    /// The log cannot be written or read.
    pub async fn reader(&self) -> Result<LogReader, LogError> {
        let reader = self.run(|thread, written| written.and_then(|()| thread.backend.reader()));
        Ok(LogReader::new(reader.await??))
    }

    /// States the outcome of a step that is indeterminate, or whose end is not recorded: the next attempt
    /// of its run continues from there. `by` is the operator.
    ///
    /// # Errors
    /// The step is not one of a run, did not start, or its outcome is known; the log cannot be read or written, or is a
    /// JSONL log, which looks up no steps.
    pub async fn resolve(
        &self,
        step: &StepId,
        resolution: Resolution,
        by: &str,
    ) -> Result<(), LogError> {
        self.send(resolving(step, resolution, by)).await.unwrap_or_else(|_| Err(self.ended()))
    }

    /// Like [`Self::resolve`], for threads without `.await`.
    ///
    /// # Errors
    /// Those of [`Self::resolve`].
    pub fn resolve_blocking(
        &self,
        step: &StepId,
        resolution: Resolution,
        by: &str,
    ) -> Result<(), LogError> {
        self.run_blocking(resolving(step, resolution, by))
    }

    /// Removes the records up to this number, and records that they were removed.
    ///
    /// # Errors
    /// The log cannot be written, or is a JSONL log, which removes none.
    pub async fn prune(&self, through: u64) -> Result<(), LogError> {
        self.run(move |thread, written| {
            written?;
            // The last record stays: it has the hash that the next one needs.
            thread.prune(|last| through.min(last.saturating_sub(1)))
        })
        .await?
    }

    async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut LogThread, Result<(), LogError>) -> T + Send + 'static,
    ) -> Result<T, LogError> {
        self.send(job).await.map_err(|_| self.ended())
    }

    /// Blocks the thread, also one that runs tasks: tokio's receiver would panic there.
    fn run_blocking(
        &self,
        job: impl FnOnce(&mut LogThread, Result<(), LogError>) -> Result<(), LogError> + Send + 'static,
    ) -> Result<(), LogError> {
        let (sender, receiver) = std::sync::mpsc::channel();
        let job: Job = Box::new(move |thread, written| drop(sender.send(job(thread, written))));
        self.0.queue.push(Item::Job(job), true);
        receiver.recv().unwrap_or_else(|_| Err(self.ended()))
    }

    fn send<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut LogThread, Result<(), LogError>) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (sender, receiver) = oneshot::channel();
        let job: Job = Box::new(move |thread, written| drop(sender.send(job(thread, written))));
        self.0.queue.push(Item::Job(job), true);
        receiver
    }

    fn ended(&self) -> LogError {
        let error = self.0.queue.error();
        error.unwrap_or_else(|| LogError::new(LogErrorKind::Other, "the log is closed"))
    }

    /// Whether the call waits for this event.
    fn waits(&self, stage: &CallStage<'_>) -> bool {
        match stage {
            CallStage::Started { mode, .. } => *mode == RetryMode::AtMostOnce,
            CallStage::Finished { .. } => self.0.is_durable,
            _ => false,
        }
    }

    /// The answer to an event while the log cannot be written.
    fn failing(&self, event: Event) -> Receipt {
        self.0.queue.push(Item::Event(event, None), false);
        match self.0.queue.error().and_then(|error| self.rejection(error)) {
            Some(error) => Receipt::refused(error),
            None => Receipt::recorded(),
        }
    }

    /// The answer to calls while the log cannot be written, unless they continue.
    fn rejection(&self, error: LogError) -> Option<RecordError> {
        (!self.0.continues).then(|| RecordError::from(error).for_all_calls())
    }
}

impl Recorder for EventLog {
    fn prepare(&self) -> Result<(), RecordError> {
        Ok(self.run_blocking(|thread, _| thread.backend.prepare())?)
    }

    fn problem(&self) -> Option<String> {
        self.status().error.map(|error| format!("the log cannot be written: {error}"))
    }

    fn flush(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            // A failure is logged where it arises.
            drop(Self::flush(self).await);
        })
    }

    fn record(&self, event: CallEvent<'_>) -> Receipt {
        let waits = self.waits(&event.stage);
        let Some(event) = Event::from_call_event(&event) else { return Receipt::recorded() };
        if self.0.queue.is_failing.load(Ordering::Acquire) {
            return self.failing(event);
        }
        // A call that does not wait for its records would run before the thread notices.
        let is_new = matches!(event.stage, Stage::Proposed(..));
        if is_new && let Some(error) = self.moved().and_then(|error| self.rejection(error)) {
            self.0.queue.push(Item::Event(event, None), false);
            return Receipt::refused(error);
        }
        if waits {
            let (sender, receiver) = oneshot::channel();
            self.0.queue.push(Item::Event(event, Some(sender)), true);
            return Receipt::pending(async {
                receiver.await.unwrap_or_else(|_| Err(RecordError::new("the log is closed")))
            });
        }
        if self.0.queue.push(Item::Event(event, None), false) {
            let log = self.clone();
            return Receipt::pending(async move {
                let error = log.flush().await.err().and_then(|error| log.rejection(error));
                error.map_or(Ok(()), Err)
            });
        }
        Receipt::recorded()
    }
}

impl StepStore for EventLog {
    /// Looks up a step that is none: a log that looks up no steps says so.
    fn prepare(&self) -> Result<(), RecordError> {
        Ok(self.run_blocking(|thread, _| thread.backend.step("").map(drop))?)
    }

    fn begin<'a>(
        &'a self,
        step: &'a StepId,
        mode: RetryMode,
    ) -> BoxFuture<'a, Result<Begin, RecordError>> {
        let step = step.to_string();
        Box::pin(async move {
            let begin = self.run(move |thread, written| {
                written?;
                thread.begin(&step, mode)
            });
            begin.await.and_then(|begin| begin).map_err(RecordError::from)
        })
    }
}

/// Adds the log as a recorder and, without [`EventLogBuilder::record_only`], as a step store. With the feature `cli`, the command line of the program gets
/// `log show`, `follow`, `verify`, `export` and `resolve`, which run without the pool.
impl PoolExtension for EventLog {
    fn install<S>(self, builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        let builder = builder.recorder(self.clone());
        if self.0.records_only { builder } else { builder.step_store(self) }
    }

    #[cfg(feature = "cli")]
    fn prepare<S>(builder: ToolPoolBuilder<S>) -> ToolPoolBuilder<S> {
        crate::command::add_commands(builder)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.queue.close();
        let thread = lock(&self.thread).take();
        // The last handle may be dropped by a job, on the thread itself.
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
        {
            drop(thread.join());
        }
    }
}

#[cfg(test)]
mod tests;
