//! Opens connections to one server, in a protocol version that it supports.

use super::connect_error::{ConnectError, Kind, is_known};
use super::connection::{Connection, Lifetime};
use super::disguised_errors::{DisguisingErrors, RejectedMethods};
use super::handler::Handler;
use super::notification_router::NotificationRouter;
use super::probe::{LateAnswer, Probe};
use super::redactors::Redactors;
use super::server_requests::Answerer;
use super::transport::{Opened, TransportFactory};
use rmcp::model::{Implementation, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle_and_ct};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// Limit on the wait for an answer to `server/discover` of a server with an unknown version: older servers may never
/// answer.
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens connections to a server.
pub(super) struct Connector {
    server: Arc<str>,
    redactors: Arc<Redactors>,
    factory: Box<dyn TransportFactory>,
    client: Implementation,
    answerer: Answerer,
    /// Whether the last handshake used 2026-07-28, if there was one.
    was_stateless: Mutex<Option<bool>>,
    rejected: Arc<RejectedMethods>,
}

/// The first message of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handshake {
    /// `server/discover`, then `initialize` on the same connection if that is rejected or not answered.
    Probe,
    /// `server/discover`, to a server that has answered it before.
    Discover,
    Initialize,
}

impl Connector {
    pub(super) fn new(
        server: Arc<str>,
        redactors: Arc<Redactors>,
        factory: Box<dyn TransportFactory>,
        client: Implementation,
        answerer: Answerer,
    ) -> Self {
        let (was_stateless, rejected) = (Mutex::default(), Arc::default());
        Self { server, redactors, factory, client, answerer, was_stateless, rejected }
    }

    /// Whether the user is asked to authorize this program.
    pub(super) fn is_authorizing(&self) -> bool {
        self.factory.is_authorizing()
    }

    /// Waits for the user's answer.
    ///
    /// # Errors
    /// The user did not authorize this program; the error is the reason.
    pub(super) async fn authorized(&self) -> Result<(), String> {
        self.factory.authorized().await
    }

    /// Opens a connection in 2026-07-28, else by `initialize`, else over the older HTTP transport.
    ///
    /// # Errors
    /// The reason, with the last lines of the server's standard error.
    pub(super) async fn connect(&self, within: Duration) -> Result<Connection, ConnectError> {
        let connected = self.connect_or_fall_back(within).await;
        connected.map_err(|error| error.redacted(&self.redactors))
    }

    async fn connect_or_fall_back(&self, within: Duration) -> Result<Connection, ConnectError> {
        let began = Instant::now();
        let error = match self.negotiate(within).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        let rest = within.saturating_sub(began.elapsed());
        if rest.is_zero() || !self.factory.falls_back() {
            return Err(error);
        }
        tracing::debug!(server = &*self.server, "trying the older transport: {error}");
        self.open(Handshake::Initialize, rest).await.map_err(|older| {
            tracing::debug!(server = &*self.server, "the older transport failed: {older}");
            error
        })
    }

    /// Opens a connection. A server that ends at `server/discover`, or does not accept it, gets a second connection
    /// with `initialize`.
    async fn negotiate(&self, within: Duration) -> Result<Connection, ConnectError> {
        let began = Instant::now();
        let first = match self.was_stateless() {
            _ if self.factory.has_only_initialize() => Handshake::Initialize,
            Some(false) => Handshake::Initialize,
            Some(true) => Handshake::Discover,
            None => Handshake::Probe,
        };
        let error = match self.open(first, within).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        if first == Handshake::Discover && error.kind == Kind::Late {
            // Another program may run at this address now, which never answers `server/discover`.
            self.remember(None);
        }
        let rest = within.saturating_sub(began.elapsed());
        let is_other = matches!(error.kind, Kind::Late | Kind::Failed);
        if first == Handshake::Initialize || !is_other || rest.is_zero() {
            return Err(error);
        }
        // A late answer to the probe: the server does not accept `initialize`.
        let is_stateless = first == Handshake::Probe && self.was_stateless() == Some(true);
        let second = if is_stateless { Handshake::Discover } else { Handshake::Initialize };
        tracing::debug!(server = &*self.server, "connecting again with {second:?}: {error}");
        self.open(second, rest).await
    }

