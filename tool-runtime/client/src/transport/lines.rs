//! Messages as lines of JSON over a pair of streams.

use super::outgoing::{Outgoing, Unwritten};
use crate::as_it_came;
use crate::as_it_came::{Answer, Of};
use crate::notification_router::NotificationRouter;
use crate::recovery::{Incoming, Salvaged, salvaged, unreadable};
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

/// How long a server is heard that takes nothing more.
const LAST_WORDS: Duration = Duration::from_millis(500);

type TakeLine = dyn Fn(&[u8]) + Send + Sync;

/// Whether a server prints other things where messages belong.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Strays {
    None,
    Seen,
    Told,
}

/// Lines of JSON from a reader and to a writer.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: LineBuffer,
    outgoing: Arc<Outgoing>,
    notifications: Arc<NotificationRouter>,
    /// What came in one line with what was handed on.
    more: VecDeque<Incoming>,
    /// Takes lines that are not messages.
    noise: Option<Box<TakeLine>>,
    strays: Strays,
    /// Whether the server has ever said anything that is a message.
    is_heard: bool,
    /// When nothing more is heard.
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
            strays: Strays::None,
            is_heard: false,
            until: None,
        }
    }

    /// Gives lines that are not messages to somebody.
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
            if let Some(message) = self.next() {
                self.is_heard = true;
                self.tell_of_strays();
                return Some(message);
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

impl<R> Lines<R> {
    /// Once, of a server that works: what it says before it fails is told with the failure.
    fn tell_of_strays(&mut self) {
        if self.strays == Strays::Seen {
            self.strays = Strays::Told;
            let server = self.notifications.server();
            tracing::warn!(
                server,
                "it prints lines on its standard output that are not messages; they are left out, and belong on its standard error"
            );
        }
    }

    /// The next message of what was read.
    fn next(&mut self) -> Option<Incoming> {
        loop {
            if let Some(message) = self.more.pop_front() {
                return Some(message);
            }
            match self.buffer.next_line()? {
                Line::Whole(line) => match read(line, &self.outgoing, &self.notifications) {
                    Ok(message) => return Some(message),
                    Err(Salvaged::Messages(messages)) => self.more.extend(messages),
                    Err(Salvaged::Odd) => {}
                    Err(Salvaged::Stray) => {
                        if self.strays == Strays::None {
                            self.strays = Strays::Seen;
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
                    self.more.extend(unreadable(self.buffer.ends(), &why, &is_call).ok());
                }
            }
        }
    }
}

/// What a line says.
///
/// # Errors
/// It is not a message as it stands; what can be made of it.
fn read(
    line: &[u8],
    outgoing: &Outgoing,
    notifications: &NotificationRouter,
) -> Result<Incoming, Salvaged> {
    let mut is_call = false;
    if (outgoing.has_calls() || has_tools(line))
        && let Ok(answer) = serde_json::from_slice::<Answer<'_>>(line)
    {
        is_call = outgoing.answered(&answer.id);
        let of = if is_call { Of::Call } else { Of::List };
        if let Some(result) = as_it_came::result(answer.result, of) {
            return Ok(JsonRpcMessage::response(result, answer.id));
        }
    }
    let mut message = serde_json::from_slice(line).map_err(|why| {
        salvaged(line, &why, &|id| is_call || outgoing.answered(id), notifications)
    })?;
    as_it_came::keep_exact_of_task(&mut message, line);
    Ok(message)
}

/// Whether a line may be a list of tools.
fn has_tools(line: &[u8]) -> bool {
    memchr::memmem::find(line, b"\"tools\"").is_some()
}
