//! Writes by a thread, for files, terminals and other blocking descriptors.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, PoisonError};

use super::writer::{Outlet, Pump, Shared, Writer};

impl Outlet for Arc<Condvar> {
    fn wake(&self) {
        self.notify_one();
    }
}

/// Starts the thread.
///
/// It may sit in a write when the process ends, which is why it is not one of the runtime's
/// blocking threads: those are waited for.
pub(super) fn start(output: impl Write + Send + 'static) -> io::Result<(Writer, Pump)> {
    let wake = Arc::new(Condvar::new());
    let writer = Writer::new(Arc::clone(&wake));
    let shared = writer.shared();
    std::thread::Builder::new()
        .name("stdio-writer".to_owned())
        .spawn(move || write_batches(&shared, &wake, output))?;
    Ok((writer, Pump(None)))
}

/// The life of the thread: takes everything that waits, writes it, until the transport closes.
fn write_batches(shared: &Shared, wake: &Condvar, mut output: impl Write) {
    while let Some(batch) = next_batch(shared, wake) {
        let result = output.write_all(&batch).and_then(|()| output.flush());
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
fn next_batch(shared: &Shared, wake: &Condvar) -> Option<Vec<u8>> {
    let mut queue = wake
        .wait_while(shared.lock(), |queue| queue.unwritten().is_empty() && !queue.is_closed())
        .unwrap_or_else(PoisonError::into_inner);
    let batch = queue.take_batch();
    (!batch.is_empty()).then_some(batch)
}
