//! The tools for teams, and the mailbox of agent loops.

use super::identity::{Identity, LEAD};
use super::store::TaskStore;
use super::team_rows::{Message, NewMessage, Team};
use crate::builtins::{Family, Profile};
use crate::tool_output::ToolOutput;
use tool_runtime::__seam::listed;
use tool_runtime::BoxFuture;
use tool_runtime::agent::AgentMailbox;
use tool_runtime::prelude::*;

/// Tools for teams of agents.
pub(crate) struct Teams {
    store: TaskStore,
}

#[toolset(
    prefix = "",
    read_only = false,
    destructive = false,
    idempotent = false,
    open_world = false,
    register = false
)]
impl Teams {
    /// Create a team, whose members send each other messages by `SendMessage`. You are its `lead`. Agents become
    /// members by `team_name` of the tool `Agent`.
    #[tool(name = "TeamCreate", tags("advanced"))]
    async fn create(
        &self,
        /// The name, unique among your teams.
        #[arg(length = 1..=64, pattern = "^[A-Za-z0-9_-]+$")]
        name: String,
        /// Names of members that are known already.
        #[arg(default, length = 0..=32)]
        members: Vec<String>,
        /// The task of the team.
        #[arg(default, length = 0..=10_000)]
        task_description: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<Team>, ToolError> {
        check_lead(context)?;
        for member in &members {
            check_member(member)?;
        }
        let principal = context.principal().id().to_owned();
        let team = self.store.create_team(principal, name, members, task_description).await?;
        Ok(ToolOutput::new(format!("created {team}"), team))
    }

    /// Disband a team. Its unread messages are lost; its agents continue without a team.
    #[tool(name = "TeamDelete", destructive, tags("advanced"))]
    async fn delete(
        &self,
        /// The id or name of the team.
        id: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<Team>, ToolError> {
        check_lead(context)?;
        let team = self.store.delete_team(context.principal().id().to_owned(), id).await?;
        Ok(ToolOutput::new(format!("disbanded {team}"), team))
    }

    /// Send a message to a member of your team. It reads the message before its next step.
    #[tool(name = "SendMessage", tags("advanced"))]
    async fn send(
        &self,
        /// The name of the member, `lead` for the agent that leads the team, or `*` for all other members.
        #[arg(length = 1..=64)]
        to: String,
        /// The text.
        #[arg(length = 1..=10_000)]
        message: String,
        /// The id or name of the team, if you lead several.
        team: Option<String>,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let message = NewMessage { team, to, text: message };
        let principal = context.principal().id().to_owned();
        let (team, recipients) =
            self.store.send(principal, Identity::from_context(context), message).await?;
        Ok(format!("sent to {} in the team `{}`", listed(recipients), team.name))
    }

    /// Read the messages that were sent to you. Programs that add messages to the conversation by themselves leave
    /// none.
    #[tool(name = "ReadMessages", tags("advanced"))]
    async fn read(&self, context: &ToolContext) -> Result<String, ToolError> {
        let messages = take(&self.store, context).await?;
        Ok(if messages.is_empty() { "no messages".to_owned() } else { messages.join("\n\n") })
    }

    pub(crate) fn new(store: TaskStore) -> Self {
        Self { store }
    }
}

impl Family for Teams {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["SendMessage", "ReadMessages", "TeamCreate", "TeamDelete"],
            Profile::OpenHands => &[],
        }
    }
}

/// # Errors
/// A sub-agent calls.
fn check_lead(context: &ToolContext) -> Result<(), ToolError> {
    match Identity::from_context(context) {
        Identity::Lead => Ok(()),
        _ => Err(ToolError::user("only the agent that leads teams creates and disbands them")),
    }
}

/// Whether a name can be that of a member.
///
/// # Errors
/// It is empty, too long, reserved, or has other characters.
pub(super) fn check_member(name: &str) -> Result<(), ToolError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name == LEAD {
        return Err(ToolError::user(
            "`lead` is the agent that leads the team; choose another name",
        ));
    }
    match !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(ToolError::user(format!(
            "`{name}` is not a name of a member: write 1 to 64 letters, digits, `-` and `_`"
        ))),
    }
}

/// Takes the messages of an agent as strings.
async fn take(store: &TaskStore, context: &ToolContext) -> Result<Vec<String>, ToolError> {
    let identity = Identity::from_context(context);
    if identity == Identity::Outsider {
        return Ok(Vec::new());
    }
    let messages = store.take_messages(context.principal().id().to_owned(), identity).await?;
    let text = |Message { team, sender, text }: Message| {
        format!("Message from `{sender}` in the team `{team}`:\n{text}")
    };
    Ok(messages.into_iter().map(text).collect())
}

/// The messages of teams for agent loops.
pub(crate) struct Mailbox(pub(crate) TaskStore);

impl AgentMailbox for Mailbox {
    fn receive<'a>(&'a self, context: &'a ToolContext) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            take(&self.0, context).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "messages cannot be read");
                Vec::new()
            })
        })
    }
}

impl Toolset for Teams {
    type Params = ();

    /// The store is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::new(TaskStore::from_context(context)?))
    }
}
