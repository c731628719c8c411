//! Unanswered requests of a server. Reading pauses at 1000.

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, RequestId, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::Notify;
use tool_runtime_core::seam::lock;

/// Unanswered requests at which reading pauses.
const MAX_PENDING: usize = 1000;

/// Unanswered requests of a server. Clones share them.
#[derive(Clone, Default)]
pub(super) struct PendingRequests(Arc<Inner>);

#[derive(Default)]
struct Inner {
    ids: Mutex<HashSet<RequestId>>,
    decreased: Notify,
}

impl PendingRequests {
    /// Waits until reading may continue.
    pub(super) async fn ready(&self) {
        while self.ids().len() >= MAX_PENDING {
            self.0.decreased.notified().await;
        }
    }

    /// Notes a request or its cancellation. `false` for a request with the id of a pending one, which is ignored.
    pub(super) fn register(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        match message {
            JsonRpcMessage::Request(request) => return self.ids().insert(request.id.clone()),
            JsonRpcMessage::Notification(notification) => {
                if let ServerNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.complete(id);
                }
            }
            _ => {}
        }
        true
    }

    /// Removes a request: it was answered or cancelled.
    pub(super) fn complete(&self, id: &RequestId) {
        self.ids().remove(id);
        self.0.decreased.notify_one();
    }

    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        lock(&self.0.ids)
    }
}

/// The request that a message answers.
pub(super) fn answered(message: &TxJsonRpcMessage<RoleClient>) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt as _;
    use serde_json::{Value, json};
    use std::pin::pin;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Wake, Waker};

    /// Whether the waiter was woken.
    #[derive(Default)]
    struct Woken(AtomicBool);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    fn register(pending: &PendingRequests, value: Value) -> bool {
        pending.register(&serde_json::from_value(value).unwrap())
    }

    fn ping(id: usize) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": "ping" })
    }

    fn ready(pending: &PendingRequests) -> bool {
        pending.ready().now_or_never().is_some()
    }

    #[test]
    fn reading_pauses_with_too_many_unanswered_requests() {
        let pending = PendingRequests::default();
        assert!((0..MAX_PENDING).all(|id| ready(&pending) && register(&pending, ping(id))));
        assert!(!ready(&pending));
        pending.complete(&RequestId::Number(7));
        assert!(ready(&pending));
        assert!(register(&pending, ping(7)));
        assert!(!ready(&pending));
        let params = json!({ "requestId": 7 });
        let cancelled =
            json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        assert!(register(&pending, cancelled));
        assert!(ready(&pending));
    }

    #[test]
    fn an_answer_and_a_cancellation_wake_the_waiter() {
        let answer = |pending: &PendingRequests| pending.complete(&RequestId::Number(7));
        let cancel = |pending: &PendingRequests| {
            let params = json!({ "requestId": 7 });
            let method = "notifications/cancelled";
            register(pending, json!({ "jsonrpc": "2.0", "method": method, "params": params }));
        };
        for pay in [&answer as &dyn Fn(&PendingRequests), &cancel] {
            let pending = PendingRequests::default();
            assert!((0..MAX_PENDING).all(|id| register(&pending, ping(id))));
            let woken = Arc::new(Woken::default());
            let waker = Waker::from(Arc::clone(&woken));
            let mut waiting = pin!(pending.ready());
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            assert!(!woken.0.load(Ordering::SeqCst));
            pay(&pending);
            assert!(woken.0.load(Ordering::SeqCst), "the waiter is not woken");
            assert!(waiting.as_mut().poll(&mut Context::from_waker(&waker)).is_ready());
        }
    }

    #[test]
    fn the_id_of_a_running_request_is_rejected() {
        let pending = PendingRequests::default();
        assert!(register(&pending, ping(1)));
        assert!(!register(&pending, ping(1)));
        pending.complete(&RequestId::Number(1));
        assert!(register(&pending, ping(1)));
    }
}
