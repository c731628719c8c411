//! The inputs of `Agent`, and the request that they make.

use super::identity::Identity;
use super::kinds;
use super::store::TaskStore;
use super::team::check_member;
use super::team_rows::Team;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tool_runtime::__seam::listed;
use tool_runtime::agent::{AgentHandle, AgentSpawner, SpawnMode, SpawnRequest};
use tool_runtime::matching::ToolPattern;
use tool_runtime::pool::{Selector, Snapshot};
use tool_runtime::{ToolContext, ToolError};

/// The inputs of `Agent`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(super) struct AgentInput {
    /// The task, with everything that is needed to do it: the agent does not see this conversation.
    #[schemars(length(min = 1, max = 100_000))]
    pub(super) prompt: String,
    /// The task in three to five words, for people.
    #[schemars(length(min = 1, max = 200))]
    pub(super) description: String,
    /// The type of agent: `general-purpose`, `Explore` (finds out) and `Plan` (plans), which only read, or another
    /// that the program offers.
    #[serde(default = "general")]
    pub(super) subagent_type: String,
    /// The name of a model of the program. Default: that of the type.
    #[serde(default)]
    pub(super) model: Option<String>,
    /// A name for the agent: the beginning of its id, and its name in a team.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// The most requests to the model. Default: the limit of the program; 10 for `Explore` and `Plan`.
    #[serde(default, rename = "maxTurns", alias = "max_turns")]
    #[schemars(range(min = 1, max = 1000))]
    pub(super) max_turns: Option<usize>,
    /// Skills to load first, for a caller with the tool `Skill`.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub(super) skills: Vec<String>,
    /// MCP servers whose tools the agent has. Default: all that you have.
    #[serde(default, rename = "mcpServers", alias = "mcp_servers")]
    #[schemars(length(max = 50))]
    pub(super) mcp_servers: Option<Vec<ServerTools>>,
    /// Whether the agent continues while you do other things. It is a task then: `TaskOutput` waits for its answer,
    /// `TaskStop` ends it. It ends with this session at the latest.
    #[serde(default)]
    pub(super) run_in_background: bool,
    /// The name or id of a team that the agent joins, under its `name`.
    #[serde(default)]
    pub(super) team_name: Option<String>,
    /// The permission mode of the agent. It never may what you may not.
    #[serde(default)]
    pub(super) mode: Option<SpawnMode>,
    /// The id of an agent that has ended, which continues its conversation. A member of a team needs `team_name` and
    /// `name` again.
    #[serde(default)]
    pub(super) resume: Option<String>,
}

fn general() -> String {
    kinds::GENERAL.to_owned()
}

/// An MCP server that is connected: its name, or a part of its tools.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum ServerTools {
    /// The name of a server: all its tools.
    Name(String),
    /// Some tools of a server.
    Some {
        /// The name of the server.
        name: String,
        /// Names of its tools. Default: all.
        #[serde(default)]
        tools: Option<Vec<String>>,
    },
}

impl AgentInput {
    /// An agent of a type, with nothing else that is asked for.
    pub(super) fn new(prompt: String, description: String, subagent_type: String) -> Self {
        Self {
            prompt,
            description,
            subagent_type,
            model: None,
            name: None,
            max_turns: None,
            skills: Vec::new(),
            mcp_servers: None,
            run_in_background: false,
            team_name: None,
            mode: None,
            resume: None,
        }
    }

    /// Starts the agent.
    ///
    /// # Errors
    /// An input is unknown or cannot be met; the text names it.
    pub(super) async fn spawn(
        &self,
        spawner: &dyn AgentSpawner,
        store: &TaskStore,
        context: &ToolContext,
    ) -> Result<AgentHandle, ToolError> {
        let mut request = self.request(spawner, context)?;
        // Last: a call that is rejected leaves no member.
        let Some(membership) = self.join(store, context).await? else {
            return spawner.spawn(request, &context.clone().with(Identity::Outsider)).await;
        };
        request.prompt = membership.introduction() + &request.prompt;
        let spawned = spawner.spawn(request, &context.clone().with(membership.identity())).await;
        if spawned.is_err() && membership.is_new {
            membership.leave(store, context).await?;
        }
        spawned
    }

