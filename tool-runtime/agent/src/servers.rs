//! The MCP servers of conversations: started by the first run, closed with the last.

use std::sync::{Arc, Weak};
use tokio::sync::Mutex;
use tool_runtime::mcp::{McpManager, McpManagerBuilder, McpManagerError, McpServerStatus};
use tool_runtime::{BoxFuture, ToolPool};

/// The servers of an agent.
pub(crate) struct Servers {
    manager: Box<dyn Fn() -> McpManagerBuilder + Send + Sync>,
    /// The connected servers, while a run uses them.
    connected: Mutex<Weak<Lease>>,
}

/// A start of servers.
pub(crate) type Starting = BoxFuture<'static, Result<Arc<Lease>, McpManagerError>>;

impl Servers {
    pub(crate) fn new(manager: impl Fn() -> McpManagerBuilder + Send + Sync + 'static) -> Self {
        Self { manager: Box::new(manager), connected: Mutex::default() }
    }

    /// Connects the servers, unless another run did.
    pub(crate) fn start(self: &Arc<Self>, pool: &ToolPool) -> Starting {
        let (servers, pool) = (Arc::clone(self), pool.clone());
        Box::pin(async move {
            let mut connected = servers.connected.lock().await;
            if let Some(lease) = connected.upgrade() {
                return Ok(lease);
            }
            let lease = Arc::new(Lease((servers.manager)().connect(&pool).await?));
            *connected = Arc::downgrade(&lease);
            Ok(lease)
        })
    }
}

/// Keeps servers connected.
pub(crate) struct Lease(McpManager);

impl Lease {
    pub(crate) fn status(&self) -> Vec<McpServerStatus> {
        self.0.status()
    }

    /// Closes the servers, unless another run uses them.
    pub(crate) async fn release(self: Arc<Self>) {
        if let Some(lease) = Arc::into_inner(self) {
            lease.0.close().await;
        }
    }
}
