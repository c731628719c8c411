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

/// An event of a step.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "hub"), expect(dead_code, reason = "only a hub has listeners"))]
pub(crate) struct StepNews {
    pub(crate) step: StepKey,
    pub(crate) heard: Heard,
}

/// The listeners of all callers.
#[derive(Debug, Default)]
pub(super) struct Callers(Mutex<HashMap<CallerName, broadcast::Sender<StepNews>>>);

impl Callers {
    /// The events of the steps of a caller from now on.
    #[cfg(feature = "hub")]
    pub(super) fn listen(&self, caller: &CallerName) -> broadcast::Receiver<StepNews> {
        let mut callers = lock(&self.0);
        let sender = callers.entry(caller.clone());
        sender.or_insert_with(|| broadcast::channel(CAPACITY).0).subscribe()
    }

    /// Passes on what is heard about a step to its caller.
    pub(super) fn say(&self, step: &StepKey, heard: &Heard) -> Reach {
        let mut callers = lock(&self.0);
        let Some(sender) = callers.get(&step.caller) else { return Reach::Nobody };
        let news = StepNews { step: step.clone(), heard: heard.clone() };
        if sender.send(news).is_ok() {
            return Reach::Somebody;
        }
        callers.remove(&step.caller);
        Reach::Nobody
    }
}
