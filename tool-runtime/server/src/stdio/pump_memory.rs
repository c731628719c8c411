//! Writes to a client in the same process, by a task.

use std::sync::Arc;

use tokio::io::{AsyncWriteExt as _, DuplexStream, WriteHalf};
use tokio::sync::Notify;

use super::writer::{Outlet, Pump, Shared, Writer};

impl Outlet for Arc<Notify> {
    fn wake(&self) {
        self.notify_one();
    }
}

/// Starts the task.
pub(super) fn start(output: WriteHalf<DuplexStream>) -> (Writer, Pump) {
    let wake = Arc::new(Notify::new());
    let writer = Writer::new(Arc::clone(&wake));
    let shared = writer.shared();
    let task = tokio::spawn(async move { write_batches(&shared, &wake, output).await });
    (writer, Pump(Some(task.abort_handle())))
}

/// The life of the task: takes everything that waits, writes it, until the transport closes.
async fn write_batches(shared: &Shared, wake: &Notify, mut output: WriteHalf<DuplexStream>) {
    while let Some(batch) = next_batch(shared, wake).await {
        let result = output.write_all(&batch).await;
        let mut queue = shared.lock();
        match result {
            Ok(()) => queue.batch_written(),
            Err(error) => queue.fail(error),
        }
        drop(queue);
        shared.announce();
    }
}

/// Waits for something to write; `None` when the transport closed and nothing is left.
async fn next_batch(shared: &Shared, wake: &Notify) -> Option<Vec<u8>> {
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
