//! What a server says besides answers: how far calls are, that its lists changed, log entries.

#![expect(deprecated, reason = "servers of the older era still log and ask")]

use crate::context::ToolContext;
use crate::peer::Progress;
use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage,
    LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Hears what a server says besides answers, and hands it to whom it concerns.
pub(super) struct Hearing {
    server: Arc<str>,
    /// The calls that run, by the token that their progress is reported with.
    calls: Mutex<HashMap<ProgressToken, Arc<Listener>>>,
    changed: Changed,
    /// Tools that are listed and cannot be called over this transport, and why.
    odd: Mutex<Vec<(String, String)>>,
}

/// That the tools of a server are others now. It keeps until somebody looks.
#[derive(Default)]
pub(super) struct Changed(Notify);

impl Changed {
    pub(super) fn tell(&self) {
        self.0.notify_one();
    }

    /// Waits for the next change, or gives the one that nobody has looked at.
    pub(super) async fn next(&self) {
        self.0.notified().await;
    }
}

/// One call that runs, and who made it.
pub(super) struct Listener {
    context: ToolContext,
    /// When the call was last heard of.
    last: Mutex<Instant>,
    /// How many questions the server has asked while it ran.
    questions: AtomicUsize,
}

impl Listener {
    pub(super) fn new(context: &ToolContext) -> Arc<Self> {
        Arc::new(Self {
            context: context.clone(),
            last: Mutex::new(Instant::now()),
            questions: AtomicUsize::new(0),
        })
    }

    pub(super) fn context(&self) -> &ToolContext {
        &self.context
    }

    /// A name for the next question of the call: the same whenever the call is made again.
    pub(super) fn next_question(&self, server: &str) -> String {
        format!("{server}-{}", self.questions.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// When the call was last heard of: when it began, at first.
    pub(super) fn last(&self) -> Instant {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something was said about the call just now.
    pub(super) fn touch(&self) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }

    fn hear(&self, progress: Progress) {
        self.touch();
        if let Some(peer) = self.context.peer().filter(|peer| peer.hears_progress()) {
            peer.progress(progress);
        }
    }
}

/// Carries a call's listener on its request, as far as here: before it is sent, nobody knows the
/// token that rmcp gives it.
#[derive(Clone)]
pub(super) struct Heard(pub(super) Arc<Listener>);

impl Hearing {
    pub(super) fn new(server: Arc<str>) -> Self {
        let (calls, odd) = (Mutex::default(), Mutex::default());
        Self { server, calls, changed: Changed::default(), odd }
    }

    /// Notes tools that are listed and cannot be called over this transport, and why.
    #[cfg(feature = "mcp-client-http")]
    pub(super) fn note_odd(&self, tools: Vec<(String, String)>) {
        self.odd.lock().unwrap_or_else(PoisonError::into_inner).extend(tools);
    }

    pub(super) fn take_odd(&self) -> Vec<(String, String)> {
        std::mem::take(&mut *self.odd.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn changed(&self) -> &Changed {
        &self.changed
    }

    /// A call is over.
    pub(super) fn forget(&self, token: &ProgressToken) {
        self.calls().remove(token);
    }

    /// The call that runs, if there is exactly one: a question of the older era does not say for
    /// which call it is asked.
    pub(super) fn only_call(&self) -> Option<Arc<Listener>> {
        let calls = self.calls();
        let mut running = calls.values();
        running.next().filter(|_| running.next().is_none()).cloned()
    }

    pub(super) fn before_sending(&self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = message else { return };
        let request: &ClientRequest = &request.request;
        let token = request.get_meta().get_progress_token();
        if let (Some(Heard(listener)), Some(token)) = (request.extensions().get::<Heard>(), token) {
            self.calls().insert(token, Arc::clone(listener));
        }
    }

    /// Gives back what is for rmcp.
    pub(super) fn hear(
        &self,
        message: RxJsonRpcMessage<RoleClient>,
    ) -> Option<RxJsonRpcMessage<RoleClient>> {
        let JsonRpcMessage::Notification(notification) = &message else { return Some(message) };
        match &notification.notification {
            ServerNotification::ProgressNotification(progress) => self.progress(&progress.params),
            ServerNotification::LoggingMessageNotification(entry) => self.log(&entry.params),
            ServerNotification::ToolListChangedNotification(_) => {
                self.changed.tell();
                // rmcp keeps the subscription that it belongs to, if it belongs to one.
                notification.notification.get_meta().subscription_id()?;
                return Some(message);
            }
            _ => return Some(message),
        }
        None
    }

    fn progress(&self, params: &ProgressNotificationParam) {
        // Called without the lock: what it runs is not ours.
        let listener = self.calls().get(&params.progress_token).cloned();
        if let Some(listener) = listener {
            listener.hear(Progress {
                done: params.progress,
                total: params.total,
                message: params.message.clone(),
            });
        }
    }

    fn log(&self, params: &LoggingMessageNotificationParam) {
        let logger = params.logger.as_deref().unwrap_or_default();
        tracing::debug!(server = &*self.server, level = ?params.level, logger, "{}", params.data);
    }

    fn calls(&self) -> MutexGuard<'_, HashMap<ProgressToken, Arc<Listener>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
