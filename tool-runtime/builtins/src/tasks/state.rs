//! The state machine of tasks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
    /// Given up.
    Failed,
    /// Stopped.
    Cancelled,
}

/// The status of a new task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NewTaskStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun.
    InProgress,
}

impl From<NewTaskStatus> for TaskStatus {
    fn from(status: NewTaskStatus) -> Self {
        match status {
            NewTaskStatus::Pending => Self::Pending,
            NewTaskStatus::InProgress => Self::InProgress,
        }
    }
}

impl TaskStatus {
    pub(super) const ALL: [Self; 5] =
        [Self::Pending, Self::InProgress, Self::Completed, Self::Failed, Self::Cancelled];

    /// Whether the task has ended.
    ///
    /// ```
    /// use tool_runtime_builtins::tasks::TaskStatus;
    ///
    /// assert!(TaskStatus::Failed.is_final());
    /// assert!(!TaskStatus::Pending.is_final());
    /// ```
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// The name in arguments and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == name)
    }
}
