//! News of a pool for servers: what of it clients should ask for again. However much happens
//! before somebody looks, it is one piece of news.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// Waits for news. The pool knows it weakly.
#[derive(Debug, Default)]
pub(crate) struct Watcher {
    news: Mutex<News>,
    arrived: Notify,
}

/// What has happened since somebody looked.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// The tools are others.
    pub(crate) tools: bool,
    /// A restriction began or ended, perhaps not of the handle that is served.
    pub(crate) view: bool,
    /// The prompts are others.
    pub(crate) prompts: bool,
    /// The resources are others.
    pub(crate) resources: bool,
    /// Resources whose contents are others.
    pub(crate) updated: BTreeSet<String>,
    is_over: bool,
}

impl Watcher {
    /// Adds to the news.
    pub(crate) fn add(&self, change: &dyn Fn(&mut News)) {
        change(&mut self.news());
        self.arrived.notify_one();
    }

    /// Nobody is to be told any more.
    #[cfg_attr(not(feature = "mcp-server"), allow(dead_code))]
    pub(crate) fn end(&self) {
        self.add(&|news| news.is_over = true);
    }

    /// Waits until there is something new, or it is over: then this is `false`.
    #[cfg_attr(not(feature = "mcp-server"), allow(dead_code))]
    pub(crate) async fn arrived(&self) -> bool {
        self.arrived.notified().await;
        !self.news().is_over
    }

    /// Takes the news.
    #[cfg_attr(not(feature = "mcp-server"), allow(dead_code))]
    pub(crate) fn take(&self) -> News {
        let mut news = self.news();
        let is_over = news.is_over;
        std::mem::replace(&mut news, News { is_over, ..News::default() })
    }

    fn news(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
