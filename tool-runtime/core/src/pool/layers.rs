//! The tower layers around the calls of a pool.

use super::ToolPool;
use crate::tool::call::{ToolCall, ToolResult};
use crate::tool::context::ToolContext;
use crate::vocabulary::error::BoxError;
use std::sync::Arc;
use tokio::sync::RwLock;
use tower::util::BoxCloneSyncService;

/// The layers around every call, as one service.
pub(crate) type Layers = BoxCloneSyncService<CallRequest, ToolResult, BoxError>;

/// One call with everything needed to run it: the request of layers.
#[derive(Clone, Debug)]
pub struct CallRequest {
    pub(crate) pool: ToolPool,
    pub(crate) call: ToolCall,
    pub(crate) context: ToolContext,
    /// Locked by each attempt that runs inside of all layers.
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
