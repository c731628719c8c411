//! The line between client and server: requests and their answers, and all else that is said.

use super::message::{self, Message, Notification, Outcome};
use super::question::{Desk, Question};
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
pub(super) struct Wire {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    /// `None` once the client has hung up.
    outgoing: Option<mpsc::UnboundedSender<String>>,
    last_id: u64,
    waiting: BTreeMap<u64, oneshot::Sender<Outcome>>,
    /// Whose answers may still come, and interest nobody.
    given_up: BTreeSet<u64>,
    notifications: Vec<Heard>,
    transcript: Vec<String>,
    /// Why nothing more comes.
    end: Option<String>,
}

struct Heard {
    notification: Notification,
    /// Somebody waited for it and got it.
    is_taken: bool,
}

/// What a line asks the client to do.
enum Turn {
    Question(Value, Question),
    /// A question that needs no answer any more.
    TakenBack(Value),
    None,
}

impl Turn {
    fn of(notification: &Notification) -> Self {
        match notification.method.as_str() {
            "notifications/cancelled" => Self::TakenBack(notification.params["requestId"].clone()),
            _ => Self::None,
        }
    }
}

impl Wire {
    /// Takes one end of a stream, and has what the server asks answered by `desk`.
    pub(super) fn over(stream: DuplexStream, desk: Arc<Desk>) -> Arc<Self> {
        let (input, output) = tokio::io::split(stream);
        let (outgoing, lines) = mpsc::unbounded_channel();
        let state = State { outgoing: Some(outgoing), ..State::default() };
        let wire = Arc::new(Self { state: Mutex::new(state), changed: Notify::new() });
        tokio::spawn(write(lines, output));
        tokio::spawn(Arc::clone(&wire).listen(input, desk));
        wire
    }

    /// Sends a request.
    ///
    /// # Panics
    /// The connection has ended.
    pub(super) fn request(
        self: &Arc<Self>,
        method: &str,
        make: impl FnOnce(u64) -> Map<String, Value>,
    ) -> Sent {
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
        Sent { wire: Arc::clone(self), id, method: method.to_owned(), answer }
    }

    /// Sends a request whose answer interests nobody; nobody hears it once the connection has ended.
    pub(super) fn mention(&self, method: &str, params: &Map<String, Value>) {
        let mut state = self.state();
        state.last_id += 1;
        let id = state.last_id;
        state.given_up.insert(id);
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        drop(state.send(&message));
    }

    /// Sends a notification; nobody hears it once the connection has ended.
    pub(super) fn notify(&self, method: &str, params: &Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        drop(self.state().send(&message));
    }

    /// Tells the server that nothing more comes.
    pub(super) fn hang_up(&self) {
        self.state().outgoing = None;
    }

    /// Why nothing more comes, if that is so.
    pub(super) fn end(&self) -> Option<String> {
        self.state().end.clone()
    }

    /// All lines so far, each with its direction.
    pub(super) fn transcript(&self) -> Vec<String> {
        self.state().transcript.clone()
    }

    /// What the server said unasked, from the given one on.
    pub(super) fn notifications(&self, from: usize) -> Vec<Notification> {
        let state = self.state();
        state.notifications[from..].iter().map(|heard| heard.notification.clone()).collect()
    }

    /// How much the server has said unasked.
    pub(super) fn notified(&self) -> usize {
        self.state().notifications.len()
    }

