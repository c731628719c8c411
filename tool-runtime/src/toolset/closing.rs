//! Ends what may be dropped where nobody can wait.

use crate::tool::BoxFuture;
use futures_util::FutureExt as _;
use std::panic::AssertUnwindSafe;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};

/// How long a thread without a runtime is held up at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// Work that is begun also if nobody runs it. Dropped before, it is done on the runtime at
/// hand, beside what goes on there; without one, or when it shuts down before, on a thread of
/// its own, for which the caller waits a few seconds.
pub(crate) struct Work {
    future: Option<BoxFuture<'static, ()>>,
    /// It is in a task that nobody waits for, and that may never run.
    is_detached: bool,
}

impl Work {
    pub(crate) fn new(future: BoxFuture<'static, ()>) -> Self {
        Self { future: Some(future), is_detached: false }
    }

    /// Does it. A panic in it is logged and keeps nobody else from ending.
    pub(crate) async fn run(mut self) {
        if let Some(future) = self.future.take() {
            finished(future).await;
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let Some(future) = self.future.take() else { return };
        match Handle::try_current() {
            Ok(runtime) if !self.is_detached => {
                let task = Self { future: Some(future), is_detached: true };
                drop(runtime.spawn(task.run()));
            }
            _ => on_a_thread(future),
        }
    }
}

async fn finished(future: BoxFuture<'static, ()>) {
    if AssertUnwindSafe(future).catch_unwind().await.is_err() {
        tracing::warn!("`close` panicked");
    }
}

fn on_a_thread(future: BoxFuture<'static, ()>) {
    let (done, is_done) = std::sync::mpsc::channel();
    let started = thread::Builder::new().name("tool-close".to_owned()).spawn(move || {
        match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(finished(future)),
            Err(error) => tracing::warn!("a toolset could not be closed: {error}"),
        }
        let _ = done.send(());
    });
    match started {
        Ok(_) => drop(is_done.recv_timeout(PATIENCE)),
        Err(error) => tracing::warn!("a toolset could not be closed: {error}"),
    }
}
