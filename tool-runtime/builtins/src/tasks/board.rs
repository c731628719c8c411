//! The tools for tasks.

use super::record::{TaskList, TaskRecord};
use super::runner::Runner;
use super::state::{NewTaskStatus, TaskStatus};
use super::store::TaskStore;
use super::task_rows::{NewTask, TaskChange};
use crate::builtins::{Family, Profile};
use crate::tool_output::ToolOutput;
use std::sync::Arc;
use std::time::Duration;
use tool_runtime::prelude::*;

/// Time in which an agent ends after it was requested to.
const STOP_TIME: Duration = Duration::from_secs(5);
/// The longest time to wait for an output, in milliseconds.
const MAX_WAIT: u64 = 600_000;
const NO_OUTPUT: &str = "(no output yet)";

/// Tools for tasks.
pub(crate) struct Board {
    store: TaskStore,
    runner: Arc<Runner>,
}

#[toolset(
    prefix = "",
    read_only = false,
    destructive = false,
    idempotent = false,
    open_world = false,
    register = false
)]
impl Board {
    /// Create a task, to plan work that is done later or by others. Returns its id. It starts nothing: `Agent` does.
    #[tool(name = "TaskCreate", tags("advanced"))]
    async fn create(
        &self,
        /// The title.
        #[arg(length = 1..=500)]
        subject: String,
        /// All that is needed to do it.
        #[arg(default, length = 0..=20_000)]
        description: String,
        /// The person or agent who does it.
        #[arg(length = 1..=200)]
        owner: Option<String>,
        /// The status.
        #[arg(default)]
        status: NewTaskStatus,
        context: &ToolContext,
    ) -> Result<ToolOutput<TaskRecord>, ToolError> {
        let task = NewTask { subject, description, owner, status: status.into(), agent: None };
        let task = self.store.create_task(principal(context), task).await?;
        Ok(ToolOutput::new(format!("created {task}"), task))
    }

    /// Show a task with all that is known about it.
    #[tool(name = "TaskGet", read_only, tags("advanced"))]
    async fn get(
        &self,
        /// The id, `task_1` for instance.
        id: String,
        context: &ToolContext,
    ) -> Result<TaskRecord, ToolError> {
        self.store.task(context.principal().id(), &id).await
    }

    /// List tasks, the oldest first, in pages. `TaskGet` and `TaskOutput` return them whole.
    #[tool(name = "TaskList", read_only, tags("advanced"))]
    async fn list(
        &self,
        /// Only tasks with this status.
        status: Option<TaskStatus>,
        /// Only tasks of this person or agent.
        owner: Option<String>,
        /// The number of tasks that are left out at the beginning.
        #[arg(default = 0)]
        offset: usize,
        /// The most tasks of a page.
        #[arg(default = 100, range = 1..=1000)]
        limit: usize,
        context: &ToolContext,
    ) -> Result<ToolOutput<TaskList>, ToolError> {
        let mut tasks = self.store.tasks(context.principal().id()).await?;
        tasks.retain(|task| {
            status.is_none_or(|status| task.status == status)
                && owner.as_ref().is_none_or(|owner| task.owner.as_ref() == Some(owner))
        });
        let (total, end) = (tasks.len(), offset.saturating_add(limit));
        let tasks = tasks.into_iter().skip(offset).take(limit).map(Into::into).collect();
        let next_offset = (end < total).then_some(end);
        Ok(ToolOutput::from_display(TaskList { tasks, total, next_offset }))
    }

    /// Change a task. A task that is completed, failed or cancelled cannot change.
    #[tool(name = "TaskUpdate", idempotent, tags("advanced"))]
    async fn update(
        &self,
        /// The id.
        id: String,
        /// The new status.
        status: Option<TaskStatus>,
        /// The new text.
        #[arg(length = 0..=20_000)]
        description: Option<String>,
        /// The person or agent who does it now.
        #[arg(length = 1..=200)]
        owner: Option<String>,
        /// The result.
        #[arg(length = 0..=100_000)]
        output: Option<String>,
        context: &ToolContext,
    ) -> Result<ToolOutput<TaskRecord>, ToolError> {
        let change = TaskChange { status, description, owner, output };
        let task = self.store.update_task(principal(context), id, change).await?;
        Ok(ToolOutput::new(format!("updated {task}"), task))
    }

    /// Stop a task. The agent that does it in the background ends.
    #[tool(name = "TaskStop", destructive, idempotent, tags("advanced"))]
    async fn stop(
        &self,
        /// The id.
        id: String,
        /// The reason.
        #[arg(default, length = 0..=2000)]
        reason: String,
        context: &ToolContext,
    ) -> Result<ToolOutput<TaskRecord>, ToolError> {
        let reason = if reason.is_empty() { "stopped".to_owned() } else { reason };
        // One whose process has ended has failed already.
        self.store.task(context.principal().id(), &id).await?;
        let task = self.store.request_stop(principal(context), id, reason).await?;
        self.runner.stop_requested();
        let task = self.ended(task, STOP_TIME, context).await?;
        let text = match task.status {
            TaskStatus::Cancelled => format!("stopped {task}"),
            status if status.is_final() => format!("it ended before it was stopped: {task}"),
            _ => format!("the stop was requested, and the agent still runs: {task}"),
        };
        Ok(ToolOutput::new(text, task))
    }

    /// Read the output of a task, of an agent in the background for instance.
    #[tool(name = "TaskOutput", read_only, tags("advanced"), timeout = "620s")]
    async fn output(
        &self,
        /// The id.
        id: String,
        /// Milliseconds to wait for the end of the task. Default: do not wait.
        #[arg(default, range = 0..=MAX_WAIT)]
        wait_ms: u64,
        context: &ToolContext,
    ) -> Result<ToolOutput<TaskRecord>, ToolError> {
        let task = self.store.task(context.principal().id(), &id).await?;
        let task = self.ended(task, Duration::from_millis(wait_ms), context).await?;
        let text = match (&task.output, &task.reason) {
            (Some(output), _) => output.clone(),
            (None, Some(reason)) => format!("{}: {reason}", task.status.as_str()),
            (None, None) => NO_OUTPUT.to_owned(),
        };
        Ok(ToolOutput::new(text, task))
    }

    /// Waits until a task has ended, or the time is up.
    async fn ended(
        &self,
        task: TaskRecord,
        time: Duration,
        context: &ToolContext,
    ) -> Result<TaskRecord, ToolError> {
        self.runner.ended(context.principal().id(), task, time).await
    }

    pub(crate) fn new(store: TaskStore, runner: Arc<Runner>) -> Self {
        Self { store, runner }
    }
}

impl Family for Board {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => {
                &["TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TaskStop", "TaskOutput"]
            }
            Profile::OpenHands => &[],
        }
    }
}

fn principal(context: &ToolContext) -> String {
    context.principal().id().to_owned()
}

impl Toolset for Board {
    type Params = ();

    /// The store is state of the pool.
    async fn create((): (), context: &ToolContext) -> Result<Self, ToolError> {
        let store = TaskStore::from_context(context)?;
        Ok(Self::new(store.clone(), Runner::new(store)))
    }
}
