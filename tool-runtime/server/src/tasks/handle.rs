//! One task, for its call.

use super::entries::Entries;
use super::entry::Entry;
use crate::question;
use serde_json::Value;
use std::sync::{Arc, Weak};
use tool_runtime_core::{PeerError, PeerRequest, Progress};

/// A task, as the call in it reaches it. It keeps no server alive.
pub(in super::super) struct Handle {
    tasks: Weak<Entries>,
    id: String,
}

impl Handle {
    pub(super) fn new(tasks: &Arc<Entries>, id: &str) -> Self {
        Self { tasks: Arc::downgrade(tasks), id: id.to_owned() }
    }

    /// Asks the client, and waits for the answer.
    ///
    /// # Errors
    /// The task is over, or the question is none that clients know.
    pub(in super::super) async fn ask(&self, request: PeerRequest) -> Result<Value, PeerError> {
        let (question, kind) = (question::of(&request)?, request.capability());
        let (key, _) = request.into_parts();
        let answer = self.change(|entry| entry.ask(key, question, kind)).flatten();
        if let Some(answer) = answer
            && let Ok(answer) = answer.await
        {
            return Ok(answer);
        }
        // A tool that asks on must notice that it is cancelled.
        tokio::task::yield_now().await;
        Err(PeerError::Failed("the task is over".to_owned()))
    }

    /// Shows how far it is as the task's message.
    pub(in super::super) fn progress(&self, progress: &Progress) {
        let far = match progress.total {
            Some(total) => format!("{} of {total}", progress.done),
            None => progress.done.to_string(),
        };
        let message = match &progress.message {
            Some(message) => format!("{far}: {message}"),
            None => far,
        };
        self.change(|entry| entry.tell(message));
    }

    fn change<T>(&self, change: impl FnOnce(&mut Entry) -> T) -> Option<T> {
        self.tasks.upgrade()?.change(&self.id, change)
    }
}
