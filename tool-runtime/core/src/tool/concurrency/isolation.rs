//! Runs user code of a server in separate tasks, so that code that blocks its thread does not stop
//! deadlines, cancellation, other calls or the end of the server.
//!
//! Tokio does not take a worker back from a task that blocks it. Therefore each poll of user code
//! counts. Code whose last poll was short runs on its worker, which costs nothing, as long as one worker stays free.
//! Any other poll first moves its worker's other tasks to another thread ([`tokio::task::block_in_place`]): those in its
//! queue, and those that it has deferred (by `yield_now`, or because their budget was used up), which no other worker can
//! take. Beyond [`MAX_RELEASED_WORKERS`] of these, calls wait.
//!
//! A transport may poll the first step of a call itself ([`Isolation::poll`]), which saves the task. It
//! learns from [`Watched::blocked`] that the poll blocks its thread.
//!
//! The blocked worker may be the one that waits for I/O and timers, and tokio does not wake another
//! one for that. The [`watchdog`] does, and logs the name of the blocking tool. A task that user
//! code wakes stays in a slot of its worker from which other workers do not take tasks: see
//! [`release_woken`].

#[cfg(test)]
mod tests;
mod watchdog;

use crate::vocabulary::future::BoxFuture;
use crate::vocabulary::sync::lock;
use futures_util::task::AtomicWaker;
use std::cell::Cell;
use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::{JoinError, block_in_place};
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;
use tracing::instrument::Instrumented;
use tracing::{Instrument as _, Span};
pub use watchdog::Watched;
use watchdog::{Watchdog, WatchedPoll};

/// Limit on concurrent polls that have released their workers. Each takes a thread of tokio's pool
/// for blocking work, which has 512 threads by default. Without a free thread the worker would be
/// lost.
const MAX_RELEASED_WORKERS: usize = 224;

/// Limit on concurrent plain functions, which take their threads from the same pool.
const MAX_PLAIN: usize = 224;

/// Time for which [`first_polled`] waits for a task.
/// A test waits on a busy machine, too.
const FIRST_POLL: Duration = Duration::from_millis(if cfg!(test) { 60_000 } else { 200 });

/// Runs user code apart from the server. Clones share their limits.
#[derive(Clone, Default)]
pub struct Isolation {
    shared: Arc<OnceLock<Arc<Inner>>>,
    first: Option<Arc<FirstPoll>>,
    /// Whether the task that polls the call has isolated it.
    is_outer: bool,
}

/// The limits of one server, in the runtime that it uses first.
struct Inner {
    runtime: Handle,
    polls: Arc<Semaphore>,
    /// Threads of the blocking pool, where the runtime has no workers.
    threads: Arc<Semaphore>,
    plain: Arc<Semaphore>,
    watchdog: Watchdog,
}

impl Isolation {
    /// Runs `work` in a separate task. Dropping the future ends it at its next `.await`. A panic
    /// resumes in the caller.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        name: &str,
        work: impl Future<Output = T> + Send + 'static,
    ) -> BoxFuture<'static, T> {
        let output = Arc::new(Mutex::new(None));
        let filled = Arc::clone(&output);
        let work = async move {
            let output = work.await;
            *lock(&filled) = Some(output);
        };
        let ended = self.run_erased(name, Box::pin(work));
        Box::pin(async move {
            ended.await;
            lock(&output).take().expect("the work has ended")
        })
    }

    /// Compiled once: a task of tokio is some 20 KiB of code.
    fn run_erased(&self, name: &str, work: BoxFuture<'static, ()>) -> BoxFuture<'static, ()> {
        let shared = Arc::clone(self.shared());
        let first = self.first.clone().filter(|first| first.begin());
        let watched = Arc::new(Named(name.into()));
        let task = UserTask::new(watched, work, &shared, first.clone());
        let task = task.instrument(Span::current());
        Box::pin(async move {
            match Handle::current().runtime_flavor() {
                RuntimeFlavor::MultiThread => {
                    join_task(AbortOnDropHandle::new(tokio::spawn(task))).await;
                }
                _ => on_a_thread(&shared, task).await,
            }
            if let Some(first) = first {
                first.release();
            }
        })
    }

    /// A permit for one more thread for a plain function.
    pub(crate) async fn thread_for_plain(&self) -> OwnedSemaphorePermit {
        acquire(&self.shared().plain).await
    }

    /// The isolation of one call, which records the progress of its task.
    #[doc(hidden)]
    pub fn observed(&self, first: &Arc<FirstPoll>) -> Self {
        Self { first: Some(Arc::clone(first)), ..self.clone() }
    }

    /// The isolation of a call that is polled by [`Self::poll`] and [`Self::spawn`]: its tool needs
    /// no separate task. Hooks do, which have their own limits.
    #[doc(hidden)]
    #[must_use]
    pub fn outer(&self) -> Self {
        Self { is_outer: true, ..self.clone() }
    }

    /// Whether a tool needs no separate task.
    pub(crate) fn is_outer(&self) -> bool {
        self.is_outer
    }

    /// Polls user code on this thread. `None` if too much user code is polled already.
    #[doc(hidden)]
    pub fn poll<T>(&self, watched: &Arc<dyn Watched>, poll: impl FnOnce() -> T) -> Option<T> {
        let shared = self.shared();
        let _permit = shared.polls.try_acquire().ok()?;
        Some(watched_poll(shared.watchdog.begin(watched), poll))
    }

    /// Runs a call in a separate task whose polls are watched.
    #[doc(hidden)]
    pub fn spawn(&self, watched: Arc<dyn Watched>, call: BoxFuture<'static, ()>) {
        let task = UserTask::new(watched, call, self.shared(), None);
        drop(tokio::spawn(task.instrument(Span::current())));
    }

    fn shared(&self) -> &Arc<Inner> {
        self.shared.get_or_init(|| Inner::new(Handle::current()))
    }
}

