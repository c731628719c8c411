//! The DevTools protocol: commands, responses, events.
//!
//! Messages of JSON through a pipe, each ended by a NUL. No crate is used for it: `chromiumoxide` attaches to a page after
//! the scripts of the page have started, so a dialog of a new page would block it, and the types of the whole protocol
//! take longer to compile than all other built-in tools.
//!
//! Source: <https://chromedevtools.github.io/devtools-protocol/>

use super::chromium::Pipe;
use super::tabs::{Message, Tabs};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Limit on the bytes of a message of the browser: a screenshot has a few megabytes.
const MAX_MESSAGE: u64 = 256 << 20;

/// A connection to a browser, which is closed on drop.
pub(super) struct Devtools {
    requests: mpsc::UnboundedSender<Request>,
    /// The time that a command may take.
    pub(super) limit: Duration,
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

/// A command that was sent, and has no response yet.
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

/// A command as it is sent.
#[derive(Serialize)]
struct Command<'a> {
    id: u64,
    method: &'a str,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a str>,
    params: &'a Value,
}

/// A message of the browser: the response to a command, or an event.
#[derive(Deserialize)]
#[serde(untagged)]
enum Received {
    Response { id: u64, result: Option<Value>, error: Option<Refusal> },
    Event(Event),
}

#[derive(Deserialize)]
struct Refusal {
    message: String,
}

impl Devtools {
    /// Uses the pipe of a browser. Events update `tabs`. A command may take `limit`.
    pub(super) fn over(pipe: Pipe, limit: Duration, tabs: Arc<Tabs>) -> Self {
        let (requests, received) = mpsc::unbounded_channel();
        let task = tokio::spawn(run(pipe, received, tabs));
        Self { requests, limit, task }
    }

    /// Runs a command of the browser, or of a page if `session` is given, and returns its result.
    ///
    /// # Errors
    /// The command fails, or has no result in time.
    pub(super) async fn query<T: DeserializeOwned>(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<T, Failure> {
        let message = Message::new(session, method, params);
        let (reply, response) = oneshot::channel();
        self.requests.send(Request { message, reply }).map_err(|_| Failure::Closed)?;
        let response = tokio::time::timeout(self.limit, response).await;
        let value = response.map_err(|_| Failure::Timeout)?.map_err(|_| Failure::Closed)??;
        serde_json::from_value(value)
            .map_err(|error| Failure::Unexpected(format!("{method}: {error}")))
    }

    /// Runs a command without a result.
    ///
    /// # Errors
    /// As [`query`](Self::query).
    pub(super) async fn run(
        &self,
        session: Option<&str>,
        method: &'static str,
        params: Value,
    ) -> Result<(), Failure> {
        self.query::<Value>(session, method, params).await.map(drop)
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
async fn run(pipe: Pipe, requests: mpsc::UnboundedReceiver<Request>, tabs: Arc<Tabs>) {
    let (commands, unsent) = mpsc::unbounded_channel();
    let (responses, received) = mpsc::channel(1);
    // The browser may have to be read before it takes more.
    let ended = tokio::select! {
        ended = write(pipe.commands, unsent) => ended,
        ended = read(pipe.responses, responses) => ended,
        () = exchange(received, requests, &commands, &tabs) => Ok(()),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "the connection to a browser has ended");
    }
}

async fn write(
    mut pipe: ChildStdin,
    mut unsent: mpsc::UnboundedReceiver<String>,
) -> io::Result<()> {
    while let Some(mut text) = unsent.recv().await {
        text.push('\0');
        pipe.write_all(text.as_bytes()).await?;
    }
    Ok(())
}

/// Reads messages until the browser ends, or writes one that is too long.
async fn read(pipe: ChildStdout, responses: mpsc::Sender<Vec<u8>>) -> io::Result<()> {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut message = Vec::new();
        (&mut pipe).take(MAX_MESSAGE).read_until(0, &mut message).await?;
        if message.pop() != Some(0) {
            return Ok(());
        }
        if responses.send(message).await.is_err() {
            return Ok(());
        }
    }
}

/// Gives responses to their commands, and events to the tabs.
async fn exchange(
    mut responses: mpsc::Receiver<Vec<u8>>,
    mut requests: mpsc::UnboundedReceiver<Request>,
    commands: &mpsc::UnboundedSender<String>,
    tabs: &Tabs,
) {
    let mut waiting: HashMap<u64, Waiting> = HashMap::new();
    let mut last_id = 0;
    let mut send = |message: &Message| {
        last_id += 1;
        let Message { session, method, params } = message;
        let command = Command { id: last_id, method, session: session.as_deref(), params };
        // JSON of strings and of JSON does not fail; without a receiver, `run` ends.
        let _ = serde_json::to_string(&command).map(|text| commands.send(text));
        last_id
    };
    loop {
        tokio::select! {
            request = requests.recv() => {
                let Some(Request { message, reply }) = request else { return };
                let id = send(&message);
                waiting.retain(|_, waiting| !waiting.reply.is_closed());
                waiting.insert(id, Waiting { session: message.session, reply });
            }
            response = responses.recv() => {
                let Some(response) = response else { return };
                match serde_json::from_slice(&response) {
                    Ok(Received::Response { id, result, error }) => {
                        let response = match error {
                            Some(error) => Err(Failure::Refused(error.message)),
                            None => Ok(result.unwrap_or_default()),
                        };
                        if let Some(waiting) = waiting.remove(&id) {
                            // Fails only if the call was cancelled.
                            let _ = waiting.reply.send(response);
                        }
                    }
                    Ok(Received::Event(event)) => {
                        let closed = closed_session(&event);
                        for message in tabs.on_event(event) {
                            send(&message);
                        }
                        // The browser does not respond to the commands of a page that was closed meanwhile.
                        if closed.is_some() {
                            for (_, waiting) in waiting.extract_if(|_, it| it.session == closed) {
                                let response = Err(Failure::Refused("the page was closed".to_owned()));
                                let _ = waiting.reply.send(response);
                            }
                        }
                    }
                    Err(error) => {
                        let length = response.len();
                        tracing::debug!(%error, length, "a message of the browser is not valid");
                    }
                }
            }
        }
    }
}

/// The session of a page that was closed.
fn closed_session(event: &Event) -> Option<String> {
    let is_closed = event.method == "Target.detachedFromTarget";
    event.params["sessionId"].as_str().filter(|_| is_closed).map(str::to_owned)
}
