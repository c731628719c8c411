//! Blocking calls, for threads without a runtime.

use crate::pool::ToolPool;
use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::context::ToolContext;
use crate::vocabulary::error::{CallError, ErrorClass};
use futures_util::stream::{self, Stream, StreamExt as _};
use std::io;
use std::panic::resume_unwind;
use std::pin::pin;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

/// Grace period for a call to report its timeout.
const TIMEOUT_GRACE: Duration = Duration::from_secs(1);

/// A pool for threads that do not `.await`.
///
/// Calls can be made from any thread. Outside a runtime they run on the calling
/// thread; inside one, or with a time limit, on a new thread, for which the caller
/// waits. Background work runs on a separate runtime. Inside a runtime with one thread, a tool that
/// waits for a task of that runtime deadlocks: give calls a time limit there.
///
/// Connect external servers, and use their manager, by [`Self::block_on`].
///
/// ```
/// use tool_runtime::prelude::*;
///
/// let pool = ToolPool::builder()
///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
///     .build()?;
/// let pool = pool.blocking()?;
/// assert_eq!(pool.call(ToolCall::new("ping", "")).observation().to_text(), "pong");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct BlockingPool {
    pool: ToolPool,
    runtime: Handle,
    timeout: Option<Duration>,
    /// Dropping the sender ends the thread that drives the runtime.
    _alive: oneshot::Sender<()>,
}

impl ToolPool {
    /// A pool for threads that do not `.await`.
    ///
    /// # Errors
    /// No thread or runtime could be started.
    pub fn blocking(&self) -> io::Result<BlockingPool> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        let (alive, ended) = oneshot::channel::<()>();
        let drive = move || {
            // Tasks that have not ended by then are abandoned.
            let _ = runtime.block_on(ended);
            runtime.shutdown_background();
        };
        thread::Builder::new().name("tool-calls".to_owned()).spawn(drive)?;
        let pool = self.clone();
        Ok(BlockingPool { pool, runtime: handle, timeout: None, _alive: alive })
    }
}

impl BlockingPool {
    /// Limits how long one call, or one whole batch, may take. Default: only the tools'
    /// own.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// The pool itself.
    pub fn pool(&self) -> &ToolPool {
        &self.pool
    }

    /// Runs one call, as [`ToolPool::call`].
    pub fn call(&self, call: ToolCall) -> ToolResult {
        let mut results = self.call_all([call]);
        results.pop().expect("a batch of one has one result")
    }

    /// Runs several calls, as [`ToolPool::call_all`]. When the time is up, those that have ended
    /// keep their results.
    pub fn call_all(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        let calls: Vec<ToolCall> = calls.into_iter().collect();
        let mut results: Vec<Option<ToolResult>> = calls.iter().map(|_| None).collect();
        let token = CancellationToken::new();
        let batch = self.pool.batch(calls.clone()).context(&self.context(&token));
        let end = self.drain(batch.stream(), |(index, result)| results[index] = Some(result));
        token.cancel();
        let unanswered = |call| ToolResult::new(call, Err(unanswered(end)));
        let calls = calls.into_iter().zip(results);
        calls.map(|(call, result)| result.unwrap_or_else(|| unanswered(call))).collect()
    }

    /// JSON text in, JSON text out, as [`ToolPool::call_json`].
    pub fn call_json(&self, name: &str, arguments: &str) -> String {
        self.call(ToolCall::new(name, arguments)).observation().to_json()
    }

    /// Runs a future on the pool's runtime and waits for its output, without a time limit. For work outside the
    /// pool, such as connecting external servers by `McpManager::connect`. Tasks that the future starts
    /// run until the pool is dropped.
    ///
    /// # Panics
    /// If the future panics.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// use tool_runtime::pool::Source;
    ///
    /// let pool = ToolPool::builder().build()?.blocking()?;
    /// let mut changes = pool.pool().changes();
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// pool.pool().add_tools(&Source::owner("late"), [ping])?;
    /// assert!(pool.block_on(changes.next()).is_some());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn block_on<F: Future<Output: Send> + Send>(&self, work: F) -> F::Output {
        if Handle::try_current().is_err() {
            return self.runtime.block_on(work);
        }
        // A thread of one runtime cannot wait on another.
        let output = thread::scope(|scope| scope.spawn(|| self.runtime.block_on(work)).join());
        output.unwrap_or_else(|panic| resume_unwind(panic))
    }

    /// Ends the pool, as [`ToolPool::close`].
    pub fn close(&self) {
        let pool = self.pool.clone();
        // Tasks that take longer end in the background.
        let _ = self.drain(stream::once(async move { pool.close().await }), drop);
    }

    fn context(&self, token: &CancellationToken) -> ToolContext {
        let context = self.pool.context().with_cancellation(token.clone());
        match self.timeout.and_then(|timeout| Instant::now().checked_add(timeout)) {
            Some(deadline) => context.with_deadline(deadline),
            None => context,
        }
    }

    /// Passes the items of `work` to `take` until its end. The calls have their own
    /// deadline; the wait is slightly longer, for calls that miss it.
    fn drain<T: Send + 'static>(
        &self,
        work: impl Stream<Item = T> + Send + 'static,
        mut take: impl FnMut(T),
    ) -> RecvTimeoutError {
        if self.timeout.is_none() && Handle::try_current().is_err() {
            self.runtime.block_on(for_each(work, take));
            return RecvTimeoutError::Disconnected;
        }
        let (sender, receiver) = mpsc::channel();
        let runtime = self.runtime.clone();
        let run = move || {
            // The receiver has been dropped after a timeout.
            runtime.block_on(for_each(work, |item| drop(sender.send(item))));
        };
        if thread::Builder::new().name("tool-call".to_owned()).spawn(run).is_err() {
            return RecvTimeoutError::Disconnected;
        }
        let limit = self.timeout.map(|timeout| timeout.saturating_add(TIMEOUT_GRACE));
        let until = limit.and_then(|limit| Instant::now().checked_add(limit));
        loop {
            match receive(&receiver, until) {
                Ok(item) => take(item),
                Err(end) => return end,
            }
        }
    }
}

async fn for_each<T>(work: impl Stream<Item = T>, mut take: impl FnMut(T)) {
    let mut work = pin!(work);
    while let Some(item) = work.next().await {
        take(item);
    }
}

fn receive<T>(receiver: &Receiver<T>, until: Option<Instant>) -> Result<T, RecvTimeoutError> {
    match until {
        Some(until) => receiver.recv_timeout(until.saturating_duration_since(Instant::now())),
        None => receiver.recv().map_err(|_| RecvTimeoutError::Disconnected),
    }
}

fn unanswered(end: RecvTimeoutError) -> CallError {
    match end {
        RecvTimeoutError::Timeout => {
            CallError::new(ErrorClass::Timeout, "the call did not end in time and was abandoned")
        }
        RecvTimeoutError::Disconnected => {
            CallError::new(ErrorClass::Internal, "the call could not be run on a thread")
        }
    }
}
