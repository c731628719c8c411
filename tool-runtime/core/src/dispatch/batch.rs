//! Concurrent calls: calls without conflicts run together, results are in call order.

use super::guard;
use crate::pool::ToolPool;
use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::concurrency::access::{Access, Claim};
use crate::tool::concurrency::schedule::{Held, SharedQueue, Ticket};
use crate::tool::context::ToolContext;
use crate::vocabulary::error::{CallError, caught};
use futures_util::stream::{FuturesUnordered, Stream, StreamExt as _};
use std::borrow::Cow;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

impl ToolPool {
    /// Runs several calls and returns one result for each, in call order.
    ///
    /// Calls of read-only tools run together, at most ten concurrently. A call that may write waits
    /// for those before it and delays those after it, unless both declared their resources
    /// (`#[tool(reads(..), writes(..))]`) and these do not conflict.
    ///
    /// Dropping the future cancels all of them.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").read_only(true).handler(|| async { "pong" }))
    ///     .build()?;
    /// let calls = ["ping", "pong", "ping"].map(|name| ToolCall::new(name, ""));
    /// let results = pool.call_all(calls).await;
    /// let errors: Vec<bool> = results.iter().map(ToolResult::is_error).collect();
    /// assert_eq!(errors, [false, true, false]);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub async fn call_all(&self, calls: impl IntoIterator<Item = ToolCall>) -> Vec<ToolResult> {
        self.batch(calls).run().await
    }

    /// Several calls with settings of their own, see [`Batch`].
    pub fn batch(&self, calls: impl IntoIterator<Item = ToolCall>) -> Batch {
        Batch {
            calls: calls.into_iter().collect(),
            limit: self.governance().batch_limit,
            context: self.context(),
            each: None,
            pool: self.clone(),
        }
    }
}

/// Several calls that run concurrently where they do not conflict.
///
/// ```
/// use futures_util::StreamExt as _;
/// use tool_runtime::prelude::*;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder()
///     .add(Tool::builder("ping", "Answer at once.").read_only(true).handler(|| async { "pong" }))
///     .build()?;
/// let calls = vec![ToolCall::new("ping", ""); 3];
/// let mut results = std::pin::pin!(pool.batch(calls).limit(2).stream());
/// while let Some((index, result)) = results.next().await {
///     assert!(index < 3 && !result.is_error());
/// }
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[must_use = "a batch runs when `run` or `stream` is polled"]
pub struct Batch {
    pool: ToolPool,
    calls: Vec<ToolCall>,
    limit: usize,
    context: ToolContext,
    each: Option<Box<EachContext>>,
}

/// Adapts the context of a batch for one of its calls.
type EachContext = dyn Fn(&ToolCall, ToolContext) -> ToolContext + Send;

impl Batch {
    /// Sets how many calls run concurrently, at least one. Default: the pool's, which is 10 unless
    /// it was set.
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit.max(1);
        self
    }

    /// Sets the context of all calls: its cancellation and deadline hold for each. Default: the
    /// pool's own.
    pub fn context(mut self, context: &ToolContext) -> Self {
        self.context = context.clone();
        self
    }

    /// Adapts the context for each call, as to give it a [`Peer`](crate::tool::peer::Peer) of its own. Default:
    /// all calls have the same one.
    pub fn each_context(
        mut self,
        adapt: impl Fn(&ToolCall, ToolContext) -> ToolContext + Send + 'static,
    ) -> Self {
        self.each = Some(Box::new(adapt));
        self
    }

    /// Runs all calls; results in call order.
    pub async fn run(self) -> Vec<ToolResult> {
        let mut results: Vec<Option<ToolResult>> = self.calls.iter().map(|_| None).collect();
        let mut finished = std::pin::pin!(self.stream());
        while let Some((index, result)) = finished.next().await {
            results[index] = Some(result);
        }
        results.into_iter().flatten().collect()
    }

    /// Runs all calls; results as they finish, each with its index.
    pub fn stream(self) -> impl Stream<Item = (usize, ToolResult)> + Send {
        let Self { pool, calls, limit, context, each } = self;
        let queue = SharedQueue::default();
        let permits = Arc::new(Semaphore::new(limit.min(Semaphore::MAX_PERMITS)));
        let running = FuturesUnordered::new();
        for (index, call) in calls.into_iter().enumerate() {
            let ticket = queue.enter(claim(&pool, &call), None);
            let context = match &each {
                Some(adapt) => adapt(&call, context.clone()),
                None => context.clone(),
            };
            let context = context.with_next_keys();
            let one = BatchCall { pool: pool.clone(), context, permits: Arc::clone(&permits) };
            let call = async move { (index, one.run(call, ticket).await) };
            running.push(IsolatedDrop { call: Some(call) });
        }
        running
    }
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("calls", &self.calls)
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

