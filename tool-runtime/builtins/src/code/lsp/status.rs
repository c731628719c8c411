//! Notifications of a server: progress and diagnostics.

use super::uri;
use gen_lsp_types::{Diagnostic, PublishDiagnosticsParams};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;
use tool_runtime::__seam::lock;

/// Operations in progress and files with diagnostics that are remembered.
const MAX_REMEMBERED: usize = 2000;
/// Time without new diagnostics after which they count as complete: servers publish them in parts.
const QUIET: Duration = Duration::from_millis(500);

/// The state that a server reported.
#[derive(Default)]
pub(super) struct Status {
    state: Mutex<State>,
    /// Counts changes, to wait for them.
    revision: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    in_progress: HashSet<String>,
    /// `experimental/serverStatus` of rust-analyzer.
    is_busy: bool,
    published: HashMap<PathBuf, Published>,
    is_closed: bool,
}

impl State {
    fn has_newer(&self, path: &Path, count: u64) -> bool {
        self.published.get(path).is_some_and(|published| published.count > count)
    }
}

/// Diagnostics of a file.
#[derive(Default)]
struct Published {
    /// How often they were published.
    count: u64,
    diagnostics: Vec<Diagnostic>,
}

impl Status {
    /// Takes a notification.
    pub(super) fn notified(&self, method: &str, params: Value) {
        match method {
            "$/progress" => self.progress(&params),
            "experimental/serverStatus" => {
                self.lock().is_busy = params["quiescent"] == false;
            }
            "textDocument/publishDiagnostics" => self.publish(params),
            _ => return,
        }
        self.changed();
    }

    fn progress(&self, params: &Value) {
        let token = params["token"].to_string();
        let mut state = self.lock();
        match params["value"]["kind"].as_str() {
            Some("begin") if state.in_progress.len() < MAX_REMEMBERED => {
                state.in_progress.insert(token);
            }
            Some("end") => drop(state.in_progress.remove(&token)),
            _ => {}
        }
    }

    fn publish(&self, params: Value) {
        let Ok(params) = serde_json::from_value::<PublishDiagnosticsParams>(params) else { return };
        let Some(path) = uri::path(params.uri.as_ref()) else { return };
        let mut state = self.lock();
        if state.published.len() >= MAX_REMEMBERED && !state.published.contains_key(&path) {
            return;
        }
        let published = state.published.entry(path).or_default();
        published.count += 1;
        published.diagnostics = params.diagnostics;
    }

    /// The connection has ended.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed();
    }

    /// Waits until no operation is in progress, at most for a time. Returns whether that is so.
    pub(super) async fn idle(&self, limit: Duration) -> bool {
        self.until(limit, |state| state.in_progress.is_empty() && !state.is_busy).await
    }

    /// Whether an operation is in progress.
    pub(super) fn is_working(&self) -> bool {
        let state = self.lock();
        state.is_busy || !state.in_progress.is_empty()
    }

    /// Waits until diagnostics of a file were published more than `count` times. Returns whether they were.
    pub(super) async fn published(&self, path: &Path, count: u64, limit: Duration) -> bool {
        self.until(limit, |state| state.has_newer(path, count)).await
    }

    /// How often the diagnostics of a file were published.
    pub(super) fn published_count(&self, path: &Path) -> u64 {
        self.lock().published.get(path).map_or(0, |published| published.count)
    }

    /// Waits until diagnostics of a file were published more than `count` times, and no others follow at once.
    /// Returns whether they were.
    pub(super) async fn published_settled(&self, path: &Path, count: u64, limit: Duration) -> bool {
        let is_there = self.published(path, count, limit).await;
        while self.published(path, self.published_count(path), QUIET).await {}
        is_there
    }

    /// The diagnostics of a file that were published last.
    pub(super) fn latest(&self, path: &Path) -> Option<Vec<Diagnostic>> {
        self.lock().published.get(path).map(|published| published.diagnostics.clone())
    }

    /// Waits for a state. Returns whether it came before the limit and the end of the connection.
    async fn until(&self, limit: Duration, is_so: impl Fn(&State) -> bool) -> bool {
        let mut revision = self.revision.subscribe();
        let wait = async {
            loop {
                {
                    let state = self.lock();
                    if is_so(&state) || state.is_closed {
                        return !state.is_closed;
                    }
                }
                if revision.changed().await.is_err() {
                    return false;
                }
            }
        };
        tokio::time::timeout(limit, wait).await.unwrap_or(false)
    }

    fn changed(&self) {
        self.revision.send_modify(|revision| *revision += 1);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}