impl Inner {
    fn new(runtime: Handle) -> Arc<Self> {
        let direct = runtime.metrics().num_workers() - 1;
        let permits = direct + MAX_RELEASED_WORKERS;
        Arc::new(Self {
            polls: Arc::new(Semaphore::new(permits)),
            threads: Arc::new(Semaphore::new(MAX_RELEASED_WORKERS)),
            plain: Arc::new(Semaphore::new(MAX_PLAIN)),
            watchdog: Watchdog::start(&runtime, direct, permits),
            runtime,
        })
    }
}

/// The runtime has one thread, which the server needs: a thread of the pool polls the task.
async fn on_a_thread(shared: &Inner, task: Instrumented<UserTask>) {
    let thread = acquire(&shared.threads).await;
    let ended = CancellationToken::new();
    let _ended = ended.clone().drop_guard();
    let runtime = shared.runtime.clone();
    let run = move || {
        let _thread = thread;
        runtime.block_on(ended.run_until_cancelled(task))
    };
    match join_task(tokio::task::spawn_blocking(run)).await {
        Some(()) => (),
        None => std::future::pending().await,
    }
}

async fn acquire(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    Arc::clone(semaphore).acquire_owned().await.expect("it is never closed")
}

async fn join_task<T>(task: impl Future<Output = Result<T, JoinError>>) -> T {
    match task.await.map_err(JoinError::try_into_panic) {
        Ok(output) => output,
        Err(Ok(panic)) => resume_unwind(panic),
        // The runtime shuts down, and drops the caller as well.
        Err(Err(_)) => std::future::pending().await,
    }
}

/// User code with a name, whose blocking need not be reported.
struct Named(Box<str>);

impl Watched for Named {
    fn name(&self) -> &str {
        &self.0
    }
}

/// User code as a task, each poll of which is counted.
struct UserTask {
    watched: Arc<dyn Watched>,
    work: Option<BoxFuture<'static, ()>>,
    shared: Arc<Inner>,
    first: Option<Arc<FirstPoll>>,
    /// Waits for the permit for one more poll.
    waiting: Option<BoxFuture<'static, OwnedSemaphorePermit>>,
}

impl UserTask {
    fn new(
        watched: Arc<dyn Watched>,
        work: BoxFuture<'static, ()>,
        shared: &Arc<Inner>,
        first: Option<Arc<FirstPoll>>,
    ) -> Self {
        Self { watched, work: Some(work), shared: Arc::clone(shared), first, waiting: None }
    }
}

impl Future for UserTask {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Self { watched, work, shared, first, waiting } = &mut *self;
        let _permit = ready!(permit(&shared.polls, waiting, context));
        let output = watched_poll(shared.watchdog.begin(watched), || {
            let output = work.as_mut().expect("not polled after its end").as_mut().poll(context);
            if output.is_ready() {
                *work = None;
            }
            output
        });
        if output.is_pending()
            && let Some(first) = first.take()
        {
            first.end();
        }
        output
    }
}

