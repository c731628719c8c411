//! Tasks in the file.

use super::record::TaskRecord;
use super::state::TaskStatus;
use super::store::{Step, TaskStore, last_number, next_number, now};
use tool_runtime::ToolError;
use tool_runtime_store::rusqlite::{
    self, Connection, OptionalExtension as _, Row, Transaction, params,
};

/// Tasks of one principal.
const MAX_TASKS: i64 = 1000;
const COLUMNS: &str =
    "number, subject, description, owner, status, output, reason, agent, created, updated, runner";
const KIND: &str = "task";
const FINAL: &str = "('completed', 'failed', 'cancelled')";

/// A new task.
pub(super) struct NewTask {
    pub(super) subject: String,
    pub(super) description: String,
    pub(super) owner: Option<String>,
    pub(super) status: TaskStatus,
    /// The agent that does it in this process.
    pub(super) agent: Option<String>,
}

/// A change of a task; `None` leaves a value.
#[derive(Default)]
pub(super) struct TaskChange {
    pub(super) status: Option<TaskStatus>,
    pub(super) description: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) output: Option<String>,
}

impl TaskStore {
    pub(super) async fn create_task(
        &self,
        principal: String,
        task: NewTask,
    ) -> Result<TaskRecord, ToolError> {
        let runner = task.agent.is_some().then(|| self.alive().name().to_owned());
        self.write(move |transaction| create(transaction, &principal, task, runner)).await
    }

    /// A task. One whose process has ended has failed.
    pub(super) async fn task(&self, principal: &str, id: &str) -> Result<TaskRecord, ToolError> {
        let task = self.read(|connection| find(connection, principal, id))??;
        if !self.is_abandoned(&task) {
            return Ok(task);
        }
        self.fail_abandoned(principal, &task).await?;
        self.read(|connection| find(connection, principal, id))?
    }

    /// All tasks of a principal, the oldest first.
    pub(super) async fn tasks(&self, principal: &str) -> Result<Vec<TaskRecord>, ToolError> {
        let tasks = self.read(|connection| all(connection, principal))?;
        let abandoned: Vec<&TaskRecord> =
            tasks.iter().filter(|task| self.is_abandoned(task)).collect();
        if abandoned.is_empty() {
            return Ok(tasks);
        }
        for task in abandoned {
            self.fail_abandoned(principal, task).await?;
        }
        self.read(|connection| all(connection, principal))
    }

    pub(super) async fn update_task(
        &self,
        principal: String,
        id: String,
        change: TaskChange,
    ) -> Result<TaskRecord, ToolError> {
        self.write(move |transaction| update(transaction, &principal, &id, change)).await
    }

    /// Cancels a task without an agent. The agent of another one is requested to stop.
    pub(super) async fn request_stop(
        &self,
        principal: String,
        id: String,
        reason: String,
    ) -> Result<TaskRecord, ToolError> {
        self.write(move |transaction| stop(transaction, &principal, &id, &reason)).await
    }

    /// Records the end of an agent. A stop that was requested makes it cancelled, unless it had an answer.
    pub(super) async fn end_task(
        &self,
        principal: String,
        id: String,
        outcome: Result<String, String>,
    ) -> Result<(), ToolError> {
        let (status, output, reason) = match outcome {
            Ok(output) => ("completed", Some(output), None),
            Err(reason) => ("failed", None, Some(reason)),
        };
        self.write(move |transaction| {
            let text = format!(
                "UPDATE tasks SET status = CASE WHEN ?3 = 'failed' AND stop IS NOT NULL THEN 'cancelled' ELSE ?3 END,
                     output = ?4, reason = CASE WHEN ?3 = 'failed' THEN coalesce(stop, ?5) END, updated = ?6
                 WHERE principal = ?1 AND number = ?2 AND status NOT IN {FINAL}"
            );
            let number = number(&id).unwrap_or_default();
            transaction.execute(&text, params![principal, number, status, output, reason, now()])?;
            Ok(Ok(()))
        })
        .await
    }

    /// The tasks of this process that are requested to stop: principals and ids.
    pub(super) fn stop_requests(&self) -> Result<Vec<(String, String)>, ToolError> {
        let runner = self.alive().name();
        self.read(|connection| {
            let query = "SELECT principal, number FROM tasks
                WHERE runner = ?1 AND status = 'in_progress' AND runner IS NOT NULL AND stop IS NOT NULL";
            let mut statement = connection.prepare_cached(query)?;
            let rows = statement.query_map([runner], |row| Ok((row.get(0)?, id_of(row.get(1)?))))?;
            rows.collect()
        })
    }

    fn is_abandoned(&self, task: &TaskRecord) -> bool {
        let runner = task.runner.as_ref().filter(|_| !task.status.is_final());
        runner.is_some_and(|runner| !self.alive().is_alive(runner))
    }

    async fn fail_abandoned(&self, principal: &str, task: &TaskRecord) -> Result<(), ToolError> {
        let reason = "the process that ran the agent has ended".to_owned();
        self.end_task(principal.to_owned(), task.id.clone(), Err(reason)).await
    }
}

