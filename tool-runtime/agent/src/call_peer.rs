//! The caller that tools see while an agent calls them.

use crate::event::AgentEvent;
use serde_json::{Map, Value};
use std::borrow::Cow;
use tokio::sync::mpsc::UnboundedSender;
use tool_runtime::peer::{
    LogEntry, LogLevel, Peer, PeerCapability, PeerError, PeerInfo, PeerRequest, Progress,
};
use tool_runtime::{BoxFuture, ToolContext};

/// Turns progress and log entries of one call into events. The caller of the run answers questions.
pub(crate) struct CallPeer {
    pub(crate) call_id: String,
    pub(crate) events: UnboundedSender<AgentEvent>,
    /// The context of the run.
    pub(crate) context: ToolContext,
}

impl CallPeer {
    fn send(&self, event: AgentEvent) {
        // A run that was dropped has no events.
        drop(self.events.send(event));
    }
}

impl Peer for CallPeer {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.send(AgentEvent::Progress { call_id: self.call_id.clone(), progress });
    }

    fn accepts_log(&self, _: LogLevel) -> bool {
        true
    }

    fn log(&self, entry: LogEntry) {
        self.send(AgentEvent::Log { call_id: self.call_id.clone(), entry });
    }

    fn can(&self, capability: PeerCapability) -> bool {
        self.context.peer().is_some_and(|peer| peer.can(capability))
    }

    fn request(&self, request: PeerRequest) -> BoxFuture<'_, Result<Value, PeerError>> {
        match self.context.peer() {
            Some(peer) => peer.request(request),
            None => Box::pin(async move { Err(PeerError::Unsupported(request.capability())) }),
        }
    }

    fn info(&self) -> Option<PeerInfo> {
        self.context.peer()?.info()
    }

    fn meta(&self) -> Option<&Map<String, Value>> {
        self.context.peer()?.meta()
    }

    fn header(&self, name: &str) -> Option<Cow<'_, str>> {
        self.context.peer()?.header(name)
    }
}
