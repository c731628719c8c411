//! The end of agents in the background with their session.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use tool_runtime::__seam::SessionValues;
use tool_runtime::agent::AgentOutcome;
use tool_runtime::prelude::*;
use tool_runtime::tool::SessionId;
use tool_runtime::{BoxFuture, CancellationToken};

/// Cancels an agent when a session of the call that started it ends. The permission modes and the restrictions of the
/// session end with it, and the agent must not run on without them. Dropping it tells the session that the agent has
/// ended.
pub(super) struct SessionEnd(Arc<Inner>);

struct Inner {
    agent: CancellationToken,
    has_come: AtomicBool,
    agent_ended: CancellationToken,
}

impl SessionEnd {
    /// Watches the sessions of a call. The token cancels the agent.
    pub(super) fn watch(context: &ToolContext, agent: &CancellationToken) -> Self {
        let shared = Arc::new(Inner {
            agent: agent.clone(),
            has_come: AtomicBool::new(false),
            agent_ended: CancellationToken::new(),
        });
        let weak = Arc::downgrade(&shared);
        if !context.end_with_each_session(&(weak as Weak<dyn SessionValues>)) {
            shared.cancel();
        }
        Self(shared)
    }

    /// The outcome, with the reason if the session ended the agent.
    pub(super) fn explain(
        &self,
        outcome: Result<AgentOutcome, ToolError>,
    ) -> Result<AgentOutcome, ToolError> {
        let has_come = self.0.has_come.load(Ordering::Acquire);
        let reason = "the agent stopped: the session that started it has ended";
        outcome.map_err(|error| if has_come { ToolError::user(reason) } else { error })
    }
}

impl Inner {
    fn cancel(&self) {
        // Its run may have ended it before.
        if !self.agent.is_cancelled() {
            self.has_come.store(true, Ordering::Release);
            self.agent.cancel();
        }
    }
}

/// A session that closes waits for the agent, so that its values and modes outlive the calls of the agent.
impl SessionValues for Inner {
    fn end(&self, _: SessionId) -> Option<BoxFuture<'static, ()>> {
        self.cancel();
        let agent_ended = self.agent_ended.clone();
        Some(Box::pin(async move { agent_ended.cancelled().await }))
    }
}

impl Drop for SessionEnd {
    fn drop(&mut self) {
        self.0.agent_ended.cancel();
    }
}
