//! Opens connections to one server, in whatever era it speaks.

use super::connection::Connection;
use super::handler::Handler;
use super::hearing::Hearing;
use super::mask::Mask;
use super::questions::Answerer;
use super::refusal::{Kind, Refusal, is_known};
use super::transport::{Opened, Way};
use rmcp::model::{Implementation, ProtocolVersion};
use rmcp::service::{ClientLifecycleMode, serve_client_with_lifecycle_and_ct};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

/// Opens connections to one server, one after the other.
pub(super) struct Dialer {
    server: Arc<str>,
    mask: Arc<Mask>,
    way: Box<dyn Way>,
    client: Implementation,
    answerer: Answerer,
    /// What worked.
    era: Mutex<Option<Era>>,
    /// Whether the server once did not answer the probe in its share of the time.
    is_slow: AtomicBool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Era {
    Modern,
    Legacy,
}

impl Dialer {
    pub(super) fn new(
        (server, mask): (Arc<str>, Arc<Mask>),
        way: Box<dyn Way>,
        client: Implementation,
        answerer: Answerer,
    ) -> Self {
        let (era, is_slow) = (Mutex::default(), AtomicBool::new(false));
        Self { server, mask, way, client, answerer, era, is_slow }
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
    /// Why there is none, with the end of the server's standard error.
    pub(super) async fn connect(&self, within: Duration) -> Result<Connection, Refusal> {
        self.connect_somehow(within).await.map_err(|refusal| refusal.masked(&self.mask))
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
        self.shake(initialize(), (rest, within)).await.map_err(|older| {
            tracing::debug!(server = &*self.server, "nor by an older way: {older}");
            refusal
        })
    }

    /// A server that does not take the newer era's first message, or dies of it, is opened once
    /// more for the older one.
    async fn connect_by_era(&self, within: Duration) -> Result<Connection, Refusal> {
        let began = Instant::now();
        if self.era() == Some(Era::Legacy) || self.way.is_old() {
            return self.shake(initialize(), (within, within)).await;
        }
        let is_slow = self.is_slow.load(Ordering::Relaxed);
        let share = if self.era().is_some() || is_slow { within } else { within / 3 };
        let refusal = match self.shake(probe(), (share, within)).await {
            Ok(connection) => return Ok(connection),
            Err(refusal) => refusal,
        };
        self.is_slow.store(refusal.kind == Kind::Late, Ordering::Relaxed);
        let rest = within.saturating_sub(began.elapsed());
        if matches!(refusal.kind, Kind::Late | Kind::Failed) && !rest.is_zero() {
            tracing::debug!(server = &*self.server, "trying the older era: {refusal}");
            return self.shake(initialize(), (rest, within)).await;
        }
        Err(refusal)
    }

    /// Opens a connection by a share of the time that there is in all.
    async fn shake(
        &self,
        lifecycle: ClientLifecycleMode,
        (within, whole): (Duration, Duration),
    ) -> Result<Connection, Refusal> {
        let began = Instant::now();
        let hearing = Arc::new(Hearing::new(Arc::clone(&self.server), Arc::clone(&self.mask)));
        let opened = match timeout(within, self.way.open(Arc::clone(&hearing))).await {
            Ok(opened) => opened?,
            Err(_) => return Err(Refusal::late("it could not be reached", whole)),
        };
        let Opened { wire, behind } = opened;
        let (client, server) = (self.client.clone(), Arc::clone(&self.server));
        let ended = CancellationToken::new();
        let over = ended.clone().drop_guard();
        let around = (Arc::clone(&hearing), ended.clone());
        let handler = Handler::new(client, server, self.answerer.clone(), around);
        let end = CancellationToken::new();
        let shaken = serve_client_with_lifecycle_and_ct(handler, wire, lifecycle, end.clone());
        let rest = within.saturating_sub(began.elapsed());
        let refusal = match timeout(rest, shaken).await {
            Ok(Ok(running)) => {
                let around = (hearing, self.answerer.clone());
                let connection = Connection::new(running, around, (end, ended, over), behind);
                if let Some(info) = connection.info()
                    && !is_known(&info.protocol_version)
                {
                    return Err(Refusal::incompatible(std::slice::from_ref(
                        &info.protocol_version,
                    )));
                }
                self.remember(if connection.is_modern() { Era::Modern } else { Era::Legacy });
                return Ok(connection);
            }
            Ok(Err(error)) => Refusal::of_handshake(&error),
            Err(_) => Refusal::late("it did not answer", whole),
        };
        let Some(behind) = behind else { return Err(refusal) };
        let refusal = refusal.with_last_words(behind.last_words().await);
        // The next try need not wait for the end of this one.
        tokio::spawn(async move { behind.close().await });
        Err(refusal)
    }

    /// Waits until nothing is left of its connections, which have been closed or dropped.
    pub(super) async fn left(&self) {
        self.way.left().await;
    }

    fn era(&self) -> Option<Era> {
        *self.era.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn remember(&self, era: Era) {
        *self.era.lock().unwrap_or_else(PoisonError::into_inner) = Some(era);
    }
}

/// `server/discover`, and `initialize` on the same connection where that is refused in order.
fn probe() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

fn initialize() -> ClientLifecycleMode {
    ClientLifecycleMode::Initialize
}
