//! News of a pool for servers: what of it clients should ask for again. However much happens
//! before somebody looks, it is one piece of news.

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
    /// The tools are others.
    pub tools: bool,
    /// A restriction began or ended, perhaps not of the handle that is served.
    pub view: bool,
    /// The prompts are others.
    pub prompts: bool,
    /// The resources are others.
    pub resources: bool,
    /// Resources whose contents are others.
    pub updated: BTreeSet<String>,
    is_over: bool,
}

impl Watcher {
    /// Adds to the news.
    pub(crate) fn add(&self, change: &dyn Fn(&mut News)) {
        change(&mut self.news());
        self.arrived.notify_one();
    }

    /// Nobody is to be told any more.
    pub fn end(&self) {
        self.add(&|news| news.is_over = true);
    }

    /// Waits until there is something new, or it is over: then this is `false`.
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
