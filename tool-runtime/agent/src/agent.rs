//! The settings of an agent.

use crate::event::AgentEvent;
use crate::model::Model;
use crate::run::Run;
#[cfg(feature = "mcp-client")]
use crate::servers::Servers;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use std::fmt;
#[cfg(feature = "mcp-client")]
use std::path::Path;
use std::sync::Arc;
use tool_runtime::export::Export;
#[cfg(feature = "mcp-client")]
use tool_runtime::mcp::{McpConfig, McpConfigError, McpManager, McpManagerBuilder};
use tool_runtime::pool::Snapshot;
use tool_runtime::prelude::*;

/// The default limit on the requests of one run.
const MAX_TURNS: usize = 50;

/// Chooses the tools of a request.
type ChooseTools = dyn Fn(&Snapshot) -> Vec<Tool> + Send + Sync;

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
    pub(crate) choose_tools: Option<Arc<ChooseTools>>,
    #[cfg(feature = "mcp-client")]
    pub(crate) servers: Option<Arc<Servers>>,
}

impl Agent {
    /// An agent without instructions.
    pub fn new(model: impl Model, pool: ToolPool) -> Self {
        Self {
            model: Arc::new(model),
            pool,
            system: String::new(),
            max_turns: MAX_TURNS,
            choose_tools: None,
            #[cfg(feature = "mcp-client")]
            servers: None,
        }
    }

    /// Sets the instructions, which precede the conversation. Default: none.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Limits the requests for one task. Default: 50.
    #[must_use]
    pub fn max_turns(mut self, max_turns: usize) -> Self {
        self.max_turns = max_turns.max(1);
        self
    }

    /// Chooses the tools that each request lists, among those of the pool, in this order: a few, and those that a
    /// search activated. It does not change what may be called. Default: all tools.
    ///
    /// ```
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::search::{ActiveTools, ToolSearch};
    /// use tool_runtime_agent::{Agent, ScriptedModel};
    ///
    /// # let model = ScriptedModel::from_json("[]")?;
    /// let active = ActiveTools::new(["tool_search"])?;
    /// let search = ToolSearch::new().activating(&active).into_tool();
    /// let agent = Agent::new(model, ToolPool::builder().add(search).build()?)
    ///     .show(move |snapshot| active.visible(snapshot));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn show(mut self, choose: impl Fn(&Snapshot) -> Vec<Tool> + Send + Sync + 'static) -> Self {
        self.choose_tools = Some(Arc::new(choose));
        self
    }

    /// The definitions for a request.
    pub(crate) fn export(&self, snapshot: &Snapshot) -> Arc<Export> {
        let format = self.model.format();
        let Some(choose) = &self.choose_tools else { return snapshot.export(format) };
        let chosen = choose(snapshot);
        let definitions: Vec<_> =
            chosen.iter().filter_map(|tool| snapshot.definition(tool.name())).collect();
        Arc::new(Export::new(format, &definitions))
    }

    /// The tools of the agent.
    pub fn pool(&self) -> &ToolPool {
        &self.pool
    }

    /// Starts a conversation. Nothing happens before [`Run::next`] is awaited.
    pub fn run(&self, task: impl AsRef<str>) -> Run {
        self.resume(Vec::new(), task)
    }

    /// Continues a conversation with another message of the user. The messages are those of
    /// [`Run::messages`], in the form of the model's API.
    pub fn resume(&self, messages: Vec<Value>, task: impl AsRef<str>) -> Run {
        let mut run = self.retry(messages);
        run.send(task);
        run
    }

    /// Continues a conversation that was interrupted: the model is asked for the next response.
    pub fn retry(&self, messages: Vec<Value>) -> Run {
        Run::new(self.clone(), messages)
    }

    /// The agent as a tool of another one, or of an MCP server. It takes a `task`, reports each call
    /// as progress, and answers with the last message.
    ///
    /// A call that is cancelled ends the run. The run has the tools of this agent, not those of its
    /// caller; the principal is the caller, and the labels are those of the call.
    pub fn into_tool(self, name: impl Into<String>, description: impl Into<String>) -> Tool {
        let handler = move |task: TaskArguments, context: ToolContext| {
            let run = self.run(task.task).with_context(|own| {
                let own = own.with_principal(context.principal().clone());
                match context.execution() {
                    Some(execution) => own.in_execution(execution),
                    None => own,
                }
            });
            finish_with_progress(run, context)
        };
        Tool::builder(name, description).reports_progress().handler(handler)
    }
}

