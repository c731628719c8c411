//! Changes of a pool for servers: which lists clients should request again. Changes between two
//! looks are merged.

use crate::sync::lock;
use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard};
use tokio::sync::Notify;

/// Waits for news. The pool knows it weakly.
#[derive(Debug, Default)]
pub struct Watcher {
    news: Mutex<News>,
    arrived: Notify,
}

/// Changes since the last look.
#[derive(Debug, Default)]
pub struct News {
    /// The tools changed.
    pub tools: bool,
    /// A restriction began or ended, perhaps not of the handle that is served.
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
    /// Adds to the news.
    pub(crate) fn add(&self, change: &dyn Fn(&mut News)) {
        change(&mut self.news());
        self.arrived.notify_one();
    }

    /// Ends the watch.
    pub fn end(&self) {
        self.add(&|news| news.is_over = true);
    }

    /// Waits for news; `false` once the watch has ended.
    pub async fn arrived(&self) -> bool {
        self.arrived.notified().await;
        !self.news().is_over
    }

    /// Takes the news.
    pub fn take(&self) -> News {
        let mut news = self.news();
        let is_over = news.is_over;
        std::mem::replace(&mut news, News { is_over, ..News::default() })
    }

    fn news(&self) -> MutexGuard<'_, News> {
        lock(&self.news)
    }
}
