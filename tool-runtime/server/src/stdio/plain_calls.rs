//! Plain calls of a connection whose handshake is over.

use crate::fast_path::PlainCall;
use crate::handler::PoolHandler;
use rmcp::RoleServer;
use rmcp::service::Peer;
use std::sync::Arc;
use tool_runtime_core::TaskSupport;
use tool_runtime_core::seam::Isolation;

/// What plain calls need.
pub(crate) struct PlainCalls {
    pub(super) handler: Arc<PoolHandler>,
    pub(super) isolation: Isolation,
    pub(super) peer: Peer<RoleServer>,
    /// Whether the client is of 2026-07-28: then rmcp knows nothing of it.
    pub(super) is_modern: bool,
}

impl PlainCalls {
    pub(crate) fn new(
        handler: Arc<PoolHandler>,
        isolation: Isolation,
        peer: Peer<RoleServer>,
    ) -> Self {
        let is_modern = peer.peer_info().is_none();
        Self { handler, isolation, peer, is_modern }
    }

    /// The call in a line, if it is a plain one.
    pub(super) fn read<'a>(&self, line: &'a [u8]) -> Option<PlainCall<'a>> {
        let call =
            PlainCall::read(std::str::from_utf8(line).ok()?, self.is_modern, self.handler.metas())?;
        let tool = self.handler.pool().get(&call.subject.name);
        // A call that may go on as a task is not answered by its result.
        let is_task = tool.is_some_and(|tool| tool.definition().task != TaskSupport::None);
        (!is_task).then_some(call)
    }
}
