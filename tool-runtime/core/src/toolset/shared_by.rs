//! Calls that share a value of a toolset.

/// Which calls share a value of a toolset, see
/// [`Toolset::SHARED_BY`](crate::Toolset::SHARED_BY).
///
/// ```
/// use std::sync::Mutex;
/// use tool_runtime::SharedBy;
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
/// # Ok::<(), tool_runtime::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedBy {
    /// All calls of the pool: one value, made when the pool is built.
    #[default]
    Pool,
    /// The calls of one session: a value each, made by the session's first call and closed when
    /// the session ends. A session is an MCP client over stdio, a client of HTTP that has called
    /// `initialize`, and each [`ToolPool::session`](crate::ToolPool::session). A call without a
    /// session is refused: those of MCP 2026-07-28 over HTTP have none.
    Session,
    /// The calls of one principal, in whatever session: a value each, closed with the pool. Who
    /// has not authenticated has a value per session.
    Principal,
}
