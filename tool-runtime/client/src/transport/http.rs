//! Servers over HTTP: streamable HTTP, and the transport of 2024-11-05.

mod agent;
mod challenge;
mod client;
mod credentials;
mod error;
mod events;
mod header_values;
mod headers;
#[cfg(feature = "oauth")]
mod oauth;
mod source;
mod sse;
mod sse_backoff;
mod streamable;

pub use source::McpHeaderRequest;
pub(crate) use source::{HeaderSource, HeaderSources};

#[cfg(feature = "oauth")]
pub(crate) use oauth::OAuthCallbacks;
#[cfg(feature = "oauth")]
pub use oauth::{McpAuthPage, McpTokens};

use super::{ConnectionOwner, HostCallbacks, Opened, TransportFactory};
use crate::connect_error::{ConnectError, Kind};
use crate::notification_router::NotificationRouter;
use crate::observed_transport::ObservedTransport;
use client::{Agent, Client};
use headers::Headers;
use reqwest::Url;
use sse::Sse;
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use streamable::Streamable;
use tool_runtime_config::HttpConfig;
#[cfg(feature = "oauth")]
use tool_runtime_config::McpAuth;
use tool_runtime_core::vocabulary::BoxFuture;

/// A server over HTTP.
pub(crate) struct Http {
    server: Arc<str>,
    agent: Agent,
    config: HttpConfig,
    sources: HeaderSources,
    #[cfg(feature = "oauth")]
    oauth: Option<Arc<oauth::OAuth>>,
    /// Whether the server is known to support only the transport of 2024-11-05.
    is_old: AtomicBool,
    /// Whether the last connection failed like one to a server of 2024-11-05.
    may_be_legacy: Arc<AtomicBool>,
}

impl Http {
    /// # Errors
    /// The entry has an invalid address, header or authentication.
    pub(crate) fn new(
        server: &str,
        config: &HttpConfig,
        callbacks: &HostCallbacks,
    ) -> Result<Self, String> {
        let url = Url::parse(config.url.as_str()).ok().filter(Url::has_host);
        let url = url.filter(|url| matches!(url.scheme(), "http" | "https"));
        let url = url.ok_or("`url` is not an address of scheme `http` or `https`")?;
        // Invalid headers are an error here, not at the first connection.
        Headers::new(server, config, None)?;
        Ok(Self {
            server: server.into(),
            agent: Agent { client: agent::client(&url)?, url: url.as_str().into() },
            #[cfg(feature = "oauth")]
            oauth: match &config.auth {
                Some(McpAuth::OAuth(oauth)) => {
                    Some(Arc::new(oauth::OAuth::new(server, &url, oauth, &callbacks.oauth)))
                }
                _ => None,
            },
            config: config.clone(),
            sources: callbacks.headers.clone(),
            is_old: AtomicBool::new(config.legacy_sse),
            may_be_legacy: Arc::default(),
        })
    }

    fn client(&self, notifications: Arc<NotificationRouter>) -> Result<Client, ConnectError> {
        let source = self.sources.get(&self.server);
        let headers = Headers::new(&self.server, &self.config, source);
        let headers = headers.map_err(|problem| ConnectError::new(Kind::Failed, problem))?;
        #[cfg(feature = "oauth")]
        let headers = headers.with_oauth(self.oauth.clone());
        Ok(Client::new(self.agent.clone(), headers, notifications, Arc::clone(&self.may_be_legacy)))
    }

    async fn open_transport(
        &self,
        notifications: Arc<NotificationRouter>,
    ) -> Result<Opened, ConnectError> {
        let client = self.client(Arc::clone(&notifications))?;
        let transport = if self.is_old.load(Ordering::Relaxed) {
            let opened = Sse::open(client).await;
            if opened.is_err() {
                // The server may have been updated.
                self.is_old.store(self.config.legacy_sse, Ordering::Relaxed);
            }
            ObservedTransport::new(opened?, notifications)
        } else {
            ObservedTransport::new(Streamable::new(client), notifications)
        };
        Ok(Opened { transport, owner: Some(Arc::new(Stateless)) })
    }
}

/// The owner of an HTTP connection: requests are independent.
struct Stateless;

impl ConnectionOwner for Stateless {
    fn closed(&self) -> BoxFuture<'_, ()> {
        Box::pin(pending())
    }

    fn exit_report(&self) -> BoxFuture<'_, Option<String>> {
        Box::pin(ready(None))
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        Box::pin(ready(()))
    }

    fn loses_single_requests(&self) -> bool {
        true
    }
}

impl TransportFactory for Http {
    fn open(
        &self,
        notifications: Arc<NotificationRouter>,
    ) -> BoxFuture<'_, Result<Opened, ConnectError>> {
        Box::pin(self.open_transport(notifications))
    }

    #[cfg(feature = "oauth")]
    fn is_authorizing(&self) -> bool {
        self.oauth.as_ref().is_some_and(|oauth| oauth.is_authorizing())
    }

    #[cfg(feature = "oauth")]
    fn authorized(&self) -> BoxFuture<'_, Result<(), String>> {
        match &self.oauth {
            Some(oauth) => Box::pin(oauth.authorized()),
            None => Box::pin(pending()),
        }
    }

    fn has_only_initialize(&self) -> bool {
        self.is_old.load(Ordering::Relaxed)
    }

    fn falls_back(&self) -> bool {
        let falls_back = self.may_be_legacy.swap(false, Ordering::Relaxed);
        if falls_back {
            self.is_old.store(true, Ordering::Relaxed);
        }
        falls_back
    }
}