/// Destructors of user code may block as well.
impl Drop for UserTask {
    fn drop(&mut self) {
        if let Some(work) = self.work.take() {
            let watched = self.shared.watchdog.begin(&self.watched);
            watched_poll(watched, || drop(work));
        }
    }
}

/// A permit for one more poll, which most get immediately.
fn permit(
    polls: &Arc<Semaphore>,
    waiting: &mut Option<BoxFuture<'static, OwnedSemaphorePermit>>,
    context: &mut Context<'_>,
) -> Poll<OwnedSemaphorePermit> {
    if waiting.is_none() {
        if let Ok(permit) = Arc::clone(polls).try_acquire_owned() {
            return Poll::Ready(permit);
        }
        let polls = Arc::clone(polls);
        *waiting = Some(Box::pin(async move { acquire(&polls).await }));
    }
    let permit = waiting.as_mut().expect("it was set").as_mut().poll(context);
    if permit.is_ready() {
        *waiting = None;
    }
    permit
}

thread_local! {
    /// Whether the current thread is a worker that polls user code.
    static IS_DIRECT: Cell<bool> = const { Cell::new(false) };
}

/// Polls or drops user code: on the worker if it is brief and another worker is free, otherwise on a thread outside the
/// workers.
fn watched_poll<T>(watched: Option<WatchedPoll<'_>>, work: impl FnOnce() -> T) -> T {
    if watched.as_ref().is_some_and(WatchedPoll::is_direct) {
        let _direct = Direct(IS_DIRECT.replace(true));
        return work();
    }
    // A runtime without workers polls on new threads, and one that has been dropped drops its tasks.
    match Handle::try_current().map(|runtime| runtime.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => block_in_place(work),
        _ => work(),
    }
}

/// Resets [`IS_DIRECT`], also after a panic.
struct Direct(bool);

impl Drop for Direct {
    fn drop(&mut self) {
        IS_DIRECT.set(self.0);
    }
}

/// Lets other workers run the task that was woken last. User code wakes tasks of the server, by its
/// progress for instance, and may block its worker then: what the worker keeps for itself would wait
/// with it. A further task replaces the former.
pub fn release_woken() {
    if IS_DIRECT.get() {
        fill_lifo_slot();
    }
}

/// Makes the task that was woken last available to other workers: another task takes its slot.
pub fn fill_lifo_slot() {
    drop(tokio::spawn(std::future::ready(())));
}

impl fmt::Debug for Isolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Isolation")
    }
}

/// Polls a call once, and waits until its task was polled as well: before that, it is unknown whether it
/// waits for anything. A task that blocks its thread is not waited for.
pub async fn first_polled<T>(call: &mut BoxFuture<'_, T>, first: &FirstPoll) -> Poll<T> {
    let polled = poll_fn(|context| match call.as_mut().poll(context) {
        Poll::Pending if first.is_due(context) => Poll::Pending,
        polled => Poll::Ready(polled),
    });
    tokio::time::timeout(FIRST_POLL, polled).await.unwrap_or(Poll::Pending)
}

/// Whether the task of a call has been polled, or the last one if there are several.
#[derive(Default)]
pub struct FirstPoll {
    state: AtomicU8,
    waker: AtomicWaker,
}

impl FirstPoll {
    const NONE: u8 = 0;
    const DUE: u8 = 1;
    const DONE: u8 = 2;

    /// Whether a first poll is in progress. Registers the caller to be woken at its end.
    fn is_due(&self, context: &Context<'_>) -> bool {
        self.waker.register(context.waker());
        self.state.load(Ordering::SeqCst) == Self::DUE
    }

    /// Begins a first poll. Returns `false` if a task of the call was pending before, or is being
    /// polled.
    fn begin(&self) -> bool {
        let due = (Self::NONE, Self::DUE);
        self.state.compare_exchange(due.0, due.1, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Notes that the task has ended in its first poll: another task may follow.
    fn release(&self) {
        let ended = (Self::DUE, Self::NONE);
        let _ = self.state.compare_exchange(ended.0, ended.1, Ordering::SeqCst, Ordering::SeqCst);
    }

    fn end(&self) {
        self.state.store(Self::DONE, Ordering::SeqCst);
        self.waker.wake();
    }
}
