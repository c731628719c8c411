//! Sends rmcp's requests with additional headers.

mod backend;
mod classify;
mod excerpt;
mod exchange;
mod post;
mod sse_recovery;

use super::credentials::{HeaderMap, NoHeaders};
use super::error::{HttpError, TransportError};
use super::headers::Headers;
use super::sse_backoff::{Events, with_bounded_retry};
use crate::notification_router::NotificationRouter;
use classify::{no_headers, rejection, without_url};
use exchange::Exchange;
pub(super) use exchange::http_error;
use reqwest::header::AUTHORIZATION;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::sync::atomic::{AtomicBool, AtomicU32};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// Limit on an event of a stream, in bytes.
const MAX_EVENT: usize = 16 << 20;

/// The HTTP client and address of a server.
#[derive(Clone)]
pub(super) struct Agent {
    pub(super) client: reqwest::Client,
    pub(super) url: Arc<str>,
}

/// The client of one connection, which clones share.
#[derive(Clone)]
pub(super) struct Client(Arc<Inner>);

struct Inner {
    agent: Agent,
    headers: Headers,
    notifications: Arc<NotificationRouter>,
    /// Whether the server answered like one of 2024-11-05.
    may_be_legacy: Arc<AtomicBool>,
    /// Whether the server has a stream of notifications.
    has_stream: AtomicBool,
    /// Number of streams in a row that broke without an event.
    breaks: Arc<AtomicU32>,
    /// Cancelled when the server is unreachable, or has ended the session.
    lost: CancellationToken,
    /// The failure that ended rmcp's transport, which does not pass it on.
    failure: Mutex<Option<TransportError>>,
}

impl Client {
    pub(super) fn new(
        agent: Agent,
        headers: Headers,
        notifications: Arc<NotificationRouter>,
        may_be_legacy: Arc<AtomicBool>,
    ) -> Self {
        Self(Arc::new(Inner {
            agent,
            headers,
            notifications,
            may_be_legacy,
            has_stream: AtomicBool::new(false),
            breaks: Arc::default(),
            lost: CancellationToken::new(),
            failure: Mutex::default(),
        }))
    }

    pub(super) fn url(&self) -> Arc<str> {
        Arc::clone(&self.0.agent.url)
    }

    pub(super) fn agent(&self) -> &reqwest::Client {
        &self.0.agent.client
    }

    pub(super) fn transport_error(&self, error: HttpError) -> TransportError {
        let kept = match error {
            StreamableHttpError::TransportChannelClosed => lock(&self.0.failure).take(),
            _ => None,
        };
        kept.unwrap_or_else(|| TransportError::new(error, &self.0.headers))
    }

    fn keep_failure(&self, failure: TransportError) {
        *lock(&self.0.failure) = Some(failure);
    }

    fn exchange<'a>(
        &'a self,
        url: &'a str,
        session: Option<&'a str>,
        headers: HeaderMap,
        longest: usize,
    ) -> Exchange<'a> {
        Exchange { agent: self.agent(), url, session, headers, longest }
    }

    /// Waits until the server is unreachable, or has ended the session.
    pub(super) async fn connection_lost(&self) {
        self.0.lost.cancelled().await;
    }

    /// Opens a stream of events.
    pub(super) async fn events(&self) -> Result<Events, HttpError> {
        self.stream(self.url(), None, None, HeaderMap::new(), MAX_EVENT).await
    }

    /// Sends a request, and repeats it with new headers if the server rejected the first ones.
    pub(super) async fn renewing<T, F>(
        &self,
        own: HeaderMap,
        request: impl Fn(HeaderMap) -> F,
    ) -> Result<T, HttpError>
    where
        F: Future<Output = Result<T, HttpError>>,
    {
        let sources = &self.0.headers;
        let headers = sources.with(own.clone(), None).await.map_err(no_headers)?;
        let sent = headers.get(&AUTHORIZATION).cloned();
        let error = match request(headers).await {
            Ok(answer) => return Ok(answer),
            Err(error) => without_url(error),
        };
        let rejected = rejection(&error, sent.as_ref());
        let Some(rejected) = rejected.filter(|rejected| sources.are_renewable(rejected.status))
        else {
            return Err(error);
        };
        tracing::debug!("recomputing the headers: the server rejected the last ones");
        match sources.with(own, Some(&rejected)).await {
            Ok(headers) => request(headers).await.map_err(without_url),
            Err(NoHeaders::Same) => Err(error),
            Err(problem) => Err(no_headers(problem)),
        }
    }

    async fn stream(
        &self,
        url: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        own: HeaderMap,
        longest: usize,
    ) -> Result<Events, HttpError> {
        let opened = self.renewing(own, |headers| {
            let exchange = self.exchange(&url, session.as_deref(), headers, longest);
            exchange.get(last.as_deref())
        });
        opened.await.map(|events| with_bounded_retry(events, Arc::clone(&self.0.breaks)))
    }
}
