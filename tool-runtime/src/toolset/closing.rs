//! Ends what is dropped where nobody can wait.

use crate::tool::BoxFuture;
use std::thread;
use std::time::Duration;
use tokio::runtime::{Builder, Handle};

/// How long a thread without a runtime is held up at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// Runs a future to its end: on the runtime at hand, beside what goes on there; without one, or
/// when it shuts down before, on a thread of its own, for which the caller waits a few seconds.
pub(crate) fn detached(future: BoxFuture<'static, ()>) {
    let work = Work(Some(future));
    match Handle::try_current() {
        Ok(runtime) => drop(runtime.spawn(work.run())),
        Err(_) => drop(work),
    }
}

/// Work that is done even if the task that was to do it is never run.
struct Work(Option<BoxFuture<'static, ()>>);

impl Work {
    async fn run(mut self) {
        if let Some(future) = self.0.take() {
            future.await;
        }
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        if let Some(future) = self.0.take() {
            on_a_thread(future);
        }
    }
}

fn on_a_thread(future: BoxFuture<'static, ()>) {
    let (done, is_done) = std::sync::mpsc::channel();
    let started = thread::Builder::new().name("tool-close".to_owned()).spawn(move || {
        match Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(future),
            Err(error) => tracing::warn!("a toolset could not be closed: {error}"),
        }
        let _ = done.send(());
    });
    match started {
        Ok(_) => drop(is_done.recv_timeout(PATIENCE)),
        Err(error) => tracing::warn!("a toolset could not be closed: {error}"),
    }
}
