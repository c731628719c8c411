//! Reads what a process writes, as long as somebody may write.

use super::output::{Output, Text};
use regex::Regex;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tool_runtime::__seam::lock;
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
    /// The stream itself, as long as it is read.
    stream: Weak<OwnedFd>,
    /// Cancelled when no process can write any more.
    closed: CancellationToken,
}

impl Capture {
    /// Reads a stream into an output. Without one, the output stays empty.
    pub(super) fn start(
        stream: Option<impl AsyncRead + AsFd + Send + Unpin + 'static>,
        output: Output,
    ) -> Self {
        let output = Arc::new(Mutex::new(output));
        let closed = CancellationToken::new();
        let (target, guard) = (Arc::clone(&output), closed.clone().drop_guard());
        let copy = stream.as_ref().and_then(|stream| stream.as_fd().try_clone_to_owned().ok());
        let copy = copy.map(Arc::new);
        let weak = copy.as_ref().map(Arc::downgrade).unwrap_or_default();
        tokio::spawn(async move {
            // Dropped after the guard.
            let _copy = copy;
            let _guard = guard;
            let Some(mut stream) = stream else { return };
            let mut buffer = vec![0; BUFFER];
            while let Ok(length @ 1..) = stream.read(&mut buffer).await {
                lock(&target).push(&buffer[..length]);
            }
        });
        Self { output, stream: weak, closed }
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
        self.take_lines(is_last, None)
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
            // On a busy machine, what was written before may not have been read yet.
            if total == seen && !self.has_unread() {
                return;
            }
            seen = total;
        }
    }

    /// Whether something waits to be read, which the end of the stream is, too.
    fn has_unread(&self) -> bool {
        let Some(stream) = self.stream.upgrade() else { return false };
        let mut looks = [PollFd::new(&*stream, PollFlags::IN)];
        poll(&mut looks, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell::scratch::Scratch;
    use std::process::{Command, Stdio};
    use tokio::process::ChildStdout;

    /// The thread of the runtime gets no time while the output counts as complete.
    #[tokio::test]
    async fn what_was_written_is_read_on_a_busy_machine() {
        let mut child = Command::new("echo").arg("text").stdout(Stdio::piped()).spawn().unwrap();
        child.wait().unwrap();
        let stream = ChildStdout::from_std(child.stdout.take().unwrap()).unwrap();
        let scratch = Scratch::new(u64::MAX);
        let output = Output::new(100, scratch.file("stdout.txt").unwrap());
        let capture = Capture::start(Some(stream), output);
        let delay = async { std::thread::sleep(4 * IDLE) };
        tokio::join!(biased; capture.drain(), delay);
        assert_eq!(capture.take(true).text, "text\n");
    }
}