#[derive(Deserialize, JsonSchema)]
struct TaskArguments {
    /// The task, with everything that is needed to do it.
    task: String,
}

async fn finish_with_progress(mut run: Run, context: ToolContext) -> Result<String, ToolError> {
    let mut calls = 0;
    let show = |event| {
        if let AgentEvent::Call(call) = event {
            calls += 1;
            context.progress(calls, None, format_args!("calls `{}`", call.name()));
        }
    };
    let outcome = run.outcome(show).await;
    run.close().await;
    Ok(outcome?.text)
}

#[cfg(feature = "mcp-client")]
impl Agent {
    /// An agent with the tools of the MCP servers of a file, in the standard form `mcpServers`.
    ///
    /// ```no_run
    /// # use tool_runtime_agent::{Agent, ScriptedModel};
    /// # let model = ScriptedModel::from_json("[]")?;
    /// let agent = Agent::from_mcp_file(model, ".mcp.json")?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The file cannot be read, or the entry of a required server is invalid. Other invalid entries are left out, and the
    /// status of their servers has the reasons: see [`AgentEvent::Servers`](crate::AgentEvent::Servers).
    pub fn from_mcp_file(
        model: impl Model,
        path: impl AsRef<Path>,
    ) -> Result<Self, McpConfigError> {
        let pool = ToolPool::builder().build().expect("a pool without tools has no problems");
        Ok(Self::new(model, pool).mcp_servers(McpConfig::from_file(path.as_ref())?))
    }

    /// Connects MCP servers for the time of a conversation, see [`Self::mcp_manager`].
    #[must_use]
    pub fn mcp_servers(self, config: McpConfig) -> Self {
        self.mcp_manager(move || McpManager::builder().config(config.clone()))
    }

    /// Connects MCP servers for the time of a conversation.
    ///
    /// They start before the first request of a run, whose first event lists them, and are closed
    /// with the run. Their tools are tools of the pool meanwhile, for all its handles. Runs at the
    /// same time share the servers; give each conversation a separate pool and agent if it needs
    /// separate servers.
    ///
    /// ```
    /// use tool_runtime::mcp::{McpManager, McpServer};
    /// use tool_runtime::prelude::*;
    /// use tool_runtime_agent::{Agent, AgentEvent, ScriptedModel};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let ping = Tool::builder("ping", "Answer at once.").handler(|| async { "pong" });
    /// let far = McpServer::new(ToolPool::builder().add(ping).build()?, "far", "1.0.0");
    ///
    /// let model = ScriptedModel::from_json(r#"[{ "calls": [{ "name": "far.ping" }] }, { "text": "It works." }]"#)?;
    /// let agent = Agent::new(model, ToolPool::builder().build()?)
    ///     .mcp_manager(move || McpManager::builder().in_process("far", far.clone()));
    /// let mut run = agent.run("Ping.");
    /// assert!(matches!(run.next().await, Some(AgentEvent::Servers(all)) if all[0].is_ready()));
    /// while run.next().await.is_some() {}
    /// run.close().await;
    /// assert!(agent.pool().tools().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    #[must_use]
    pub fn mcp_manager(
        mut self,
        manager: impl Fn() -> McpManagerBuilder + Send + Sync + 'static,
    ) -> Self {
        self.servers = Some(Arc::new(Servers::new(manager)));
        self
    }
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent")
            .field("pool", &self.pool)
            .field("max_turns", &self.max_turns)
            .finish_non_exhaustive()
    }
}
