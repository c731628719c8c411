//! The JSON-RPC connection of the client.

use super::message::{self, Message, Notification, Outcome};
use super::question::{Question, QuestionHandler};
use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::io::{ReadHalf, WriteHalf};
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::timeout;
use tool_runtime_core::seam::lock;

/// The client's end of the connection.
pub(super) struct JsonRpc {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// `None` once the client has closed the connection.
    outgoing: Option<mpsc::UnboundedSender<String>>,
    last_id: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Outcome>>,
    /// Ids of requests whose answers are ignored.
    given_up: BTreeSet<u64>,
    notifications: Vec<Received>,
    transcript: Vec<String>,
    /// The reason why the connection ended.
    end: Option<String>,
}

struct Received {
    notification: Notification,
    /// Whether [`JsonRpc::next`] has returned it.
    is_consumed: bool,
}

/// The effect of a line on the open questions.
enum Effect {
    Question(Value, Question),
    Cancelled(Value),
    None,
}

impl JsonRpc {
    /// Connects over one end of a stream. `questions` answers requests of the server.
    pub(super) fn new(stream: DuplexStream, questions: Arc<QuestionHandler>) -> Arc<Self> {
        let (input, output) = tokio::io::split(stream);
        let (outgoing, lines) = mpsc::unbounded_channel();
        let state = State { outgoing: Some(outgoing), ..State::default() };
        let rpc = Arc::new(Self { state: Mutex::new(state), changed: Notify::new() });
        tokio::spawn(write(lines, output));
        tokio::spawn(Arc::clone(&rpc).read(input, questions));
        rpc
    }

    /// Sends a request.
    ///
    /// # Panics
    /// The connection has ended.
    pub(super) fn request(
        self: &Arc<Self>,
        method: &str,
        make: impl FnOnce(u64) -> Map<String, Value>,
    ) -> PendingRequest {
        let mut state = self.state();
        state.last_id += 1;
        let id = state.last_id;
        let (answered, answer) = oneshot::channel();
        state.waiting.insert(id, answered);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": make(id) });
        let sent = state.send(&message);
        drop(state);
        if let Err(end) = sent {
            panic!("`{method}` cannot be sent: {end}");
        }
        PendingRequest { rpc: Arc::clone(self), id, method: method.to_owned(), answer }
    }

    /// Sends a request and ignores its answer. Does nothing after the end of the connection.
    pub(super) fn send_unanswered(&self, method: &str, params: &Map<String, Value>) {
        let mut state = self.state();
        state.last_id += 1;
        let id = state.last_id;
        state.given_up.insert(id);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        drop(state.send(&message));
    }

