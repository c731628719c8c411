//! Locks of declared keys span batches, tasks and scopes of a pool, and are released with it.

use super::jobs::{Job, Nested, is_before, overlap, pool};
use crate::support::{class, in_time};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Barrier;
use tool_runtime::prelude::*;
use tool_runtime::tool::{Arguments, Executor};
use tool_runtime::{Access, BoxFuture, CallError};

#[tokio::test(start_paused = true)]
async fn two_batches_with_common_keys_wait_for_each_other() {
    let pool = pool();
    let first =
        [Job::new(0, 30).writing("k:a").keyed_job(), Job::new(1, 30).writing("k:b").keyed_job()];
    let second =
        [Job::new(2, 30).writing("k:a").keyed_job(), Job::new(3, 30).writing("k:c").keyed_job()];
    let (one, two) = in_time(async {
        tokio::join!(
            pool.call_all(first.iter().map(Nested::call)),
            pool.call_all(second.iter().map(Nested::call)),
        )
    })
    .await;
    assert!(one.iter().chain(&two).all(|result| !result.is_error()));
    assert!(is_before(&pool, 0, 2));
    assert!(overlap(&pool, 0, 1) && overlap(&pool, 0, 3));
}

#[tokio::test(start_paused = true)]
async fn single_calls_and_scopes_wait_for_resources_too() {
    let pool = pool();
    let scope = pool.scope();
    let jobs: Vec<Nested> = (0..3).map(|id| Job::new(id, 10).writing("k:a").keyed_job()).collect();
    in_time(async {
        tokio::join!(
            pool.call(jobs[0].call()),
            scope.call(jobs[1].call()),
            pool.call_all([jobs[2].call()]),
        )
    })
    .await;
    assert!(is_before(&pool, 0, 1) && is_before(&pool, 1, 2));
}

#[tokio::test(start_paused = true)]
async fn a_writer_is_not_starved_by_readers() {
    let pool = pool();
    let readers = async {
        for id in 0..20 {
            let (now, later) = (Job::new(id, 10), Job::new(100 + id, 10));
            let now = pool.call(now.reading("k:a").keyed_job().call());
            let later = async {
                tokio::time::sleep(Duration::from_millis(5)).await;
                pool.call(later.reading("k:a").keyed_job().call()).await
            };
            tokio::join!(now, later);
        }
    };
    let writer = async {
        tokio::time::sleep(Duration::from_millis(7)).await;
        pool.call(Job::new(500, 1).writing("k:a").keyed_job().call()).await
    };
    in_time(async { tokio::join!(readers, writer) }).await;
    assert!(is_before(&pool, 500, 1), "the writer had to wait for those that came after it");
}

#[tokio::test(start_paused = true)]
async fn two_pools_are_independent() {
    let (one, two) = (pool(), pool());
    let job = Job::new(0, 10).writing("k:a").keyed_job();
    let began = tokio::time::Instant::now();
    let (a, b) = tokio::join!(one.call(job.call()), two.call(job.call()));
    assert!(!a.is_error() && !b.is_error());
    assert_eq!(began.elapsed(), Duration::from_millis(10));
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_for_a_key_ends_at_its_deadline_and_leaves_the_queue() {
    let pool = pool();
    let holder = pool.call(Job::new(0, 5_000).writing("k:a").keyed_job().call());
    let deadline = pool.context().with_deadline(Instant::now() + Duration::from_secs(2));
    let late = pool.call_with(Job::new(1, 0).writing("k:a").keyed_job().call(), &deadline);
    let after = pool.call(Job::new(2, 0).writing("k:a").keyed_job().call());
    let (holder, late, after) = in_time(async { tokio::join!(holder, late, after) }).await;
    assert!(!holder.is_error() && !after.is_error());
    assert_eq!(class(&late), ErrorClass::Timeout);
}

/// Panic while the call holds a key.
#[tool(register = false, writes("k:a"))]
async fn crash() {
    tokio::task::yield_now().await;
    panic!("boom");
}

#[tokio::test(start_paused = true)]
async fn a_panic_releases_resources() {
    let pool = super::jobs::builder().tool::<CrashAction>().build().expect("a pool");
    let results =
        in_time(pool.call_all([
            ToolCall::new("crash", ""),
            Job::new(0, 0).writing("k:a").keyed_job().call(),
        ]))
        .await;
    assert_eq!(class(&results[0]), ErrorClass::Internal);
    assert!(!results[1].is_error());
}

/// A printer, and whether it is in use.
struct Printer {
    is_used: AtomicBool,
    uses: AtomicUsize,
    all: Barrier,
}

/// Print a page.
#[tool(register = false, writes("printer:"))]
async fn print_page(printer: &Printer) {
    assert!(!printer.is_used.swap(true, Ordering::SeqCst), "two use it at once");
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    printer.is_used.store(false, Ordering::SeqCst);
    printer.uses.fetch_add(1, Ordering::SeqCst);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn batches_of_many_threads_do_not_overlap() {
    let printer = Printer {
        is_used: AtomicBool::new(false),
        uses: AtomicUsize::new(0),
        all: Barrier::new(8),
    };
    let pool =
        ToolPool::builder().tool::<PrintPageAction>().state(printer).build().expect("a pool");
    let tasks: Vec<_> = (0..8)
        .map(|_| {
            let pool = pool.clone();
            tokio::spawn(async move {
                pool.context().get::<Printer>().expect("state").all.wait().await;
                let mut results = pool.call_all(vec![ToolCall::new("print_page", ""); 20]).await;
                for _ in 0..5 {
                    results.push(pool.call(ToolCall::new("print_page", "")).await);
                    PrintPageAction {}.call(&pool).await.expect("a typed call waits, too");
                }
                results
            })
        })
        .collect();
    for task in tasks {
        let results = task.await.expect("no panic");
        assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
    }
    let context = pool.context();
    assert_eq!(context.get::<Printer>().expect("state").uses.load(Ordering::SeqCst), 8 * 30);
}

/// A custom executor whose key is the text of the arguments.
struct Named;

impl Executor for Named {
    fn call<'a>(
        &'a self,
        arguments: Arguments<'a>,
        context: &'a ToolContext,
    ) -> BoxFuture<'a, Result<Observation, CallError>> {
        Box::pin(async move {
            let order = context.get::<std::sync::Mutex<Vec<String>>>().expect("state");
            order.lock().expect("no panic").push(format!("+{}", arguments.as_str()));
            tokio::time::sleep(Duration::from_millis(5)).await;
            order.lock().expect("no panic").push(format!("-{}", arguments.as_str()));
            Ok(Observation::text("done"))
        })
    }

    fn access(&self, arguments: Arguments<'_>) -> Result<Access, CallError> {
        Ok(Access::none().write(format!("named:{}", arguments.as_str())))
    }
}

#[tokio::test(start_paused = true)]
async fn a_custom_executor_declares_access_by_a_method() {
    let pool = ToolPool::builder()
        .add(Tool::new(ToolDefinition::new("named", "Do it."), Named))
        .state(std::sync::Mutex::new(Vec::<String>::new()))
        .build()
        .expect("a pool");
    in_time(pool.call_all(["1", "1", "2"].map(|name| ToolCall::new("named", name)))).await;
    let context = pool.context();
    let order = context.get::<std::sync::Mutex<Vec<String>>>().expect("state").lock().unwrap();
    assert_eq!(*order, ["+1", "+2", "-1", "-2", "+1", "-1"]);
}
