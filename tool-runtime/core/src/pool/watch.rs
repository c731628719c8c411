//! Changes of a pool, for the notifications of servers. Changes are merged until a server takes them.

use crate::vocabulary::sync::lock;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// Waits for changes of a pool, which holds a weak reference to the watcher.
#[derive(Debug, Default)]
pub struct Watcher {
    news: Mutex<PoolNews>,
    arrived: Notify,
}

/// Changes since the last [`Watcher::take`].
#[derive(Debug, Default)]
pub struct PoolNews {
    /// The tools changed.
    pub tools: bool,
    /// A restriction of any handle began or ended.
    pub view: bool,
    /// The prompts changed.
    pub prompts: bool,
    /// The resources changed.
    pub resources: bool,
    /// URIs of resources whose contents changed.
    pub updated: BTreeSet<String>,
    is_over: bool,
}

impl Watcher {
    /// Records a change.
    pub(crate) fn add(&self, change: &dyn Fn(&mut PoolNews)) {
        change(&mut self.news());
        self.arrived.notify_one();
    }

    /// Ends the watch.
    pub fn end(&self) {
        self.add(&|news| news.is_over = true);
    }

    /// Waits for a change; `false` once the watcher has ended.
    pub async fn arrived(&self) -> bool {
        self.arrived.notified().await;
        !self.news().is_over
    }

    /// Takes the changes.
    pub fn take(&self) -> PoolNews {
        let mut news = self.news();
        let is_over = news.is_over;
        std::mem::replace(&mut news, PoolNews { is_over, ..PoolNews::default() })
    }

    fn news(&self) -> MutexGuard<'_, PoolNews> {
        lock(&self.news)
    }
}
