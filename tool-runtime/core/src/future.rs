//! Boxed futures, for trait objects.

use std::pin::Pin;
use tokio::task::JoinHandle;

/// A boxed future.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Spawns a task. Each type of future that tokio spawns adds some 15 KiB of code: this is the one that all
/// tasks share for which a box costs nothing.
pub fn spawn(task: BoxFuture<'static, ()>) -> JoinHandle<()> {
    tokio::spawn(task)
}
