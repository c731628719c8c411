//! Runs a call: sends its messages, and ends it for questions.

use super::client::Client;
use super::logging;
use super::outbox::Next;
use super::rounds::Interruption;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ErrorData, InputRequiredResult,
    ProgressNotification, ProgressNotificationParam, ServerNotification,
};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tokio::time::Sleep;
use tool_runtime_core::vocabulary::BoxFuture;

/// Runs the work of a request to its end, or to a question that the client must answer first.
///
/// Messages of the work are sent from here, in the task of the request: rmcp assigns a message to a request by the
/// task.
pub(super) async fn run_call<F: Future>(
    client: &Client,
    work: F,
) -> Result<F::Output, Interruption> {
    let mut work = pin!(Some(work));
    let mut sender = Sender::new(client);
    let ended = poll_fn(|task| {
        client.outbox().register(task.waker());
        let work = work.as_mut().as_pin_mut().expect("it is there until it ended");
        if let Poll::Ready(output) = work.poll(task) {
            return Poll::Ready(Ok(output));
        }
        if let Some(interruption) = client.interruption() {
            return Poll::Ready(Err(interruption));
        }
        // Pending messages are sent later.
        let _ = sender.poll(task, false);
        Poll::Pending
    })
    .await;
    cut_short(client, || work.set(None));
    if ended.is_err() {
        client.settled_calls().await;
    }
    sender.finish().await;
    ended
}

/// Sends all queued messages.
pub(super) async fn send_queued(client: &Client) {
    Sender::new(client).finish().await;
}

/// Drops a call that a question ends. A panic of the drop does not affect the question.
pub(super) fn cut_short(client: &Client, drop: impl FnOnce()) {
    if catch_unwind(AssertUnwindSafe(drop)).is_err() {
        tracing::error!(name = client.name(), "dropping a call for a question panicked");
    }
}

/// The response of an interrupted call: its questions, or an error.
pub(super) fn interrupted<T: From<InputRequiredResult>>(
    interruption: Interruption,
) -> Result<T, ErrorData> {
    match interruption {
        Interruption::Questions(questions) => Ok(questions.into()),
        Interruption::Failed(error) => Err(error),
    }
}

/// Sends one message at a time.
struct Sender<'a> {
    client: &'a Client,
    sending: Option<BoxFuture<'a, ()>>,
    timer: Option<Pin<Box<Sleep>>>,
}

impl<'a> Sender<'a> {
    fn new(client: &'a Client) -> Self {
        Self { client, sending: None, timer: None }
    }

    /// Sends all queued messages.
    async fn finish(mut self) {
        poll_fn(|task| self.poll(task, true)).await;
        let dropped = self.client.outbox().dropped();
        if dropped > 0 {
            let name = self.client.name();
            tracing::warn!(dropped, name, "log entries came faster than the client read");
        }
    }

    /// Ready when the queue is empty.
    fn poll(&mut self, task: &mut Context<'_>, is_over: bool) -> Poll<()> {
        loop {
            if let Some(sending) = &mut self.sending {
                std::task::ready!(sending.as_mut().poll(task));
                self.sending = None;
            }
            match self.client.outbox().next(is_over) {
                Next::Nothing => return Poll::Ready(()),
                Next::Wait(at) => {
                    let timer =
                        self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep_until(at)));
                    if timer.deadline() != at {
                        timer.as_mut().reset(at);
                    }
                    std::task::ready!(timer.as_mut().poll(task));
                }
                Next::CancelQuestion(question) => {
                    let param = CancelledNotificationParam::new(Some(question), None);
                    self.send(CancelledNotification::new(param).into());
                }
                Next::Ask(question) => {
                    self.sending = Some(Box::pin(self.client.send(question)));
                }
                Next::Log(entry) => self.send(logging::message(entry)),
                Next::Progress(progress) => {
                    let token = self.client.progress_token().cloned();
                    let Some(token) = token else { continue };
                    let mut param = ProgressNotificationParam::new(token, progress.done);
                    param.total = progress.total;
                    param.message = progress.message;
                    self.send(ProgressNotification::new(param).into());
                }
            }
        }
    }

    fn send(&mut self, message: ServerNotification) {
        let client = self.client;
        self.sending = Some(Box::pin(async move {
            // A disconnected client gets no notification; its call is cancelled by the transport.
            client.while_connected(client.request().notify(message)).await.unwrap_or_default();
        }));
    }
}
