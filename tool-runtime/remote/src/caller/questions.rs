//! Questions of the tool at a runner, to the client of the caller.

use crate::board::{Board, Topic};
use crate::message::{self, Control, Order, Question};
use crate::names::StepKey;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use std::collections::HashSet;
use std::future::pending;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};
use tool_runtime_core::tool::ToolContext;
use tool_runtime_core::tool::peer::PeerRequest;
use tool_runtime_core::vocabulary::BoxFuture;

/// The time in which questions are collected: those that are asked together reach the client together.
const COLLECT: Duration = Duration::from_millis(20);

/// The most questions of one call. Further ones have no answer.
const MAX_QUESTIONS: usize = 100;

/// The questions of one call.
pub(super) struct Questions<'a> {
    board: &'a dyn Board,
    context: &'a ToolContext,
    step: StepKey,
    /// The ids of all questions: each is repeated until it is answered.
    known: HashSet<String>,
    /// Questions that were not asked yet, and when they are.
    collected: Vec<Question>,
    ask_at: Option<Instant>,
    asked: FuturesUnordered<BoxFuture<'a, (String, Order)>>,
    /// Answers by the ids of their questions, for a question that is repeated because its answer was lost.
    answers: Vec<(String, Order)>,
}

impl<'a> Questions<'a> {
    pub(super) fn new(board: &'a dyn Board, context: &'a ToolContext, step: &StepKey) -> Self {
        Self {
            board,
            context,
            step: step.clone(),
            known: HashSet::new(),
            collected: Vec::new(),
            ask_at: None,
            asked: FuturesUnordered::new(),
            answers: Vec::new(),
        }
    }

    /// Whether a question has no answer yet.
    pub(super) fn are_open(&self) -> bool {
        !self.collected.is_empty() || !self.asked.is_empty()
    }

    /// Notes a question.
    pub(super) fn ask(&mut self, question: Question) {
        if let Some((_, order)) = self.answers.iter().find(|(id, _)| *id == question.id) {
            let (id, order) = (question.id, order.clone());
            let sent = send(self.board, self.step.clone(), order.clone());
            self.asked.push(Box::pin(async move {
                sent.await;
                (id, order)
            }));
        } else if self.known.len() < MAX_QUESTIONS && self.known.insert(question.id.clone()) {
            self.collected.push(question);
            self.ask_at.get_or_insert_with(|| Instant::now() + COLLECT);
        }
    }

    /// Asks the client, and passes on its answers: one step at a time, without end if there are no questions. Dropping the
    /// future loses nothing.
    pub(super) async fn attend(&mut self) {
        let due = async {
            match self.ask_at {
                Some(at) => sleep_until(at).await,
                None => pending().await,
            }
        };
        tokio::select! {
            biased;
            () = due => self.ask_collected(),
            Some((id, order)) = self.asked.next() => {
                if !self.answers.iter().any(|(known, _)| *known == id) {
                    self.answers.push((id, order));
                }
            }
        }
    }

    fn ask_collected(&mut self) {
        self.ask_at = None;
        for question in std::mem::take(&mut self.collected) {
            let (board, step, context) = (self.board, self.step.clone(), self.context);
            self.asked.push(Box::pin(async move {
                let id = question.id.clone();
                let order = answer(context, question).await;
                send(board, step, order.clone()).await;
                (id, order)
            }));
        }
    }
}

/// The answer of the client.
async fn answer(context: &ToolContext, question: Question) -> Order {
    let Question { id, key, kind, params, single_use } = question;
    let Some(capability) = kind.capability() else {
        let error = Some("the caller does not know this kind of question".to_owned());
        return Order::Answer { id, result: None, error };
    };
    let request = PeerRequest::new(key, capability, params);
    let request = if single_use { request.single_use() } else { request };
    match context.send_request(request).await {
        Ok(result) => Order::Answer { id, result: Some(result), error: None },
        Err(error) => Order::Answer { id, result: None, error: Some(error.to_string()) },
    }
}

/// Sends an answer. If it is lost, it is sent again when the question is repeated.
async fn send(board: &dyn Board, step: StepKey, order: Order) {
    let control = message::write(&Control::new(&step, order));
    if let Err(error) = board.send(&Topic::Control(step.queue), control).await {
        tracing::debug!("an answer was not sent: {error}");
    }
}
