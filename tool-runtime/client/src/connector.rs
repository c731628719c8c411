//! Opens connections to one server, in the protocol version that it speaks.

use super::connection::Connection;
use super::handler::Handler;
use super::notification_router::NotificationRouter;
use super::probe::{Found, Probe};
use super::redactors::Redactors;
use super::refusal::{Kind, Refusal, is_known};
use super::refused::{RefusedKinds, Refusing};
use super::server_requests::Answerer;
use super::transport::{Opened, TransportFactory};
use rmcp::model::{Implementation, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle_and_ct};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tool_runtime_core::seam::lock;

/// The longest wait for an answer to `server/discover` of a server whose version is not known: older
/// servers may never answer.
const PROBE: Duration = Duration::from_secs(10);

/// Opens connections to one server, one after the other.
pub(super) struct Connector {
    server: Arc<str>,
    redactors: Arc<Redactors>,
    way: Box<dyn TransportFactory>,
    client: Implementation,
    answerer: Answerer,
    /// The protocol that worked last.
    era: Mutex<Option<Era>>,
    refused: Arc<RefusedKinds>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Modern,
    Legacy,
}

/// The first message of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opening {
    /// `server/discover`, and `initialize` on the same connection where that is refused in order, or
    /// not answered.
    Probe,
    /// `server/discover`, to a server that has answered it before.
    Discover,
    Initialize,
}

impl Connector {
    pub(super) fn new(
        (server, redactors): (Arc<str>, Arc<Redactors>),
        way: Box<dyn TransportFactory>,
        client: Implementation,
        answerer: Answerer,
    ) -> Self {
        Self {
            server,
            redactors,
            way,
            client,
            answerer,
            era: Mutex::default(),
            refused: Arc::default(),
        }
    }

    /// Whether a person is asked to let this program in.
    pub(super) fn is_authorizing(&self) -> bool {
        self.way.is_authorizing()
    }

    /// Waits until they have, or says why they have not.
    pub(super) async fn authorized(&self) -> Result<(), String> {
        self.way.authorized().await
    }

    /// Opens a connection: in the newer era, else in the older one, else by an older way.
    ///
    /// # Errors
    /// The reason, with the last lines of the server's standard error.
    pub(super) async fn connect(&self, within: Duration) -> Result<Connection, Refusal> {
        self.connect_somehow(within).await.map_err(|refusal| refusal.redacted(&self.redactors))
    }

    async fn connect_somehow(&self, within: Duration) -> Result<Connection, Refusal> {
        let began = Instant::now();
        let refusal = match self.connect_by_era(within).await {
            Ok(connection) => return Ok(connection),
            Err(refusal) => refusal,
        };
        let rest = within.saturating_sub(began.elapsed());
        if rest.is_zero() || !self.way.falls_back() {
            return Err(refusal);
        }
        tracing::debug!(server = &*self.server, "trying an older way: {refusal}");
        self.shake(Opening::Initialize, rest).await.map_err(|older| {
            tracing::debug!(server = &*self.server, "nor by an older way: {older}");
            refusal
        })
    }

    /// A server that dies of the newer era's first message, or does not take it, is opened once more
    /// for the older one.
    async fn connect_by_era(&self, within: Duration) -> Result<Connection, Refusal> {
        let began = Instant::now();
        let first = match self.era() {
            _ if self.way.is_old() => Opening::Initialize,
            Some(Era::Legacy) => Opening::Initialize,
            Some(Era::Modern) => Opening::Discover,
            None => Opening::Probe,
        };
        let refusal = match self.shake(first, within).await {
            Ok(connection) => return Ok(connection),
            Err(refusal) => refusal,
        };
        if first == Opening::Discover && refusal.kind == Kind::Late {
            // Another program may be there by now, which never answers that.
            self.remember(None);
        }
        let rest = within.saturating_sub(began.elapsed());
        let is_other = matches!(refusal.kind, Kind::Late | Kind::Failed);
        if first == Opening::Initialize || !is_other || rest.is_zero() {
            return Err(refusal);
        }
        // It has answered the probe, too late, and does not take `initialize`.
        let is_modern = first == Opening::Probe && self.era() == Some(Era::Modern);
        let second = if is_modern { Opening::Discover } else { Opening::Initialize };
        tracing::debug!(server = &*self.server, "opened anew for {second:?}: {refusal}");
        self.shake(second, rest).await
    }

