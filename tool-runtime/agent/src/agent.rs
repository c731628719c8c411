//! The settings of an agent.

use crate::model::Model;
use crate::run::{Run, StopReason};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;
use tool_runtime::prelude::*;

/// The default limit on the requests of one run.
const MAX_TURNS: usize = 50;

/// A model with the tools of a pool. Cheap to clone; runs are independent of each other.
///
/// The pool decides what the agent may do: give it a [narrowed](ToolPool::scope) handle, hooks and an
/// approver.
#[derive(Clone)]
pub struct Agent {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) pool: ToolPool,
    pub(crate) system: String,
    pub(crate) max_turns: usize,
}

impl Agent {
    /// An agent without instructions.
    pub fn new(model: impl Model, pool: ToolPool) -> Self {
        Self { model: Arc::new(model), pool, system: String::new(), max_turns: MAX_TURNS }
    }

    /// Sets the instructions, which stand before the conversation. Default: none.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Limits the requests of one run. Default: 50.
    #[must_use]
    pub fn max_turns(mut self, max_turns: usize) -> Self {
        self.max_turns = max_turns.max(1);
        self
    }

    /// The tools of the agent.
    pub fn pool(&self) -> &ToolPool {
        &self.pool
    }

    /// Starts a conversation. Nothing happens before [`Run::next`] is awaited.
    pub fn run(&self, task: impl Into<String>) -> Run {
        self.resume(Vec::new(), task)
    }

    /// Continues a conversation with another message of the user. The messages are those of
    /// [`Run::messages`], in the form of the model's API.
    pub fn resume(&self, messages: Vec<Value>, task: impl Into<String>) -> Run {
        Run::new(self.clone(), messages, Some(task.into()))
    }

    /// Continues a conversation that was interrupted: the model is asked for the next answer.
    pub fn retry(&self, messages: Vec<Value>) -> Run {
        Run::new(self.clone(), messages, None)
    }

    /// The agent as a tool of another one. It takes a `task` and answers with the last message.
    ///
    /// A call that is cancelled ends the run. The run has the tools of this agent, not those of its
    /// caller.
    pub fn into_tool(self, name: impl Into<String>, description: impl Into<String>) -> Tool {
        Tool::builder(name, description).handler(move |task: TaskArguments| {
            let run = self.run(task.task);
            async move { run.finish().await }
        })
    }
}

#[derive(Deserialize, JsonSchema)]
struct TaskArguments {
    /// The task, with everything that is needed to do it.
    task: String,
}

impl Run {
    /// Runs to the end and gives the last message of the model.
    ///
    /// # Errors
    /// The run ended for another reason than that the model was done.
    pub async fn finish(mut self) -> Result<String, ToolError> {
        let mut last = String::new();
        while let Some(event) = self.next().await {
            match event {
                crate::AgentEvent::Message(text) => last = text,
                crate::AgentEvent::Stopped(StopReason::Done) => {}
                crate::AgentEvent::Stopped(reason) => {
                    return Err(ToolError::user(format!("the agent stopped: {reason}")));
                }
                _ => {}
            }
        }
        Ok(last)
    }
}
