//! Messages as lines of JSON over a pair of streams.

use super::outgoing::{Outgoing, Unwritten};
use crate::notification_router::NotificationRouter;
use crate::recovery::{self, Incoming, Recovered, fail_request};
use crate::verbatim;
use crate::verbatim::{Answer, Method};
use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite};
use tokio::time::{Instant, timeout_at};
use tool_runtime_mcp::lines::{DEFAULT_LINE_LIMIT, Line, LineBuffer};

/// Time to read from a server that has closed its input.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

type TakeLine = dyn Fn(&[u8]) + Send + Sync;

/// Whether a server has printed lines that are not messages.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NoiseState {
    None,
    Seen,
    Reported,
}

/// Lines of JSON from a reader and to a writer.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: LineBuffer,
    outgoing: Arc<Outgoing>,
    notifications: Arc<NotificationRouter>,
    /// Messages of one line that are not returned yet.
    more: VecDeque<Incoming>,
    /// Receives lines that are not messages.
    noise: Option<Box<TakeLine>>,
    noise_state: NoiseState,
    /// Whether the server has sent a message.
    has_spoken: bool,
    /// The end of reading.
    until: Option<Instant>,
}

impl<R> Lines<R> {
    pub(crate) fn new(
        reader: R,
        writer: impl AsyncWrite + Send + Unpin + 'static,
        notifications: Arc<NotificationRouter>,
    ) -> Self {
        Self {
            reader,
            buffer: LineBuffer::new(DEFAULT_LINE_LIMIT).keeping_ends(),
            outgoing: Outgoing::new(writer, Arc::clone(&notifications)),
            notifications,
            more: VecDeque::new(),
            noise: None,
            noise_state: NoiseState::None,
            has_spoken: false,
            until: None,
        }
    }

    /// Passes lines that are not messages to `noise`.
    pub(super) fn with_noise(mut self, noise: impl Fn(&[u8]) + Send + Sync + 'static) -> Self {
        self.noise = Some(Box::new(noise));
        self
    }
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
        let (outgoing, has_spoken) = (Arc::clone(&self.outgoing), self.has_spoken);
        let sent = outgoing.send(&message);
        async move {
            match sent.await {
                // The output of a server that exits immediately is read to the end: it may be the reason.
                Err(_) if !has_spoken && !outgoing.has_given_up() => Ok(()),
                sent => sent,
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.next() {
                self.has_spoken = true;
                self.report_noise();
                return Some(message);
            }
            if self.buffer.has_ended() {
                return None;
            }
            if self.outgoing.is_over() {
                self.until.get_or_insert_with(|| Instant::now() + DRAIN_TIMEOUT);
            }
            // Bytes stay in the buffer if the future is dropped.
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

impl<R> Lines<R> {
    /// Warns of noise once, when the server works: noise before a failure is part of the error.
    fn report_noise(&mut self) {
        if self.noise_state == NoiseState::Seen {
            self.noise_state = NoiseState::Reported;
            let server = self.notifications.server();
            tracing::warn!(
                server,
                "it prints lines on its standard output that are not messages; they are left out, and belong on its standard error"
            );
        }
    }

    /// The next message in the buffer.
    fn next(&mut self) -> Option<Incoming> {
        loop {
            if let Some(message) = self.more.pop_front() {
                return Some(message);
            }
            match self.buffer.next_line()? {
                Line::Whole(line) => match read(line, &self.outgoing) {
                    Ok(message) => return Some(message),
                    Err(Recovered::Messages(messages)) => self.more.extend(messages),
                    Err(Recovered::Ignored) => {}
                    Err(Recovered::Noise) => {
                        if self.noise_state == NoiseState::None {
                            self.noise_state = NoiseState::Seen;
                        }
                        if let Some(noise) = &self.noise {
                            noise(line);
                        }
                    }
                },
                Line::TooLong { limit } => {
                    tracing::warn!("a message of more than {limit} bytes is left out");
                    let why = format!("it is longer than {limit} bytes");
                    let is_call = |id: &RequestId| self.outgoing.answered(id);
                    let (head, tail) = self.buffer.ends();
                    if let Recovered::Messages(messages) = fail_request(head, tail, &why, &is_call)
                    {
                        self.more.extend(messages);
                    }
                }
            }
        }
    }
}

/// Reads the message in a line.
///
/// # Errors
/// The line is not a message; the error has the recovered parts.
fn read(line: &[u8], outgoing: &Outgoing) -> Result<Incoming, Recovered> {
    let mut is_call = false;
    if (outgoing.has_calls() || has_tools(line))
        && let Ok(answer) = serde_json::from_slice::<Answer<'_>>(line)
    {
        is_call = outgoing.answered(&answer.id);
        let method = if is_call { Method::Call } else { Method::List };
        if let Some(result) = verbatim::result(answer.result, method) {
            return Ok(JsonRpcMessage::response(result, answer.id));
        }
    }
    let mut message = recovery::read(line, &|id| is_call || outgoing.answered(id))?;
    verbatim::keep_exact_of_task(&mut message, line);
    Ok(message)
}

/// Whether a line may be a list of tools.
fn has_tools(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"\"tools\"").is_some()
}
