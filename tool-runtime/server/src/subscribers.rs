//! Notifies clients of changes, by one task per server.

use super::logging::Level;
use futures_util::future::join_all;
use rmcp::RoleServer;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, SubscriptionSink};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;
use tool_runtime_core::seam::{News, Session as CallSession, Watcher};
use tool_runtime_core::{Snapshot, ToolContext, ToolPool};

/// Time in which changes are collected, so that a burst is one notification.
const COALESCE_INTERVAL: Duration = Duration::from_millis(10);

/// Limit on notifying one client; the others wait meanwhile.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(5);

/// All clients of one server. The task that tells them knows it weakly.
#[derive(Debug)]
pub(super) struct Subscribers {
    pool: ToolPool,
    clients: Mutex<Vec<Weak<Session>>>,
    sinks: Mutex<Vec<Arc<SubscriptionSink>>>,
    /// Set when somebody is there to be told.
    watcher: OnceLock<Arc<Watcher>>,
    /// The tools that clients know of.
    told: Mutex<Weak<Snapshot>>,
}

/// One client that came by `initialize`: where it is, and what it wants to hear of.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// What it hears of the log.
    pub(super) level: Level,
    /// Cancelled when nothing more comes from it, over transports that can tell.
    pub(super) gone: CancellationToken,
    presence: Mutex<Presence>,
    /// The session of its calls. Calls over HTTP that stand alone have none.
    calls: OnceLock<Arc<CallSession>>,
}

#[derive(Debug, Default)]
struct Presence {
    peer: Option<Peer<RoleServer>>,
    subscribed: BTreeSet<String>,
}

/// Takes a sink out of the audience when its subscription ends, however it does.
pub(super) struct Seat<'a> {
    subscribers: &'a Subscribers,
    sink: Arc<SubscriptionSink>,
}

impl Subscribers {
    pub(super) fn of(pool: ToolPool) -> Self {
        Self {
            pool,
            clients: Mutex::default(),
            sinks: Mutex::default(),
            watcher: OnceLock::new(),
            told: Mutex::default(),
        }
    }

    /// A client is there, by `initialize`.
    pub(super) fn greet(self: &Arc<Self>, client: &Arc<Session>, peer: Peer<RoleServer>) {
        let known = client.presence().peer.replace(peer).is_some();
        if !known {
            let mut clients = locked(&self.clients);
            clients.retain(|client| client.strong_count() > 0);
            clients.push(Arc::downgrade(client));
        }
        self.start();
    }

    /// A client listens, by `subscriptions/listen`, until the seat is given up.
    pub(super) fn seat(self: &Arc<Self>, sink: SubscriptionSink) -> Seat<'_> {
        let sink = Arc::new(sink);
        locked(&self.sinks).push(Arc::clone(&sink));
        self.start();
        Seat { subscribers: self, sink }
    }

    /// One task, when there is somebody to be told.
    fn start(self: &Arc<Self>) {
        self.watcher.get_or_init(|| {
            *locked(&self.told) = Arc::downgrade(&self.pool.snapshot());
            let watcher = self.pool.watch();
            tokio::spawn(tell(Arc::downgrade(self), Arc::clone(&watcher)));
            watcher
        });
    }

    /// Tells everybody, all at once: none waits for another but for so long.
    async fn tell(&self, news: &News) {
        let clients: Vec<Arc<Session>> =
            locked(&self.clients).iter().filter_map(Weak::upgrade).collect();
        let sinks = locked(&self.sinks).clone();
        let clients =
            clients.iter().map(|client| tokio::time::timeout(NOTIFY_TIMEOUT, client.tell(news)));
        let sinks =
            sinks.iter().map(|sink| tokio::time::timeout(NOTIFY_TIMEOUT, tell_sink(sink, news)));
        join_all(clients).await;
        join_all(sinks).await;
    }

    /// Whether the tools of this very handle are others than were told.
    fn has_other_tools(&self) -> bool {
        let now = Arc::downgrade(&self.pool.snapshot());
        let before = std::mem::replace(&mut *locked(&self.told), now.clone());
        !before.ptr_eq(&now)
    }
}

