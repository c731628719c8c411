//! Tower layers around calls, and the pool as a service.

use super::support::{class, in_time};
use futures_util::future::{Ready, ready};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::Notify;
use tool_runtime::dispatch::CallRequest;
use tool_runtime::hook::{After, AfterCall, Before, Hook, HookCall};
use tool_runtime::prelude::*;
use tool_runtime::{CancellationToken, ToolPoolBuilder};
use tower::limit::{ConcurrencyLimitLayer, RateLimitLayer};
use tower::load_shed::LoadShedLayer;
use tower::retry::{Policy, RetryLayer};
use tower::timeout::TimeoutLayer;
use tower::{BoxError, Layer, Service, ServiceBuilder};

#[derive(Default)]
struct Work {
    runs: AtomicUsize,
    running: AtomicUsize,
    most: AtomicUsize,
    began: Notify,
    ended: AtomicUsize,
}

/// Work for a second, and count the running calls.
#[tool(read_only, register = false)]
async fn work(work: &Work) -> &'static str {
    work.runs.fetch_add(1, Ordering::SeqCst);
    let running = work.running.fetch_add(1, Ordering::SeqCst) + 1;
    work.most.fetch_max(running, Ordering::SeqCst);
    work.began.notify_one();
    tokio::time::sleep(Duration::from_secs(1)).await;
    work.running.fetch_sub(1, Ordering::SeqCst);
    work.ended.fetch_add(1, Ordering::SeqCst);
    "done"
}

/// Fail twice.
#[tool(register = false)]
async fn flaky(work: &Work) -> Result<&'static str, ToolError> {
    match work.runs.fetch_add(1, Ordering::SeqCst) {
        0 | 1 => Err(ToolError::transient("busy")),
        _ => Ok("done"),
    }
}

/// Fail permanently.
#[tool(register = false)]
async fn broken(work: &Work) -> Result<(), ToolError> {
    work.runs.fetch_add(1, Ordering::SeqCst);
    Err(ToolError::user("there is no such thing"))
}

fn builder() -> ToolPoolBuilder {
    ToolPool::builder()
        .tool::<WorkAction>()
        .tool::<FlakyAction>()
        .tool::<BrokenAction>()
        .state(Work::default())
}

fn count(pool: &ToolPool, what: fn(&Work) -> &AtomicUsize) -> usize {
    what(pool.context().get::<Work>().expect("state")).load(Ordering::SeqCst)
}

fn call(name: &str) -> ToolCall {
    ToolCall::new(name, "")
}

#[tokio::test(start_paused = true)]
async fn shed_calls_are_rate_limited() {
    let layers = ServiceBuilder::new().load_shed().concurrency_limit(2);
    let pool = builder().layer(layers).build().expect("a pool");
    let results = in_time(pool.call_all(vec![call("work").with_call_id("w"); 5])).await;
    let shed: Vec<&ToolResult> = results.iter().filter(|result| result.is_error()).collect();
    assert_eq!((results.len(), shed.len()), (5, 3));
    for result in shed {
        assert_eq!(class(result), ErrorClass::RateLimited);
        assert!(result.error().expect("an error").is_retryable());
        assert_eq!(result.call_id(), "w");
    }
    assert_eq!(count(&pool, |work| &work.runs), 2);
    assert!(!in_time(pool.call(call("work"))).await.is_error(), "the room is free again");
}

#[tokio::test(start_paused = true)]
async fn a_later_layer_wraps_earlier_ones() {
    let builder = builder().layer(ConcurrencyLimitLayer::new(1)).layer(LoadShedLayer::new());
    let pool = builder.build().expect("a pool");
    let results = in_time(pool.call_all(vec![call("work"); 3])).await;
    let shed = results.iter().filter(|result| result.is_error());
    assert_eq!(shed.map(class).collect::<Vec<_>>(), [ErrorClass::RateLimited; 2]);
}

#[tokio::test(start_paused = true)]
async fn a_limit_applies_across_batches_and_handles() {
    let pool = builder().layer(ConcurrencyLimitLayer::new(3)).build().expect("a pool");
    let (clone, scope) = (pool.clone(), pool.scope());
    in_time(async {
        tokio::join!(
            pool.call_all(vec![call("work"); 4]),
            clone.call_all(vec![call("work"); 4]),
            scope.call(call("work")),
        )
    })
    .await;
    assert_eq!((count(&pool, |work| &work.ended), count(&pool, |work| &work.most)), (9, 3));
}