fn create(
    transaction: &Transaction<'_>,
    principal: &str,
    task: NewTask,
    runner: Option<String>,
) -> Step<TaskRecord> {
    let count: i64 = transaction.query_row(
        "SELECT count(*) FROM tasks WHERE principal = ?1",
        [principal],
        |row| row.get(0),
    )?;
    if count >= MAX_TASKS {
        let oldest = format!(
            "DELETE FROM tasks WHERE principal = ?1 AND number =
                 (SELECT min(number) FROM tasks WHERE principal = ?1 AND status IN {FINAL})"
        );
        if transaction.execute(&oldest, [principal])? == 0 {
            let text = format!("{MAX_TASKS} tasks are open; complete or stop some first");
            return Ok(Err(ToolError::user(text)));
        }
    }
    let number = next_number(transaction, principal, KIND)?;
    transaction.execute(
        "INSERT INTO tasks (principal, number, subject, description, owner, status, agent, runner, created, updated)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)",
        params![
            principal,
            number,
            task.subject,
            task.description,
            task.owner,
            task.status.as_str(),
            task.agent,
            runner,
            now()
        ],
    )?;
    find(transaction, principal, &id_of(number))
}

fn update(
    transaction: &Transaction<'_>,
    principal: &str,
    id: &str,
    change: TaskChange,
) -> Step<TaskRecord> {
    let task = match open(transaction, principal, id)? {
        Ok(task) => task,
        Err(error) => return Ok(Err(error)),
    };
    if task.agent.is_some() && (change.status.is_some() || change.output.is_some()) {
        let text =
            format!("an agent does `{id}` and sets its status and output; end it by `TaskStop`");
        return Ok(Err(ToolError::user(text)));
    }
    transaction.execute(
        "UPDATE tasks SET status = coalesce(?3, status), description = coalesce(?4, description),
             owner = coalesce(?5, owner), output = coalesce(?6, output), updated = ?7
         WHERE principal = ?1 AND number = ?2",
        params![
            principal,
            number(id),
            change.status.map(TaskStatus::as_str),
            change.description,
            change.owner,
            change.output,
            now()
        ],
    )?;
    find(transaction, principal, id)
}

fn stop(
    transaction: &Transaction<'_>,
    principal: &str,
    id: &str,
    reason: &str,
) -> Step<TaskRecord> {
    let task = match open(transaction, principal, id)? {
        Ok(task) => task,
        Err(error) => return Ok(Err(error)),
    };
    let text = match task.agent {
        Some(_) => "UPDATE tasks SET stop = ?3, updated = ?4 WHERE principal = ?1 AND number = ?2",
        None => {
            "UPDATE tasks SET status = 'cancelled', reason = ?3, updated = ?4
             WHERE principal = ?1 AND number = ?2"
        }
    };
    transaction.execute(text, params![principal, number(id), reason, now()])?;
    find(transaction, principal, id)
}

/// A task that has not ended.
fn open(connection: &Connection, principal: &str, id: &str) -> Step<TaskRecord> {
    let found = find(connection, principal, id)?;
    Ok(found.and_then(|task| match task.status.is_final() {
        false => Ok(task),
        true => Err(ToolError::user(format!(
            "`{id}` is {} and cannot change; create a new task",
            task.status.as_str()
        ))),
    }))
}

fn find(connection: &Connection, principal: &str, id: &str) -> Step<TaskRecord> {
    let query = format!("SELECT {COLUMNS} FROM tasks WHERE principal = ?1 AND number = ?2");
    let task = match number(id) {
        Some(number) => {
            connection.query_row(&query, params![principal, number], record).optional()?
        }
        None => None,
    };
    let Some(task) = task else {
        let last = last_number(connection, principal, KIND)?;
        let text = match number(id) {
            Some(number) if (1..=last).contains(&number) => {
                format!("`{id}` ended long ago and is forgotten; `TaskList` shows all tasks")
            }
            _ if id.starts_with("job_") => format!(
                "`{id}` is not the id of a task; `KillBash` ends a background command, `BashOutput` reads it, and `TaskList` shows all tasks"
            ),
            _ => format!("`{id}` is not the id of a task; `TaskList` shows all tasks"),
        };
        return Ok(Err(ToolError::user(text)));
    };
    Ok(Ok(task))
}

fn all(connection: &Connection, principal: &str) -> rusqlite::Result<Vec<TaskRecord>> {
    let query = format!("SELECT {COLUMNS} FROM tasks WHERE principal = ?1 ORDER BY number");
    let mut statement = connection.prepare_cached(&query)?;
    statement.query_map([principal], record)?.collect()
}

fn record(row: &Row<'_>) -> rusqlite::Result<TaskRecord> {
    let status: String = row.get(4)?;
    let unknown = || rusqlite::Error::InvalidColumnName(format!("unknown status `{status}`"));
    Ok(TaskRecord {
        id: id_of(row.get(0)?),
        subject: row.get(1)?,
        description: row.get(2)?,
        owner: row.get(3)?,
        status: TaskStatus::from_name(&status).ok_or_else(unknown)?,
        output: row.get(5)?,
        reason: row.get(6)?,
        agent: row.get(7)?,
        created: row.get(8)?,
        updated: row.get(9)?,
        runner: row.get(10)?,
    })
}

fn id_of(number: i64) -> String {
    format!("task_{number}")
}

fn number(id: &str) -> Option<i64> {
    let digits = id.strip_prefix("task_")?;
    let number = digits.parse().ok()?;
    (id_of(number) == id).then_some(number)
}
