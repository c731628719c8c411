//! Tasks as the tools return them.

use super::state::TaskStatus;
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use tool_runtime::__seam::escaped_name;

/// Characters of a reason in a list.
const MAX_REASON: usize = 200;

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TaskRecord {
    /// The id: `task_` and a number.
    pub id: String,
    /// The title.
    pub subject: String,
    /// The text. Empty if there is none.
    pub description: String,
    /// The person or agent who does it, if it has one.
    pub owner: Option<String>,
    /// The status.
    pub status: TaskStatus,
    /// The result, if there is one.
    pub output: Option<String>,
    /// The reason why it was stopped or has failed, if there is one.
    pub reason: Option<String>,
    /// The id of the agent that does it in the background. `None` for other tasks.
    pub agent: Option<String>,
    /// Milliseconds since 1970.
    pub created: i64,
    /// The time of the last change, in milliseconds since 1970.
    pub updated: i64,
    /// The process that runs the agent.
    #[serde(skip)]
    pub(super) runner: Option<String>,
}

/// A task of a list, without its long description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TaskSummary {
    /// The id: `task_` and a number.
    pub id: String,
    /// The title.
    pub subject: String,
    /// The person or agent who does it, if it has one.
    pub owner: Option<String>,
    /// The status.
    pub status: TaskStatus,
    /// The beginning of the reason why it was stopped or has failed, if there is one.
    pub reason: Option<String>,
    /// The id of the agent that does it in the background. `None` for other tasks.
    pub agent: Option<String>,
    /// The time of the last change, in milliseconds since 1970.
    pub updated: i64,
}

/// A page of tasks, the oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TaskList {
    /// The tasks.
    pub tasks: Vec<TaskSummary>,
    /// The number of tasks on all pages.
    pub total: usize,
    /// The `offset` of the next page. `None` on the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_offset: Option<usize>,
}

impl From<TaskRecord> for TaskSummary {
    fn from(task: TaskRecord) -> Self {
        let TaskRecord { id, subject, owner, status, reason, agent, updated, .. } = task;
        let reason = reason.map(|reason| reason.chars().take(MAX_REASON).collect());
        Self { id, subject, owner, status, reason, agent, updated }
    }
}

impl fmt::Display for TaskRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        TaskSummary::from(self.clone()).fmt(f)
    }
}

impl fmt::Display for TaskSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} [{}] {}", self.id, self.status.as_str(), escaped_name(&self.subject))?;
        let parts = [("owner", &self.owner), ("agent", &self.agent), ("reason", &self.reason)];
        for (name, value) in parts.into_iter().filter_map(|(n, v)| v.as_ref().map(|v| (n, v))) {
            write!(f, "; {name}: {}", escaped_name(value))?;
        }
        Ok(())
    }
}

impl fmt::Display for TaskList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.total == 0 {
            return f.write_str("no tasks");
        }
        let mut lines: Vec<String> = self.tasks.iter().map(TaskSummary::to_string).collect();
        if self.tasks.is_empty() {
            lines.push(format!("[there are {} tasks; give a smaller `offset`]", self.total));
        } else if let Some(next) = self.next_offset {
            let more = self.total - next;
            lines.push(format!("[{more} more tasks; the next page has `offset` {next}]"));
        }
        f.write_str(&lines.join("\n"))
    }
}
