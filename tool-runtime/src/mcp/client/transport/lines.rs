//! Messages as lines of JSON, over any pair of streams.

use super::outgoing::{Outgoing, Unwritten};
use crate::mcp::client::hearing::Hearing;
use crate::mcp::lines::{DEFAULT_LINE_LIMIT, Line, LineBuffer};
use rmcp::RoleClient;
use rmcp::model::{CallToolResult, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::time::{Instant, timeout_at};

/// How long a server is heard that takes nothing more.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// Lines of JSON from a reader and to a writer.
pub(in crate::mcp::client) struct Lines<R> {
    reader: R,
    buffer: LineBuffer,
    outgoing: Arc<Outgoing>,
    /// Whether the server has ever said anything that is a message.
    is_heard: bool,
    /// When nothing more is heard.
    until: Option<Instant>,
}

impl<R> Lines<R> {
    pub(in crate::mcp::client) fn new(
        reader: R,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        hearing: Arc<Hearing>,
    ) -> Self {
        Self {
            reader,
            buffer: LineBuffer::new(DEFAULT_LINE_LIMIT),
            outgoing: Outgoing::new(writer, hearing),
            is_heard: false,
            until: None,
        }
    }
}

/// What an answer consists of, as far as it matters here.
#[derive(Deserialize)]
struct Answer<'a> {
    id: RequestId,
    #[serde(borrow)]
    result: &'a RawValue,
}

impl<R> Transport<RoleClient> for Lines<R>
where
    R: AsyncRead + Send + Unpin + 'static,
{
    type Error = Unwritten;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Unwritten>> + Send + 'static {
        let (outgoing, is_heard) = (Arc::clone(&self.outgoing), self.is_heard);
        let sent = outgoing.send(&message);
        async move {
            match sent.await {
                // A server that ends at once is heard to the end: it may say why.
                Err(_) if !is_heard && !outgoing.has_given_up() => Ok(()),
                sent => sent,
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while let Some(line) = self.buffer.next_line() {
                match line {
                    Line::Whole(line) => {
                        if let Some(message) = parsed(line, &self.outgoing) {
                            self.is_heard = true;
                            return Some(message);
                        }
                    }
                    Line::TooLong { limit } => {
                        tracing::warn!("a message of more than {limit} bytes is left out");
                    }
                }
            }
            if self.buffer.has_ended() {
                return None;
            }
            if self.outgoing.is_over() {
                self.until.get_or_insert_with(|| Instant::now() + LAST_WORDS);
            }
            // What was read stays where it is if nobody waits any more.
            let read = self.reader.read_buf(self.buffer.room());
            let read = match self.until {
                None => read.await,
                Some(until) => timeout_at(until, read).await.unwrap_or(Ok(0)),
            };
            match read {
                Ok(0) => self.buffer.end(),
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!("nothing more can be read: {error}");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Unwritten> {
        self.outgoing.close().await;
        Ok(())
    }
}

/// What a line says; nothing, if it is no message: servers print all kinds of things.
fn parsed(line: &[u8], outgoing: &Outgoing) -> Option<RxJsonRpcMessage<RoleClient>> {
    // rmcp reads an answer by trying everything that it might be.
    if outgoing.has_calls()
        && let Ok(answer) = serde_json::from_slice::<Answer<'_>>(line)
        && outgoing.answered(&answer.id)
        && let Ok(result) = serde_json::from_str::<CallToolResult>(answer.result.get())
    {
        return Some(JsonRpcMessage::response(ServerResult::CallToolResult(result), answer.id));
    }
    serde_json::from_slice(line)
        .map_err(|error| tracing::debug!("a line that is no message is left out: {error}"))
        .ok()
}
