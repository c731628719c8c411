//! Boxed futures, for trait objects.

use std::pin::Pin;
use tokio::task::JoinHandle;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Creates a future in its box. `Box::pin` creates it on the stack and copies it, which costs more than the allocation.
#[inline(always)]
pub(crate) fn boxed<F: Future>(create: impl FnOnce() -> F) -> Pin<Box<F>> {
    Box::into_pin(Box::write(Box::new_uninit(), create()))
}

/// Spawns a task. Each type of future that tokio spawns adds some 15 KiB of code: tasks that are not
/// performance-critical share this boxed type.
pub fn spawn(task: BoxFuture<'static, ()>) -> JoinHandle<()> {
    tokio::spawn(task)
}
