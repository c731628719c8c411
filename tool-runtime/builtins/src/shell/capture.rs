//! Reads what a process writes, as long as somebody may write.

use super::output::{Output, Text};
use regex::Regex;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tool_runtime::CancellationToken;

/// Bytes of one read.
const BUFFER: usize = 16 << 10;
/// Time without output after which an output counts as complete.
const IDLE: Duration = Duration::from_millis(50);
/// Periods of it that one output may take.
const MAX_IDLE: usize = 40;

/// A stream that is read in the background, also after its command has ended: a background process that writes to
/// it is not stopped.
pub(super) struct Capture {
    output: Arc<Mutex<Output>>,
    /// Cancelled when no process can write any more.
    closed: CancellationToken,
}

impl Capture {
    /// Reads a stream into an output. Without one, the output stays empty.
    pub(super) fn start(
        stream: Option<impl AsyncRead + Send + Unpin + 'static>,
        output: Output,
    ) -> Self {
        let output = Arc::new(Mutex::new(output));
        let closed = CancellationToken::new();
        let (target, guard) = (Arc::clone(&output), closed.clone().drop_guard());
        tokio::spawn(async move {
            let _guard = guard;
            let Some(mut stream) = stream else { return };
            let mut buffer = vec![0; BUFFER];
            while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                lock(&target).push(&buffer[..length]);
            }
        });
        Self { output, closed }
    }

    /// Whether no process can write any more.
    pub(super) fn is_closed(&self) -> bool {
        self.closed.is_cancelled()
    }

    pub(super) fn total(&self) -> u64 {
        lock(&self.output).total()
    }

    /// The text since the last one.
    pub(super) fn take(&self, is_last: bool) -> Text {
        lock(&self.output).take(is_last)
    }

    /// The lines of it that match a filter.
    pub(super) fn take_lines(&self, is_last: bool, filter: Option<&Regex>) -> Text {
        lock(&self.output).take_lines(is_last, filter)
    }

    /// Waits for what a command wrote before it ended. A background process may keep the stream open, so this ends
    /// as soon as no more comes.
    pub(super) async fn drain(&self) {
        let mut seen = self.total();
        for _ in 0..MAX_IDLE {
            if tokio::time::timeout(IDLE, self.closed.cancelled()).await.is_ok() {
                return;
            }
            let total = self.total();
            if total == seen {
                return;
            }
            seen = total;
        }
    }
}

fn lock(output: &Mutex<Output>) -> MutexGuard<'_, Output> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}
