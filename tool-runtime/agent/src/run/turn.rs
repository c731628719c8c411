//! The turns of a run: a request, then the calls of its answer.

use super::Run;
use crate::call_peer::CallPeer;
use crate::event::{AgentEvent, StopReason};
use crate::model::{ModelError, ModelRequest};
#[cfg(feature = "mcp-client")]
use crate::servers::{Lease, Starting};
use crate::sub_agents::RunScope;
use crate::trace;
use futures_util::StreamExt as _;
use futures_util::future::{Either, select};
use futures_util::stream::BoxStream;
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use tool_runtime::BoxFuture;
use tool_runtime::agent::AgentMailbox;
use tool_runtime::export::{Export, FinishReason};
#[cfg(feature = "mcp-client")]
use tool_runtime::mcp::McpManagerError;
use tool_runtime::prelude::*;
use tracing::{Instrument as _, Span};

pub(super) enum Phase {
    /// The next request is not sent yet.
    Ask,
    /// The MCP servers are started.
    #[cfg(feature = "mcp-client")]
    Starting(Starting),
    /// The messages for the agent are read.
    Receiving(BoxFuture<'static, Vec<String>>),
    /// A request is in flight.
    Asking(Asking),
    /// The calls of an answer run.
    Calling(Calling),
    Ended,
}

pub(super) struct Asking {
    answer: BoxFuture<'static, Result<Value, ModelError>>,
    tools: Arc<Export>,
    span: Span,
}

pub(super) struct Calling {
    answer: Value,
    results: Vec<Option<Arc<ToolResult>>>,
    running: BoxStream<'static, (usize, ToolResult)>,
    tools: Arc<Export>,
}

/// The progress of a phase.
enum Step {
    Ask,
    #[cfg(feature = "mcp-client")]
    Started(Result<Arc<Lease>, McpManagerError>),
    Received(Vec<String>),
    Answered(Result<Value, ModelError>),
    Result(usize, ToolResult),
    AllResults,
}

impl Phase {
    /// Waits for progress. May be dropped and called again.
    async fn step(&mut self) -> Step {
        match self {
            Self::Ask => Step::Ask,
            #[cfg(feature = "mcp-client")]
            Self::Starting(starting) => Step::Started(starting.await),
            Self::Receiving(messages) => Step::Received(messages.await),
            Self::Asking(asking) => Step::Answered((&mut asking.answer).await),
            Self::Calling(calling) => match calling.running.next().await {
                Some((index, result)) => Step::Result(index, result),
                None => Step::AllResults,
            },
            Self::Ended => std::future::pending().await,
        }
    }
}

impl Run {
    /// Continues until there is an event, or another phase.
    pub(super) async fn step(&mut self) {
        // The run has a sender itself, so the channel never ends.
        let step = match select(pin!(self.inbox.recv()), pin!(self.phase.step())).await {
            Either::Left((event, _)) => return self.events.extend(event),
            Either::Right((step, _)) => step,
        };
        while let Ok(event) = self.inbox.try_recv() {
            self.events.push_back(event);
        }
        match step {
            Step::Ask => self.ask(),
            #[cfg(feature = "mcp-client")]
            Step::Started(started) => self.started(started),
            Step::Received(messages) => self.received(messages),
            Step::Answered(answer) => self.answered(answer),
            Step::Result(index, result) => self.add(index, result),
            Step::AllResults => self.close_turn(),
        }
    }

    fn ask(&mut self) {
        #[cfg(feature = "mcp-client")]
        if let (Some(servers), None) = (&self.agent.servers, &self.servers) {
            self.phase = Phase::Starting(servers.start(&self.agent.pool));
            return;
        }
        if self.turns == self.agent.max_turns {
            return self.stop(StopReason::MaxTurns(self.turns));
        }
        match self.context.get::<Arc<dyn AgentMailbox>>().cloned() {
            Some(mailbox) => {
                let context = self.context.clone().with(self.own.clone());
                let messages = async move { mailbox.receive(&context).await };
                self.phase = Phase::Receiving(Box::pin(messages));
            }
            None => self.send_request(),
        }
    }

    /// Adds messages of others to the conversation.
    fn received(&mut self, received: Vec<String>) {
        let format = self.agent.model.format();
        for text in received {
            Arc::make_mut(&mut self.messages).push(format.user(&text));
            self.events.push_back(AgentEvent::Received(text));
        }
        self.send_request();
    }

    fn send_request(&mut self) {
        self.turns += 1;
        let tools = self.agent.export(&self.pool.snapshot());
        let request = ModelRequest::new(
            self.agent.system.clone(),
            Arc::clone(&self.messages),
            Arc::clone(&tools),
            self.outbox.clone(),
        );
        let model = Arc::clone(&self.agent.model);
        let span = trace::chat(&model.format().key());
        let answer = async move { model.answer(request).await }.instrument(span.clone());
        self.phase = Phase::Asking(Asking { answer: Box::pin(answer), tools, span });
    }