pin_project_lite::pin_project! {
    /// A call whose destructor may panic without ending the rest of the batch.
    struct IsolatedDrop<F> {
        #[pin]
        call: Option<F>,
    }

    impl<F> PinnedDrop for IsolatedDrop<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut call = this.project().call;
            if let Err(panic) = caught(|| call.set(None)) {
                tracing::warn!("a call panicked when it was dropped: {panic}");
            }
        }
    }
}

impl<F: Future> Future for IsolatedDrop<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        match self.project().call.as_pin_mut() {
            Some(call) => call.poll(context),
            None => Poll::Pending,
        }
    }
}

/// A call of a batch.
struct BatchCall {
    pool: ToolPool,
    context: ToolContext,
    permits: Arc<Semaphore>,
}

/// The resources of a call and its permit, as long as it runs.
type Turn = (Option<Held>, Option<OwnedSemaphorePermit>);

impl BatchCall {
    async fn run(self, call: ToolCall, ticket: Ticket) -> ToolResult {
        let outcome = match self.turn(call.name(), ticket).await {
            Ok(turn) => {
                let (context, guard) = self.context.with_guard(turn);
                let (context, _guards) = match self.pool.has_governors() {
                    false => (context, (Some(guard), None)),
                    true => {
                        let (context, turn) = context.with_turn(guard);
                        (context, (None, Some(turn)))
                    }
                };
                self.pool.outcome(&call, Cow::Owned(context)).await
            }
            Err(error) => Box::pin(self.pool.reject(&call, &self.context, error)).await,
        };
        ToolResult::new(call, outcome)
    }

    /// A call takes a permit only after its resources are free. Boxed: few calls wait.
    async fn turn(&self, name: &str, ticket: Ticket) -> Result<Turn, CallError> {
        guard::check_time(name, &self.context)?;
        let held = match ticket.held() {
            Ok(held) => Some(held),
            Err(ticket) => {
                let ready = Box::pin(async { Ok(ticket.ready().await.ok()) });
                guard::waiting(ready, name, &self.context).await?
            }
        };
        let permit = match Arc::clone(&self.permits).try_acquire_owned() {
            Ok(permit) => Some(permit),
            Err(_) => {
                let permits = Arc::clone(&self.permits);
                let permit = Box::pin(async { Ok(permits.acquire_owned().await.ok()) });
                guard::waiting(permit, name, &self.context).await?
            }
        };
        Ok((held, permit))
    }
}

/// The resources that a call may touch. A call that will be rejected touches nothing.
fn claim(pool: &ToolPool, call: &ToolCall) -> Claim {
    let snapshot = pool.current();
    let Some(tool) = snapshot.get(call.name()) else {
        return Claim { access: Access::none(), is_read_only: true };
    };
    let access = if tool.declares_access() {
        // User code: its panic is reported when the call runs.
        let meta = pool.governance().extract_meta(Some(tool), call.arguments());
        let arguments = meta.as_ref().map_or(call.arguments(), |meta| &meta.rest);
        match caught(|| tool.decode(arguments)) {
            Err(_) => Access::undeclared(),
            Ok(decoded) => decoded.map_or_else(|_| Access::none(), |call| call.access),
        }
    } else {
        Access::undeclared()
    };
    Claim { access, is_read_only: tool.definition().effective_annotations().is_read_only() }
}
