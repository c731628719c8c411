//! Calls that share a value of a toolset.

/// The calls that share one value of a toolset, see
/// [`Toolset::SHARED_BY`](crate::tool::toolset::Toolset::SHARED_BY).
///
/// ```
/// use std::sync::Mutex;
/// use tool_runtime::toolset::SharedBy;
/// use tool_runtime::prelude::*;
///
/// /// The items of one client.
/// #[derive(Default)]
/// struct Basket(Mutex<Vec<String>>);
///
/// #[toolset(register = false)]
/// impl Basket {
///     /// Add an item.
///     #[tool(destructive = false)]
///     async fn add(
///         &self,
///         /// The item's name.
///         item: String,
///     ) -> usize {
///         let mut items = self.0.lock().unwrap();
///         items.push(item);
///         items.len()
///     }
/// }
///
/// impl Toolset for Basket {
///     type Params = ();
///     const SHARED_BY: SharedBy = SharedBy::Session;
///
///     async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
///         Ok(Self::default())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().toolset::<Basket>(()).build().await?;
/// for session in [pool.session(), pool.session()] {
///     let result = session.pool().call(ToolCall::new("basket.add", r#"{"item": "tea"}"#)).await;
///     assert_eq!(result.observation().to_text(), "1");
///     session.close().await;
/// }
/// # Ok::<(), tool_runtime::pool::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedBy {
    /// All calls of the pool: one value, created when the pool is built.
    #[default]
    Pool,
    /// The calls of one session: one value per session, created by its first call and closed when
    /// it ends. A session is an MCP client over stdio, an HTTP client that has called
    /// `initialize`, and each [`ToolPool::session`](crate::pool::ToolPool::session). Calls without a session are
    /// rejected, which includes all calls of MCP 2026-07-28 over HTTP.
    Session,
    /// The calls of one principal, across sessions: one value per principal, closed with the pool.
    /// Anonymous callers share a value per session.
    Principal,
}
