//! The events of a run.

use crate::model::ModelError;
use std::sync::Arc;
use tool_runtime::export::{Delta, FinishReason, ImportError};
#[cfg(feature = "mcp-client")]
use tool_runtime::mcp::{McpManagerError, McpServerStatus};
use tool_runtime::peer::{LogEntry, Progress};
use tool_runtime::prelude::*;

/// An event of a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum AgentEvent {
    /// The MCP servers of the conversation were started. A server that is not ready is retried, and
    /// its tools are added then.
    #[cfg(feature = "mcp-client")]
    Servers(Vec<McpServerStatus>),
    /// A message of an [`AgentMailbox`](tool_runtime::agent::AgentMailbox) became part of the conversation.
    Received(String),
    /// A part of a streamed response.
    Delta(Delta),
    /// The complete text of a response of the model, or the answer by which a call
    /// [ended](tool_runtime::agent::AgentRun::finish) the run.
    Message(String),
    /// The response of the model is incomplete. Its calls do not run: each gets an error as its result, and the run goes on.
    Cut(FinishReason),
    /// The model calls a tool. The call runs when the next event is awaited.
    Call(ToolCall),
    /// A running call reports its progress.
    Progress {
        /// The id of the call.
        call_id: String,
        /// The progress.
        progress: Progress,
    },
    /// A running call writes to the log.
    Log {
        /// The id of the call.
        call_id: String,
        /// The entry.
        entry: LogEntry,
    },
    /// A call ended. Results arrive in the order in which calls end.
    Result(Arc<ToolResult>),
    /// An event of a sub-agent that a call started, see [`SubAgents`](crate::SubAgents).
    SubAgent {
        /// The id of the sub-agent.
        id: String,
        /// The event.
        event: Box<AgentEvent>,
    },
    /// The run ended. It is the last event, unless [`Run::send`](crate::Run::send) continues the run.
    Stopped(StopReason),
}

/// The reason why a run ended.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum StopReason {
    /// The model answered without calling a tool, or a call ended the run with an answer.
    #[error("the model is done")]
    Done,
    /// The limit on requests was reached.
    #[error("it reached its limit of {0} requests")]
    MaxTurns(usize),
    /// The last response of the model is incomplete: its limit on tokens was reached, or a filter ended it.
    #[error("{0}")]
    Cut(FinishReason),
    /// The run was cancelled.
    #[error("it was cancelled")]
    Cancelled,
    /// The request to the model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The response does not have the format of the model's API.
    #[error(transparent)]
    Answer(#[from] ImportError),
    /// The configuration of the MCP servers cannot be used.
    #[cfg(feature = "mcp-client")]
    #[error("the MCP servers cannot be started: {0}")]
    Servers(#[from] McpManagerError),
}

tool_runtime::__private::debug_as_message!(StopReason);
