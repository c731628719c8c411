//! Calls that go on after their request was answered: MCP's tasks extension (SEP-2663).

mod entry;
mod handle;

pub(super) use handle::Handle;

use crate::tool::BoxFuture;
use entry::Entry;
use rmcp::model::{DetailedTask, ErrorData, JsonObject, Task};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How long a task lives after it began, running or done.
const LIFETIME: Duration = Duration::from_secs(60 * 60);

/// How many tasks there are at once, running or done.
const MOST: usize = 1000;

/// How a task ended.
pub(super) enum Outcome {
    /// With a result, good or bad: what `tools/call` would have answered.
    Completed(JsonObject),
    /// With an error of the protocol.
    Failed(JsonObject),
    Cancelled,
}

/// The tasks of a server. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct Tasks(Arc<Mutex<BTreeMap<String, Entry>>>);

/// What begins a task.
pub(super) struct Work {
    /// Whose it is: nobody else learns that it exists.
    pub(super) owner: String,
    pub(super) cancellation: CancellationToken,
    pub(super) call: BoxFuture<'static, Outcome>,
}

impl Tasks {
    /// Begins a task, and tells the call in it of its handle.
    ///
    /// The task is known before anything of it runs, so that a client can ask for it as soon as it
    /// has the answer.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn start(
        &self,
        work: Work,
        tell: impl FnOnce(Handle),
    ) -> Result<Task, &'static str> {
        let id = fresh_id();
        let entry = Entry::new(work.owner, work.cancellation.clone(), LIFETIME);
        let created = entry.describe(&id);
        {
            let mut entries = self.entries();
            if entries.len() >= MOST {
                return Err("the server has too many tasks; try again later");
            }
            entries.insert(id.clone(), entry);
        }
        tell(Handle::new(self, &id));
        tokio::spawn(self.clone().run(id, work.cancellation, work.call));
        Ok(created)
    }

    /// Runs it, and keeps how it ended until its time is over.
    async fn run(
        self,
        id: String,
        cancellation: CancellationToken,
        call: BoxFuture<'static, Outcome>,
    ) {
        let expiry = tokio::time::Instant::now() + LIFETIME;
        let outcome = tokio::time::timeout_at(expiry, call).await;
        match outcome {
            Ok(outcome) => {
                self.change(&id, |entry| entry.end(outcome));
                tokio::time::sleep_until(expiry).await;
            }
            Err(_) => cancellation.cancel(),
        }
        self.entries().remove(&id);
    }

    /// `tasks/get`.
    ///
    /// # Errors
    /// There is no such task of this owner.
    pub(super) fn get(&self, owner: &str, id: &str) -> Result<DetailedTask, ErrorData> {
        self.own(owner, id, |entry| DetailedTask::new(entry.describe(id), entry.payload()))
    }

    /// `tasks/update`: answers to what the task has asked. Others are ignored.
    ///
    /// # Errors
    /// There is no such task of this owner.
    pub(super) fn update(
        &self,
        owner: &str,
        id: &str,
        answers: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<(), ErrorData> {
        self.own(owner, id, |entry| {
            answers.into_iter().for_each(|(key, answer)| entry.answer(&key, answer));
        })
    }

    /// `tasks/cancel`.
    ///
    /// # Errors
    /// There is no such task of this owner.
    pub(super) fn cancel(&self, owner: &str, id: &str) -> Result<(), ErrorData> {
        self.own(owner, id, Entry::cancel)
    }

    fn own<T>(
        &self,
        owner: &str,
        id: &str,
        read: impl FnOnce(&mut Entry) -> T,
    ) -> Result<T, ErrorData> {
        let mut entries = self.entries();
        let entry = entries.get_mut(id).filter(|entry| entry.belongs_to(owner));
        entry.map(read).ok_or_else(|| {
            let text =
                format!("there is no task {id:?}: its time may be over; make the call again");
            ErrorData::invalid_params(text, None)
        })
    }

    fn change<T>(&self, id: &str, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.entries().get_mut(id).map(change)
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Tasks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tasks({})", self.entries().len())
    }
}

/// An id that nobody can guess: whoever knows it may ask for the task.
fn fresh_id() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system gives random bytes");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
