//! Concurrent calls of several threads.

use super::{reads, writes};
use crate::tool::concurrency::schedule::SharedQueue;
use futures_util::future::try_join_all;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

/// Number of readers, or -1 during a write.
#[derive(Default)]
struct Resource(AtomicI32);

impl Resource {
    async fn write(&self) {
        assert_eq!(self.0.swap(-1, Ordering::SeqCst), 0);
        tokio::task::yield_now().await;
        assert_eq!(self.0.swap(0, Ordering::SeqCst), -1);
    }

    async fn read(&self) {
        assert!(self.0.fetch_add(1, Ordering::SeqCst) >= 0);
        tokio::task::yield_now().await;
        assert!(self.0.fetch_sub(1, Ordering::SeqCst) > 0);
    }
}

async fn use_resource(queue: SharedQueue, resource: Arc<Resource>, seed: usize) {
    for index in seed..seed + 300 {
        let is_write = index % 3 == 0;
        let claim = if is_write { writes("a") } else { reads("a") };
        let outer = queue.enter(claim.clone(), None).ready().await.expect("a ticket");
        let nested = queue.enter(claim, Some(&outer.link())).ready().await.expect("a ticket");
        if is_write {
            resource.write().await;
        } else {
            resource.read().await;
        }
        drop((nested, outer));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_calls_do_not_disturb_each_other() {
    let (queue, resource) = (SharedQueue::default(), Arc::<Resource>::default());
    let tasks =
        (0..8).map(|seed| tokio::spawn(use_resource(queue.clone(), Arc::clone(&resource), seed)));
    let calls = try_join_all(tasks.collect::<Vec<_>>());
    let calls = tokio::time::timeout(Duration::from_secs(20), calls);
    calls.await.expect("no deadlock").expect("no panic");
    assert!(queue.lock().is_empty());
}
