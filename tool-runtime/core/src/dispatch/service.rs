//! The pool as a `tower::Service`, and tower's layers around its calls.

use crate::pool::{CallRequest, Layers, ToolPool, ToolPoolBuilder};
use crate::tool::call::{ToolCall, ToolResult};
use crate::vocabulary::error::BoxError;
use crate::vocabulary::future::BoxFuture;
use std::convert::Infallible;
use std::task::{Context, Poll};
use tower::util::BoxCloneSyncService;
use tower::{Layer, Service, ServiceExt as _};

/// The innermost service of the layers: runs calls of a pool.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallService(());

impl Service<CallRequest> for CallService {
    type Response = ToolResult;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<ToolResult, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: CallRequest) -> Self::Future {
        Box::pin(async move { Ok(request.run().await) })
    }
}

/// A call with an empty context. It goes through hooks and layers like any call;
/// failures are results.
impl Service<ToolCall> for ToolPool {
    type Response = ToolResult;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<ToolResult, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, call: ToolCall) -> Self::Future {
        let pool = self.clone();
        Box::pin(async move { Ok(ToolPool::call(&pool, call).await) })
    }
}

impl<S> ToolPoolBuilder<S> {
    /// Wraps every call in a tower layer, or in a stack of layers from `tower::ServiceBuilder`:
    /// retry, rate limit, concurrency limit, load shedding. Hooks run inside.
    ///
    /// Calls that a tool makes by its context stay inside the layers of their caller,
    /// and do not go through them again.
    ///
    /// A response of a layer instead of the tool's becomes a result: an overload is
    /// [`RateLimited`](crate::vocabulary::error::ErrorClass::RateLimited), a timeout
    /// [`Timeout`](crate::vocabulary::error::ErrorClass::Timeout), anything else
    /// [`Transient`](crate::vocabulary::error::ErrorClass::Transient). A second call of this method wraps the layers of the first one.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tower::ServiceBuilder;
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .layer(ServiceBuilder::new().load_shed().concurrency_limit(4))
    ///     .build()?;
    /// assert!(!pool.call(ToolCall::new("ping", "")).await.is_error());
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// # }).unwrap();
    /// ```
    pub fn layer<L>(self, layer: L) -> Self
    where
        L: Layer<BoxCloneSyncService<CallRequest, ToolResult, BoxError>>,
        L::Service: Service<CallRequest, Response = ToolResult, Error: Into<BoxError>, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        self.map_layers(|inner| {
            let innermost = || Layers::new(CallService(()).map_err(BoxError::from));
            Layers::new(layer.layer(inner.unwrap_or_else(innermost)).map_err(Into::into))
        })
    }
}
