//! Tools that ask people, plan, and keep the agent's own lists.
//!
//! A question reaches the user of an MCP client by an elicitation, in both protocol versions, or else the person that
//! the operator names by [`PeopleParams::asker`]: at a terminal, in a chat. A plan is approved by the approver of the
//! pool, never by the model: `ExitPlanMode` is a call that needs an approval, whatever the policy says.
//!
//! | Module | Topic |
//! |---|---|
//! | `params` | settings of the operator |
//! | `ask` | questions and the people who answer them |
//! | `plan` | plan mode and its approval |
//! | `lists` | `TodoWrite`, `task_tracker`; one list for each agent of a session |
//! | `answer` | `finish` |

mod answer;
mod ask;
mod install;
mod lists;
mod params;
mod plan;
#[cfg(test)]
mod tests;

pub use ask::{AskPerson, Question};
pub use lists::{Priority, Todo, TodoList, TrackedStatus, TrackedTask, TrackedTasks};
pub use params::PeopleParams;
pub use plan::Planning;

pub(crate) use answer::finish;
pub(crate) use lists::Lists;
pub(crate) use plan::approval as plan_approval;

use crate::builtins::{Family, Profile};
use std::sync::Arc;
use tool_runtime::prelude::*;

/// Tools that ask people. See [`Builtins::people`](crate::Builtins::people).
pub struct People {
    asker: Option<Arc<dyn AskPerson>>,
}

#[toolset(
    prefix = "",
    read_only,
    destructive = false,
    idempotent = false,
    open_world = false,
    register = false
)]
impl People {
    /// Ask the user a question, and wait for the answer. Ask only what you cannot find out, and what changes the
    /// result.
    #[tool(name = "AskUser", tags("core"))]
    async fn ask_user(
        &self,
        /// The question, complete in itself.
        #[arg(length = 1..=10_000)]
        question: String,
        /// Answers to choose from. The user may give another one.
        #[arg(default, length = 0..=20)]
        options: Vec<String>,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let question = Question { text: question, options };
        ask::ask("answer", &question, self.asker.as_deref(), context).await
    }

    /// Stop until a person has looked: after a surprise, before a step that cannot be undone. Returns what the person
    /// says.
    #[tool(name = "pause_for_human", tags("core"))]
    async fn pause_for_human(
        &self,
        /// The reason, and what the person should do or decide.
        #[arg(length = 1..=10_000)]
        reason: String,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        let text = format!("The agent waits for you: {reason}\nHow should it go on?");
        let question = Question { text, options: Vec::new() };
        ask::ask("instructions", &question, self.asker.as_deref(), context).await
    }

    /// Write down a thought. It has no effect beyond the conversation: use it to think through a hard step.
    #[tool(name = "think", idempotent, tags("advanced"), inline)]
    fn think(
        &self,
        /// The thought.
        #[arg(length = 1..=100_000)]
        thought: String,
    ) -> &'static str {
        drop(thought);
        "noted"
    }

    pub(crate) fn new(params: &PeopleParams) -> Self {
        Self { asker: params.asker.clone() }
    }
}

impl Family for People {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["AskUser", "pause_for_human", "think", "finish"],
            Profile::OpenHands => &["think", "finish"],
        }
    }
}

impl Toolset for People {
    type Params = ();

    /// Questions go only to the caller.
    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self { asker: None })
    }
}
