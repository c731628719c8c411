//! Asynchronous work that is completed even if its future is dropped.

use crate::vocabulary::error::panic_message;
use crate::vocabulary::future::BoxFuture;
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};

/// Time for which a thread without a runtime waits for a value to close.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// Work that runs also when it is dropped: as a task of the current runtime; without one, or when
/// that shuts down first, on a new thread, for which the caller waits a few seconds.
pub(crate) struct Work {
    future: Option<BoxFuture<'static, ()>>,
    dropped: Dropped,
}

/// Function that does the work that was dropped before it was done.
pub(crate) type Dropped = fn(BoxFuture<'static, ()>);

impl Work {
    /// `dropped` is [`spawn`]. It is a parameter so that tasks and threads are linked only into
    /// programs with something to close.
    pub(crate) fn new(future: BoxFuture<'static, ()>, dropped: Dropped) -> Self {
        Self { future: Some(future), dropped }
    }

    /// Runs the work. A panic is logged.
    pub(crate) async fn run(mut self) {
        // In place, so that interrupted work continues after a drop.
        if let Some(future) = &mut self.future {
            finish(future).await;
            self.future = None;
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(future) = self.future.take() {
            (self.dropped)(future);
        }
    }
}

/// Runs the work on the current runtime, or else on a thread.
pub(crate) fn spawn(future: BoxFuture<'static, ()>) {
    match Handle::try_current() {
        // The task may never run: then the work is dropped again, with the runtime.
        Ok(runtime) => drop(runtime.spawn(Work::new(future, on_a_thread).run())),
        Err(_) => on_a_thread(future),
    }
}

async fn finish(future: &mut BoxFuture<'static, ()>) {
    if let Err(panic) = AssertUnwindSafe(future).catch_unwind().await {
        tracing::warn!("`close` panicked: {}", panic_message(panic));
    }
}

fn on_a_thread(mut future: BoxFuture<'static, ()>) {
    let (done, is_done) = std::sync::mpsc::channel();
    let started = thread::Builder::new().name("tool-close".to_owned()).spawn(move || {
        match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(finish(&mut future)),
            Err(error) => tracing::warn!("a toolset could not be closed: {error}"),
        }
        let _ = done.send(());
    });
    match started {
        Ok(_) => drop(is_done.recv_timeout(CLOSE_TIMEOUT)),
        Err(error) => tracing::warn!("a toolset could not be closed: {error}"),
    }
}
