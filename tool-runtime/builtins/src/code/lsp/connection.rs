//! The connection to a server: requests and their responses, in any order.

use super::error::{LspError, ResponseError};
use super::framing;
use super::host::Host;
use super::status::Status;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tool_runtime::__seam::lock;

/// Messages that wait to be written. A server that reads none while it asks that much is ended.
const MAX_QUEUED: usize = 1000;

type Response = Result<Value, LspError>;

/// A connection. Its tasks end with it.
pub(super) struct Connection {
    outgoing: mpsc::Sender<Vec<u8>>,
    pending: Arc<Pending>,
    status: Arc<Status>,
    _tasks: JoinSet<()>,
}

/// Requests that wait for their responses.
#[derive(Default)]
struct Pending(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    last: i64,
    responses: HashMap<i64, oneshot::Sender<Response>>,
    /// The reason why no more responses come.
    closed: Option<String>,
}

/// A message of the server.
#[derive(Deserialize)]
struct Incoming {
    id: Option<Value>,
    method: Option<String>,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<ResponseError>,
}

impl Connection {
    /// A connection over two streams.
    pub(super) fn open(
        input: impl AsyncRead + Unpin + Send + 'static,
        mut output: impl AsyncWrite + Unpin + Send + 'static,
        host: Host,
    ) -> Self {
        let (outgoing, mut queue) = mpsc::channel::<Vec<u8>>(MAX_QUEUED);
        let (pending, status) = (Arc::new(Pending::default()), Arc::new(Status::default()));
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            while let Some(message) = queue.recv().await {
                if framing::write(&mut output, &message).await.is_err() {
                    // The reader sees the end, and its reason.
                    return;
                }
            }
        });
        let reader = Reader {
            host,
            outgoing: outgoing.clone(),
            pending: Arc::clone(&pending),
            status: Arc::clone(&status),
        };
        tasks.spawn(reader.run(BufReader::new(input)));
        Self { outgoing, pending, status, _tasks: tasks }
    }

    /// Progress and diagnostics.
    pub(super) fn status(&self) -> &Status {
        &self.status
    }

    /// The reason why the connection has ended.
    pub(super) fn closed(&self) -> Option<String> {
        self.pending.lock().closed.clone()
    }

    /// Sends a notification.
    pub(super) async fn notify(&self, method: &str, params: Value) -> Result<(), LspError> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params})).await
    }

    /// Sends a request. Messages arrive in the order in which they are sent.
    pub(super) async fn start(
        &self,
        method: &str,
        params: Value,
    ) -> Result<InFlight<'_>, LspError> {
        let (id, response) = self.pending.register()?;
        let in_flight = InFlight { connection: self, id, response };
        let mut message = json!({"jsonrpc": "2.0", "id": id, "method": method});
        if !params.is_null() {
            message["params"] = params;
        }
        self.send(&message).await?;
        Ok(in_flight)
    }

    /// Sends a request and waits for its response.
    pub(super) async fn request(&self, method: &str, params: Value, limit: Duration) -> Response {
        self.start(method, params).await?.finish(limit).await
    }

    async fn send(&self, message: &Value) -> Result<(), LspError> {
        let sent = self.outgoing.send(message.to_string().into_bytes()).await;
        sent.map_err(|_| {
            LspError::Closed(self.closed().unwrap_or_else(|| "its input is closed".to_owned()))
        })
    }
}

/// A request that waits for its response. The server is told to stop if the caller no longer waits.
pub(super) struct InFlight<'c> {
    connection: &'c Connection,
    id: i64,
    response: oneshot::Receiver<Response>,
}

impl InFlight<'_> {
    /// Waits for the response.
    pub(super) async fn finish(mut self, limit: Duration) -> Response {
        match tokio::time::timeout(limit, &mut self.response).await {
            Ok(Ok(response)) => response,
            Ok(Err(_)) => Err(LspError::Closed("the connection was dropped".to_owned())),
            Err(_) => Err(LspError::Timeout(limit)),
        }
    }
}

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        if self.connection.pending.lock().responses.remove(&self.id).is_some() {
            let cancel =
                json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": self.id}});
            // A server that reads nothing need not stop.
            let _ = self.connection.outgoing.try_send(cancel.to_string().into_bytes());
        }
    }
}

impl Pending {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.0)
    }

    fn register(&self) -> Result<(i64, oneshot::Receiver<Response>), LspError> {
        let mut waiting = self.lock();
        if let Some(reason) = &waiting.closed {
            return Err(LspError::Closed(reason.clone()));
        }
        let (sender, receiver) = oneshot::channel();
        waiting.last += 1;
        let id = waiting.last;
        waiting.responses.insert(id, sender);
        Ok((id, receiver))
    }

    fn deliver(&self, id: Option<i64>, response: Response) {
        // The response of a cancelled request is dropped.
        let sender = id.and_then(|id| self.lock().responses.remove(&id));
        sender.map(|sender| sender.send(response));
    }

    fn close(&self, reason: String) {
        let mut waiting = self.lock();
        for (_, sender) in waiting.responses.drain() {
            let _ = sender.send(Err(LspError::Closed(reason.clone())));
        }
        waiting.closed.get_or_insert(reason);
    }
}

/// Reads what the server sends.
struct Reader {
    host: Host,
    outgoing: mpsc::Sender<Vec<u8>>,
    pending: Arc<Pending>,
    status: Arc<Status>,
}

impl Reader {
    async fn run(self, mut stream: BufReader<impl AsyncRead + Unpin>) {
        let reason = loop {
            match framing::read(&mut stream).await {
                Ok(Some(message)) => {
                    if let Err(reason) = self.receive(&message) {
                        break reason;
                    }
                }
                Ok(None) => break "it closed its output".to_owned(),
                Err(error) => break format!("its output has {error}"),
            }
        };
        self.pending.close(reason);
        self.status.close();
    }

    /// Handles one message.
    ///
    /// # Errors
    /// The reason to end the connection.
    fn receive(&self, message: &[u8]) -> Result<(), String> {
        let incoming: Incoming = serde_json::from_slice(message)
            .map_err(|error| format!("its output has a message that is not valid: {error}"))?;
        match (incoming.method, incoming.id) {
            (Some(method), Some(id)) => self.respond(&id, &method, &incoming.params),
            (Some(method), None) => {
                self.status.notified(&method, incoming.params);
                Ok(())
            }
            (None, id) => {
                let response = match incoming.error {
                    Some(error) => Err(LspError::Response(error)),
                    None => Ok(incoming.result),
                };
                self.pending.deliver(id.and_then(|id| id.as_i64()), response);
                Ok(())
            }
        }
    }

    fn respond(&self, id: &Value, method: &str, params: &Value) -> Result<(), String> {
        let response = match self.host.respond(method, params) {
            Some(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
            None => {
                let error =
                    json!({"code": -32601, "message": format!("`{method}` is not supported")});
                json!({"jsonrpc": "2.0", "id": id, "error": error})
            }
        };
        let sent = self.outgoing.try_send(response.to_string().into_bytes());
        sent.map_err(|_| "it asks without reading the answers".to_owned())
    }
}
