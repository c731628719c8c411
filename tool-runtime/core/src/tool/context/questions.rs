//! The peer of a call, and the keys of its questions: each call has its own, although nested calls use the same peer.

use super::ToolContext;
use crate::tool::peer::Peer;
use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The keys that belong to one call.
#[derive(Clone, Default)]
pub(super) struct Questions {
    /// Prefix of all keys: `2/1/` in the first call made by the second call of a tool.
    prefix: Option<Arc<str>>,
    /// The number of nested calls. `None` until the call starts.
    calls: Option<Arc<AtomicUsize>>,
}

impl Questions {
    /// The keys of the next nested call. The count gives the same prefix whenever the function runs again.
    pub(super) fn of_next_call(&self) -> Self {
        let Some(calls) = &self.calls else {
            return self.clone();
        };
        let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
        let prefix = format!("{}{number}/", self.prefix.as_deref().unwrap_or_default());
        Self { prefix: Some(prefix.into()), calls: None }
    }

    /// Starts counting the nested calls of a call that begins to run.
    pub(super) fn started(mut self) -> Self {
        self.calls = Some(Arc::default());
        self
    }

    /// The key of a question on the wire.
    pub(super) fn key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        match &self.prefix {
            Some(prefix) => format!("{prefix}{key}").into(),
            None => key.into(),
        }
    }
}

impl ToolContext {
    /// The peer that made the call.
    #[doc(hidden)]
    pub fn peer(&self) -> Option<&dyn Peer> {
        self.0.peer.as_deref()
    }

    pub(crate) fn set_peer(&mut self, peer: Arc<dyn Peer>) {
        self.parts().peer = Some(peer);
    }

    /// Reserves keys for a call that starts later. Calls of a batch reserve them in the order given, whichever runs
    /// first.
    #[must_use]
    pub(crate) fn with_next_keys(mut self) -> Self {
        if self.0.peer.is_some() {
            self.parts().questions = self.0.questions.of_next_call();
        }
        self
    }

    /// Starts a call. A context of a running call gets separate question keys.
    #[must_use]
    #[doc(hidden)]
    pub fn started(mut self) -> Self {
        if self.0.peer.is_some() {
            self.parts().questions = self.0.questions.of_next_call().started();
        }
        self
    }

    /// The key of a question as the peer sees it.
    pub(crate) fn question_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        self.0.questions.key(key)
    }
}
