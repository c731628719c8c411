//! The tabs of a browser, from the events of the protocol.
//!
//! A new page is paused until a session is attached, so that none of its events is missed.

use super::devtools::Event;
use super::downloads::Downloads;
use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;
use tool_runtime::__seam::lock;

/// Limit on tabs. Others are closed at once.
const MAX_TABS: usize = 20;
/// Limit on downloads between two results. Others are cancelled.
const MAX_DOWNLOADS: usize = 8;
/// Limit on the notices for the next result.
const MAX_NOTICES: usize = 20;
/// Limit on the characters of a page's text in a notice.
const MAX_TEXT: usize = 500;
/// Time after an action within which a page starts to navigate.
const REACTION: Duration = Duration::from_millis(150);

/// A command to send.
pub(super) struct Message {
    pub(super) session: Option<String>,
    pub(super) method: &'static str,
    pub(super) params: Value,
}

impl Message {
    pub(super) fn new(session: Option<&str>, method: &'static str, params: Value) -> Self {
        Self { session: session.map(str::to_owned), method, params }
    }
}

/// A tab.
#[derive(Clone, Debug)]
pub(super) struct Tab {
    /// The number that models see.
    pub(super) number: u32,
    /// The id of the page, and of its main frame.
    pub(super) target: String,
    /// The session id of the protocol.
    pub(super) session: String,
    is_loading: bool,
    /// Whether the tab is hidden, and its requests are answered with an empty page.
    is_hidden: bool,
}

/// All tabs.
pub(super) struct Tabs {
    state: Mutex<State>,
    /// Counts changes, to wait for them.
    revision: watch::Sender<u64>,
}

#[derive(Default)]
struct State {
    tabs: Vec<Tab>,
    last_number: u32,
    notices: Vec<String>,
    /// `None` denies downloads.
    downloads: Option<Downloads>,
    /// Number of downloads since the last result.
    begun_downloads: usize,
}

impl Tabs {
    /// No tabs. Without `downloads`, downloads are denied.
    pub(super) fn new(downloads: Option<Downloads>) -> Self {
        let state = State { downloads, ..State::default() };
        Self { state: Mutex::new(state), revision: watch::Sender::default() }
    }

    /// All visible tabs, oldest first.
    pub(super) fn all(&self) -> Vec<Tab> {
        self.lock().tabs.iter().filter(|tab| !tab.is_hidden).cloned().collect()
    }

    /// Whether a new tab would be closed at once.
    pub(super) fn is_full(&self) -> bool {
        self.lock().tabs.len() >= MAX_TABS
    }

    /// Hides a page: its requests are answered with an empty page.
    pub(super) fn hide(&self, target: &str) -> Option<Tab> {
        let mut state = self.lock();
        let tab = state.tabs.iter_mut().find(|tab| tab.target == target)?;
        tab.is_hidden = true;
        Some(tab.clone())
    }

    /// Adds a notice for the next result.
    pub(super) fn notify(&self, notice: &str) {
        self.lock().notify(notice.to_owned());
    }

    /// Takes all notices.
    pub(super) fn take_notices(&self) -> Vec<String> {
        let mut state = self.lock();
        state.begun_downloads = 0;
        std::mem::take(&mut state.notices)
    }

    /// Waits for a notice.
    pub(super) async fn noticed(&self, limit: Duration) {
        self.until(limit, |state| (!state.notices.is_empty()).then_some(())).await;
    }

    /// Waits for a tab of a page.
    pub(super) async fn opened(&self, target: &str, limit: Duration) -> Option<Tab> {
        let found = |state: &State| state.tabs.iter().find(|tab| tab.target == target).cloned();
        self.until(limit, found).await
    }

    /// Whether a page is closed.
    pub(super) fn is_closed(&self, target: &str) -> bool {
        self.lock().tabs.iter().all(|tab| tab.target != target)
    }

    /// Waits until a page is closed. Returns whether it was closed in time.
    pub(super) async fn closed(&self, target: &str, limit: Duration) -> bool {
        let is_gone =
            |state: &State| state.tabs.iter().all(|tab| tab.target != target).then_some(());
        self.until(limit, is_gone).await.is_some()
    }

