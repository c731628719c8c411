//! The conversations of sub-agents that ended, for requests that resume them.

use crate::model::Model;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use tool_runtime::__seam::{listed, lock};
use tool_runtime::agent::SpawnMode;
use tool_runtime::matching::ToolPattern;
use tool_runtime::prelude::*;
use tool_runtime::tool::SessionId;

/// A sub-agent, as it was started.
#[derive(Clone)]
pub(super) struct Conversation {
    pub(super) kind: Option<String>,
    pub(super) model: Arc<dyn Model>,
    pub(super) system: String,
    pub(super) max_turns: usize,
    /// The permission mode. `None`: that of the caller.
    pub(super) mode: Option<SpawnMode>,
    /// Each list narrows the tools.
    pub(super) tools: Vec<Vec<ToolPattern>>,
    pub(super) messages: Arc<Vec<Value>>,
}

/// The callers that may resume an agent.
#[derive(Clone, PartialEq, Eq)]
struct Owner {
    principal: String,
    session: Option<SessionId>,
}

impl Owner {
    fn from_context(context: &ToolContext) -> Self {
        Self { principal: context.principal().id().to_owned(), session: context.session().copied() }
    }
}

struct Entry {
    owner: Owner,
    /// `None` while the agent runs.
    ended: Option<Conversation>,
    /// The order in which agents ended.
    number: u64,
}

/// All agents by id: those that run, and the last of those that ended.
pub(super) struct Conversations {
    entries: Mutex<BTreeMap<String, Entry>>,
    max_ended: usize,
}

impl Conversations {
    pub(super) fn new(max_ended: usize) -> Self {
        Self { entries: Mutex::default(), max_ended }
    }

    fn entries(&self) -> MutexGuard<'_, BTreeMap<String, Entry>> {
        lock(&self.entries)
    }

    /// Records that an agent runs.
    pub(super) fn begin(&self, id: &str, context: &ToolContext) {
        let entry = Entry { owner: Owner::from_context(context), ended: None, number: 0 };
        self.entries().insert(id.to_owned(), entry);
    }

    /// Stores the conversation of an agent that ended, and removes the oldest if there are too
    /// many.
    pub(super) fn end(&self, id: &str, conversation: Conversation) {
        let mut entries = self.entries();
        let number = 1 + entries.values().map(|entry| entry.number).max().unwrap_or_default();
        if let Some(entry) = entries.get_mut(id) {
            (entry.ended, entry.number) = (Some(conversation), number);
        }
        let ended = entries.iter().filter(|(_, entry)| entry.ended.is_some());
        if ended.clone().count() > self.max_ended
            && let Some(oldest) = ended.min_by_key(|(_, entry)| entry.number)
        {
            let oldest = oldest.0.clone();
            entries.remove(&oldest);
        }
    }

    /// The conversation of an agent that this caller may resume.
    ///
    /// # Errors
    /// The agent is unknown to this caller, or runs.
    pub(super) fn find(&self, id: &str, context: &ToolContext) -> Result<Conversation, ToolError> {
        let (entries, owner) = (self.entries(), Owner::from_context(context));
        let of_owner = || entries.iter().filter(|(_, entry)| entry.owner == owner);
        match of_owner().find(|(known, _)| *known == id) {
            Some((_, Entry { ended: Some(conversation), .. })) => Ok(conversation.clone()),
            Some(_) => Err(ToolError::user(format!("`{id}` still runs; wait for its answer"))),
            None => {
                let ended = of_owner().filter(|(_, entry)| entry.ended.is_some());
                let ended = ended.map(|(id, _)| id.as_str());
                let names = listed(ended);
                Err(ToolError::user(format!(
                    "`{id}` is not an agent that can be resumed; start a new one, or name one of these: {names}"
                )))
            }
        }
    }
}
