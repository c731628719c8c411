//! Subscriptions. The client subscribes again after an interruption; listeners hear that there was one.

use super::connection::Connection;
use super::subjects::last_token;
use crate::board::{BoardError, Topic};
use crate::listener::{Heard, Listener, Speaker};
use crate::local::Topics;
use crate::message;
use crate::names::CallerName;
use crate::record::{Revised, Revision};
use async_nats::{Message, Subscriber};
use futures_util::StreamExt as _;
use serde::Deserialize;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tokio_util::task::AbortOnDropHandle;

/// The header of a republished record with its sequence.
const SEQUENCE: &str = "Nats-Sequence";

/// The steps of a caller, by one subscription for all of them.
#[derive(Default)]
pub(super) struct Steps {
    topics: Arc<Topics>,
    following: OnceCell<[AbortOnDropHandle<()>; 2]>,
}

impl Steps {
    pub(super) async fn listen(
        &self,
        connection: &Arc<Connection>,
        topic: &Topic,
    ) -> Result<Listener, BoardError> {
        let listener = self.topics.listen(topic);
        let follow = || self.follow(connection);
        self.following.get_or_try_init(follow).await?;
        Ok(listener)
    }

    async fn follow(
        &self,
        connection: &Arc<Connection>,
    ) -> Result<[AbortOnDropHandle<()>; 2], BoardError> {
        let records = connection.subscribe(connection.names.live_of(&connection.name)).await?;
        let notes = connection.subscribe(connection.names.notes_of(&connection.name)).await?;
        let of_record = |message: &Message| {
            let sequence = message.headers.as_ref()?.get(SEQUENCE)?.as_str().parse().ok()?;
            let record = message::read("a record", &message.payload).ok()?;
            Some(Heard::Record(Box::new(Revised { record, revision: Revision(sequence) })))
        };
        let of_note = |message: &Message| Some(Heard::Message(message.payload.clone()));
        Ok([self.pass_on(connection, records, of_record), self.pass_on(connection, notes, of_note)])
    }

    fn pass_on(
        &self,
        connection: &Arc<Connection>,
        subscriber: Subscriber,
        read: impl Fn(&Message) -> Option<Heard> + Send + Sync + 'static,
    ) -> AbortOnDropHandle<()> {
        let (topics, names) = (Arc::clone(&self.topics), connection.names.clone());
        let said = move |news: News| match news {
            News::Gap => {
                topics.say_to_all(&Heard::Gap);
                true
            }
            News::Message(message) => {
                let Some(step) = names.key(&message.subject) else { return true };
                // What cannot be read is a gap: whoever reads it then is told why.
                topics.say(&Topic::Step(step), &read(&message).unwrap_or(Heard::Gap));
                true
            }
        };
        follow(connection, subscriber, said)
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.topics.end();
    }
}

/// The messages of a topic other than a step.
pub(super) async fn topic(
    connection: &Arc<Connection>,
    topic: &Topic,
) -> Result<Listener, BoardError> {
    let subscriber =
        connection.subscribe(connection.names.listened(topic, &connection.name)).await?;
    let (speaker, listener) = Listener::new();
    let is_wanted: fn(&Message) -> bool = match topic {
        Topic::Control(_) => is_of_its_caller,
        Topic::Presence(_) | Topic::AllPresence => is_of_its_queue,
        _ => |_| true,
    };
    let following = follow(connection, subscriber, move |news| said(&speaker, news, is_wanted));
    Ok(listener.with_subscription(following))
}

fn said(speaker: &Speaker, news: News, is_wanted: fn(&Message) -> bool) -> bool {
    match news {
        News::Gap => speaker.say(Heard::Gap),
        News::Message(message) if is_wanted(&message) => {
            speaker.say(Heard::Message(message.payload))
        }
        News::Message(message) => {
            tracing::warn!(subject = %message.subject, "a message is left out: its sender may not say this");
            true
        }
    }
}

#[derive(Deserialize)]
struct From {
    caller: CallerName,
}

/// The server lets a caller publish only to the subject with its own name.
fn is_of_its_caller(message: &Message) -> bool {
    let from = serde_json::from_slice::<From>(&message.payload);
    from.is_ok_and(|from| Some(from.caller) == last_token(&message.subject))
}

#[derive(Deserialize)]
struct Whose {
    queue: String,
    runner: String,
}

fn is_of_its_queue(message: &Message) -> bool {
    let Some(queue) = message.subject.rsplit('.').next() else { return false };
    let whose = serde_json::from_slice::<Whose>(&message.payload);
    whose.is_ok_and(|whose| {
        let rest = whose.runner.strip_prefix(queue).and_then(|rest| rest.strip_prefix('.'));
        whose.queue == queue && rest.is_some_and(|rest| !rest.is_empty())
    })
}

enum News {
    /// Messages may be lost.
    Gap,
    Message(Message),
}

/// Passes on what a subscription hears, until nobody wants it any more.
fn follow(
    connection: &Arc<Connection>,
    mut subscriber: Subscriber,
    say: impl Fn(News) -> bool + Send + 'static,
) -> AbortOnDropHandle<()> {
    let mut link = connection.link.clone();
    link.mark_unchanged();
    AbortOnDropHandle::new(tokio::spawn(async move {
        let mut connections = link.borrow().connections;
        loop {
            let news = tokio::select! {
                changed = link.changed() => {
                    let now = link.borrow_and_update().connections;
                    if changed.is_err() {
                        return;
                    }
                    if now == connections {
                        continue;
                    }
                    connections = now;
                    News::Gap
                }
                message = subscriber.next() => {
                    let Some(message) = message else { return };
                    News::Message(message)
                }
            };
            if !say(news) {
                return;
            }
        }
    }))
}