    fn request(
        &self,
        spawner: &dyn AgentSpawner,
        context: &ToolContext,
    ) -> Result<SpawnRequest, ToolError> {
        let pool = context.pool().ok_or_else(|| ToolError::user("no pool runs this call"))?;
        let mut request = SpawnRequest::new(self.prompt.clone());
        (request.name, request.model) = (self.name.clone(), self.model.clone());
        (request.max_turns, request.resume) = (self.max_turns, self.resume.clone());
        (request.skills, request.is_background) = (self.skills.clone(), self.run_in_background);
        request.mode = self.mode;
        let request = kinds::apply(request, &self.subagent_type, spawner, &pool)?;
        match &self.mcp_servers {
            Some(servers) => with_servers(request, servers, &pool.snapshot()),
            None => Ok(request),
        }
    }

    /// Makes the agent a member of its team.
    async fn join(
        &self,
        store: &TaskStore,
        context: &ToolContext,
    ) -> Result<Option<Membership>, ToolError> {
        let Some(team) = &self.team_name else { return Ok(None) };
        let Some(name) = &self.name else {
            return Err(ToolError::user("`team_name` needs `name`, the agent's name in the team"));
        };
        check_member(name)?;
        let principal = context.principal().id().to_owned();
        let (team, is_new) = store.join_team(principal, team.clone(), name.clone()).await?;
        Ok(Some(Membership { team, name: name.clone(), is_new }))
    }
}

/// The membership of an agent in a team.
struct Membership {
    team: Team,
    name: String,
    /// Whether the agent was not a member before.
    is_new: bool,
}

impl Membership {
    fn identity(&self) -> Identity {
        Identity::Member { team: self.team.number, name: self.name.clone() }
    }

    /// The text that introduces the team to the agent.
    fn introduction(&self) -> String {
        format!(
            "You are `{}` in the team `{}`; its members: {}. `SendMessage` sends them messages.\n\n",
            self.name,
            self.team.name,
            listed(&self.team.members)
        )
    }

    async fn leave(self, store: &TaskStore, context: &ToolContext) -> Result<(), ToolError> {
        let principal = context.principal().id().to_owned();
        store.leave_team(principal, self.team.number, self.name).await
    }
}

/// The spawner in the state of the pool.
pub(super) fn spawner_of(context: &ToolContext) -> Result<Arc<dyn AgentSpawner>, ToolError> {
    let missing = || ToolError::user("no spawner of agents; write `.state(agents)` on the pool");
    context.get::<Arc<dyn AgentSpawner>>().cloned().ok_or_else(missing)
}

/// Narrows the tools of MCP servers to those that are named.
fn with_servers(
    request: SpawnRequest,
    servers: &[ServerTools],
    snapshot: &Snapshot,
) -> Result<SpawnRequest, ToolError> {
    let remote: Vec<&str> = ids(snapshot, "source:mcp")?;
    let mut allowed: Vec<&str> = Vec::new();
    for server in servers {
        let (name, tools) = match server {
            ServerTools::Name(name) => (name, None),
            ServerTools::Some { name, tools } => (name, tools.as_ref()),
        };
        let own = ids(snapshot, &format!("source:mcp:{name}"))?;
        if own.is_empty() {
            let text = format!(
                "`mcpServers`: no server `{name}` has tools here; leave it out, or name one whose tools you have: {}",
                listed(remote.iter().filter_map(|id| id.split_once('.')).map(|(server, _)| server))
            );
            return Err(ToolError::user(text));
        }
        match tools {
            None => allowed.extend(own),
            Some(tools) => {
                for tool in tools {
                    let is_meant = |id: &&&str| **id == tool || id.rsplit('.').next() == Some(tool);
                    let found = own.iter().find(is_meant).ok_or_else(|| {
                        let own = listed(&own);
                        ToolError::user(format!(
                            "`mcpServers`: `{name}` has no tool `{tool}`; its tools: {own}"
                        ))
                    })?;
                    allowed.push(found);
                }
            }
        }
    }
    let is_allowed = |id: &&str| !remote.contains(id) || allowed.contains(id);
    let all = snapshot.tools().iter().map(|tool| tool.name()).filter(is_allowed);
    let patterns = all.map(|id| id.parse().map_err(ToolError::internal));
    let patterns: Vec<ToolPattern> = patterns.collect::<Result<_, _>>()?;
    Ok(match request.tools.clone() {
        // A kind that only reads.
        Some(kept) => request.tools(kept.into_iter().filter(|pattern| patterns.contains(pattern))),
        None => request.tools(patterns),
    })
}

/// The ids that a selector picks.
fn ids<'a>(snapshot: &'a Snapshot, selector: &str) -> Result<Vec<&'a str>, ToolError> {
    let selector: Selector = selector
        .parse()
        .map_err(|error| ToolError::user(format!("`mcpServers` has an invalid name: {error}")))?;
    Ok(snapshot.picked(&selector).map(|tool| tool.name()).collect())
}