    /// Waits for a notification that nobody has got yet.
    ///
    /// # Panics
    /// The connection ends before it comes.
    pub(super) async fn next(&self, is_wanted: impl Fn(&Notification) -> bool) -> Notification {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            if let Some(found) = self.state().take(&is_wanted) {
                return found;
            }
            if let Some(end) = self.end() {
                panic!("the notification did not come: {end}");
            }
            changed.await;
        }
    }

    /// The life of the reading task.
    async fn listen(self: Arc<Self>, input: ReadHalf<DuplexStream>, desk: Arc<Desk>) {
        let mut lines = BufReader::new(input).lines();
        // Dropped with the connection, and what still answers with it.
        let mut answering = JoinSet::new();
        let mut open = BTreeMap::new();
        let end = loop {
            let Ok(Some(line)) = lines.next_line().await else {
                break "the server has ended the connection".to_owned();
            };
            match self.hear(&line) {
                Ok(Turn::None) => {}
                Ok(Turn::Question(id, question)) => {
                    let reply = Arc::clone(&self).reply(id.clone(), question, Arc::clone(&desk));
                    open.insert(id.to_string(), answering.spawn(reply));
                }
                Ok(Turn::TakenBack(id)) => drop(open.remove(&id.to_string()).map(|o| o.abort())),
                Err(problem) => break format!("the server said {line}\n{problem}"),
            }
        };
        self.finish(end);
    }

    /// Takes a line in; gives back what is to be done about it.
    fn hear(&self, line: &str) -> Result<Turn, String> {
        let mut state = self.state();
        state.transcript.push(format!("<- {line}"));
        match message::parse(line)? {
            Message::Request { id, method, params } => {
                Ok(Turn::Question(id, Question::new(None, method, params)))
            }
            Message::Answer { id, outcome } => state.answer(&id, outcome).map(|()| Turn::None),
            Message::Notification(notification) => {
                let turn = Turn::of(&notification);
                state.notifications.push(Heard { notification, is_taken: false });
                self.changed.notify_waiters();
                Ok(turn)
            }
        }
    }

    async fn reply(self: Arc<Self>, id: Value, question: Question, desk: Arc<Desk>) {
        let answered = AssertUnwindSafe(desk.reply(question)).catch_unwind().await;
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

    /// Whoever waits learns that nothing more comes.
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
        let outgoing = self.outgoing.as_ref().ok_or("the client has hung up")?;
        let line = message.to_string();
        self.transcript.push(format!("-> {line}"));
        outgoing.send(line).map_err(|_| "the server does not read any more".to_owned())
    }

    /// Every request is answered once.
    fn answer(&mut self, id: &Value, outcome: Outcome) -> Result<(), String> {
        let id = id.as_u64().ok_or("it answers nothing that was asked")?;
        match self.waiting.remove(&id) {
            Some(waiting) => drop(waiting.send(outcome)),
            None if self.given_up.remove(&id) => {}
            None => {
                return Err("it answers what was never asked, or is answered already".to_owned());
            }
        }
        Ok(())
    }

    fn take(&mut self, is_wanted: impl Fn(&Notification) -> bool) -> Option<Notification> {
        let mut open = self.notifications.iter_mut().filter(|heard| !heard.is_taken);
        let found = open.find(|heard| is_wanted(&heard.notification))?;
        found.is_taken = true;
        Some(found.notification.clone())
    }
}

/// The life of the writing task, until the client hangs up or the server does not read any more.
async fn write(mut lines: mpsc::UnboundedReceiver<String>, mut output: WriteHalf<DuplexStream>) {
    while let Some(mut line) = lines.recv().await {
        line.push('\n');
        if output.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
    drop(output.shutdown().await);
}

/// A request on its way. Dropped before its answer, it is cancelled.
pub(super) struct Sent {
    wire: Arc<Wire>,
    id: u64,
    method: String,
    answer: oneshot::Receiver<Outcome>,
}

impl Sent {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    /// Waits for the answer.
    ///
    /// # Panics
    /// There is none in time, or the connection ends.
    pub(super) async fn answer(&mut self, limit: Duration) -> Outcome {
        match timeout(limit, &mut self.answer).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(_)) => {
                let end = self.wire.end().unwrap_or_default();
                panic!("`{}` (request {}) has no answer: {end}", self.method, self.id);
            }
            Err(_) => panic!(
                "the server has not answered `{}` (request {}) within {limit:?}",
                self.method, self.id
            ),
        }
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.wire.give_up(self.id);
    }
}
