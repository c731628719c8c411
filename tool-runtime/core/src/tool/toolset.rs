//! Stateful tools: the methods of one type, which share one value of it.

mod closing;
mod create;
pub(crate) mod instance;
pub(crate) mod method;
mod shared_by;
mod values;

pub(crate) use closing::{Dropped, Work, spawn};
pub(crate) use create::{New, decode_params, start};
pub use create::{ToolsetError, ToolsetKind};
pub(crate) use instance::Instance;
pub(crate) use method::Method;
pub use shared_by::SharedBy;
pub(crate) use values::Values;

use crate::tool::context::ToolContext;
use crate::vocabulary::error::ToolError;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

/// A stateful type whose methods are tools.
///
/// `#[toolset]` on its `impl` block turns every method with `#[tool]` into a tool; this trait
/// creates and closes its values. The tools of one value share it by `&self`: calls may run
/// concurrently.
///
/// ```
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use tool_runtime::prelude::*;
///
/// /// A number that calls change.
/// struct Counter(AtomicI64);
///
/// #[derive(Clone, serde::Deserialize, schemars::JsonSchema)]
/// struct CounterParams {
///     /// The first number.
///     #[serde(default)]
///     start: i64,
/// }
///
/// #[toolset]
/// impl Counter {
///     /// Add to the counter.
///     #[tool(destructive = false)]
///     async fn add(
///         &self,
///         /// The number to add.
///         amount: i64,
///     ) -> i64 {
///         self.0.fetch_add(amount, Ordering::SeqCst) + amount
///     }
/// }
///
/// impl Toolset for Counter {
///     type Params = CounterParams;
///
///     async fn create(params: CounterParams, _: &ToolContext) -> Result<Self, ToolError> {
///         Ok(Self(AtomicI64::new(params.start)))
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().toolset::<Counter>(CounterParams { start: 40 }).build().await?;
/// let result = pool.call(ToolCall::new("counter.add", r#"{"amount": 2}"#)).await;
/// assert_eq!(result.observation().to_text(), "42");
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Toolset`",
    label = "missing `impl Toolset`, which creates the value",
    note = "write `impl Toolset for {Self} {{ type Params = (); async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {{ .. }} }}`"
)]
pub trait Toolset: ToolsetMethods {
    /// Parameters: `()` for none, else a struct with named fields. Unknown fields are rejected.
    type Params: DeserializeOwned + JsonSchema + Clone + Send + Sync + 'static;

    /// The calls that share a value. Default: all calls of the pool.
    const SHARED_BY: SharedBy = SharedBy::Pool;

    /// Creates a value. The context holds the pool's state; for a value per session or principal
    /// it is the context of the first call.
    ///
    /// # Errors
    /// The reason, for the operator when the pool is built, or else for the caller.
    fn create(
        params: Self::Params,
        context: &ToolContext,
    ) -> impl Future<Output = Result<Self, ToolError>> + Send;

    /// Closes the value: called exactly once, by [`ToolPool::close`](crate::pool::ToolPool::close), when
    /// the last tool that uses the value is dropped, or when the session of the value ends.
    /// Default: nothing.
    fn close(&self) -> impl Future<Output = ()> + Send {
        async {}
    }

    /// Interrupts a call: cancelled, timed out, running when the pool closes, or answered with a
    /// question ([`ToolContext::ask`]) and to be run again.
    /// The future of an `async` method is dropped anyway; this is for work elsewhere, such as a child
    /// process. It may be called more than once, and when the call has just ended. Default:
    /// nothing.
    fn interrupt(&self, call: &ToolContext) {
        let _ = call;
    }

    /// Whether the toolset is usable on this system. Otherwise its tools are hidden and the pool's report gives the
    /// reason: a missing program, for example. Called before `create`. Default: usable.
    ///
    /// # Errors
    /// The reason, for the operator.
    fn is_usable(params: &Self::Params) -> Result<(), String> {
        let _ = params;
        Ok(())
    }
}

/// The tools of a type, implemented by `#[toolset]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tools",
    label = "no `#[toolset]` on an `impl` block of this type",
    note = "write `#[toolset] impl {Self} {{ .. }}` with a `#[tool]` on each method that is to be a tool"
)]
pub trait ToolsetMethods: Sized + Send + Sync + 'static {
    /// The name in specs and, followed by a dot, in front of its tools' names.
    #[doc(hidden)]
    const NAME: &'static str;

    /// The tools of the toolset, in source order.
    #[doc(hidden)]
    fn methods() -> &'static [Method];
}
