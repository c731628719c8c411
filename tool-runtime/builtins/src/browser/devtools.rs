//! The DevTools protocol: commands, responses, events.
//!
//! The connection and the types of commands come from `chromiumoxide`. Its `Handler` is not used: it attaches to a page
//! after the scripts of the page have started, so a dialog of a new page would block it.

use super::tabs::{Message, Tabs};
use chromiumoxide::Command;
use chromiumoxide::Connection;
use chromiumoxide::error::CdpError;
use chromiumoxide::types::{self, CallId, EventMessage, Method, MethodId};
use futures_util::StreamExt as _;
use serde::Deserialize;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// A connection to a browser, which is closed on drop.
pub(super) struct Devtools {
    requests: mpsc::UnboundedSender<Request>,
    limit: Duration,
    task: JoinHandle<()>,
}

/// The reason why a command has no result.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The browser or the connection to it has ended.
    #[error("the browser has ended")]
    Closed,
    #[error("the browser did not respond in time")]
    Timeout,
    /// The browser rejected the command.
    #[error("{0}")]
    Refused(String),
    /// The response does not have the expected form.
    #[error("the browser gave an unexpected answer: {0}")]
    Unexpected(String),
}

struct Request {
    message: Message,
    reply: oneshot::Sender<Result<Value, Failure>>,
}

/// A command that was sent, and has no answer yet.
struct Waiting {
    session: Option<String>,
    reply: oneshot::Sender<Result<Value, Failure>>,
}

/// An event of the browser.
#[derive(Debug, Deserialize)]
pub(super) struct Event {
    pub(super) method: String,
    #[serde(rename = "sessionId")]
    pub(super) session: Option<String>,
    #[serde(default)]
    pub(super) params: Value,
}

impl Method for Event {
    fn identifier(&self) -> MethodId {
        self.method.clone().into()
    }
}

impl EventMessage for Event {
    fn session_id(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

impl Devtools {
    /// Connects to a browser. Events update `tabs`.
    ///
    /// # Errors
    /// The connection fails.
    pub(super) async fn connect(
        address: &str,
        limit: Duration,
        tabs: Arc<Tabs>,
    ) -> Result<Self, Failure> {
        let connection = tokio::time::timeout(limit, Connection::<Event>::connect(address)).await;
        let connection = connection.map_err(|_| Failure::Timeout)?;
        let connection = connection.map_err(|error| Failure::Refused(error.to_string()))?;
        let (requests, received) = mpsc::unbounded_channel();
        let task = tokio::spawn(run(connection, received, tabs));
        Ok(Self { requests, limit, task })
    }

    /// Runs a command of the browser, or of a page if `session` is given.
    ///
    /// # Errors
    /// The command fails, or has no result in time.
    pub(super) async fn run<C: Command>(
        &self,
        session: Option<&str>,
        command: C,
    ) -> Result<C::Response, Failure> {
        let message = Message::new(session, command);
        let name = message.method.clone();
        let (reply, answer) = oneshot::channel();
        self.requests.send(Request { message, reply }).map_err(|_| Failure::Closed)?;
        let answer = tokio::time::timeout(self.limit, answer).await;
        let value = answer.map_err(|_| Failure::Timeout)?.map_err(|_| Failure::Closed)??;
        C::response_from_value(value)
            .map_err(|error| Failure::Unexpected(format!("{name}: {error}")))
    }

    /// Whether the connection has ended.
    pub(super) fn is_closed(&self) -> bool {
        self.requests.is_closed()
    }

    /// Waits for the end of the connection.
    pub(super) async fn closed(&self) {
        self.requests.closed().await;
    }
}

impl Drop for Devtools {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Sends and receives until one side ends. Pending commands then fail.
async fn run(
    mut connection: Connection<Event>,
    mut requests: mpsc::UnboundedReceiver<Request>,
    tabs: Arc<Tabs>,
) {
    let mut waiting: HashMap<CallId, Waiting> = HashMap::new();
    loop {
        tokio::select! {
            request = requests.recv() => {
                let Some(Request { message, reply }) = request else { return };
                let session = message.session.clone();
                if let Some(id) = send(&mut connection, message) {
                    waiting.retain(|_, waiting| !waiting.reply.is_closed());
                    waiting.insert(id, Waiting { session, reply });
                }
            }
            message = connection.next() => match message {
                Some(Ok(types::Message::Response(response))) => {
                    let answer = match (response.result, response.error) {
                        (_, Some(error)) => Err(Failure::Refused(error.message)),
                        (result, None) => Ok(result.unwrap_or_default()),
                    };
                    if let Some(waiting) = waiting.remove(&response.id) {
                        // Fails only if the call was cancelled.
                        let _ = waiting.reply.send(answer);
                    }
                }
                Some(Ok(types::Message::Event(event))) => {
                    let closed = closed_session(&event);
                    for message in tabs.on_event(event) {
                        send(&mut connection, message);
                    }
                    // The browser does not answer the commands of a page that was closed meanwhile.
                    if closed.is_some() {
                        for (_, waiting) in waiting.extract_if(|_, it| it.session == closed) {
                            let answer = Err(Failure::Refused("the page was closed".to_owned()));
                            let _ = waiting.reply.send(answer);
                        }
                    }
                }
                Some(Err(CdpError::InvalidMessage(text, error))) => {
                    tracing::debug!(%error, length = text.len(), "a message of the browser is not valid");
                }
                Some(Err(error)) => {
                    tracing::debug!(%error, "the connection to a browser has ended");
                    return;
                }
                None => return,
            },
        }
    }
}

/// The session of a page that was closed.
fn closed_session(event: &Event) -> Option<String> {
    let is_closed = event.method == "Target.detachedFromTarget";
    event.params["sessionId"].as_str().filter(|_| is_closed).map(str::to_owned)
}

fn send(connection: &mut Connection<Event>, message: Message) -> Option<CallId> {
    let Message { session, method, params } = message;
    connection.submit_command(method, session.map(Into::into), params).ok()
}
