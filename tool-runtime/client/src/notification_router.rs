//! Routes notifications of a server: progress, changed lists, log entries.

#![expect(deprecated, reason = "servers before 2026-07-28 send log entries")]

use super::in_flight_call::InFlightCall;
use super::redactors::Redactors;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::collections::HashMap;
use std::future::pending;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, Weak};
use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::peer::Progress;

/// Routes notifications of a server to the calls that they concern.
pub(super) struct NotificationRouter {
    server: Arc<str>,
    redactors: Arc<Redactors>,
    calls: Mutex<Calls>,
    /// Notified when a call has an earlier deadline than the current timer.
    earlier_deadline: Notify,
    /// Notified when a call ends.
    call_ended: Notify,
    changed: Changed,
    /// The reason why we ended the connection, if we did.
    end: OnceLock<String>,
    /// Whether the last request has no answer yet and may have one.
    is_waiting: AtomicBool,
}

#[derive(Default)]
struct Calls {
    /// Running calls by progress token.
    running: HashMap<ProgressToken, Arc<InFlightCall>>,
    /// The time of the next deadline check.
    next_check: Option<Instant>,
}

/// Signals a changed tool list; stays set until consumed.
#[derive(Default)]
pub(super) struct Changed(Notify);

impl Changed {
    pub(super) fn notify(&self) {
        self.0.notify_one();
    }

    /// Waits for a change; returns immediately if one is pending.
    pub(super) async fn next(&self) {
        self.0.notified().await;
    }
}

/// Carries a call on its request until it is sent, when rmcp has chosen the progress token.
#[derive(Clone)]
pub(super) struct ProgressHandle(pub(super) Weak<InFlightCall>);

impl NotificationRouter {
    pub(super) fn new(server: Arc<str>, redactors: Arc<Redactors>) -> Self {
        Self {
            server,
            redactors,
            calls: Mutex::default(),
            earlier_deadline: Notify::new(),
            call_ended: Notify::new(),
            changed: Changed::default(),
            end: OnceLock::new(),
            is_waiting: AtomicBool::new(false),
        }
    }

    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// The redactors for text of the server.
    pub(super) fn redactors(&self) -> &Redactors {
        &self.redactors
    }

    /// Whether the last request has no answer yet and may get one: the server is running and silent.
    pub(super) fn is_waiting(&self) -> bool {
        self.is_waiting.load(Ordering::Relaxed)
    }

    /// Notes that one direction of the connection has ended.
    pub(super) fn mark_closed(&self) {
        self.is_waiting.store(false, Ordering::Relaxed);
    }

    /// Notes why we end the connection.
    pub(super) fn mark_ended(&self, why: &str) {
        // The first reason counts.
        drop(self.end.set(why.to_owned()));
    }

    /// The reason why we ended the connection, if we did.
    pub(super) fn end(&self) -> Option<&str> {
        self.end.get().map(String::as_str)
    }

    pub(super) fn changed(&self) -> &Changed {
        &self.changed
    }

    /// Removes a finished call, and wakes the futures of [`Self::call_ended`].
    pub(super) fn forget(&self, token: &ProgressToken) {
        if self.calls().running.remove(token).is_some() {
            self.call_ended.notify_waiters();
        }
    }

    /// Waits until a call ends; without a call, never returns.
    pub(super) async fn call_ended(&self, call: Option<&Arc<InFlightCall>>) {
        let Some(call) = call else { return pending().await };
        loop {
            let fewer = self.call_ended.notified();
            if !self.calls().running.values().any(|running| Arc::ptr_eq(running, call)) {
                return;
            }
            fewer.await;
        }
    }

    /// The running call, if there is exactly one: requests before 2026-07-28 do not name their call.
    pub(super) fn only_call(&self) -> Option<Arc<InFlightCall>> {
        let calls = self.calls();
        let mut running = calls.running.values();
        running.next().filter(|_| running.next().is_none()).cloned()
    }

    pub(super) fn before_sending(&self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = message else { return };
        self.is_waiting.store(true, Ordering::Relaxed);
        let request: &ClientRequest = &request.request;
        let token = request.get_meta().get_progress_token();
        let handle = request.extensions().get::<ProgressHandle>();
        // The caller may have dropped the call before it was sent.
        let call = handle.and_then(|ProgressHandle(call)| call.upgrade());
        if let (Some(call), Some(token)) = (call, token) {
            self.begin(token, &call);
        }
    }

    /// Handles a message; returns it if it is for rmcp.
    pub(super) fn route(
        &self,
        message: RxJsonRpcMessage<RoleClient>,
    ) -> Option<RxJsonRpcMessage<RoleClient>> {
        let notification = match &message {
            JsonRpcMessage::Notification(notification) => notification,
            JsonRpcMessage::Request(_) => return Some(message),
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                self.is_waiting.store(false, Ordering::Relaxed);
                return Some(message);
            }
        };
        match &notification.notification {
            ServerNotification::ProgressNotification(progress) => self.progress(&progress.params),
            ServerNotification::LoggingMessageNotification(entry) => self.log(&entry.params),
            ServerNotification::ToolListChangedNotification(_) => {
                self.changed.notify();
                // rmcp handles notifications of a subscription.
                notification.notification.get_meta().subscription_id()?;
                return Some(message);
            }
            _ => return Some(message),
        }
        None
    }

    fn progress(&self, params: &ProgressNotificationParam) {
        // The lock is released before `report`, which runs code of the host.
        let call = self.calls().running.get(&params.progress_token).cloned();
        if let Some(call) = call {
            let mut progress = Progress::new(params.progress);
            progress.total = params.total;
            progress.message =
                params.message.as_ref().map(|text| self.redactors.results.text(text).into_owned());
            call.report(progress);
        }
    }

    fn log(&self, params: &LoggingMessageNotificationParam) {
        tracing::debug!(
            server = &*self.server,
            level = ?params.level,
            logger = self.redactors.line(params.logger.as_deref().unwrap_or_default()),
            "{}",
            self.redactors.line(&params.data.to_string())
        );
    }

    fn begin(&self, token: ProgressToken, call: &Arc<InFlightCall>) {
        let deadline = call.deadline();
        let mut calls = self.calls();
        calls.running.insert(token, Arc::clone(call));
        if calls.next_check.is_none_or(|check| deadline < check) {
            calls.next_check = Some(deadline);
            self.earlier_deadline.notify_one();
        }
    }

    /// Expires calls, until the future is dropped. All calls share a timer: setting one per call would wake a thread.
    pub(super) async fn expire_calls(&self) {
        loop {
            let next_check = self.calls().next_check;
            match next_check {
                None => self.earlier_deadline.notified().await,
                Some(check) => drop(timeout_at(check, self.earlier_deadline.notified()).await),
            }
            let now = Instant::now();
            let mut calls = self.calls();
            if calls.next_check.is_some_and(|check| check <= now) {
                calls.running.values().for_each(|call| call.expire(now));
                let rest = calls.running.values().map(|call| call.deadline());
                calls.next_check = rest.filter(|deadline| *deadline > now).min();
            }
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        lock(&self.calls)
    }
}
