//! The agent's own lists of what is to be done. They belong to a session, and end with the program.

use crate::builtins::{Family, Profile};
use crate::per_caller::PerCaller;
use crate::tool_output::ToolOutput;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use tool_runtime::prelude::*;

/// Entries of one list.
const MAX_ENTRIES: usize = 200;

/// The urgency of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum Priority {
    High,
    Medium,
    Low,
}

/// The change of a list.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TodoAction {
    Add,
    Toggle,
    Remove,
    List,
    Clear,
}

/// An entry of `TodoWrite`. `Display` writes `[x] #1 text (high)`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Todo {
    /// The number, which no other entry of the list has had.
    pub id: u64,
    /// The text.
    pub text: String,
    /// Whether it is done.
    pub is_done: bool,
    /// The urgency, if it has one.
    pub priority: Option<Priority>,
}

/// The list of `TodoWrite`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TodoList {
    /// The entries, the oldest first.
    pub todos: Vec<Todo>,
    /// The last number that was given.
    #[serde(skip)]
    last: u64,
}

/// The state of a task of `task_tracker`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs, reason = "the names say it")]
pub enum TrackedStatus {
    #[default]
    Todo,
    InProgress,
    Done,
}

/// A task of `task_tracker`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TrackedTask {
    /// The title.
    #[schemars(length(min = 1, max = 1000))]
    pub title: String,
    /// Notes. Default: none.
    #[serde(default)]
    #[schemars(length(max = 10_000))]
    pub notes: String,
    /// The state. Default: `todo`.
    #[serde(default)]
    pub status: TrackedStatus,
}

/// The tasks of `task_tracker`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct TrackedTasks {
    /// The tasks, in the order of the plan.
    pub task_list: Vec<TrackedTask>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TrackerCommand {
    View,
    Plan,
}

/// Tools that keep the agent's own lists. They change nothing outside the conversation, so they are read-only.
pub(crate) struct Lists {
    todos: PerCaller<TodoList>,
    tasks: PerCaller<TrackedTasks>,
}

#[toolset(
    prefix = "",
    read_only,
    destructive = false,
    idempotent = false,
    open_world = false,
    register = false
)]
impl Lists {
    /// Keep a list of what you still have to do in this session. Returns the list.
    #[tool(name = "TodoWrite", tags("specialist"), inline)]
    fn todo_write(
        &self,
        /// `add` needs `text`; `toggle` and `remove` need `id`; `toggle` marks an entry as done or not done.
        action: TodoAction,
        /// The text of a new entry.
        #[arg(length = 1..=1000)]
        text: Option<String>,
        /// The number of an entry.
        id: Option<u64>,
        /// The urgency of a new entry.
        priority: Option<Priority>,
        context: &ToolContext,
    ) -> Result<ToolOutput<TodoList>, ToolError> {
        self.todos.with(context, |list| {
            match action {
                TodoAction::Add => list.add(text, priority)?,
                TodoAction::Toggle => {
                    let todo = list.find(id)?;
                    list.todos[todo].is_done ^= true;
                }
                TodoAction::Remove => {
                    let todo = list.find(id)?;
                    list.todos.remove(todo);
                }
                TodoAction::List => {}
                TodoAction::Clear => list.todos.clear(),
            }
            Ok(ToolOutput::from_display(list.clone()))
        })
    }

    /// Keep the plan of this session: `view` shows it, `plan` replaces it by `task_list`. Have one task in progress at
    /// a time.
    #[tool(name = "task_tracker", idempotent, tags("core"), inline)]
    fn task_tracker(
        &self,
        /// Whether the plan is shown or replaced.
        command: TrackerCommand,
        /// The whole new plan, for `plan`.
        #[arg(length = 0..=MAX_ENTRIES)]
        task_list: Option<Vec<TrackedTask>>,
        context: &ToolContext,
    ) -> Result<ToolOutput<TrackedTasks>, ToolError> {
        self.tasks.with(context, |tasks| {
            match (command, task_list) {
                (TrackerCommand::View, _) => {}
                (TrackerCommand::Plan, Some(list)) => tasks.task_list = list,
                (TrackerCommand::Plan, None) => {
                    return Err(ToolError::user("`plan` needs `task_list`, the whole new plan"));
                }
            }
            Ok(ToolOutput::from_display(tasks.clone()))
        })
    }

    pub(crate) fn new() -> Self {
        Self { todos: PerCaller::new(), tasks: PerCaller::new() }
    }
}

impl Family for Lists {
    fn tools_of(profile: Profile) -> &'static [&'static str] {
        match profile {
            Profile::Standard => &["TodoWrite"],
            Profile::OpenHands => &["task_tracker"],
        }
    }
}

impl TodoList {
    fn add(&mut self, text: Option<String>, priority: Option<Priority>) -> Result<(), ToolError> {
        let text = text.ok_or_else(|| ToolError::user("`add` needs `text`"))?;
        if self.todos.len() == MAX_ENTRIES {
            let text = format!("the list has {MAX_ENTRIES} entries; remove some that are done");
            return Err(ToolError::user(text));
        }
        self.last += 1;
        self.todos.push(Todo { id: self.last, text, is_done: false, priority });
        Ok(())
    }

    fn find(&self, id: Option<u64>) -> Result<usize, ToolError> {
        let id = id.ok_or_else(|| ToolError::user("`toggle` and `remove` need `id`"))?;
        self.todos.iter().position(|todo| todo.id == id).ok_or_else(|| {
            let known: Vec<String> = self.todos.iter().map(|todo| todo.id.to_string()).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            ToolError::user(format!("no entry has the number {id}; known numbers: {known}"))
        })
    }
}

impl fmt::Display for Todo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.is_done { 'x' } else { ' ' };
        write!(f, "[{mark}] #{} {}", self.id, self.text)?;
        match self.priority {
            Some(Priority::High) => f.write_str(" (high)"),
            Some(Priority::Medium) => f.write_str(" (medium)"),
            Some(Priority::Low) => f.write_str(" (low)"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for TodoList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.todos.is_empty() {
            return f.write_str("the list is empty");
        }
        let lines: Vec<String> = self.todos.iter().map(Todo::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl fmt::Display for TrackedTasks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.task_list.is_empty() {
            return f.write_str("no plan; make one by `plan`");
        }
        for (index, task) in self.task_list.iter().enumerate() {
            let mark = match task.status {
                TrackedStatus::Todo => ' ',
                TrackedStatus::InProgress => '>',
                TrackedStatus::Done => 'x',
            };
            let (end, notes) = (if index == 0 { "" } else { "\n" }, task.notes.trim());
            write!(f, "{end}{}. [{mark}] {}", index + 1, task.title)?;
            if !notes.is_empty() {
                write!(f, "\n   {notes}")?;
            }
        }
        Ok(())
    }
}

impl Toolset for Lists {
    type Params = ();

    async fn create((): (), _: &ToolContext) -> Result<Self, ToolError> {
        Ok(Self::new())
    }
}
