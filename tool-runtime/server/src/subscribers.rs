//! Notifies clients of changes, by one task per server.

use super::logging::Level;
use super::trace;
use futures_util::future::{join, join_all};
use rmcp::RoleServer;
use rmcp::model::{
    PromptListChangedNotification, ResourceListChangedNotification, ResourceUpdatedNotification,
    ResourceUpdatedNotificationParam, ServerNotification, ToolListChangedNotification,
};
use rmcp::service::{Peer, SubscriptionSink};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use std::time::Duration;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::pool::{Snapshot, ToolPool};
use tool_runtime_core::seam::{PoolNews, Session as CallSession, Watcher, lock, spawn};
use tool_runtime_core::tool::ToolContext;
use tracing::Span;

/// Time in which changes are collected, so that a burst is one notification.
const COALESCE_INTERVAL: Duration = Duration::from_millis(10);

/// Limit on notifying one client; the others wait meanwhile.
const NOTIFY_TIMEOUT: Duration = Duration::from_secs(5);

/// All clients of one server. The notifying task holds it weakly.
#[derive(Debug)]
pub(super) struct Subscribers {
    pool: ToolPool,
    clients: Mutex<Vec<Weak<Session>>>,
    sinks: Mutex<Vec<Arc<SubscriptionSink>>>,
    /// Set when the first client can be notified.
    watcher: OnceLock<Arc<Watcher>>,
    /// The tools of the last notification.
    notified: Mutex<Weak<Snapshot>>,
}

/// One stateful client: its channel and its subscriptions.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// The log level.
    pub(super) level: Level,
    /// Cancelled when the client disconnects, by transports that detect it.
    pub(super) disconnected: CancellationToken,
    channel: Mutex<Channel>,
    /// The session of its calls. Stateless calls over HTTP have none.
    calls: OnceLock<Arc<CallSession>>,
    /// Its span, once it is open.
    span: OnceLock<Span>,
}

#[derive(Debug, Default)]
struct Channel {
    peer: Option<Peer<RoleServer>>,
    subscribed: BTreeSet<String>,
}

/// Removes a sink when its subscription ends.
pub(super) struct SinkGuard<'a> {
    subscribers: &'a Subscribers,
    sink: Arc<SubscriptionSink>,
}

impl Subscribers {
    pub(super) fn from_pool(pool: ToolPool) -> Self {
        Self {
            pool,
            clients: Mutex::default(),
            sinks: Mutex::default(),
            watcher: OnceLock::new(),
            notified: Mutex::default(),
        }
    }

    /// Adds a client that has sent `initialize`.
    pub(super) fn add_client(self: &Arc<Self>, client: &Arc<Session>, peer: Peer<RoleServer>) {
        let is_known = client.channel().peer.replace(peer).is_some();
        if !is_known {
            let mut clients = lock(&self.clients);
            clients.retain(|client| client.strong_count() > 0);
            clients.push(Arc::downgrade(client));
        }
        self.start();
    }

    /// Adds the sink of a `subscriptions/listen`, until the guard is dropped.
    pub(super) fn add_sink(self: &Arc<Self>, sink: SubscriptionSink) -> SinkGuard<'_> {
        let sink = Arc::new(sink);
        lock(&self.sinks).push(Arc::clone(&sink));
        self.start();
        SinkGuard { subscribers: self, sink }
    }

    /// Starts the notifying task, unless it runs.
    fn start(self: &Arc<Self>) {
        self.watcher.get_or_init(|| {
            *lock(&self.notified) = Arc::downgrade(&self.pool.callable());
            let watcher = self.pool.watch();
            spawn(Box::pin(watch(Arc::downgrade(self), Arc::clone(&watcher))));
            watcher
        });
    }

    /// Notifies all clients concurrently, each for [`NOTIFY_TIMEOUT`] at most.
    async fn notify(&self, news: &PoolNews) {
        let clients: Vec<Arc<Session>> =
            lock(&self.clients).iter().filter_map(Weak::upgrade).collect();
        let sinks = lock(&self.sinks).clone();
        let clients = clients.iter().map(|client| timeout(NOTIFY_TIMEOUT, client.notify(news)));
        let sinks = sinks.iter().map(|sink| timeout(NOTIFY_TIMEOUT, notify_sink(sink, news)));
        join(join_all(clients), join_all(sinks)).await;
    }

    /// Whether the tools have changed since the last notification.
    fn has_changed_tools(&self) -> bool {
        let now = Arc::downgrade(&self.pool.callable());
        let before = std::mem::replace(&mut *lock(&self.notified), now.clone());
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

impl Drop for SinkGuard<'_> {
    fn drop(&mut self) {
        lock(&self.subscribers.sinks).retain(|sink| !Arc::ptr_eq(sink, &self.sink));
    }
}

