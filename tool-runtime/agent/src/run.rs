//! One run of an agent: requests and calls in turns.

use crate::agent::Agent;
use crate::model::{ModelError, ModelRequest};
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::BoxStream;
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tool_runtime::export::{Api, Delta, Export, ImportError};
use tool_runtime::prelude::*;
use tool_runtime::{BoxFuture, CancellationToken};

/// What happens in a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentEvent {
    /// A part of a streamed answer.
    Delta(Delta),
    /// The text of an answer, whole.
    Message(String),
    /// The model calls a tool. The call runs when the next event is awaited.
    Call(ToolCall),
    /// A call ended. Results come as they are ready.
    Result(Arc<ToolResult>),
    /// The run ended; it is the last event.
    Stopped(StopReason),
}

/// Why a run ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered without calling a tool.
    #[error("the model is done")]
    Done,
    /// The model was asked as often as one run may.
    #[error("it reached its limit of {0} requests")]
    MaxTurns(usize),
    /// The run was cancelled.
    #[error("it was cancelled")]
    Cancelled,
    /// The model could not be asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The answer is not one of the model's API.
    #[error(transparent)]
    Answer(#[from] ImportError),
}

/// A run of an agent. Dropping it cancels what is in flight.
///
/// ```
/// # use tool_runtime::prelude::*;
/// # use tool_runtime_agent::{Agent, ScriptedModel};
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// # let pool = ToolPool::builder().allow_empty().build()?;
/// let model = ScriptedModel::from_json(r#"[{ "text": "Hello!" }]"#)?;
/// let mut run = Agent::new(model, pool).run("Hi.");
/// while run.next().await.is_some() {}
/// // Saved, these resume the conversation in another process.
/// assert_eq!(run.messages()[1]["content"][0]["text"], "Hello!");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct Run {
    agent: Agent,
    messages: Arc<Vec<Value>>,
    /// The answer whose calls run, which joins the conversation with their results.
    pending: Vec<Value>,
    events: VecDeque<AgentEvent>,
    phase: Phase,
    turns: usize,
    cancellation: CancellationToken,
}

enum Phase {
    /// The model is to be asked.
    Ask,
    /// The model is asked.
    Asking(Asking),
    /// The calls of an answer run.
    Calling(Calling),
    Ended,
}

struct Asking {
    answer: BoxFuture<'static, Result<Value, ModelError>>,
    deltas: UnboundedReceiver<Delta>,
    tools: Arc<Export>,
}

struct Calling {
    results: Vec<Option<Arc<ToolResult>>>,
    running: BoxStream<'static, (usize, ToolResult)>,
    tools: Arc<Export>,
}

impl Run {
    pub(crate) fn new(agent: Agent, mut messages: Vec<Value>, task: Option<String>) -> Self {
        messages.extend(task.map(|task| user_message(agent.model.api(), &task)));
        Self {
            agent,
            messages: Arc::new(messages),
            pending: Vec::new(),
            events: VecDeque::new(),
            phase: Phase::Ask,
            turns: 0,
            cancellation: CancellationToken::new(),
        }
    }

    /// Cancels the run when the token is cancelled. Default: [`Self::cancellation`] alone does.
    #[must_use]
    pub fn with_cancellation(mut self, token: CancellationToken) -> Self {
        self.cancellation = token;
        self
    }

    /// Cancels the run: the request or the calls in flight end, and [`StopReason::Cancelled`] is the
    /// last event.
    pub fn cancellation(&self) -> CancellationToken {
        self.cancellation.clone()
    }

