//! Buffers messages for a client that is disconnected. rmcp drops an answer that it has passed on.

use futures_util::{Stream, StreamExt as _};
use rmcp::transport::streamable_http_server::session::ServerSseMessage;
use std::collections::VecDeque;
use std::pin::Pin;
use tokio::runtime::Handle;
use tokio::task::JoinHandle;

/// Messages kept of a call; the last one is its answer.
const MAX_MESSAGES: usize = 64;

/// Messages to a client.
pub(super) type Messages = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// The messages on the stream of a call while its client is disconnected.
pub(super) struct ReplayBuffer(JoinHandle<VecDeque<ServerSseMessage>>);

impl ReplayBuffer {
    /// Starts to read the stream; `None` when the runtime ends.
    pub(super) fn new(stream: Messages) -> Option<Self> {
        let runtime = Handle::try_current().ok()?;
        Some(Self(runtime.spawn(read(stream))))
    }

    /// Whether the stream has ended: the call is answered, or its client has resumed it.
    pub(super) fn is_complete(&self) -> bool {
        self.0.is_finished()
    }

    /// The messages after an event.
    pub(super) async fn after(self, event: &str) -> Vec<ServerSseMessage> {
        let seen = index(event);
        let is_new =
            |message: &ServerSseMessage| message.event_id.as_deref().and_then(index) > seen;
        self.0.await.unwrap_or_default().into_iter().filter(is_new).collect()
    }
}

async fn read(mut stream: Messages) -> VecDeque<ServerSseMessage> {
    let mut buffered = VecDeque::new();
    while let Some(message) = stream.next().await {
        if buffered.len() == MAX_MESSAGES {
            buffered.pop_front();
        }
        buffered.push_back(message);
    }
    buffered
}

/// The index of an event in its stream; rmcp writes ids of events as `index/number`.
fn index(event: &str) -> Option<u64> {
    event.split_once('/')?.0.parse().ok()
}
