//! Writes whole batches: by a thread to a blocking file, by a task to a client in this process.

use super::writer::{Inner, Outlet, Pump, Writer};
use std::io::{self, Write};
use std::sync::Arc;
use tokio::io::{AsyncWriteExt as _, DuplexStream, WriteHalf};
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tool_runtime_core::seam::spawn;

impl Outlet for Arc<Notify> {
    fn wake(&self) {
        self.notify_one();
    }
}

/// Starts a task that writes to a client in this process.
pub(super) fn start_task(mut output: WriteHalf<DuplexStream>) -> (Writer, Pump) {
    let wake = Arc::new(Notify::new());
    let writer = Writer::new(Arc::clone(&wake));
    let shared = writer.shared();
    let task = spawn(Box::pin(async move {
        while let Some(batch) = next_batch(&shared, &wake).await {
            shared.batch_written(output.write_all(&batch).await);
        }
    }));
    (writer, Pump(Some(task.abort_handle())))
}

/// Starts a thread that writes to a file, a terminal or another blocking descriptor. Needs a runtime.
///
/// The thread may be inside a write when the process ends. Therefore it is not one of the runtime's
/// blocking threads, which a runtime waits for.
pub(super) fn start_thread(mut output: impl Write + Send + 'static) -> io::Result<(Writer, Pump)> {
    let wake = Arc::new(Notify::new());
    let writer = Writer::new(Arc::clone(&wake));
    let (shared, runtime) = (writer.shared(), Handle::try_current().map_err(io::Error::other)?);
    std::thread::Builder::new().name("stdio-writer".to_owned()).spawn(move || {
        while let Some(batch) = runtime.block_on(next_batch(&shared, &wake)) {
            shared.batch_written(output.write_all(&batch).and_then(|()| output.flush()));
        }
    })?;
    Ok((writer, Pump(None)))
}

/// Waits for bytes to write; `None` once the transport is closed and nothing is left.
async fn next_batch(shared: &Inner, wake: &Notify) -> Option<Vec<u8>> {
    loop {
        let (batch, is_closed) = {
            let mut queue = shared.lock();
            (queue.take_batch(), queue.is_closed())
        };
        if !batch.is_empty() || is_closed {
            return (!batch.is_empty()).then_some(batch);
        }
        wake.notified().await;
    }
}