    #[cfg(feature = "mcp-client")]
    fn started(&mut self, started: Result<Arc<Lease>, McpManagerError>) {
        match started {
            Ok(lease) => {
                self.events.push_back(AgentEvent::Servers(lease.status()));
                self.servers = Some(lease);
                self.phase = Phase::Ask;
            }
            Err(error) => self.stop(error.into()),
        }
    }

    fn answered(&mut self, answer: Result<Value, ModelError>) {
        let Phase::Asking(Asking { tools, span, .. }) =
            std::mem::replace(&mut self.phase, Phase::Ask)
        else {
            return;
        };
        trace::end_chat(&span, &answer, &tools);
        drop(span);
        let read = answer.map_err(StopReason::from);
        if let Err(reason) = read.and_then(|answer| self.read(answer, tools)) {
            self.stop(reason);
        }
    }

    /// Reads an answer: its text, and its calls, which run next.
    fn read(&mut self, answer: Value, tools: Arc<Export>) -> Result<(), StopReason> {
        self.usage += tools.usage(&answer);
        let calls = tools.calls(&answer)?;
        let text = tools.text(&answer)?;
        if !text.is_empty() {
            self.events.push_back(AgentEvent::Message(text));
        }
        let reason = tools.finish_reason(&answer);
        if reason.is_cut() {
            self.events.push_back(AgentEvent::Cut(reason.clone()));
        }
        if calls.is_empty() {
            Arc::make_mut(&mut self.messages).extend(tools.next_messages(&answer, [])?);
            self.end_without_calls(reason);
            return Ok(());
        }
        self.events.extend(calls.iter().cloned().map(AgentEvent::Call));
        let results = calls.iter().map(|_| None).collect();
        let running = self.running(calls);
        self.phase = Phase::Calling(Calling { answer, results, running, tools });
        Ok(())
    }

    /// Ends the run, unless the model has more to say.
    fn end_without_calls(&mut self, reason: FinishReason) {
        match reason {
            FinishReason::Paused(_) => {}
            FinishReason::MalformedCall(_) => {
                let text = format!("{reason}, and was not run. Write the call again.");
                let message = self.agent.model.format().user(&text);
                Arc::make_mut(&mut self.messages).push(message);
            }
            reason if reason.is_cut() => self.stop(StopReason::Cut(reason)),
            _ => self.stop(StopReason::Done),
        }
    }

    /// Starts calls, whose progress becomes events.
    fn running(&self, calls: Vec<ToolCall>) -> BoxStream<'static, (usize, ToolResult)> {
        let scope = RunScope {
            depth: self.depth,
            cancellation: self.cancellation.clone(),
            events: self.outbox.clone(),
        };
        let base = self.context.clone();
        let context = base.clone().with_cancellation(self.cancellation.clone());
        let context = context.with(scope).with(self.own.clone());
        let events = self.outbox.clone();
        let each = move |call: &ToolCall, context: ToolContext| {
            let (call_id, events) = (call.call_id().to_owned(), events.clone());
            context.with_peer(Arc::new(CallPeer { call_id, events, context: base.clone() }))
        };
        self.pool.batch(calls).context(&context).each_context(each).stream().boxed()
    }

    fn add(&mut self, index: usize, result: ToolResult) {
        if let Phase::Calling(calling) = &mut self.phase {
            let result = Arc::new(result);
            calling.results[index] = Some(Arc::clone(&result));
            self.events.push_back(AgentEvent::Result(result));
        }
    }

    /// Appends the answer and the results of its calls to the conversation.
    fn close_turn(&mut self) {
        let Phase::Calling(calling) = std::mem::replace(&mut self.phase, Phase::Ask) else {
            return;
        };
        let Calling { answer, results, tools, .. } = calling;
        match tools.next_messages(&answer, results.iter().flatten().map(|result| &**result)) {
            Ok(messages) => Arc::make_mut(&mut self.messages).extend(messages),
            Err(error) => return self.stop(error.into()),
        }
        if let Some((text, value)) = self.own.take_answer() {
            self.value = value;
            self.events.push_back(AgentEvent::Message(text));
            self.stop(StopReason::Done);
        }
    }

    pub(super) fn stop(&mut self, reason: StopReason) {
        if let Some(span) = self.span.take() {
            trace::end_task(&span, (self.used_before, self.usage), &reason);
        }
        self.phase = Phase::Ended;
        self.events.push_back(AgentEvent::Stopped(reason));
    }
}
