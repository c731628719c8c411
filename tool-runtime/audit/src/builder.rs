//! Options of a log.

use crate::backend::LogBackend;
use crate::chain::Head;
use crate::encode::Encoder;
use crate::error::{LogError, LogErrorKind};
use crate::event_log::EventLog;
use crate::file_log::{FileLog, Open};
use crate::head_file::HeadFile;
use crate::jsonl::JsonlLog;
use crate::memory::MemoryLog;
use crate::open_file::OpenFile;
use crate::retention::Retention;
use crate::sqlite::SqliteLog;
use crate::writer::{LogThread, OnHead, Queue};
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::seam::{Redactor, hex};
use tool_runtime_core::vocabulary::Secret;

/// The handling of calls while the log cannot be written: the disk is full, the file is locked or
/// read-only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OnFailure {
    /// Calls are rejected, and the log tries again four times a second.
    #[default]
    Reject,
    /// Calls continue. Up to 65,536 records are kept and written later; a record of the kind
    /// [`Lost`](crate::RecordKind::Lost) tells how many more are missing. Each failure is logged as an
    /// error of `tracing`.
    Continue,
}

/// Options of an [`EventLog`].
///
/// ```no_run
/// use tool_runtime::audit::{EventLog, OnFailure};
///
/// let log = EventLog::builder()
///     .durable()
///     .on_failure(OnFailure::Continue)
///     .head_file("/mnt/other/calls.head")
///     .open("calls.db")?;
/// # Ok::<(), tool_runtime::audit::LogError>(())
/// ```
pub struct EventLogBuilder {
    is_durable: bool,
    records_only: bool,
    interval: Duration,
    busy_timeout: Duration,
    on_failure: OnFailure,
    max_arguments: usize,
    redactor: Option<Arc<Redactor>>,
    secrets: Vec<Secret>,
    head_file: Option<PathBuf>,
    on_head: Vec<OnHead>,
    retention: Retention,
}

impl Default for EventLogBuilder {
    fn default() -> Self {
        Self {
            is_durable: false,
            records_only: false,
            interval: Duration::from_millis(20),
            busy_timeout: Duration::from_secs(5),
            on_failure: OnFailure::default(),
            max_arguments: 16 << 10,
            redactor: None,
            secrets: Vec::new(),
            head_file: None,
            on_head: Vec::new(),
            retention: Retention::default(),
        }
    }
}

impl EventLogBuilder {
    /// Answers a call only when its end is durable, too. Calls that end together share a transaction;
    /// a call of a batch that waits for it releases its permit to the next one.
    /// Default: the end of a call is written within the interval of [`Self::write_every`].
    #[must_use]
    pub fn durable(mut self) -> Self {
        self.is_durable = true;
        self
    }

    /// Sets the longest time that a record waits for others. Default: 20 milliseconds.
    #[must_use]
    pub fn write_every(mut self, interval: Duration) -> Self {
        self.interval = interval;
        self
    }

    /// Sets the time to wait for another process that writes to the SQLite file. Default: 5 seconds.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Sets what happens to calls while the log cannot be written. Default: [`OnFailure::Reject`].
    #[must_use]
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Sets the longest arguments that are recorded as they are, in bytes of JSON. Longer ones are cut, and their length
    /// and SHA-256 are recorded. Default: 16 KiB.
    #[must_use]
    pub fn max_arguments(mut self, bytes: usize) -> Self {
        self.max_arguments = bytes;
        self
    }

    /// Adds secrets, which are replaced by `..` before anything is written. Arguments that are declared
    /// as secret are always replaced.
    #[must_use]
    pub fn secrets(mut self, secrets: impl IntoIterator<Item = Secret>) -> Self {
        self.secrets.extend(secrets);
        self
    }

    /// Sets what replaces secrets, instead of [`Self::secrets`].
    #[doc(hidden)]
    #[must_use]
    pub fn redactor(mut self, redactor: Arc<Redactor>) -> Self {
        self.redactor = Some(redactor);
        self
    }

