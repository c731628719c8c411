//! The listeners of topics.

use crate::board::{Reach, Topic};
use crate::listener::{Heard, Listener, Speaker};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use tool_runtime_core::seam::lock;

type Speakers = Mutex<HashMap<Topic, Vec<Speaker>>>;

/// The listeners of all topics.
#[derive(Debug, Default)]
pub(crate) struct Topics(Arc<Speakers>);

/// Removes a listener that ended, so that a topic without any leaves nothing behind.
struct Subscription {
    speakers: Arc<Speakers>,
    topic: Topic,
}

impl Topics {
    pub(crate) fn listen(&self, topic: &Topic) -> Listener {
        let (speaker, listener) = Listener::new();
        lock(&self.0).entry(topic.clone()).or_default().push(speaker);
        let speakers = Arc::clone(&self.0);
        listener.with_subscription(Subscription { speakers, topic: topic.clone() })
    }

    /// Passes on what is said to all that listen to the topic.
    pub(crate) fn say(&self, topic: &Topic, heard: &Heard) -> Reach {
        let topics = lock(&self.0);
        let mut reach = Reach::Nobody;
        for topic in [Some(topic), wider(topic)].into_iter().flatten() {
            for speaker in topics.get(topic).into_iter().flatten() {
                if speaker.say(heard.clone()) {
                    reach = Reach::Somebody;
                }
            }
        }
        reach
    }
}

#[cfg(any(feature = "http", feature = "nats"))]
impl Topics {
    /// Passes on what is said to all listeners of all topics.
    pub(crate) fn say_to_all(&self, heard: &Heard) {
        for speaker in lock(&self.0).values().flatten() {
            speaker.say(heard.clone());
        }
    }

    /// Ends what all listeners hear.
    pub(crate) fn end(&self) {
        lock(&self.0).values().flatten().for_each(Speaker::end);
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut topics = lock(&self.speakers);
        let Some(speakers) = topics.get_mut(&self.topic) else { return };
        speakers.retain(Speaker::is_heard);
        if speakers.is_empty() {
            topics.remove(&self.topic);
        }
    }
}

/// The topic that has everything of this one.
fn wider(topic: &Topic) -> Option<&'static Topic> {
    matches!(topic, Topic::Presence(_)).then_some(&Topic::AllPresence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_without_listeners_leaves_nothing_behind() {
        let topics = Topics::default();
        let (first, second) = (topics.listen(&Topic::Roll), topics.listen(&Topic::Roll));
        drop(first);
        assert_eq!(topics.say(&Topic::Roll, &Heard::Gap), Reach::Somebody);
        drop(second);
        assert!(lock(&topics.0).is_empty());
    }
}