#[tokio::test(start_paused = true)]
async fn a_rate_limit_is_enforced() {
    let rate = RateLimitLayer::new(2, Duration::from_secs(60));
    let layers = ServiceBuilder::new().buffer(16).layer(rate);
    let pool = builder().layer(layers).build().expect("a pool");
    let began = tokio::time::Instant::now();
    let results = in_time(pool.call_all(vec![call("work"); 6])).await;
    assert!(results.iter().all(|result| !result.is_error()), "{results:?}");
    assert!(began.elapsed() >= Duration::from_secs(120), "{:?}", began.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_layers_timeout_drops_the_call() {
    let pool =
        builder().layer(TimeoutLayer::new(Duration::from_millis(10))).build().expect("a pool");
    let result = in_time(pool.call(call("work"))).await;
    assert_eq!(class(&result), ErrorClass::Timeout);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(count(&pool, |work| &work.ended), 0);
}

/// Retries transient errors this many times.
#[derive(Clone)]
struct RetryTransient(usize);

impl Policy<CallRequest, ToolResult, BoxError> for RetryTransient {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _: &mut CallRequest,
        result: &mut Result<ToolResult, BoxError>,
    ) -> Option<Ready<()>> {
        let error = result.as_ref().ok()?.error()?;
        if self.0 == 0 || !error.is_retryable() {
            return None;
        }
        self.0 -= 1;
        Some(ready(()))
    }

    fn clone_request(&mut self, request: &CallRequest) -> Option<CallRequest> {
        Some(request.clone())
    }
}

#[tokio::test]
async fn only_transient_failures_are_retried() {
    let retrying =
        |times| builder().layer(RetryLayer::new(RetryTransient(times))).build().expect("a pool");
    let pool = retrying(3);
    assert_eq!(pool.call(call("flaky")).await.observation().to_text(), "done");
    assert_eq!(count(&pool, |work| &work.runs), 3);
    let pool = retrying(1);
    assert_eq!(class(&pool.call(call("flaky")).await), ErrorClass::Transient);
    assert_eq!(count(&pool, |work| &work.runs), 2);
    let pool = retrying(3);
    assert_eq!(class(&pool.call(call("broken")).await), ErrorClass::Tool);
    assert_eq!(count(&pool, |work| &work.runs), 1);
}

#[tokio::test]
async fn hooks_run_inside_for_each_attempt() {
    let seen = Arc::new(AtomicUsize::new(0));
    let note = {
        let seen = Arc::clone(&seen);
        move |_: HookCall| {
            seen.fetch_add(1, Ordering::SeqCst);
            async { Before::proceed() }
        }
    };
    let builder = builder().layer(RetryLayer::new(RetryTransient(5))).hook(Hook::before("*", note));
    let pool = builder.build().expect("a pool");
    assert!(!pool.call(call("flaky")).await.is_error());
    assert_eq!(seen.load(Ordering::SeqCst), 3);
}

#[tokio::test(start_paused = true)]
async fn nested_calls_run_inside_the_layers_of_their_caller() {
    let relay = Tool::builder("relay", "Pass it on.").handler(
        |_: serde_json::Map<String, serde_json::Value>, context: ToolContext| async move {
            let results = context.call_all(vec![call("work"); 2]).await;
            results.iter().filter(|result| result.is_error()).count().to_string()
        },
    );
    // Through the layer, nested calls would wait for their own caller.
    let layers = ServiceBuilder::new().concurrency_limit(1);
    let pool = builder().add(relay).layer(layers).build().expect("a pool");
    assert_eq!(in_time(pool.call(call("relay"))).await.observation().to_text(), "0");
}

/// Call another tool by its type.
#[tool(register = false)]
async fn relay_typed(context: &ToolContext) -> Result<String, ToolError> {
    let pool = context.pool().ok_or("there is no pool")?;
    Ok(WorkAction {}.call_with(&pool, context).await?)
}

#[tokio::test(start_paused = true)]
async fn a_typed_call_of_a_tool_runs_inside_the_layers_of_its_caller() {
    let limited = ServiceBuilder::new().concurrency_limit(1);
    let builder = builder().tool::<RelayTypedAction>().layer(limited);
    let pool = builder.build().expect("a pool");
    assert_eq!(in_time(RelayTypedAction {}.call(&pool)).await.expect("an answer"), "done");
}

#[tokio::test(start_paused = true)]
async fn a_call_that_waits_in_a_layer_can_be_cancelled() {
    let pool = builder().layer(ConcurrencyLimitLayer::new(1)).build().expect("a pool");
    let token = CancellationToken::new();
    let cancelled = pool.context().with_cancellation(token.clone());
    let soon = tokio::time::Instant::now() + Duration::from_millis(500);
    let late = pool.context().with_deadline(soon.into_std());
    let cancel = async {
        cancelled.get::<Work>().expect("state").began.notified().await;
        token.cancel();
    };
    let began = tokio::time::Instant::now();
    let timed = |result: ToolResult| (class(&result), began.elapsed().as_millis() / 100);
    let (first, second, third, ()) = in_time(async {
        tokio::join!(
            pool.call(call("work")),
            async { timed(pool.call_with(call("work"), &cancelled).await) },
            async { timed(pool.call_with(call("work"), &late).await) },
            cancel,
        )
    })
    .await;
    assert!(!first.is_error());
    assert_eq!(second, (ErrorClass::Cancelled, 0));
    assert_eq!(third, (ErrorClass::Timeout, 5));
    assert_eq!(count(&pool, |work| &work.runs), 1);
}

#[tokio::test(start_paused = true)]
async fn after_hooks_see_a_call_that_was_cancelled_inside_of_layers() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let note = {
        let seen = Arc::clone(&seen);
        move |_: HookCall, after: AfterCall| {
            let seen = Arc::clone(&seen);
            async move {
                // Like a layer that writes to a file.
                tokio::time::sleep(Duration::from_secs(1)).await;
                seen.lock().unwrap().push(after.error_class());
                After::keep()
            }
        }
    };
    let builder = builder().layer(ConcurrencyLimitLayer::new(1)).hook(Hook::after("*", note));
    let pool = builder.build().expect("a pool");
    let token = CancellationToken::new();
    let context = pool.context().with_cancellation(token.clone());
    let cancel = async {
        context.get::<Work>().expect("state").began.notified().await;
        token.cancel();
    };
    let call = pool.call_with(call("work"), &context);
    let (result, ()) = in_time(async { tokio::join!(call, cancel) }).await;
    assert_eq!(class(&result), ErrorClass::Cancelled);
    assert_eq!(*seen.lock().unwrap(), [Some(ErrorClass::Cancelled)]);
}

