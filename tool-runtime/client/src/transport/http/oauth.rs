//! Tokens by OAuth 2.1, from the metadata of a server and its authorization server.

mod address_filter;
mod authorize;
mod credential_store;
mod error_text;
mod flow;
mod host_callbacks;
mod http_client;
mod issuer;
mod page;
mod redirect_listener;
mod token_secrets;

pub(crate) use host_callbacks::OAuthCallbacks;
pub use host_callbacks::{McpAuthPage, McpTokens};

use super::credentials::{NoHeaders, RejectedRequest};
use flow::Flow;
use reqwest::Url;
use rmcp::transport::auth::AuthorizationManager;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::{OnceCell, watch};
use tokio::time::timeout;
use tool_runtime_config::McpOAuth;
use tool_runtime_core::seam::lock;

/// Time that a request waits for a token, enough for a renewal without the user.
const TOKEN_TIMEOUT: Duration = Duration::from_secs(3);

/// The tokens of one server.
pub(super) struct OAuth(Arc<Inner>);

struct Inner {
    flow: Flow,
    manager: Mutex<Option<Arc<AuthorizationManager>>>,
    /// Set once stored tokens were loaded.
    restored: OnceCell<()>,
    running: Mutex<Option<Running>>,
    /// Whether a request gave up waiting.
    is_awaited: AtomicBool,
}

/// The outcome of a renewal, for all waiting requests.
type Running = watch::Receiver<Option<Result<(), NoHeaders>>>;

impl OAuth {
    pub(super) fn new(
        server: &str,
        url: &Url,
        config: &McpOAuth,
        callbacks: &OAuthCallbacks,
    ) -> Self {
        Self(Arc::new(Inner {
            flow: Flow::new(server, url, config, callbacks),
            manager: Mutex::default(),
            restored: OnceCell::new(),
            running: Mutex::default(),
            is_awaited: AtomicBool::new(false),
        }))
    }

    /// Whether a request has stopped waiting for the user.
    pub(super) fn is_authorizing(&self) -> bool {
        self.0.is_awaited.load(Ordering::Relaxed)
    }

    /// Waits for the user; returns once for each request that gave up.
    pub(super) async fn authorized(&self) -> Result<(), String> {
        let running = lock(&self.0.running).clone();
        let is_awaited = self.0.is_awaited.swap(false, Ordering::Relaxed);
        let Some(running) = running.filter(|_| is_awaited) else {
            return std::future::pending().await;
        };
        done(running).await.map_err(|problem| problem.to_string())
    }

    /// Notes that the server accepted a call.
    pub(super) fn note_success(&self) {
        self.0.flow.note_success();
    }

    /// The token to send; none before the server's first challenge.
    ///
    /// # Errors
    /// No token is available, or only the rejected one.
    pub(super) async fn token(
        &self,
        rejected: Option<&RejectedRequest>,
    ) -> Result<Option<String>, NoHeaders> {
        self.0.restored.get_or_init(|| self.0.restore()).await;
        let Some(rejected) = rejected else { return self.0.current().await };
        let current = self.0.current().await.ok().flatten();
        if current.is_some() && current != rejected.token {
            return Ok(current);
        }
        self.0.renewed(self.0.renewing(rejected)).await?;
        self.0.current().await
    }
}

impl Inner {
    async fn restore(&self) {
        match self.flow.restored().await {
            Ok(Some(manager)) => *self.manager() = Some(Arc::new(manager)),
            Ok(None) => {}
            Err(error) => tracing::warn!("stored tokens are not used: {error}"),
        }
    }

    /// The current token, refreshed before its expiry.
    async fn current(&self) -> Result<Option<String>, NoHeaders> {
        let Some(manager) = self.manager().clone() else { return Ok(None) };
        self.flow.current(&manager).await
    }

    /// The running renewal, started if there is none. All requests share it.
    fn renewing(self: &Arc<Self>, rejected: &RejectedRequest) -> Running {
        let mut running = lock(&self.running);
        let unfinished = running.as_ref().filter(|running| running.borrow().is_none());
        if let Some(running) = unfinished {
            return running.clone();
        }
        let (sender, receiver) = watch::channel(None);
        *running = Some(receiver.clone());
        let (shared, rejected) = (Arc::clone(self), rejected.clone());
        tokio::spawn(async move {
            let manager = shared.manager().clone();
            let renewed = shared.flow.renewed(manager, &rejected).await;
            let renewed = renewed.map(|manager| *shared.manager() = Some(manager));
            sender.send_replace(Some(renewed));
        });
        receiver
    }

    /// Waits a short time for a renewal.
    async fn renewed(&self, running: Running) -> Result<(), NoHeaders> {
        match timeout(TOKEN_TIMEOUT, done(running)).await {
            Ok(done) => done,
            Err(_) => {
                self.is_awaited.store(true, Ordering::Relaxed);
                let text = "it waits for the user to authorize this program";
                Err(NoHeaders::Unauthorized(text.to_owned()))
            }
        }
    }

    fn manager(&self) -> MutexGuard<'_, Option<Arc<AuthorizationManager>>> {
        lock(&self.manager)
    }
}

/// Waits for the outcome of a renewal.
async fn done(mut running: Running) -> Result<(), NoHeaders> {
    let done = running.wait_for(Option::is_some).await.ok();
    let broken = || Err(NoHeaders::Failed("the authorization was broken off".to_owned()));
    done.and_then(|done| done.clone()).unwrap_or_else(broken)
}