    /// Writes the head of the log to a file after each transaction. Choose a path that those who can
    /// write the log cannot write; [`LogReader::verify`](crate::LogReader::verify) finds with it that the end was cut.
    ///
    /// A file in the folder of the log is an error. If several processes write one log, the last one to write the
    /// head may have an older one, which proves the records up to it.
    #[must_use]
    pub fn head_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.head_file = Some(path.into());
        self
    }

    /// Calls back with the head of the log after each transaction, on the thread of the log.
    #[must_use]
    pub fn on_head(mut self, on_head: impl FnMut(&Head) + Send + 'static) -> Self {
        self.on_head.push(Box::new(on_head));
        self
    }

    /// Sets the number of records that are kept, about. Older ones are removed, and a record tells which.
    /// The steps of runs whose records are removed run again. Default: all.
    #[must_use]
    pub fn keep_records(mut self, records: u64) -> Self {
        self.retention.records = Some(records);
        self
    }

    /// Sets the time that records are kept, about. Older ones are removed, and a record tells which, when others are
    /// written: at most 16 times in this time. The steps of runs whose records are removed run again. Default: without end.
    ///
    /// ```no_run
    /// use std::time::Duration;
    /// use tool_runtime::audit::EventLog;
    ///
    /// let year = Duration::from_secs(365 * 86_400);
    /// let log = EventLog::builder().keep_for(year).open("calls.db")?;
    /// # Ok::<(), tool_runtime::audit::LogError>(())
    /// ```
    #[must_use]
    pub fn keep_for(mut self, age: Duration) -> Self {
        self.retention.age = Some(age);
        self
    }

    /// Sets the clock of [`Self::keep_for`].
    #[cfg(test)]
    pub(crate) fn clock(mut self, clock: impl Fn() -> u64 + Send + 'static) -> Self {
        self.retention.clock = Box::new(clock);
        self
    }

    /// Only records calls: [`ToolPoolBuilder::install`](tool_runtime_core::pool::ToolPoolBuilder::install) does not add the log as a
    /// step store, so that a repeated run calls its tools again. A JSONL log needs it. Default: the results of a repeated
    /// run are given back.
    #[must_use]
    pub fn record_only(mut self) -> Self {
        self.records_only = true;
        self
    }

    /// Opens a log: a JSONL file if the name ends with `.jsonl`, else a SQLite file. One that does not exist is created,
    /// only for its owner, when a pool with it is built, or by its first use.
    ///
    /// A JSONL log is for shipping and checking: it grows without end, and a pool cannot ask it about the steps of a
    /// repeated run.
    ///
    /// # Errors
    /// The file cannot be opened or written, or is damaged. A JSONL file is open in another process, or records of it are
    /// to be removed.
    pub fn open(mut self, path: impl AsRef<Path>) -> Result<EventLog, LogError> {
        // The program may change its directory before the first call.
        let path = path.as_ref();
        let path = &std::path::absolute(path).map_err(|error| LogError::io(path, &error))?;
        if EventLog::is_lines(path) && self.retention.removes() {
            return Err(no_removal(path));
        }
        if let Some(head) = self.head_file.take() {
            let head = HeadFile::new(head, path)?;
            self.on_head.push(Box::new(move |new| head.write(new)));
        }
        let log = FileLog::new(path, self.opening(path.to_owned()))?;
        let file = log.file();
        self.start(Box::new(log), Some(file))
    }

    fn opening(&self, path: PathBuf) -> Open {
        let busy_timeout = self.busy_timeout;
        match EventLog::is_lines(&path) {
            true => Box::new(move || Ok(Box::new(JsonlLog::open(&path)?))),
            false => Box::new(move || Ok(Box::new(SqliteLog::open(&path, busy_timeout)?))),
        }
    }

    /// A log in memory, for tests.
    ///
    /// # Errors
    /// The thread of the log cannot be started.
    pub fn memory(self) -> Result<EventLog, LogError> {
        self.backend(MemoryLog::default())
    }

    /// A log in a backend of your own.
    ///
    /// # Errors
    /// The thread of the log cannot be started, or [`Self::head_file`] was called: use
    /// [`Self::on_head`].
    pub fn backend(self, backend: impl LogBackend) -> Result<EventLog, LogError> {
        if self.head_file.is_some() {
            let text = "a head file needs a log in a file; use `on_head`";
            return Err(LogError::new(LogErrorKind::Other, text));
        }
        self.start(Box::new(backend), None)
    }

    fn start(
        self,
        backend: Box<dyn LogBackend>,
        file: Option<Arc<OpenFile>>,
    ) -> Result<EventLog, LogError> {
        let secrets: Vec<String> =
            self.secrets.iter().map(|secret| secret.expose().to_owned()).collect();
        let redactor = self.redactor.unwrap_or_else(|| Arc::new(Redactor::hiding(&secrets)));
        let mut process = [0; 8];
        getrandom::fill(&mut process).expect("the system gives random bytes");
        let (process, calls) = (hex(&process), HashMap::new());
        let encoder = Encoder { redactor, max_arguments: self.max_arguments, process, calls };
        let thread = LogThread {
            backend,
            encoder,
            queue: Arc::new(Queue::default()),
            interval: self.interval,
            on_head: self.on_head,
            retention: self.retention,
            continues: self.on_failure == OnFailure::Continue,
            unwritten: VecDeque::new(),
            waiters: Vec::new(),
            lost: 0,
            all_lost: 0,
            written: 0,
        };
        EventLog::start(thread, file, self.is_durable, self.records_only)
    }
}

fn no_removal(path: &Path) -> LogError {
    let text = format!(
        "no records are removed from the JSONL log `{}`: use a SQLite file for `keep_records` and `keep_for`",
        path.display()
    );
    LogError::new(LogErrorKind::Other, text)
}

impl fmt::Debug for EventLogBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventLogBuilder")
            .field("is_durable", &self.is_durable)
            .field("on_failure", &self.on_failure)
            .field("head_file", &self.head_file)
            .finish_non_exhaustive()
    }
}
