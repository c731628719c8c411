//! The bounded queue of outgoing messages.

use crate::failure::Unsent;
use crate::notification_router::NotificationRouter;
use rmcp::RoleClient;
use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId};
use rmcp::service::TxJsonRpcMessage;
use std::collections::{HashSet, VecDeque};
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

type Message = TxJsonRpcMessage<RoleClient>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// Limit on the time in which a server reads nothing. Does not apply during a call: some servers do not read meanwhile.
const STALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Limits on the queue of a server that reads nothing. Cancelled messages are removed from the queue.
const MAX_BYTES: usize = 64 << 20;
const MAX_MESSAGES: usize = 10_000;
/// A server that has read a message within this time is not stalled.
const RECENT: Duration = Duration::from_secs(1);
/// Time for the queue to be written before the connection closes.
const FLUSH_TIMEOUT: Duration = Duration::from_millis(500);

/// The reason why a message was not written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unwritten {
    /// No byte was written.
    #[error("{0}")]
    Wholly(#[from] Unsent),
    /// A part was written.
    #[error("{0}")]
    Partly(String),
}

/// Messages to a server. The first sender writes the messages of all concurrent senders.
pub(super) struct Outgoing {
    state: Mutex<State>,
    notifications: Arc<NotificationRouter>,
    /// Notified when the queue is empty.
    rest: Notify,
    /// Cancelled when nothing more is written.
    over: CancellationToken,
}

struct State {
    /// `None` during a write, and after the end.
    writer: Option<Writer>,
    queue: VecDeque<QueuedMessage>,
    /// Bytes in the queue.
    bytes: usize,
    /// The calls that were written at least in part, and that were neither answered nor cancelled.
    calls: HashSet<RequestId>,
    /// The call that is being written.
    begun: Option<RequestId>,
    /// Time at which the server last read a message, or the queue became non-empty.
    last_progress: Instant,
    /// The reason why nothing more is written.
    end: Option<String>,
}

struct QueuedMessage {
    line: Vec<u8>,
    call: Option<RequestId>,
    done: oneshot::Sender<Result<(), Unwritten>>,
}

impl Outgoing {
    pub(super) fn new(
        writer: impl AsyncWrite + Send + Unpin + 'static,
        notifications: Arc<NotificationRouter>,
    ) -> Arc<Self> {
        let state = State {
            writer: Some(Box::new(writer)),
            queue: VecDeque::new(),
            bytes: 0,
            calls: HashSet::new(),
            begun: None,
            last_progress: Instant::now(),
            end: None,
        };
        let (rest, over) = (Notify::new(), CancellationToken::new());
        Arc::new(Self { state: Mutex::new(state), notifications, rest, over })
    }

    /// Puts a message into the queue immediately; the future writes, or waits until it is written.
    pub(super) fn send(
        self: &Arc<Self>,
        message: &Message,
    ) -> impl Future<Output = Result<(), Unwritten>> + Send + use<> {
        let (this, queued) = (Arc::clone(self), self.queue(message));
        async move {
            let Some(written) = queued? else { return Ok(()) };
            if let Some(writer) = this.idle_writer() {
                this.drain(writer).await;
            }
            written.await.unwrap_or_else(|_| Err(this.rejection()))
        }
    }

    /// Queues a message and returns the receiver of its result. `None` if nothing is to be written: the
    /// cancellation of a call that is still in the queue.
    fn queue(
        &self,
        message: &Message,
    ) -> Result<Option<oneshot::Receiver<Result<(), Unwritten>>>, Unwritten> {
        if cancelled(message).is_some_and(|call| self.state().forget(call)) {
            return Ok(None);
        }
        let line = line(message).map_err(|error| Unsent::new(error.to_string()))?;
        let (done, written) = oneshot::channel();
        let mut state = self.state();
        if state.end.is_some() {
            drop(state);
            return Err(self.rejection());
        }
        if state.is_idle() {
            state.last_progress = Instant::now();
        }
        state.bytes += line.len();
        state.queue.push_back(QueuedMessage { line, call: call(message).cloned(), done });
        if state.is_full() {
            drop(state);
            self.give_up("it does not read its input, and too many messages are waiting");
            return Err(self.rejection());
        }
        Ok(Some(written))
    }

