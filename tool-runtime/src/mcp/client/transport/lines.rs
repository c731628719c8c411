//! Messages as lines of JSON, over any pair of streams.

use crate::mcp::lines::{DEFAULT_LINE_LIMIT, Line, LineBuffer};
use rmcp::RoleClient;
use rmcp::model::{CallToolResult, ClientRequest, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;

/// Lines of JSON from a reader and to a writer.
pub(in crate::mcp::client) struct Lines<R, W> {
    reader: R,
    buffer: LineBuffer,
    /// `None` once nothing more is to be sent.
    writer: Arc<Mutex<Option<W>>>,
    /// The calls that are out: rmcp reads an answer by trying everything that it might be.
    calls: HashSet<RequestId>,
}

impl<R, W> Lines<R, W> {
    pub(in crate::mcp::client) fn new(reader: R, writer: W) -> Self {
        Self {
            reader,
            buffer: LineBuffer::new(DEFAULT_LINE_LIMIT),
            writer: Arc::new(Mutex::new(Some(writer))),
            calls: HashSet::new(),
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

impl<R, W> Transport<RoleClient> for Lines<R, W>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &message
            && let ClientRequest::CallToolRequest(_) = &request.request
        {
            self.calls.insert(request.id.clone());
        }
        let (line, writer) = (line(&message), Arc::clone(&self.writer));
        async move {
            let (line, mut writer) = (line?, writer.lock().await);
            let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while let Some(line) = self.buffer.next_line() {
                match line {
                    Line::Whole(line) => {
                        if let Some(message) = parsed(line, &mut self.calls) {
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
            // What was read stays where it is if nobody waits any more.
            match self.reader.read_buf(self.buffer.room()).await {
                Ok(0) => self.buffer.end(),
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!("nothing more can be read: {error}");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.writer.lock().await.take());
        Ok(())
    }
}

fn line(message: &TxJsonRpcMessage<RoleClient>) -> io::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

/// What a line says; nothing, if it is no message: servers print all kinds of things.
fn parsed(line: &[u8], calls: &mut HashSet<RequestId>) -> Option<RxJsonRpcMessage<RoleClient>> {
    if !calls.is_empty()
        && let Ok(answer) = serde_json::from_slice::<Answer<'_>>(line)
        && calls.remove(&answer.id)
        && let Ok(result) = serde_json::from_str::<CallToolResult>(answer.result.get())
    {
        return Some(JsonRpcMessage::response(ServerResult::CallToolResult(result), answer.id));
    }
    serde_json::from_slice(line)
        .map_err(|error| tracing::debug!("a line that is no message is left out: {error}"))
        .ok()
}
