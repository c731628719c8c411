//! Waits for the answer to `server/discover`, which older servers may not send.

use super::odd_answers::is_same_id;
use super::recovery::Incoming;
use rmcp::RoleClient;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::TxJsonRpcMessage;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Waits for the answer to `server/discover` for a limited time. Afterwards an error replaces the
/// answer, so that rmcp sends `initialize` over the same connection, and the late answer is dropped.
pub(super) struct Probe {
    limit: Duration,
    /// The request, and the time at which an error replaces its answer.
    sent: Option<(RequestId, Instant)>,
    is_over: bool,
    is_found: LateAnswer,
}

/// Whether a late answer to the probe shows that the server speaks 2026-07-28 or later.
#[derive(Clone, Debug, Default)]
pub(super) struct LateAnswer(Arc<AtomicBool>);

impl LateAnswer {
    pub(super) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl Probe {
    pub(super) fn new(limit: Duration, is_found: LateAnswer) -> Self {
        Self { limit, sent: None, is_over: false, is_found }
    }

    /// Notes the probe, and the request `initialize` after it.
    pub(super) fn before_sending(&mut self, message: &TxJsonRpcMessage<RoleClient>) {
        let JsonRpcMessage::Request(request) = message else { return };
        match &request.request {
            ClientRequest::DiscoverRequest(_) => {
                self.sent = Some((request.id.clone(), Instant::now() + self.limit));
            }
            ClientRequest::InitializeRequest(_) => self.is_over = true,
            _ => {}
        }
    }

    /// Waits for the next message.
    ///
    /// # Errors
    /// The answer did not come in time; the error that replaces it.
    pub(super) async fn in_time(
        &mut self,
        next: impl Future<Output = Option<Incoming>>,
    ) -> Result<Option<Incoming>, Incoming> {
        let Some((id, until)) = self.sent.clone().filter(|_| !self.is_over) else {
            return Ok(next.await);
        };
        timeout_at(until, next).await.map_err(|_| {
            self.is_over = true;
            let text = "`server/discover` was not answered in time";
            let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, text, None);
            JsonRpcMessage::error(error, Some(id))
        })
    }

    /// Whether a message is the late answer to the probe. Notes a success.
    pub(super) fn is_late(&mut self, message: &Incoming) -> bool {
        let (answers, is_success) = match message {
            JsonRpcMessage::Response(response) => (Some(&response.id), true),
            JsonRpcMessage::Error(error) => (error.id.as_ref(), false),
            _ => return false,
        };
        let Some((id, _)) = &self.sent else { return false };
        if !answers.is_some_and(|answers| is_same_id(id, answers)) {
            return false;
        }
        self.sent = None;
        self.is_found.0.fetch_or(self.is_over && is_success, Ordering::Relaxed);
        self.is_over
    }
}
