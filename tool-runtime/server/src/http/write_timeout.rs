//! Limits the time of writes to a client, and of requests after the end of the input.
//!
//! hyper and tower-http limit no writes (`writing_to_a_client_has_a_time_limit`). With hyper's own `half_close`, calls of
//! clients that have left run to their end (`a_call_ends_with_its_connection`).

use super::open_connections::OpenConnection;
use super::options::HttpOptions;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// A connection that fails when nothing could be written for some time: a client that does not read
/// must not hold resources.
pub(super) struct WriteTimeout<S> {
    stream: S,
    limit: Duration,
    /// Runs while a write is pending.
    timer: Option<Pin<Box<Sleep>>>,
    connection: Arc<OpenConnection>,
    /// Time that a request continues after the end of the input.
    half_closed: Duration,
    /// Runs while a request continues after the end of the input.
    end: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(super) fn new(stream: S, options: &HttpOptions, connection: Arc<OpenConnection>) -> Self {
        let HttpOptions { write_timeout: limit, half_closed, .. } = *options;
        Self { stream, limit, timer: None, connection, half_closed, end: None }
    }

    /// Reports the end of the input, delayed while a request is in process.
    fn poll_end(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.connection.is_busy() {
            let limit = self.half_closed;
            let end = self.end.get_or_insert_with(|| Box::pin(sleep(limit)));
            ready!(end.as_mut().poll(context));
        }
        Poll::Ready(Ok(()))
    }

    /// The outcome of a write, or an error if it is pending for too long.
    ///
    /// Wakes the connection when a write completes that was pending: hyper 1.12 does not answer a pipelined
    /// request that it has read while a write was pending, unless it is polled again.
    fn check<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            if self.timer.take().is_some() {
                context.waker().wake_by_ref();
            }
            return written;
        }
        let limit = self.limit;
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(limit)));
        ready!(timer.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        if buffer.filled().len() > before || buffer.remaining() == 0 {
            return Poll::Ready(Ok(()));
        }
        self.poll_end(context)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.check(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.check(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