    /// Whether the server has calls to answer.
    pub(super) fn has_calls(&self) -> bool {
        !self.state().calls.is_empty()
    }

    /// Removes a call that was answered. Returns whether there was a call with this id.
    pub(super) fn answered(&self, call: &RequestId) -> bool {
        let mut state = self.state();
        // Some servers answer with the number as a string.
        state.calls.remove(call)
            || matches!(call, RequestId::String(text) if text.parse().is_ok_and(|id| state.calls.remove(&RequestId::Number(id))))
    }

    /// Whether we ended the connection.
    pub(super) fn has_given_up(&self) -> bool {
        self.notifications.end().is_some()
    }

    /// Whether nothing more is written.
    pub(super) fn is_over(&self) -> bool {
        self.over.is_cancelled()
    }

    /// Closes the writer. The queue is written first, within a time limit.
    pub(super) async fn close(&self) {
        let flushed = async {
            while !self.state().is_flushed() {
                self.rest.notified().await;
            }
        };
        drop(timeout(FLUSH_TIMEOUT, flushed).await);
        self.end("the connection is closed");
    }

    fn idle_writer(&self) -> Option<Writer> {
        self.state().writer.take()
    }

    /// Writes the queue, including messages that arrive meanwhile.
    async fn drain(&self, mut writer: Writer) {
        while let Some((next, message)) = self.next(writer) {
            writer = next;
            let result = self.write(&mut writer, &message.line).await;
            let end = result.as_ref().err().map(ToString::to_string);
            // The sender may have been dropped.
            drop(message.done.send(result));
            if let Some(end) = end {
                return self.end(&end);
            }
        }
    }

    /// The next message. Without one, the writer becomes idle.
    fn next(&self, writer: Writer) -> Option<(Writer, QueuedMessage)> {
        let mut state = self.state();
        if let Some(message) = state.queue.pop_front() {
            state.bytes -= message.line.len();
            state.calls.extend(message.call.clone());
            state.begun.clone_from(&message.call);
            return Some((writer, message));
        }
        state.begun = None;
        state.writer = state.end.is_none().then_some(writer);
        drop(state);
        self.rest.notify_one();
        None
    }

    async fn write(&self, writer: &mut Writer, line: &[u8]) -> Result<(), Unwritten> {
        let mut rest = line;
        while !rest.is_empty() {
            let count = match self.step(writer.write(rest)).await {
                Ok(count @ 1..) => count,
                Ok(0) => return Err(Unwritten::Partly("nothing more is taken".to_owned())),
                Err(error) if rest.len() == line.len() => {
                    return Err(Unsent::from(error).into());
                }
                Err(error) => return Err(Unwritten::Partly(error.to_string())),
            };
            rest = &rest[count..];
            self.state().last_progress = Instant::now();
        }
        let flushed = self.step(writer.flush()).await;
        flushed.map_err(|error| Unwritten::Partly(error.to_string()))
    }

    /// Waits for the writer while the server reads or processes a call. The clock is read only if it has to
    /// wait.
    async fn step<T>(&self, step: impl Future<Output = io::Result<T>>) -> io::Result<T> {
        let mut step = pin!(step);
        loop {
            tokio::select! {
                biased;
                done = &mut step => return done,
                () = self.over.cancelled() => return Err(io::Error::other(self.reason())),
                () = sleep(STALL_TIMEOUT) => {}
            }
            if !self.state().is_busy() {
                let pause = humantime::format_duration(STALL_TIMEOUT);
                self.give_up(&format!("it has read none of its input for {pause}"));
            }
        }
    }

    /// Ends the connection and notes the reason.
    fn give_up(&self, why: &str) {
        self.notifications.mark_ended(why);
        self.end(why);
    }

