//! Calls that continue after their request was answered: MCP's tasks extension (SEP-2663).

mod entry;

pub(super) use entry::Outcome;

use super::request::McpResult;
use super::rounds::input_request;
use super::suspended::random_id;
use entry::Entry;
use rmcp::model::{DetailedTask, ErrorData, InputResponses, Task};
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::{excerpt, lock, spawn};
use tool_runtime_core::tool::peer::{PeerError, PeerRequest, Progress};
use tool_runtime_core::vocabulary::BoxFuture;

/// Lifetime of a task from its creation.
const TASK_LIFETIME: Duration = Duration::from_secs(60 * 60);

/// Limit on the tasks of a server, ended ones included.
const MAX_TASKS: usize = 1000;

/// Limit on the tasks of one owner, so that others can start tasks.
const MAX_PER_OWNER: usize = 250;

/// The tasks of a server, which end with it. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Tasks(Arc<Entries>);

/// The tasks by their ids.
#[derive(Default)]
struct Entries(Mutex<HashMap<String, Entry>>);

/// The work of a new task.
pub(super) struct Work {
    /// The owner; other callers cannot see the task.
    pub(super) owner: String,
    pub(super) cancellation: CancellationToken,
    pub(super) call: BoxFuture<'static, Outcome>,
}

impl Tasks {
    /// Starts a task, and passes its handle to the call in it.
    ///
    /// The task is listed before it runs, so that a client can get it as soon as it has the answer.
    ///
    /// # Errors
    /// Too many tasks are running.
    pub(super) fn start(
        &self,
        work: Work,
        set_handle: impl FnOnce(Handle),
    ) -> Result<Task, &'static str> {
        let id = random_id();
        let entry = Entry::new(work.owner.clone(), work.cancellation.clone(), TASK_LIFETIME);
        let created = entry.describe(&id);
        {
            let mut entries = self.0.lock();
            remove_ended(&mut entries, &entry)?;
            entries.insert(id.clone(), entry);
        }
        set_handle(Handle { tasks: Arc::downgrade(&self.0), id: id.clone() });
        spawn(Box::pin(run(Arc::downgrade(&self.0), id, work)));
        Ok(created)
    }

    /// `tasks/get`.
    ///
    /// # Errors
    /// The owner has no such task.
    pub(super) fn get(&self, owner: &str, id: &str) -> McpResult<DetailedTask> {
        self.with_owned(owner, id, |entry| {
            entry.mark_read();
            DetailedTask::new(entry.describe(id), entry.payload())
        })
    }

    /// `tasks/update`: answers to open questions of the task. Others are ignored.
    ///
    /// # Errors
    /// The owner has no such task, or one of the answers is not valid: then none is accepted.
    pub(super) fn update(&self, owner: &str, id: &str, answers: InputResponses) -> McpResult<()> {
        self.with_owned(owner, id, |entry| {
            if let Some((key, _)) = answers.iter().find(|(key, answer)| !entry.accepts(key, answer))
            {
                return Err(invalid_answer(key));
            }
            answers.into_iter().for_each(|(key, answer)| entry.answer(&key, answer));
            Ok(())
        })?
    }

    /// `tasks/cancel`.
    ///
    /// # Errors
    /// The owner has no such task.
    pub(super) fn cancel(&self, owner: &str, id: &str) -> McpResult<()> {
        self.with_owned(owner, id, Entry::cancel)
    }

    fn with_owned<T>(
        &self,
        owner: &str,
        id: &str,
        read: impl FnOnce(&mut Entry) -> T,
    ) -> McpResult<T> {
        let mut entries = self.0.lock();
        let entry = entries.get_mut(id).filter(|entry| entry.belongs_to(owner));
        entry.map(read).ok_or_else(|| {
            let id = excerpt(id);
            let text = format!("there is no task {id:?}: it may have expired; make the call again");
            ErrorData::invalid_params(text, None)
        })
    }
}

impl Entries {
    /// The tasks that have not expired.
    fn lock(&self) -> MutexGuard<'_, HashMap<String, Entry>> {
        let mut entries = lock(&self.0);
        let now = Instant::now();
        entries.retain(|_, entry| entry.expiry() > now);
        entries
    }

    /// Changes a task, unless it has expired.
    fn change<T>(&self, id: &str, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.lock().get_mut(id).map(change)
    }
}

/// A task, for the call in it. Does not keep the server alive.
pub(super) struct Handle {
    tasks: Weak<Entries>,
    id: String,
}

impl Handle {
    /// Asks the client, and waits for the answer.
    ///
    /// # Errors
    /// The task has ended, or MCP does not define the kind of question.
    pub(super) async fn ask(&self, request: PeerRequest) -> Result<Value, PeerError> {
        let (question, kind) = (input_request(&request)?, request.capability());
        let (key, _) = request.into_parts();
        let answer = self.change(|entry| entry.ask(key, question, kind)).flatten();
        if let Some(answer) = answer
            && let Ok(answer) = answer.await
        {
            return Ok(answer);
        }
        // A tool that repeats the question must notice that it is cancelled.
        tokio::task::yield_now().await;
        Err(PeerError::Failed("the task has ended".to_owned()))
    }