    /// Sends a notification. Does nothing after the end of the connection.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        drop(self.state().send(&message));
    }

    /// Closes the connection.
    pub(super) fn close(&self) {
        self.state().outgoing = None;
    }

    /// The reason why the connection ended, if it did.
    pub(super) fn end(&self) -> Option<String> {
        self.state().end.clone()
    }

    /// All lines so far, each with its direction.
    pub(super) fn transcript(&self) -> Vec<String> {
        self.state().transcript.clone()
    }

    /// The notifications after the first `from`.
    pub(super) fn notifications(&self, from: usize) -> Vec<Notification> {
        let state = self.state();
        state.notifications[from..].iter().map(|received| received.notification.clone()).collect()
    }

    /// Number of notifications.
    pub(super) fn notified(&self) -> usize {
        self.state().notifications.len()
    }

    /// Waits for a notification that was not returned yet.
    ///
    /// # Panics
    /// The connection ends before.
    pub(super) async fn next(&self, is_wanted: impl Fn(&Notification) -> bool) -> Notification {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(found) = self.state().take(&is_wanted) {
                return found;
            }
            if let Some(end) = self.end() {
                panic!("the notification did not arrive: {end}");
            }
            changed.await;
        }
    }

    /// The reading task.
    async fn read(self: Arc<Self>, input: ReadHalf<DuplexStream>, questions: Arc<QuestionHandler>) {
        let mut lines = BufReader::new(input).lines();
        // Dropped with the connection, which aborts running handlers.
        let mut answering = JoinSet::new();
        let mut open = BTreeMap::new();
        let end = loop {
            let Ok(Some(line)) = lines.next_line().await else {
                break "the server has ended the connection".to_owned();
            };
            match self.receive(&line) {
                Ok(Effect::None) => {}
                Ok(Effect::Question(id, question)) => {
                    let reply =
                        Arc::clone(&self).reply(id.clone(), question, Arc::clone(&questions));
                    open.insert(id.to_string(), answering.spawn(reply));
                }
                Ok(Effect::Cancelled(id)) => drop(open.remove(&id.to_string()).map(|o| o.abort())),
                Err(problem) => break format!("the server sent {line}\n{problem}"),
            }
        };
        self.finish(end);
    }

    /// Handles a line.
    fn receive(&self, line: &str) -> Result<Effect, String> {
        let mut state = self.state();
        state.transcript.push(format!("<- {line}"));
        match message::parse(line)? {
            Message::Request { id, method, params } => {
                Ok(Effect::Question(id, Question::new(None, method, params)))
            }
            Message::Answer { id, outcome } => state.answer(&id, outcome).map(|()| Effect::None),
            Message::Notification(notification) => {
                let effect = match notification.method.as_str() {
                    "notifications/cancelled" => {
                        Effect::Cancelled(notification.params["requestId"].clone())
                    }
                    _ => Effect::None,
                };
                state.notifications.push(Received { notification, is_consumed: false });
                self.changed.notify_waiters();
                Ok(effect)
            }
        }
    }

    async fn reply(
        self: Arc<Self>,
        id: Value,
        question: Question,
        questions: Arc<QuestionHandler>,
    ) {
        let answered = AssertUnwindSafe(questions.reply(question)).catch_unwind().await;
        let Ok(reply) = answered else {
            return self.finish("the client's own `answer` panicked".to_owned());
        };
        let mut message = json!({ "jsonrpc": "2.0", "id": id });
        match reply.into_outcome() {
            Ok(result) => message["result"] = result,
            Err(error) => {
                message["error"] = json!({ "code": error.code(), "message": error.message() });
                if let Some(data) = error.data() {
                    message["error"]["data"] = data.clone();
                }
            }
        }
        drop(self.state().send(&message));
    }

    /// Ends all waits.
    fn finish(&self, end: String) {
        let mut state = self.state();
        state.end.get_or_insert(end);
        state.waiting.clear();
        drop(state);
        self.changed.notify_waiters();
    }

    fn give_up(&self, id: u64) {
        let mut state = self.state();
        if state.waiting.remove(&id).is_none() {
            return;
        }
        state.given_up.insert(id);
        drop(state);
        self.notify("notifications/cancelled", &json!({ "requestId": id }));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn send(&mut self, message: &Value) -> Result<(), String> {
        if let Some(end) = &self.end {
            return Err(end.clone());
        }
        let outgoing = self.outgoing.as_ref().ok_or("the client has closed the connection")?;
        let line = message.to_string();
        self.transcript.push(format!("-> {line}"));
        outgoing.send(line).map_err(|_| "the server does not read any more".to_owned())
    }

    /// Passes an answer to its request. A second answer is an error.
    fn answer(&mut self, id: &Value, outcome: Outcome) -> Result<(), String> {
        let id = id.as_u64().ok_or("the id of the answer is not that of a request")?;
        match self.waiting.remove(&id) {
            Some(waiting) => drop(waiting.send(outcome)),
            None if self.given_up.remove(&id) => {}
            None => {
                return Err("there is no such request, or it has an answer already".to_owned());
            }
        }
        Ok(())
    }

    fn take(&mut self, is_wanted: impl Fn(&Notification) -> bool) -> Option<Notification> {
        let mut open = self.notifications.iter_mut().filter(|received| !received.is_consumed);
        let found = open.find(|received| is_wanted(&received.notification))?;
        found.is_consumed = true;
        Some(found.notification.clone())
    }
}

/// The writing task: runs until the client closes the connection or the server no longer reads.
async fn write(mut lines: mpsc::UnboundedReceiver<String>, mut output: WriteHalf<DuplexStream>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if output.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
    drop(output.shutdown().await);
}

/// A request in flight. Dropping it before its answer cancels it.
pub(super) struct PendingRequest {
    rpc: Arc<JsonRpc>,
    id: u64,
    method: String,
    answer: oneshot::Receiver<Outcome>,
}

impl PendingRequest {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the answer.
    ///
    /// # Panics
    /// No answer arrives in time, or the connection ends.
    pub(super) async fn answer(&mut self, limit: Duration) -> Outcome {
        match timeout(limit, &mut self.answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => {
                let end = self.rpc.end().unwrap_or_default();
                panic!("`{}` (request {}) has no answer: {end}", self.method, self.id);
            }
            Err(_) => panic!(
                "the server has not answered `{}` (request {}) within {limit:?}",
                self.method, self.id
            ),
        }
    }
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        self.rpc.give_up(self.id);
    }
}
