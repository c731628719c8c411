//! The assembled set of tools.

mod builder;
mod problem;

pub use builder::ToolPoolBuilder;
pub use problem::{PoolError, PoolProblem};

use crate::context::ToolContext;
use crate::definition::ToolDefinition;
use crate::tool::Tool;
use hashbrown::HashMap;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// The assembled set of tools: lists, describes and calls them. Cheap to clone.
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
/// let json = pool.call_json("add", r#"{"a": 2, "b": 40}"#).await;
/// assert_eq!(json, r#"{"content":[{"type":"text","text":"42"}]}"#);
/// # Ok::<(), tool_runtime::PoolError>(())
/// # }).unwrap();
/// ```
#[derive(Clone)]
pub struct ToolPool(Arc<Parts>);

struct Parts {
    /// Sorted by name: the same pool lists the same tools in the same order.
    tools: Vec<Tool>,
    by_name: HashMap<String, Tool, foldhash::fast::RandomState>,
    /// What calls without a context of their own share.
    context: ToolContext,
    timeout: Option<Duration>,
    listing: OnceLock<String>,
}

impl ToolPool {
    /// Starts an empty pool.
    pub fn builder() -> ToolPoolBuilder {
        ToolPoolBuilder::default()
    }

    /// All tools, sorted by name.
    pub fn tools(&self) -> &[Tool] {
        &self.0.tools
    }

    /// A tool by its exact name.
    pub fn get(&self, name: &str) -> Option<&Tool> {
        self.0.by_name.get(name)
    }

    /// All definitions, sorted by name.
    pub fn definitions(&self) -> impl Iterator<Item = &ToolDefinition> {
        self.0.tools.iter().map(Tool::definition)
    }

    /// All definitions as one JSON array of MCP tools. Made once: a second call is a borrow.
    /// The same tools give the same bytes, in every run.
    ///
    /// ```
    /// # use tool_runtime::prelude::*;
    /// let pool = ToolPool::builder()
    ///     .add(Tool::builder("ping", "Answer at once.").handler(|| async { "pong" }))
    ///     .build()?;
    /// assert!(pool.definitions_json().starts_with(r#"[{"name":"ping""#));
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn definitions_json(&self) -> &str {
        self.0.listing.get_or_init(|| {
            let definitions: Vec<&ToolDefinition> = self.definitions().collect();
            serde_json::to_string(&definitions).expect("definitions have string keys")
        })
    }

    /// A context over the pool's state that nothing cancels.
    pub(crate) fn shared_context(&self) -> &ToolContext {
        &self.0.context
    }

    /// The time limit of calls whose tool has none of its own.
    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.0.timeout
    }
}

impl fmt::Debug for ToolPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.0.tools.iter().map(Tool::name).collect();
        f.debug_struct("ToolPool").field("tools", &names).finish_non_exhaustive()
    }
}