    /// Shows progress as the task's message.
    pub(super) fn progress(&self, progress: &Progress) {
        let done = match progress.total {
            Some(total) => format!("{} of {total}", progress.done),
            None => progress.done.to_string(),
        };
        let message = match &progress.message {
            Some(message) => format!("{done}: {message}"),
            None => done,
        };
        self.change(|entry| entry.set_message(message));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.tasks.upgrade()?.change(&self.id, change)
    }
}

/// Runs a task. It refers to the server weakly, and the end of the server cancels it.
async fn run(tasks: Weak<Entries>, id: String, mut work: Work) {
    let limit = tokio::time::timeout(TASK_LIFETIME, &mut work.call).await;
    let outcome = match limit {
        Ok(outcome) => outcome,
        // Cancelled instead of dropped: a drop may panic.
        Err(_) => {
            work.cancellation.cancel();
            work.call.await
        }
    };
    if let Some(tasks) = tasks.upgrade() {
        tasks.change(&id, |entry| entry.end(outcome));
    }
}

/// Removes an ended task if the limit is reached: first those whose result was read, then the
/// oldest first.
fn remove_ended(entries: &mut HashMap<String, Entry>, new: &Entry) -> Result<(), &'static str> {
    let owned = entries.values().filter(|entry| entry.has_owner_of(new)).count();
    let is_owner_full = owned >= MAX_PER_OWNER;
    if !is_owner_full && entries.len() < MAX_TASKS {
        return Ok(());
    }
    let candidates = entries.iter().filter(|(_, entry)| !is_owner_full || entry.has_owner_of(new));
    let ended = candidates.filter_map(|(id, entry)| Some((entry.ended()?, id)));
    match ended.min().map(|(_, id)| id.clone()) {
        Some(id) => drop(entries.remove(&id)),
        None => return Err("the server has too many tasks; try again later"),
    }
    Ok(())
}

fn invalid_answer(key: &str) -> ErrorData {
    let key = excerpt(key);
    let text = format!(
        "what `inputResponses` has for {key:?} does not answer it; send the result of the request that `tasks/get` shows"
    );
    ErrorData::invalid_params(text, None)
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tasks({})", self.0.lock().len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_limit::in_time;
    use std::future::{pending, ready};

    fn work(owner: &str, call: BoxFuture<'static, Outcome>) -> Work {
        Work { owner: owner.to_owned(), cancellation: CancellationToken::new(), call }
    }

    /// A task that ends at once.
    async fn ended(tasks: &Tasks, owner: &str) -> String {
        let call = Box::pin(ready(Outcome::Completed(serde_json::Map::new())));
        let task = tasks.start(work(owner, call), |_| ()).expect("a slot");
        in_time("the task to end", async {
            while tasks.0.change(&task.task_id, |entry| entry.ended().is_none()) == Some(true) {
                tokio::task::yield_now().await;
            }
        })
        .await;
        task.task_id
    }

    fn running(tasks: &Tasks, owner: &str) -> Result<String, &'static str> {
        tasks.start(work(owner, Box::pin(pending())), |_| ()).map(|task| task.task_id)
    }

    fn exists(tasks: &Tasks, owner: &str, id: &str) -> bool {
        tasks.get(owner, id).is_ok()
    }

    #[tokio::test]
    async fn an_owner_at_its_limit_replaces_only_its_own_tasks() {
        let tasks = Tasks::default();
        let others = ended(&tasks, "bob").await;
        // A task whose end was read is removed first.
        assert!(exists(&tasks, "bob", &others));
        let mut tasks_of_ada = Vec::new();
        for _ in 0..MAX_PER_OWNER {
            tasks_of_ada.push(ended(&tasks, "ada").await);
        }
        let newest = running(&tasks, "ada").expect("the slot of the oldest");
        assert!(exists(&tasks, "bob", &others));
        assert!(
            !exists(&tasks, "ada", &tasks_of_ada[0]) && exists(&tasks, "ada", &tasks_of_ada[1])
        );
        assert!(exists(&tasks, "ada", &newest));
    }

    #[tokio::test]
    async fn an_owner_whose_tasks_all_run_is_rejected() {
        let tasks = Tasks::default();
        let others = ended(&tasks, "bob").await;
        for _ in 0..MAX_PER_OWNER {
            running(&tasks, "ada").expect("a slot");
        }
        assert!(running(&tasks, "ada").is_err());
        assert!(exists(&tasks, "bob", &others));
        assert!(running(&tasks, "bob").is_ok());
    }

    #[tokio::test]
    async fn tasks_of_other_principals_are_not_found() {
        let tasks = Tasks::default();
        let id = running(&tasks, "bob").expect("a slot");
        assert!(tasks.get("ada", &id).is_err() && tasks.cancel("ada", &id).is_err());
        assert!(tasks.update("ada", &id, InputResponses::default()).is_err());
        assert!(exists(&tasks, "bob", &id));
    }

    #[tokio::test]
    async fn any_ended_task_is_removed_for_a_new_one() {
        let tasks = Tasks::default();
        let first = ended(&tasks, "owner 0").await;
        for nth in 1..MAX_TASKS {
            running(&tasks, &format!("owner {}", nth % 10)).expect("a slot");
        }
        running(&tasks, "eve").expect("the slot of the ended one");
        assert!(!exists(&tasks, "owner 0", &first));
        assert!(running(&tasks, "eve").is_err());
    }
}
