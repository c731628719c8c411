//! Reads a child's standard error.

use super::command::Command;
use super::tail::Tail;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::time;
use tokio_util::sync::CancellationToken;

/// Time for the last output of a child to arrive. A descendant that outlives it may hold its standard
/// error open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(200);

/// The standard error of a child.
pub(super) struct Stderr {
    tail: Arc<Tail>,
    drained: CancellationToken,
}

impl Stderr {
    /// Starts a task that reads until the end, or until shortly after `over`.
    pub(super) fn drain(
        from: impl AsyncRead + Send + Unpin + 'static,
        command: &Command,
        server: &str,
        over: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        let tail = Arc::new(Tail::new(Arc::clone(&command.redactor)));
        let drained = CancellationToken::new();
        let (into, end, server) = (Arc::clone(&tail), drained.clone(), server.to_owned());
        tokio::spawn(async move {
            // Cancelled when the runtime drops the task, too.
            let _end = end.drop_guard();
            tokio::select! {
                () = read(from, &into, &server) => {}
                () = async { over.await; time::sleep(DRAIN_TIMEOUT).await } => {}
            }
            into.finish(|line| log(&server, line));
        });
        Self { tail, drained }
    }

    /// Waits until the last output of a child that has exited has been read.
    pub(super) async fn drained(&self) {
        // A descendant may hold it open.
        let _ = time::timeout(DRAIN_TIMEOUT, self.drained.cancelled()).await;
    }

    pub(super) fn tail(&self) -> &Arc<Tail> {
        &self.tail
    }
}

async fn read(mut from: impl AsyncRead + Unpin, into: &Tail, server: &str) {
    let mut buffer = vec![0; 4096];
    // An error ends the stream.
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        into.take(&buffer[..count], |line| log(server, line));
    }
}

fn log(server: &str, line: &str) {
    tracing::debug!(target: "tool_runtime::mcp::server_stderr", server, "{line}");
}
