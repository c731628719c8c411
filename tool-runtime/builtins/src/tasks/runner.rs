//! Agents that this process runs in the background, each for a task.

use super::record::TaskRecord;
use super::state::TaskStatus;
use super::store::TaskStore;
use super::task_rows::NewTask;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, timeout};
use tool_runtime::__seam::lock;
use tool_runtime::agent::{AgentHandle, AgentOutcome};
use tool_runtime::{CancellationToken, ToolError};

/// The time between two looks at the file: for requests of other processes to stop, and for the end of a task of
/// another process.
const POLL: Duration = Duration::from_millis(250);

/// The time between two attempts to store the end of an agent.
const RETRY: Duration = Duration::from_secs(5);

/// The principal and the id of a task.
type Key = (String, String);

/// The agents in the background.
pub(crate) struct Runner {
    store: TaskStore,
    running: Mutex<HashMap<Key, CancellationToken>>,
    /// A task of this process was requested to stop, or has ended.
    stop: Notify,
    end: Notify,
}

impl Runner {
    pub(crate) fn new(store: TaskStore) -> Arc<Self> {
        Arc::new(Self { store, running: Mutex::default(), stop: Notify::new(), end: Notify::new() })
    }

    /// Records an agent that was started as a task, and waits for it in the background.
    pub(super) async fn adopt(
        self: &Arc<Self>,
        principal: &str,
        subject: String,
        prompt: String,
        handle: AgentHandle,
    ) -> Result<TaskRecord, ToolError> {
        let agent = Some(handle.id().to_owned());
        let status = TaskStatus::InProgress;
        let task = NewTask { subject, description: prompt, owner: agent.clone(), status, agent };
        let task = self.store.create_task(principal.to_owned(), task).await;
        let task = task.inspect_err(|_| handle.cancel())?;
        let key = (principal.to_owned(), task.id.clone());
        let stop = CancellationToken::new();
        let is_first = {
            let mut running = self.running();
            running.insert(key.clone(), stop.clone());
            running.len() == 1
        };
        if is_first {
            tokio::spawn(watch(Arc::downgrade(self)));
        }
        tokio::spawn(Arc::clone(self).run(key, stop, handle));
        Ok(task)
    }

    async fn run(self: Arc<Self>, key: Key, stop: CancellationToken, mut handle: AgentHandle) {
        let outcome = match stop.run_until_cancelled(&mut handle).await {
            Some(outcome) => outcome,
            None => {
                handle.cancel();
                handle.await
            }
        };
        let outcome = outcome.map(output).map_err(|error| error.message().to_owned());
        let (principal, id) = &key;
        // Another process may hold the file, or the disk be full: without its end, the task would run for ever.
        let end = || self.store.end_task(principal.clone(), id.clone(), outcome.clone());
        while let Err(error) = end().await {
            tracing::warn!(task = id, %error, "the end of an agent cannot be stored; trying again");
            tokio::time::sleep(RETRY).await;
        }
        self.running().remove(&key);
        self.end.notify_waiters();
        // The watcher ends with the last agent.
        self.stop.notify_one();
    }

    /// Reads requests to stop now.
    pub(super) fn stop_requested(&self) {
        self.stop.notify_one();
    }

    /// Waits until a task has ended, or the time is up.
    pub(super) async fn ended(
        &self,
        principal: &str,
        mut task: TaskRecord,
        time: Duration,
    ) -> Result<TaskRecord, ToolError> {
        let end = Instant::now() + time;
        while !task.status.is_final() && Instant::now() < end {
            let rest = end - Instant::now();
            // A task of another process ends without a notification.
            let _ = timeout(rest.min(POLL), self.end.notified()).await;
            task = self.store.task(principal, &task.id).await?;
        }
        Ok(task)
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Key, CancellationToken>> {
        lock(&self.running)
    }

    /// Cancels the agents whose tasks are requested to stop.
    fn cancel_requested(&self) {
        let requests = self.store.stop_requests().unwrap_or_else(|error| {
            tracing::warn!(%error, "requests to stop cannot be read");
            Vec::new()
        });
        let running = self.running();
        requests.iter().filter_map(|key| running.get(key)).for_each(CancellationToken::cancel);
    }
}

/// Looks for requests to stop while agents run.
async fn watch(runner: Weak<Runner>) {
    while let Some(runner) = runner.upgrade() {
        if runner.running().is_empty() {
            return;
        }
        runner.cancel_requested();
        let _ = timeout(POLL, runner.stop.notified()).await;
    }
}

/// The text of an answer, with its value if it has one.
pub(super) fn output(outcome: AgentOutcome) -> String {
    match outcome.value {
        Some(value) if outcome.text.is_empty() => value.to_string(),
        _ => outcome.text,
    }
}
