//! The place of the resource tools in a pool.

use tool_runtime_core::seam::Claim;
use tool_runtime_core::{Source, Tool, ToolPool};

/// The place of the two tools in a pool. Dropped, they are gone.
pub(super) struct ResourceTools {
    pool: ToolPool,
    source: Source,
    _claim: Claim,
}

impl ResourceTools {
    pub(super) fn claim(pool: &ToolPool) -> Option<Self> {
        let source = Source::owner("mcp-resources");
        let claim = pool.claim(&source)?;
        Some(Self { pool: pool.clone(), source, _claim: claim })
    }

    pub(super) fn set(&self, tools: [Tool; 2]) {
        if let Err(error) = self.pool.set_tools(&self.source, tools) {
            tracing::warn!("the resources of MCP servers cannot be offered: {error}");
        }
    }
}

impl Drop for ResourceTools {
    fn drop(&mut self) {
        // A pool that is closed has none.
        drop(self.pool.set_tools(&self.source, []));
    }
}