    fn end(&self, why: &str) {
        let mut state = self.state();
        if state.end.is_some() {
            return;
        }
        state.end = Some(why.to_owned());
        let (queue, writer) = (std::mem::take(&mut state.queue), state.writer.take());
        drop(state);
        self.notifications.mark_closed();
        self.over.cancel();
        drop((queue, writer));
    }

    fn rejection(&self) -> Unwritten {
        Unsent::new(self.reason()).into()
    }

    fn reason(&self) -> String {
        self.state().end.clone().unwrap_or_else(|| "the connection ended".to_owned())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    /// Whether the queue is empty and no write is running.
    fn is_idle(&self) -> bool {
        self.writer.is_some() && self.queue.is_empty()
    }

    fn is_flushed(&self) -> bool {
        self.is_idle() || self.end.is_some()
    }

    /// Whether the server may be processing a call.
    fn is_busy(&self) -> bool {
        self.calls.iter().any(|call| Some(call) != self.begun.as_ref())
    }

    fn is_full(&self) -> bool {
        let is_much = self.bytes > MAX_BYTES || self.queue.len() > MAX_MESSAGES;
        is_much && self.last_progress.elapsed() > RECENT
    }

    /// Removes a call from the queue. `false` if it was written before.
    fn forget(&mut self, call: &RequestId) -> bool {
        let position = self.queue.iter().position(|message| message.call.as_ref() == Some(call));
        let Some(message) = position.and_then(|position| self.queue.remove(position)) else {
            self.calls.remove(call);
            return false;
        };
        self.bytes -= message.line.len();
        drop(message.done.send(Ok(())));
        true
    }
}

fn line(message: &Message) -> serde_json::Result<Vec<u8>> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    Ok(line)
}

fn call(message: &Message) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Request(request) => {
            matches!(request.request, ClientRequest::CallToolRequest(_)).then_some(&request.id)
        }
        _ => None,
    }
}

