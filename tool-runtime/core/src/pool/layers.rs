//! The tower layers around the calls of a pool.

use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::context::ToolContext;
use crate::vocabulary::error::BoxError;
use crate::vocabulary::future::BoxFuture;
use std::fmt;
use std::sync::Arc;
use tokio::sync::RwLock;
use tower::util::BoxCloneSyncService;

/// The layers around every call, as one service.
pub(crate) type Layers = BoxCloneSyncService<CallRequest, ToolResult, BoxError>;

/// Runs a call inside all layers. It holds the pool, and the pool holds the layers: a separate type ends the circle.
pub(crate) type Innermost =
    Arc<dyn Fn(ToolCall, ToolContext) -> BoxFuture<'static, ToolResult> + Send + Sync>;

/// One call with everything needed to run it: the request of layers.
#[derive(Clone)]
pub struct CallRequest {
    pub(crate) call: ToolCall,
    pub(crate) context: ToolContext,
    pub(crate) innermost: Innermost,
    /// Locked by each attempt that runs inside all layers.
    pub(crate) attempts: Arc<RwLock<()>>,
}

impl CallRequest {
    /// The call.
    pub fn call(&self) -> &ToolCall {
        &self.call
    }

    /// The context of the call.
    pub fn context(&self) -> &ToolContext {
        &self.context
    }
}

impl fmt::Debug for CallRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallRequest").field("call", &self.call).finish_non_exhaustive()
    }
}
