//! A child's input, which its writer and its owner can close.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Waker};
use tokio::io::AsyncWrite;
use tool_runtime_core::seam::lock;

#[cfg(unix)]
type Pipe = tokio::net::unix::pipe::Sender;
#[cfg(windows)]
type Pipe = tokio::process::ChildStdin;

/// A child's input. Dropping it ends the input.
pub(crate) struct Stdin(Closer);

/// Ends a child's input independently of its writer.
#[derive(Clone)]
pub(super) struct Closer(Arc<Mutex<Slot>>);

struct Slot {
    /// `None` once it is closed.
    pipe: Option<Pipe>,
    /// The task that waits for space in the pipe: tokio does not wake it when the pipe is dropped.
    writer: Option<Waker>,
}

impl Stdin {
    pub(super) fn new(pipe: Pipe) -> (Self, Closer) {
        let closer = Closer(Arc::new(Mutex::new(Slot { pipe: Some(pipe), writer: None })));
        (Self(closer.clone()), closer)
    }
}

impl Closer {
    /// Ends the input; a pending write fails with a broken pipe.
    pub(super) fn close(&self) {
        let (pipe, writer) = {
            let mut slot = self.lock();
            (slot.pipe.take(), slot.writer.take())
        };
        drop(pipe);
        if let Some(writer) = writer {
            writer.wake();
        }
    }

    /// Polls the pipe, if it is open.
    fn poll<T>(
        &self,
        context: &mut Context<'_>,
        poll: impl FnOnce(Pin<&mut Pipe>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        let mut slot = self.lock();
        let Some(pipe) = &mut slot.pipe else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        let result = poll(Pin::new(pipe), context);
        slot.writer = result.is_pending().then(|| context.waker().clone());
        result
    }

    fn lock(&self) -> MutexGuard<'_, Slot> {
        lock(&self.0)
    }
}

impl AsyncWrite for Stdin {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.poll(context, |pipe, context| pipe.poll_write(context, bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.poll(context, |pipe, context| pipe.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.close();
        Poll::Ready(Ok(()))
    }
}

impl Drop for Stdin {
    fn drop(&mut self) {
        self.0.close();
    }
}