    /// Opens a connection.
    async fn shake(&self, opening: Opening, within: Duration) -> Result<Connection, Refusal> {
        let began = Instant::now();
        let notifications = Arc::new(NotificationRouter::new(
            Arc::clone(&self.server),
            Arc::clone(&self.redactors),
        ));
        let opened = match timeout(within, self.way.open(Arc::clone(&notifications))).await {
            Ok(opened) => opened?,
            Err(_) => return Err(Refusal::late("it could not be reached", within)),
        };
        let (Opened { wire, behind }, found, limit) = limited(opened, opening, within);
        let (client, server) = (self.client.clone(), Arc::clone(&self.server));
        let ended = CancellationToken::new();
        let over = ended.clone().drop_guard();
        let around = (Arc::clone(&notifications), ended.clone());
        let handler = Handler::new(client, Arc::clone(&server), self.answerer.clone(), around);
        let handler = Refusing { server, handler, kinds: Arc::clone(&self.refused) };
        let (end, lifecycle) = (CancellationToken::new(), opening.lifecycle());
        let shaken = serve_client_with_lifecycle_and_ct(handler, wire, lifecycle, end.clone());
        let shaken = timeout(limit.saturating_sub(began.elapsed()), shaken).await;
        if found.get() {
            self.remember(Some(Era::Modern));
        }
        let refusal = match shaken {
            Ok(Ok(running)) => {
                let around = (notifications, self.answerer.clone());
                let connection = Connection::new(running, around, (end, ended, over), behind);
                return self.understood(connection, &found);
            }
            Ok(Err(error)) => Refusal::of_handshake(&error),
            Err(_) if limit < within => Refusal::late(Opening::Discover.unanswered(), limit),
            Err(_) => Refusal::late(opening.unanswered(), limit),
        };
        let Some(behind) = behind else { return Err(refusal) };
        let refusal = refusal.with_last_words(behind.last_words().await);
        // The next try need not wait for the end of this one.
        tokio::spawn(async move { behind.close().await });
        Err(refusal)
    }

    /// A connection whose version is known here.
    fn understood(&self, connection: Connection, found: &Found) -> Result<Connection, Refusal> {
        let version = connection.info().map(|info| info.protocol_version.clone());
        if let Some(version) = version.filter(|version| !is_known(version)) {
            return Err(Refusal::incompatible(&[version]));
        }
        if !found.get() {
            let era = if connection.is_modern() { Era::Modern } else { Era::Legacy };
            self.remember(Some(era));
        }
        Ok(connection)
    }

    /// Waits until nothing is left of its connections, which have been closed or dropped.
    pub(super) async fn left(&self) {
        self.way.left().await;
    }

    fn era(&self) -> Option<Era> {
        *lock(&self.era)
    }

    fn remember(&self, era: Option<Era>) {
        *lock(&self.era) = era;
    }
}

impl Opening {
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

/// Limits the wait for an answer to the probe, and gives how long the handshake may take in all. Over
/// HTTP a request that hangs holds up the next one: another connection is made for that.
fn limited(opened: Opened, opening: Opening, within: Duration) -> (Opened, Found, Duration) {
    let (Opened { wire, behind }, found) = (opened, Found::default());
    let limit = (within / 3).min(PROBE);
    let is_http = behind.as_ref().is_some_and(|behind| behind.loses_single_requests());
    let (wire, limit) = match opening {
        Opening::Probe if is_http => (wire, limit),
        Opening::Probe => (wire.with_probe(Probe::new(limit, found.clone())), within),
        Opening::Discover | Opening::Initialize => (wire, within),
    };
    (Opened { wire, behind }, found, limit)
}
