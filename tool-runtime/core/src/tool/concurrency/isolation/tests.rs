use super::*;
use futures_util::future::join_all;
use std::sync::mpsc;
use std::sync::{Condvar, Mutex};
use tokio::time::timeout;

/// A time limit that only a test that hangs reaches.
const HANG_LIMIT: Duration = Duration::from_secs(60);

/// Blocks threads until it is opened.
#[derive(Clone)]
struct Barrier(Arc<BarrierState>);

struct BarrierState {
    is_open: Mutex<bool>,
    opened: Condvar,
    /// A permit for each thread that has come.
    reached: Semaphore,
}

impl Default for Barrier {
    fn default() -> Self {
        let (is_open, opened) = Default::default();
        Self(Arc::new(BarrierState { is_open, opened, reached: Semaphore::new(0) }))
    }
}

impl Barrier {
    fn block(&self) {
        self.0.reached.add_permits(1);
        let is_open = self.0.is_open.lock().expect("no panic");
        drop(self.0.opened.wait_while(is_open, |is_open| !*is_open).expect("no panic"));
    }

    fn open(&self) {
        *self.0.is_open.lock().expect("no panic") = true;
        self.0.opened.notify_all();
    }

    fn is_open(&self) -> bool {
        *self.0.is_open.lock().expect("no panic")
    }

    /// Waits until threads have come.
    async fn reached(&self, count: u32) {
        let reached = timeout(HANG_LIMIT, self.0.reached.acquire_many(count)).await;
        reached.expect("all of them block").expect("it is never closed").forget();
    }
}

/// Opens a barrier in the end, also when a test fails: its runtime waits for threads.
struct Opened(Barrier);

impl Drop for Opened {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// Starts a number of blocking calls, and returns them.
fn blocked(isolation: &Isolation, barrier: &Barrier, count: usize) -> Vec<BoxFuture<'static, ()>> {
    let call = |_| {
        let barrier = barrier.clone();
        isolation.run("blocked", async move { barrier.block() })
    };
    (0..count).map(call).collect()
}

async fn check_other_tasks_run(count: usize) {
    let (isolation, barrier) = (Isolation::default(), Barrier::default());
    let _opened = Opened(barrier.clone());
    let calls = join_all(blocked(&isolation, &barrier, count));
    let (expire, expired) = tokio::sync::oneshot::channel();
    let calls = tokio::spawn(async move {
        tokio::select! {
            biased;
            _ = calls => panic!("they block"),
            _ = expired => tokio::time::sleep(Duration::from_millis(1)).await,
        }
    });
    barrier.reached(count as u32).await;
    let other = isolation.run("other", async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        "done"
    });
    assert_eq!(timeout(HANG_LIMIT, other).await, Ok("done"));
    expire.send(()).expect("the calls are awaited");
    timeout(HANG_LIMIT, calls).await.expect("the caller goes on").expect("no panic");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn blocking_calls_do_not_delay_others_on_one_worker() {
    check_other_tasks_run(16).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn blocking_calls_do_not_delay_others_on_three_workers() {
    check_other_tasks_run(16).await;
}

#[tokio::test]
async fn blocking_calls_do_not_delay_others_without_workers() {
    check_other_tasks_run(16).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn further_calls_wait_while_too_many_calls_block() {
    let (isolation, barrier) = (Isolation::default(), Barrier::default());
    let _opened = Opened(barrier.clone());
    // One more runs on a worker that is not needed.
    let count = MAX_RELEASED_WORKERS + 1;
    let calls = tokio::spawn(join_all(blocked(&isolation, &barrier, count)));
    barrier.reached(count as u32).await;
    let inside = barrier.clone();
    let mut waiting = isolation.run("waiting", async move { inside.is_open() });
    // A call that does not wait runs meanwhile.
    let _ = timeout(Duration::from_millis(50), &mut waiting).await.map(|is_open| assert!(is_open));
    barrier.open();
    assert_eq!(timeout(HANG_LIMIT, waiting).await, Ok(true));
    timeout(HANG_LIMIT, calls).await.expect("they go on").expect("no panic");
}

async fn check_call_ends_with_caller() {
    let (dropped, is_dropped) = mpsc::channel::<()>();
    let (started, is_started) = tokio::sync::oneshot::channel();
    let call = Isolation::default().run("endless", async move {
        let _dropped = dropped;
        started.send(()).expect("the test waits");
        std::future::pending::<()>().await;
    });
    let call = tokio::spawn(call);
    timeout(HANG_LIMIT, is_started).await.expect("it runs").expect("the task reports");
    call.abort();
    let ended = tokio::task::spawn_blocking(move || is_dropped.recv_timeout(HANG_LIMIT)).await;
    assert_eq!(ended.expect("no panic"), Err(mpsc::RecvTimeoutError::Disconnected));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_with_its_caller() {
    check_call_ends_with_caller().await;
}

#[tokio::test]
async fn a_call_ends_with_its_caller_without_workers() {
    check_call_ends_with_caller().await;
}

async fn panics_are_propagated() {
    let call = Isolation::default().run("panics", async { panic!("on purpose") });
    let ended: Result<(), _> = tokio::spawn(call).await;
    let panic = ended.expect_err("it panics").into_panic();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"on purpose"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_panic_resumes_in_the_caller() {
    panics_are_propagated().await;
}

#[tokio::test]
async fn a_panic_resumes_in_the_caller_without_workers() {
    panics_are_propagated().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_ends_in_its_first_poll_is_recorded() {
    for _ in 0..100 {
        let first = Arc::default();
        let isolation = Isolation::default().observed(&first);
        let mut ready = isolation.run("ready", async { 1 });
        assert_eq!(first_polled(&mut ready, &first).await, Poll::Ready(1));
    }
    for _ in 0..100 {
        let first = Arc::default();
        let isolation = Isolation::default().observed(&first);
        let mut several: BoxFuture<'_, _> = Box::pin(async {
            isolation.run("first", async {}).await;
            isolation.run("second", async { 2 }).await
        });
        assert_eq!(first_polled(&mut several, &first).await, Poll::Ready(2));
    }
    let first = Arc::default();
    let isolation = Isolation::default().observed(&first);
    let mut waits = isolation.run("waits", std::future::pending::<()>());
    assert_eq!(first_polled(&mut waits, &first).await, Poll::Pending);
}

/// A task that the blocked code has woken would wait in the slot of its worker.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_woken_by_a_blocked_call_runs() {
    let (isolation, barrier) = (Isolation::default(), Barrier::default());
    let _opened = Opened(barrier.clone());
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let listener = tokio::spawn(receiver);
    let inside = barrier.clone();
    let _call = tokio::spawn(isolation.run("blocked", async move {
        tokio::task::yield_now().await;
        sender.send("woken").expect("the test waits");
        release_woken();
        inside.block();
    }));
    let received = timeout(HANG_LIMIT, listener).await.expect("it runs");
    assert_eq!(received.expect("no panic"), Ok("woken"));
}

/// The worker that waits for timers runs the tasks they wake, and no other worker takes over by itself.
#[test]
fn timers_fire_while_a_worker_blocks() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    let (isolation, barrier) = (Isolation::default(), Barrier::default());
    let _opened = Opened(barrier.clone());
    let (done, is_done) = mpsc::channel();
    runtime.spawn(async move {
        tokio::time::sleep(Duration::from_millis(50)).await;
        isolation.run("blocked", async move { barrier.block() }).await;
    });
    runtime.spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        done.send(()).expect("the test waits");
    });
    assert_eq!(is_done.recv_timeout(HANG_LIMIT), Ok(()));
}