    /// Waits until a page has reacted to an action and is loaded. Returns whether that was in time.
    pub(super) async fn settled(&self, target: &str, limit: Duration) -> bool {
        let begins = |state: &State| {
            state.tabs.iter().any(|tab| tab.target == target && tab.is_loading).then_some(())
        };
        if self.until(REACTION, begins).await.is_none() {
            return true;
        }
        self.loaded(target, limit).await
    }

    /// Waits until a page is loaded. Returns whether that was in time.
    pub(super) async fn loaded(&self, target: &str, limit: Duration) -> bool {
        let is_loaded = |state: &State| {
            state.tabs.iter().all(|tab| tab.target != target || !tab.is_loading).then_some(())
        };
        self.until(limit, is_loaded).await.is_some()
    }

    async fn until<T>(&self, limit: Duration, find: impl Fn(&State) -> Option<T>) -> Option<T> {
        let mut revision = self.revision.subscribe();
        let wait = async {
            loop {
                if let Some(found) = find(&self.lock()) {
                    return Some(found);
                }
                revision.changed().await.ok()?;
            }
        };
        tokio::time::timeout(limit, wait).await.ok().flatten()
    }

    /// Handles an event. Returns the commands to send in response.
    pub(super) fn on_event(&self, event: Event) -> Vec<Message> {
        let session = event.session.as_deref();
        let messages = self.lock().on_event(&event.method, session, &event.params);
        self.revision.send_modify(|revision| *revision += 1);
        messages
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn on_event(&mut self, method: &str, session: Option<&str>, params: &Value) -> Vec<Message> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        match method {
            "Target.attachedToTarget" => return self.attached(params),
            "Target.detachedFromTarget" => {
                let gone = text(&params["sessionId"]);
                self.tabs.retain(|tab| tab.session != gone);
            }
            "Page.frameStartedLoading" | "Page.frameStoppedLoading" => {
                let frame = text(&params["frameId"]);
                if let Some(tab) = self.tabs.iter_mut().find(|tab| tab.target == frame) {
                    tab.is_loading = method == "Page.frameStartedLoading";
                }
            }
            "Page.javascriptDialogOpening" => return self.dialog(session, params),
            "Inspector.targetCrashed" => {
                let Some(tab) = self.of_session(session) else { return Vec::new() };
                let (number, target) = (tab.number, tab.target.clone());
                self.notify(format!("the page of tab {number} crashed, and the tab was closed"));
                self.tabs.retain(|tab| tab.target != target);
                return vec![close(&target)];
            }
            "Browser.downloadWillBegin" => return self.download(params),
            "Browser.downloadProgress" => return self.progress(params),
            "Fetch.requestPaused" => {
                let request = text(&params["requestId"]);
                let empty = json!({"requestId": request, "responseCode": 200});
                return vec![Message::new(session, "Fetch.fulfillRequest", empty)];
            }
            _ => {}
        }
        Vec::new()
    }

