//! Listening to a topic: a bounded queue that loses its oldest messages, and says so.

use crate::record::Revised;
use bytes::Bytes;
use std::any::Any;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::Notify;
use tool_runtime_core::seam::lock;

/// The most messages that wait for a listener.
const CAPACITY: usize = 256;

/// An event of a topic, as a listener hears it.
#[derive(Clone, Debug, PartialEq)]
pub enum Heard {
    /// A message.
    Message(Bytes),
    /// A record that was written.
    Record(Box<Revised>),
    /// Messages were lost, or may be: the listener was slow, or the connection was interrupted.
    Gap,
}

#[derive(Debug, Default)]
struct Inbox {
    heard: Mutex<Waiting>,
    arrived: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    queue: VecDeque<Heard>,
    is_over: bool,
}

/// The end of a topic that hears. Dropping it ends the subscription.
pub struct Listener {
    inbox: Arc<Inbox>,
    _subscription: Option<Box<dyn Any + Send + Sync>>,
}

/// The end of a topic that speaks to one listener.
#[derive(Clone, Debug)]
pub struct Speaker(Weak<Inbox>);

impl Listener {
    /// A listener and its speaker.
    pub fn new() -> (Speaker, Self) {
        let inbox = Arc::<Inbox>::default();
        (Speaker(Arc::downgrade(&inbox)), Self { inbox, _subscription: None })
    }

    /// Keeps a value until the listener is dropped.
    #[must_use]
    pub fn with_subscription(mut self, subscription: impl Any + Send + Sync) -> Self {
        self._subscription = Some(Box::new(subscription));
        self
    }

    /// Waits for what is heard next. `None` once the board is closed. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            let arrived = self.inbox.arrived.notified();
            {
                let mut waiting = lock(&self.inbox.heard);
                if let Some(heard) = waiting.queue.pop_front() {
                    return Some(heard);
                }
                if waiting.is_over {
                    return None;
                }
            }
            arrived.await;
        }
    }
}

impl std::fmt::Debug for Listener {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listener").finish_non_exhaustive()
    }
}

impl Speaker {
    /// Passes on what is said. Returns whether the listener still exists.
    pub fn say(&self, heard: Heard) -> bool {
        let Some(inbox) = self.0.upgrade() else { return false };
        {
            let mut waiting = lock(&inbox.heard);
            if waiting.queue.len() >= CAPACITY {
                waiting.queue.pop_front();
                // Instead of the oldest ones.
                if let Some(oldest) = waiting.queue.front_mut() {
                    *oldest = Heard::Gap;
                }
            }
            waiting.queue.push_back(heard);
        }
        inbox.arrived.notify_one();
        true
    }

    /// Ends what the listener hears.
    pub fn end(&self) {
        if let Some(inbox) = self.0.upgrade() {
            lock(&inbox.heard).is_over = true;
            inbox.arrived.notify_one();
        }
    }

    /// Whether the listener still exists.
    pub fn is_heard(&self) -> bool {
        self.0.strong_count() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_slow_listener_loses_the_oldest_and_learns_it() {
        let (speaker, mut listener) = Listener::new();
        for number in 0..300_u32 {
            assert!(speaker.say(Heard::Message(number.to_string().into())));
        }
        assert_eq!(listener.next().await, Some(Heard::Gap));
        let mut last = None;
        for _ in 0..CAPACITY - 1 {
            last = listener.next().await;
        }
        assert_eq!(last, Some(Heard::Message("299".into())));
        speaker.end();
        assert_eq!(listener.next().await, None);
        drop(listener);
        assert!(!speaker.say(Heard::Gap));
    }
}