    /// Opens a connection.
    async fn open(&self, first: Handshake, within: Duration) -> Result<Connection, ConnectError> {
        let began = Instant::now();
        let notifications = Arc::new(NotificationRouter::new(
            Arc::clone(&self.server),
            Arc::clone(&self.redactors),
        ));
        let opened = match timeout(within, self.factory.open(Arc::clone(&notifications))).await {
            Ok(opened) => opened?,
            Err(_) => return Err(ConnectError::timed_out("it could not be reached", within)),
        };
        let (Opened { transport, owner }, found, limit) = limit_probe(opened, first, within);
        let (client, server) = (self.client.clone(), Arc::clone(&self.server));
        let ended = CancellationToken::new();
        let end_guard = ended.clone().drop_guard();
        let handler = Handler::new(
            client,
            Arc::clone(&server),
            self.answerer.clone(),
            Arc::clone(&notifications),
            ended.clone(),
        );
        let handler = DisguisingErrors { server, handler, rejected: Arc::clone(&self.rejected) };
        let (end, lifecycle) = (CancellationToken::new(), first.lifecycle());
        let served = serve_client_with_lifecycle_and_ct(handler, transport, lifecycle, end.clone());
        let served = timeout(limit.saturating_sub(began.elapsed()), served).await;
        if found.get() {
            self.remember(Some(true));
        }
        let error = match served {
            Ok(Ok(running)) => {
                let lifetime = Lifetime { end, ended, end_guard };
                let connection =
                    Connection::new(running, notifications, self.answerer.clone(), lifetime, owner);
                return self.checked(connection, &found);
            }
            Ok(Err(error)) => ConnectError::of_handshake(&error),
            Err(_) if limit < within => {
                ConnectError::timed_out(Handshake::Discover.unanswered(), limit)
            }
            Err(_) => ConnectError::timed_out(first.unanswered(), limit),
        };
        let Some(owner) = owner else { return Err(error) };
        let error = error.with_exit_report(owner.exit_report().await);
        // The next attempt does not wait for the end of this one.
        tokio::spawn(async move { owner.close().await });
        Err(error)
    }

    /// Checks the version of a connection.
    fn checked(
        &self,
        connection: Connection,
        found: &LateAnswer,
    ) -> Result<Connection, ConnectError> {
        let version = connection.info().map(|info| info.protocol_version.clone());
        if let Some(version) = version.filter(|version| !is_known(version)) {
            return Err(ConnectError::incompatible(&[version]));
        }
        if !found.get() {
            self.remember(Some(connection.is_stateless()));
        }
        Ok(connection)
    }

    /// Waits until all closed or dropped connections have ended.
    pub(super) async fn ended(&self) {
        self.factory.ended().await;
    }

    fn was_stateless(&self) -> Option<bool> {
        *lock(&self.was_stateless)
    }

    fn remember(&self, was_stateless: Option<bool>) {
        *lock(&self.was_stateless) = was_stateless;
    }
}

impl Handshake {
    fn lifecycle(self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::LATEST];
        match self {
            Self::Probe => ClientLifecycleMode::Auto {
                preferred_versions,
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
            Self::Discover => ClientLifecycleMode::Discover { preferred_versions },
            Self::Initialize => ClientLifecycleMode::Initialize,
        }
    }

    /// The requests that a server has not answered.
    fn unanswered(self) -> &'static str {
        match self {
            Self::Probe => "it answered neither `server/discover` nor `initialize`",
            Self::Discover => "it did not answer `server/discover`",
            Self::Initialize => "it did not answer `initialize`",
        }
    }
}

/// Limits the wait for an answer to the probe, and returns the time limit of the handshake. Over HTTP a request that
/// hangs delays the next one: `initialize` gets another connection.
fn limit_probe(
    opened: Opened,
    first: Handshake,
    within: Duration,
) -> (Opened, LateAnswer, Duration) {
    let (Opened { transport, owner }, found) = (opened, LateAnswer::default());
    let limit = (within / 3).min(PROBE_TIMEOUT);
    let is_http = owner.as_ref().is_some_and(|owner| owner.loses_single_requests());
    let (transport, limit) = match first {
        Handshake::Probe if is_http => (transport, limit),
        Handshake::Probe => (transport.with_probe(Probe::new(limit, found.clone())), within),
        Handshake::Discover | Handshake::Initialize => (transport, within),
    };
    (Opened { transport, owner }, found, limit)
}