    /// The conversation so far, in the form of the model's API. It holds whole turns only: a call that
    /// has no result yet is not in it.
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// The next event, or `None` after the last.
    pub async fn next(&mut self) -> Option<AgentEvent> {
        let cancellation = self.cancellation.clone();
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if matches!(self.phase, Phase::Ended) {
                return None;
            }
            if cancellation.run_until_cancelled(self.step()).await.is_none() {
                self.stop(StopReason::Cancelled);
            }
        }
    }

    /// Goes on until there is an event, or another phase.
    async fn step(&mut self) {
        match &mut self.phase {
            Phase::Ask => self.ask(),
            Phase::Asking(asking) => {
                let answer = {
                    let delta = pin!(next_delta(&mut asking.deltas));
                    match select(delta, &mut asking.answer).await {
                        Either::Left((delta, _)) => {
                            return self.events.push_back(AgentEvent::Delta(delta));
                        }
                        Either::Right((answer, _)) => answer,
                    }
                };
                while let Ok(delta) = asking.deltas.try_recv() {
                    self.events.push_back(AgentEvent::Delta(delta));
                }
                let tools = Arc::clone(&asking.tools);
                let read = answer.map_err(StopReason::from);
                if let Err(reason) = read.and_then(|answer| self.read(&answer, tools)) {
                    self.stop(reason);
                }
            }
            Phase::Calling(calling) => match calling.running.next().await {
                Some((index, result)) => {
                    let result = Arc::new(result);
                    calling.results[index] = Some(Arc::clone(&result));
                    self.events.push_back(AgentEvent::Result(result));
                }
                None => self.close_turn(),
            },
            Phase::Ended => {}
        }
    }

    fn ask(&mut self) {
        if self.turns == self.agent.max_turns {
            return self.stop(StopReason::MaxTurns(self.turns));
        }
        self.turns += 1;
        let tools = self.agent.pool.snapshot().export(self.agent.model.api());
        let (sender, deltas) = unbounded_channel();
        let request = ModelRequest::new(
            self.agent.system.clone(),
            Arc::clone(&self.messages),
            Arc::clone(&tools),
            sender,
        );
        let model = Arc::clone(&self.agent.model);
        let answer = Box::pin(async move { model.answer(request).await });
        self.phase = Phase::Asking(Asking { answer, deltas, tools });
    }

    /// Reads an answer: its text, and its calls, which run next.
    fn read(&mut self, answer: &Value, tools: Arc<Export>) -> Result<(), StopReason> {
        let calls = tools.calls(answer)?;
        let text = tools.text(answer)?;
        if !text.is_empty() {
            self.events.push_back(AgentEvent::Message(text));
        }
        let messages = tools.next_messages(answer, &[])?;
        if calls.is_empty() {
            Arc::make_mut(&mut self.messages).extend(messages);
            self.stop(StopReason::Done);
            return Ok(());
        }
        self.events.extend(calls.iter().cloned().map(AgentEvent::Call));
        let context = self.agent.pool.context().with_cancellation(self.cancellation.clone());
        let results = calls.iter().map(|_| None).collect();
        let running = self.agent.pool.batch(calls).context(&context).stream().boxed();
        self.pending = messages;
        self.phase = Phase::Calling(Calling { results, running, tools });
        Ok(())
    }

    /// Appends the answer and the results of its calls to the conversation.
    fn close_turn(&mut self) {
        let Phase::Calling(calling) = std::mem::replace(&mut self.phase, Phase::Ask) else {
            return;
        };
        let results: Vec<Arc<ToolResult>> = calling.results.into_iter().flatten().collect();
        let messages = Arc::make_mut(&mut self.messages);
        messages.append(&mut self.pending);
        messages.extend(calling.tools.results(results.iter().map(|result| &**result)));
    }

    fn stop(&mut self, reason: StopReason) {
        self.phase = Phase::Ended;
        self.events.push_back(AgentEvent::Stopped(reason));
    }
}

impl fmt::Debug for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Run").field("turns", &self.turns).finish_non_exhaustive()
    }
}

/// The next delta; never ends after the last.
async fn next_delta(deltas: &mut UnboundedReceiver<Delta>) -> Delta {
    match deltas.recv().await {
        Some(delta) => delta,
        None => std::future::pending().await,
    }
}

/// A message of the user, in the form of an API.
fn user_message(api: Api, text: &str) -> Value {
    match api {
        Api::Gemini => json!({ "role": "user", "parts": [{ "text": text }] }),
        _ => json!({ "role": "user", "content": text }),
    }
}