fn cancelled(message: &Message) -> Option<&RequestId> {
    let JsonRpcMessage::Notification(notification) = message else { return None };
    match &notification.notification {
        ClientNotification::CancelledNotification(notification) => {
            notification.params.request_id.as_ref()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::is_unsent;
    use crate::time_limit::in_time;
    use futures_util::future::join_all;
    use serde_json::json;
    use tokio::io::{AsyncBufReadExt as _, BufReader, DuplexStream, duplex};

    fn outgoing(room: usize) -> (Arc<Outgoing>, DuplexStream) {
        let (ours, theirs) = duplex(room);
        let notifications = Arc::new(NotificationRouter::new("s".into(), Arc::default()));
        (Outgoing::new(ours, notifications), theirs)
    }

    fn message(value: serde_json::Value) -> Message {
        serde_json::from_value(value).unwrap()
    }

    fn call_message(id: i64, bytes: usize) -> Message {
        message(json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": "t", "arguments": { "a": "x".repeat(bytes) } },
        }))
    }

    fn cancellation_message(id: i64) -> Message {
        message(json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id },
        }))
    }

    #[tokio::test(start_paused = true)]
    async fn a_reading_server_has_no_limit_on_queued_bytes() {
        let (outgoing, theirs) = outgoing(1 << 16);
        let sent: Vec<_> = (0..100).map(|id| outgoing.send(&call_message(id, 1 << 20))).collect();
        let read = tokio::spawn(async move {
            let mut lines = BufReader::new(theirs).lines();
            for id in 0..100 {
                let line = in_time("a line", lines.next_line()).await.unwrap().unwrap();
                assert!(line.contains(&format!("\"id\":{id},")), "out of order");
            }
        });
        assert!(in_time("all to be sent", join_all(sent)).await.iter().all(Result::is_ok));
        read.await.unwrap();
        assert_eq!(outgoing.state().bytes, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_does_not_read_is_disconnected() {
        let (outgoing, _theirs) = outgoing(1 << 10);
        let began = Instant::now();
        let first = tokio::spawn(outgoing.send(&call_message(1, 1 << 20)));
        tokio::task::yield_now().await;
        let second = in_time("a message to be sent", outgoing.send(&call_message(2, 10))).await;
        assert_eq!(began.elapsed().as_secs(), STALL_TIMEOUT.as_secs());
        assert!(is_unsent(&second.unwrap_err()));
        let first = in_time("a message to be sent", first).await.unwrap().unwrap_err();
        assert!(!is_unsent(&first), "the server has a part of it");
        for why in [&*first.to_string(), outgoing.notifications.end().unwrap()] {
            assert!(why.contains("read none of its input for 30s"), "{why}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_may_stop_reading_during_a_call() {
        let (outgoing, _theirs) = outgoing(1 << 10);
        in_time("a message to be sent", outgoing.send(&call_message(1, 10))).await.unwrap();
        let second = tokio::spawn(outgoing.send(&call_message(2, 1 << 20)));
        tokio::time::sleep(STALL_TIMEOUT * 10).await;
        assert!(!outgoing.is_over());
        // The cancelled call sends its cancellation.
        in_time("a message to be sent", outgoing.send(&cancellation_message(1))).await.unwrap_err();
        in_time("a message to be sent", second).await.unwrap().unwrap_err();
    }

    #[tokio::test(start_paused = true)]
    async fn messages_to_a_server_that_does_not_read_are_bounded() {
        for bytes in [0, 1 << 20] {
            let (outgoing, _theirs) = outgoing(1 << 10);
            let first = tokio::spawn(outgoing.send(&call_message(0, 1 << 20)));
            tokio::time::sleep(RECENT * 2).await;
            let sent = (1..).map(|id| outgoing.send(&call_message(id, bytes)));
            let queued: Vec<_> = sent.take_while(|_| !outgoing.is_over()).collect();
            assert!(queued.len() <= MAX_MESSAGES && (queued.len() + 1) * bytes <= 2 * MAX_BYTES);
            for sent in queued {
                assert!(is_unsent(&in_time("a message to be sent", sent).await.unwrap_err()));
            }
            in_time("a message to be sent", first).await.unwrap().unwrap_err();
            assert!(
                outgoing.notifications.end().unwrap().contains("too many messages are waiting")
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_call_cancelled_before_it_is_written_is_never_written() {
        let (outgoing, theirs) = outgoing(1 << 10);
        let first = tokio::spawn(outgoing.send(&call_message(1, 1 << 20)));
        tokio::task::yield_now().await;
        let second = tokio::spawn(outgoing.send(&call_message(2, 1 << 20)));
        let third = tokio::spawn(outgoing.send(&call_message(3, 0)));
        in_time("a message to be sent", outgoing.send(&cancellation_message(2))).await.unwrap();
        in_time("a message to be sent", second).await.unwrap().unwrap();
        assert!(outgoing.state().bytes < 1 << 10, "its memory is free");
        let mut lines = BufReader::new(theirs).lines();
        for id in [1, 3] {
            let line = in_time("a line", lines.next_line()).await.unwrap().unwrap();
            assert!(line.contains(&format!("\"id\":{id},")));
        }
        in_time("a message to be sent", first).await.unwrap().unwrap();
        in_time("a message to be sent", third).await.unwrap().unwrap();
        in_time("the end", outgoing.close()).await;
        assert_eq!(in_time("the end", lines.next_line()).await.unwrap(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn closing_waits_briefly() {
        let (outgoing, _theirs) = outgoing(1 << 10);
        let sent = tokio::spawn(outgoing.send(&call_message(1, 1 << 20)));
        tokio::task::yield_now().await;
        let began = Instant::now();
        in_time("the end", outgoing.close()).await;
        assert!(began.elapsed() <= FLUSH_TIMEOUT * 2);
        in_time("a message to be sent", sent).await.unwrap().unwrap_err();
        assert!(is_unsent(
            &in_time("a message to be sent", outgoing.send(&call_message(2, 0))).await.unwrap_err()
        ));
    }
}