impl Drop for Subscribers {
    fn drop(&mut self) {
        if let Some(watcher) = self.watcher.get() {
            watcher.end();
        }
    }
}

impl Drop for Seat<'_> {
    fn drop(&mut self) {
        let is_other = |sink: &Arc<SubscriptionSink>| !Arc::ptr_eq(sink, &self.sink);
        locked(&self.subscribers.sinks).retain(is_other);
    }
}

impl Session {
    /// From now on its calls belong to one session, which ends with it.
    pub(super) fn open(&self) {
        self.calls.get_or_init(CallSession::open);
    }

    /// The context of a call, in the session.
    pub(super) fn in_session(&self, context: ToolContext) -> ToolContext {
        match self.calls.get() {
            Some(session) => context.in_session(session),
            None => context,
        }
    }

    /// A client that counts as gone when the token is cancelled, if not before.
    pub(super) fn until(end: &CancellationToken) -> Self {
        Self { gone: end.child_token(), ..Self::default() }
    }

    /// It wants to hear of a resource, unless these are so many already.
    pub(super) fn subscribe(&self, uri: String, most: usize) -> bool {
        let subscribed = &mut self.presence().subscribed;
        let may = subscribed.len() < most || subscribed.contains(&uri);
        if may {
            subscribed.insert(uri);
        }
        may
    }

    /// It wants to hear of a resource no more.
    pub(super) fn unsubscribe(&self, uri: &str) {
        self.presence().subscribed.remove(uri);
    }

    async fn tell(&self, news: &News) {
        let (peer, updated) = {
            let presence = self.presence();
            let updated: Vec<String> =
                presence.subscribed.intersection(&news.updated).cloned().collect();
            (presence.peer.clone(), updated)
        };
        let Some(peer) = peer.filter(|peer| !peer.is_transport_closed()) else { return };
        // Whoever is gone meanwhile need not be told.
        if news.tools {
            let _ = peer.notify_tool_list_changed().await;
        }
        if news.prompts {
            let _ = peer.notify_prompt_list_changed().await;
        }
        if news.resources {
            let _ = peer.notify_resource_list_changed().await;
        }
        for uri in updated {
            let _ = peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await;
        }
    }

    fn presence(&self) -> MutexGuard<'_, Presence> {
        locked(&self.presence)
    }
}

/// Tells what was asked for; the sink itself refuses the rest.
async fn tell_sink(sink: &SubscriptionSink, news: &News) {
    let wanted: &SubscriptionFilter = sink.accepted();
    // Whoever is gone meanwhile need not be told.
    if news.tools && wanted.tools_list_changed == Some(true) {
        let _ = sink.notify_tool_list_changed().await;
    }
    if news.prompts && wanted.prompts_list_changed == Some(true) {
        let _ = sink.notify_prompt_list_changed().await;
    }
    if news.resources && wanted.resources_list_changed == Some(true) {
        let _ = sink.notify_resource_list_changed().await;
    }
    let uris = wanted.resource_subscriptions.iter().flatten();
    for uri in uris.filter(|uri| news.updated.contains(*uri)) {
        let _ = sink.notify_resource_updated(uri).await;
    }
}

/// Ends with the audience.
async fn tell(subscribers: Weak<Subscribers>, watcher: Arc<Watcher>) {
    while watcher.arrived().await {
        tokio::time::sleep(COALESCE_INTERVAL).await;
        let mut news = watcher.take();
        let Some(subscribers) = subscribers.upgrade() else { return };
        news.tools = (news.tools || news.view) && subscribers.has_other_tools();
        subscribers.tell(&news).await;
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    lock(mutex)
}