/// A layer that answers without calling the tool.
#[derive(Clone)]
struct AlwaysRetry<S>(S, fn() -> Result<ToolResult, BoxError>);

struct AlwaysRetryLayer(fn() -> Result<ToolResult, BoxError>);

impl<S> Layer<S> for AlwaysRetryLayer {
    type Service = AlwaysRetry<S>;

    fn layer(&self, inner: S) -> AlwaysRetry<S> {
        AlwaysRetry(inner, self.0)
    }
}

impl<S: Service<CallRequest, Response = ToolResult, Error = BoxError>> Service<CallRequest>
    for AlwaysRetry<S>
{
    type Response = ToolResult;
    type Error = BoxError;
    type Future = Ready<Result<ToolResult, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, _: CallRequest) -> Self::Future {
        ready((self.1)())
    }
}

#[tokio::test]
async fn a_failing_layer_is_one_error_result() {
    for (answer, expected) in [
        ((|| Err("secret address".into())) as fn() -> _, ErrorClass::Transient),
        (|| panic!("secret address"), ErrorClass::Internal),
    ] {
        let pool = builder().layer(AlwaysRetryLayer(answer)).build().expect("a pool");
        let results = pool.call_all(vec![call("work"); 2]).await;
        assert_eq!(results.len(), 2);
        for result in results {
            assert_eq!(class(&result), expected);
            assert!(!result.observation().to_text().contains("secret"), "{result:?}");
            let detail = result.error().expect("an error").detail().expect("a detail");
            assert!(detail.contains("secret address"), "{detail}");
        }
        let json = pool.call_json("work", "").await;
        assert!(json.contains("\"isError\":true"), "{json}");
    }
}

/// Tower's trait is in scope; its `call_all` takes services.
mod service {
    use super::*;
    use tower::ServiceExt as _;

    #[tokio::test(start_paused = true)]
    async fn a_pool_is_a_service() {
        let mut pool = builder().build().expect("a pool");
        let result = Service::call(pool.ready().await.expect("ready"), call("work")).await;
        assert_eq!(result.expect("infallible").observation().to_text(), "done");
        let service = ServiceBuilder::new().load_shed().concurrency_limit(1).service(pool.clone());
        let (one, two) =
            tokio::join!(service.clone().oneshot(call("work")), service.oneshot(call("work")));
        assert!(one.is_ok() && two.is_err());
        let unknown = pool.oneshot(call("nothing").with_call_id("1")).await.expect("infallible");
        assert_eq!((class(&unknown), unknown.call_id()), (ErrorClass::NotFound, "1"));
    }
}

#[tokio::test]
async fn typed_calls_go_through_layers() {
    let pool = builder().layer(RetryLayer::new(RetryTransient(3))).build().expect("a pool");
    assert_eq!(FlakyAction {}.call(&pool).await.expect("the third attempt"), "done");
    assert_eq!(count(&pool, |work| &work.runs), 3);
}