    /// Handles the attachment of a paused page.
    fn attached(&mut self, params: &Value) -> Vec<Message> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (session, target) =
            (text(&params["sessionId"]), text(&params["targetInfo"]["targetId"]));
        if self.tabs.len() >= MAX_TABS {
            self.notify(format!("a page wants more than {MAX_TABS} tabs; a new one was closed"));
            return vec![close(&target)];
        }
        self.last_number += 1;
        let number = self.last_number;
        let (is_loading, is_hidden) = (false, false);
        if !text(&params["targetInfo"]["openerId"]).is_empty() {
            self.notify(format!("the page opened tab {number}; show it by browser_switch_tab"));
        }
        let messages = vec![
            Message::new(Some(&session), "Page.enable", json!({})),
            Message::new(Some(&session), "Inspector.enable", json!({})),
            Message::new(Some(&session), "Runtime.runIfWaitingForDebugger", json!({})),
        ];
        self.tabs.push(Tab { number, target, session, is_loading, is_hidden });
        messages
    }

    fn download(&mut self, params: &Value) -> Vec<Message> {
        let (name, url) = (excerpt(&params["suggestedFilename"]), excerpt(&params["url"]));
        let Some(downloads) = &mut self.downloads else {
            self.notify(format!("the download of `{name}` from {url} was denied"));
            return vec![cancel(params)];
        };
        self.begun_downloads += 1;
        if self.begun_downloads > MAX_DOWNLOADS {
            self.notify(format!("more than {MAX_DOWNLOADS} downloads at a time were cancelled"));
            return vec![cancel(params)];
        }
        downloads.begin(id(params), &name);
        self.notify(format!("the page downloads `{name}` from {url}"));
        Vec::new()
    }

    fn progress(&mut self, params: &Value) -> Vec<Message> {
        let Some(downloads) = &mut self.downloads else { return Vec::new() };
        let most = downloads.max_bytes;
        match params["state"].as_str() {
            Some("completed") => {
                let notice = match downloads.complete(id(params)) {
                    Some(Ok(path)) => format!("the download is complete: {}", path.display()),
                    Some(Err(error)) => format!("the downloaded file was not kept: {error}"),
                    None => return Vec::new(),
                };
                self.notify(notice);
            }
            Some("canceled") => {
                downloads.cancelled(id(params));
                self.notify("a download was cancelled".to_owned());
            }
            // The protocol has floating-point numbers.
            _ if params["receivedBytes"].as_f64().is_some_and(|bytes| bytes > most as f64) => {
                self.notify(format!("a download has more than {most} bytes"));
                return vec![cancel(params)];
            }
            _ => {}
        }
        Vec::new()
    }

    /// Answers a dialog, which blocks the page: leaving a page is confirmed, everything else is dismissed.
    fn dialog(&mut self, session: Option<&str>, params: &Value) -> Vec<Message> {
        let kind = params["type"].as_str().unwrap_or("dialog");
        let accept = matches!(kind, "alert" | "beforeunload");
        if kind != "beforeunload" {
            let answer = if accept { "closed" } else { "declined" };
            let text = excerpt(&params["message"]);
            self.notify(format!("the page showed a dialog ({kind}), which was {answer}: {text}"));
        }
        let answer = json!({"accept": accept});
        vec![Message::new(session, "Page.handleJavaScriptDialog", answer)]
    }

    fn of_session(&self, session: Option<&str>) -> Option<&Tab> {
        self.tabs.iter().find(|tab| Some(tab.session.as_str()) == session)
    }

    fn notify(&mut self, notice: String) {
        if self.notices.len() < MAX_NOTICES && !self.notices.contains(&notice) {
            self.notices.push(notice);
        }
    }
}

/// The id of the download of an event.
fn id(params: &Value) -> &str {
    params["guid"].as_str().unwrap_or_default()
}

/// Cancels the download of an event.
fn cancel(params: &Value) -> Message {
    Message::new(None, "Browser.cancelDownload", json!({"guid": id(params)}))
}

/// Closes a page.
fn close(target: &str) -> Message {
    Message::new(None, "Target.closeTarget", json!({"targetId": target}))
}

/// The start of a string of a page, for a notice.
fn excerpt(value: &Value) -> String {
    value.as_str().unwrap_or_default().chars().take(MAX_TEXT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(number: usize) -> Event {
        let params = json!({"guid": format!("{number}"), "suggestedFilename": format!("{number}.bin"), "url": "blob:x"});
        let event = json!({"method": "Browser.downloadWillBegin", "params": params});
        serde_json::from_value(event).unwrap()
    }

    #[test]
    fn a_flood_of_downloads_is_cancelled_until_the_next_result() {
        let tabs = Tabs::new(Some(Downloads::new(std::env::temp_dir(), 1000)));
        for _ in 0..2 {
            let cancelled = (0..30).flat_map(|number| tabs.on_event(begin(number))).count();
            assert_eq!(cancelled, 30 - MAX_DOWNLOADS);
            let notices = tabs.take_notices();
            assert_eq!(notices.len(), MAX_DOWNLOADS + 1);
            assert!(notices[MAX_DOWNLOADS].contains("more than 8 downloads"), "{notices:?}");
        }
        let denied = Tabs::new(None);
        assert_eq!(denied.on_event(begin(1)).len(), 1);
        assert!(denied.take_notices()[0].contains("was denied"));
    }
}