impl Session {
    /// Opens the session of the client's calls, which ends with this value.
    pub(super) fn open(&self, transport: &'static str) {
        self.calls.get_or_init(CallSession::open);
        self.span.get_or_init(|| trace::session(transport));
    }

    /// The context of a call, in the session.
    pub(super) fn in_session(&self, context: ToolContext) -> ToolContext {
        match self.calls.get() {
            Some(session) => context.in_session(session),
            None => context,
        }
    }

    /// The channel of an initialized client.
    #[cfg(feature = "http")]
    pub(super) fn peer(&self) -> Option<Peer<RoleServer>> {
        self.channel().peer.clone()
    }

    /// A client that counts as disconnected when the token is cancelled, if not before.
    pub(super) fn until(end: &CancellationToken) -> Self {
        Self { disconnected: end.child_token(), ..Self::default() }
    }

    /// Subscribes to a resource. `false` if the client has `limit` subscriptions.
    pub(super) fn subscribe(&self, uri: String, limit: usize) -> bool {
        let subscribed = &mut self.channel().subscribed;
        let may = subscribed.len() < limit || subscribed.contains(&uri);
        if may {
            subscribed.insert(uri);
        }
        may
    }

    pub(super) fn unsubscribe(&self, uri: &str) {
        self.channel().subscribed.remove(uri);
    }

    async fn notify(&self, news: &PoolNews) {
        let (peer, notifications) = {
            let channel = self.channel();
            let updated = channel.subscribed.intersection(&news.updated);
            (channel.peer.clone(), notifications(news, updated))
        };
        let Some(peer) = peer.filter(|peer| !peer.is_transport_closed()) else { return };
        for notification in notifications {
            // A disconnected client need not be notified.
            let _ = peer.send_notification(notification).await;
        }
    }

    fn channel(&self) -> MutexGuard<'_, Channel> {
        lock(&self.channel)
    }
}

/// Notifies a sink, which rejects everything outside its filter.
async fn notify_sink(sink: &SubscriptionSink, news: &PoolNews) {
    let uris = sink.accepted().resource_subscriptions.iter().flatten();
    let updated = uris.filter(|uri| news.updated.contains(*uri));
    for notification in notifications(news, updated) {
        let _ = sink.send(notification).await;
    }
}

fn notifications<'a>(
    news: &PoolNews,
    updated: impl Iterator<Item = &'a String>,
) -> Vec<ServerNotification> {
    let lists = [
        news.tools.then(|| ToolListChangedNotification::default().into()),
        news.prompts.then(|| PromptListChangedNotification::default().into()),
        news.resources.then(|| ResourceListChangedNotification::default().into()),
    ];
    let updated = updated.map(|uri| {
        ResourceUpdatedNotification::new(ResourceUpdatedNotificationParam::new(uri)).into()
    });
    lists.into_iter().flatten().chain(updated).collect()
}

/// Waits for changes until the server ends.
async fn watch(subscribers: Weak<Subscribers>, watcher: Arc<Watcher>) {
    while watcher.arrived().await {
        sleep(COALESCE_INTERVAL).await;
        let mut news = watcher.take();
        let Some(subscribers) = subscribers.upgrade() else { return };
        news.tools = (news.tools || news.view) && subscribers.has_changed_tools();
        subscribers.notify(&news).await;
    }
}
