//! Callers that listen to all of their steps at once.

use crate::board::Reach;
use crate::listener::Heard;
use crate::names::{CallerName, StepKey};
use std::collections::HashMap;
use std::sync::Mutex;
use tokio::sync::broadcast;
use tool_runtime_core::seam::lock;

/// The most messages that wait for a listener.
#[cfg(feature = "hub")]
const CAPACITY: usize = 1024;

/// What is heard about a step.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "hub"), expect(dead_code, reason = "a hub alone has listeners"))]
pub(crate) struct StepNews {
    pub(crate) step: StepKey,
    pub(crate) heard: Heard,
}

/// The listeners of all callers.
#[derive(Debug, Default)]
pub(super) struct Owners(Mutex<HashMap<CallerName, broadcast::Sender<StepNews>>>);

impl Owners {
    /// What is heard about the steps of a caller from now on.
    #[cfg(feature = "hub")]
    pub(super) fn listen(&self, owner: &CallerName) -> broadcast::Receiver<StepNews> {
        let mut owners = lock(&self.0);
        let sender = owners.entry(owner.clone());
        sender.or_insert_with(|| broadcast::channel(CAPACITY).0).subscribe()
    }

    /// Passes on what is heard about a step to its owner.
    pub(super) fn say(&self, owner: &CallerName, step: &StepKey, heard: &Heard) -> Reach {
        let mut owners = lock(&self.0);
        let Some(sender) = owners.get(owner) else { return Reach::Nobody };
        let news = StepNews { step: step.clone(), heard: heard.clone() };
        if sender.send(news).is_ok() {
            return Reach::Somebody;
        }
        owners.remove(owner);
        Reach::Nobody
    }
}
