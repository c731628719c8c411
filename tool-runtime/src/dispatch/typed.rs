//! The typed call: an action goes the same way as JSON, and its output comes back as it is.

use super::guard;
use crate::action::Action;
use crate::arguments::DecodeError;
use crate::error::{CallError, ErrorClass};
use crate::input::InputModel;
use crate::pool::ToolPool;

/// Calls an action through a pool without a detour through JSON.
///
/// ```
/// use tool_runtime::prelude::*;
///
/// /// Add two integers.
/// #[tool(read_only)]
/// async fn add(
///     /// First addend.
///     a: i64,
///     /// Second addend.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().tool::<AddAction>().build()?;
/// let sum: i64 = AddAction { a: 2, b: 40 }.call(&pool).await?;
/// assert_eq!(sum, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub trait CallAction: Action {
    /// Calls it. What the function itself returns is the value, also if that is a `Result`.
    ///
    /// # Errors
    /// The pool has no such tool or another of that name, a constraint of `#[arg]` is broken, or
    /// the call was cancelled, ran out of time or panicked. Constraints that the arguments' own
    /// types state by schemars attributes are not checked: there is no JSON to check.
    fn call(self, pool: &ToolPool) -> impl Future<Output = Result<Self::Output, CallError>> + Send;
}

impl<A: Action> CallAction for A
where
    A::Output: Send,
{
    async fn call(self, pool: &ToolPool) -> Result<Self::Output, CallError> {
        guard::caught(A::NAME, stages(self, pool)).await
    }
}

async fn stages<A: Action>(action: A, pool: &ToolPool) -> Result<A::Output, CallError> {
    let tool = pool.resolve(A::NAME)?;
    if !tool.is::<A>() {
        return Err(another(A::NAME));
    }
    let context = pool.shared_context();
    action.check().map_err(|error| refused::<A>(&error))?;
    let limit = guard::limit(pool, tool, context);
    let context = &limit.map_or_else(|| context.clone(), |limit| guard::within(limit, context));
    guard::guarded(async { action.run(context).await }, A::NAME, limit, context).await
}

#[cold]
fn refused<A: Action>(error: &DecodeError) -> CallError {
    InputModel::new(&A::definition(), &A::settings()).explain_typed(error)
}

fn another(name: &str) -> CallError {
    CallError::new(
        ErrorClass::NotFound,
        format!(
            "the pool's tool `{name}` is not made from this action; call it by name, or add the action with `.tool::<..>()`"
        ),
    )
}
