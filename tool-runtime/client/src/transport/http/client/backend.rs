//! The HTTP backend of rmcp's transport.

use super::classify::{code, is_gone, is_transient};
use super::sse_recovery::recovering;
use super::{Client, MAX_EVENT};
use crate::transport::http::credentials::HeaderMap;
use crate::transport::http::error::HttpError;
use crate::transport::http::sse_backoff::{Events, ReconnectPolicy};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpPostResponse as Answer,
};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Time limit of ending a session.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        own: HeaderMap,
    ) -> Result<Answer, HttpError> {
        self.post(url, message, session, own, MAX_EVENT).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        url: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        own: HeaderMap,
        longest: usize,
    ) -> Result<Answer, HttpError> {
        self.post(url, message, session, own, longest).await
    }

    async fn delete_session(
        &self,
        url: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        own: HeaderMap,
    ) -> Result<(), HttpError> {
        let deleted = self.renewing(own, |headers| {
            self.agent().delete_session(Arc::clone(&url), Arc::clone(&session), None, headers)
        });
        // A hanging server must not delay the close.
        timeout(CLOSE_TIMEOUT, deleted).await.unwrap_or(Ok(()))
    }

    async fn get_stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        own: HeaderMap,
    ) -> Result<Events, HttpError> {
        let auth = None;
        self.get_stream_with_max_sse_event_size(url, session, last, auth, own, MAX_EVENT).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        _: Option<String>,
        own: HeaderMap,
        longest: usize,
    ) -> Result<Events, HttpError> {
        let is_new = last.is_none();
        let mut failures = 0;
        let opened = loop {
            let (url, session, own) = (Arc::clone(&url), session.clone(), own.clone());
            let opened = self.stream(url, session, last.clone(), own, longest).await;
            match &opened {
                // rmcp does not retry the first attempt.
                Err(error) if is_new && is_transient(error) => {
                    failures += 1;
                    let pause = ReconnectPolicy::default().0.pause(failures);
                    tracing::debug!("no stream of notifications for {pause:?}");
                    sleep(pause).await;
                }
                _ => break opened,
            }
        };
        match &opened {
            Ok(_) => {
                self.0.has_stream.store(true, Ordering::Relaxed);
                if is_new || self.0.breaks.load(Ordering::Relaxed) > 0 {
                    // Earlier changes were not notified.
                    self.0.notifications.changed().notify();
                }
            }
            // Servers without such a stream may answer with 404.
            Err(error) if code(error).is_some() && !self.0.has_stream.load(Ordering::Relaxed) => {}
            Err(error) if is_gone(error) => self.0.lost.cancel(),
            Err(_) => {}
        }
        opened.map(|events| recovering(events, None, false))
    }
}
