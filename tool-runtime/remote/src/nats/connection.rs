//! The connection to a server: its state, and what its failures mean.

use super::streams::MAX_QUEUED;
use crate::board::BoardError;
use crate::names::CallerName;
use crate::random;
use async_nats::connection::State;
use async_nats::jetstream::context::{PublishError, PublishErrorKind};
use async_nats::jetstream::{self, Context};
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event};
use std::error::Error as _;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::watch;

/// The time for an answer of the server.
pub(super) const REQUEST: Duration = Duration::from_secs(5);

/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(1);

/// The oldest version of the server: it removes messages after a time of their own.
const VERSION: (i64, i64, i64) = (2, 11, 0);

/// The error code for a subject that has as many messages as it may have.
const SUBJECT_IS_FULL: u64 = 10077;

/// Options of [`NatsBoard::connect`](super::NatsBoard::connect).
#[derive(Clone, Debug)]
pub struct NatsOptions {
    pub(super) namespace: String,
    credentials: Option<PathBuf>,
    seed: Option<PathBuf>,
    #[cfg(test)]
    pub(super) lease: Duration,
}

impl Default for NatsOptions {
    fn default() -> Self {
        Self {
            namespace: "tools".to_owned(),
            credentials: None,
            seed: None,
            #[cfg(test)]
            lease: crate::LEASE,
        }
    }
}

impl NatsOptions {
    /// Sets the namespace, which separates installations that share a server: 1 to 32 of the characters `a-z`, `0-9` and
    /// `-`. Default: `tools`.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// Sets the file with the JWT and the seed of this caller or runner. Default: none.
    #[must_use]
    pub fn credentials(mut self, file: impl Into<PathBuf>) -> Self {
        self.credentials = Some(file.into());
        self
    }

    /// Sets the file with the seed of the NKEY of this caller or runner. Default: none.
    #[must_use]
    pub fn nkey(mut self, file: impl Into<PathBuf>) -> Self {
        self.seed = Some(file.into());
        self
    }

    /// Sets the time after which claims lapse.
    #[cfg(test)]
    #[must_use]
    pub(crate) fn lease(mut self, lease: Duration) -> Self {
        self.lease = lease;
        self
    }

    async fn connect_options(&self) -> Result<ConnectOptions, BoardError> {
        let refused = |file: &PathBuf, error: std::io::Error| {
            BoardError::Refused(format!("`{}` cannot be read: {error}", file.display()))
        };
        let mut options = ConnectOptions::new();
        if let Some(file) = &self.credentials {
            options = options.credentials_file(file).await.map_err(|error| refused(file, error))?;
        }
        if let Some(file) = &self.seed {
            let seed = std::fs::read_to_string(file).map_err(|error| refused(file, error))?;
            options = options.nkey(seed.trim().to_owned());
        }
        Ok(options)
    }
}

/// The state of a connection, as its events tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Link {
    /// The number of times that it was connected.
    pub(super) connections: u64,
    pub(super) is_up: bool,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) client: Client,
    pub(super) streams: Context,
    pub(super) link: watch::Receiver<Link>,
    address: String,
    pub(super) is_confidential: bool,
}

impl Connection {
    /// Connects to a server such as `nats://127.0.0.1:4222`.
    ///
    /// # Errors
    /// The address or the credentials are wrong, the server is away, or it is too old.
    pub(super) async fn open(address: &str, options: &NatsOptions) -> Result<Self, BoardError> {
        let url: async_nats::ServerAddr = address.parse().map_err(|error| {
            BoardError::Refused(format!("`{address}` is not the address of a NATS server: {error}"))
        })?;
        let shown = format!("{}:{}", url.host(), url.port());
        let (link, is_confidential) = (watch::Sender::new(Link::default()), is_confidential(&url));
        let heard = link.subscribe();
        let options = options
            .connect_options()
            .await?
            .name("tool-runtime")
            .request_timeout(Some(REQUEST))
            .custom_inbox_prefix(format!("_INBOX_{}", random::hex_digits::<8>()))
            .max_reconnects(None)
            .reconnect_delay_callback(pause)
            .event_callback(move |event| {
                note(&link, &event);
                std::future::ready(())
            });
        let client = options.connect(url).await.map_err(|error| cannot_connect(&shown, &error))?;
        let (major, minor, patch) = VERSION;
        if !client.is_server_compatible(major, minor, patch) {
            let version = client.server_info().version;
            return Err(BoardError::Refused(format!(
                "the NATS server at {shown} has version {version}; at least {major}.{minor} is needed, which removes messages after a time of their own"
            )));
        }
        let streams = jetstream::context::ContextBuilder::new()
            .timeout(REQUEST)
            .ack_timeout(REQUEST)
            .build(client.clone());
        Ok(Self { client, streams, link: heard, address: shown, is_confidential })
    }

    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// The number of the present connection. What was claimed on an earlier one is not this one's any more.
    ///
    /// # Errors
    /// There is no connection.
    pub(super) fn epoch(&self) -> Result<u64, BoardError> {
        match self.client.connection_state() {
            State::Connected => Ok(self.link.borrow().connections),
            _ => Err(self.away()),
        }
    }

    pub(super) fn away(&self) -> BoardError {
        BoardError::Disconnected(format!(
            "lost the connection to the NATS server at {}",
            self.address
        ))
    }

    /// The meaning of an error of the client.
    pub(super) fn failed(&self, what: &str, error: impl std::fmt::Display) -> BoardError {
        BoardError::Disconnected(format!("{what} at the NATS server {}: {error}", self.address))
    }

    /// The meaning of a message that a stream did not take.
    pub(super) fn not_published(
        &self,
        what: &str,
        caller: &CallerName,
        error: &PublishError,
    ) -> BoardError {
        match error.kind() {
            PublishErrorKind::MaxPayloadExceeded => {
                BoardError::Refused(format!("{what} is larger than the server allows: {error}"))
            }
            PublishErrorKind::Other if code(error) == Some(SUBJECT_IS_FULL) => BoardError::Full(
                format!("{MAX_QUEUED} calls of `{caller}` wait in the queue already"),
            ),
            _ => self.failed(&format!("{what} was not written"), error),
        }
    }
}

fn code(error: &PublishError) -> Option<u64> {
    let error = error.source()?.downcast_ref::<jetstream::Error>()?;
    Some(error.error_code().0)
}

fn note(link: &watch::Sender<Link>, event: &Event) {
    match event {
        Event::Connected => link.send_modify(|link| {
            link.connections += 1;
            link.is_up = true;
        }),
        Event::Disconnected | Event::Closed => link.send_modify(|link| link.is_up = false),
        Event::ServerError(error) => tracing::warn!("the NATS server refuses something: {error}"),
        event => tracing::debug!("{event}"),
    }
}

fn pause(attempts: usize) -> Duration {
    let doublings = u32::try_from(attempts).unwrap_or(u32::MAX).min(5);
    Duration::from_millis(50).saturating_mul(1 << doublings).min(LONGEST_PAUSE)
}

fn cannot_connect(address: &str, error: &ConnectError) -> BoardError {
    let text = format!("cannot connect to the NATS server at {address}: {error}");
    match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            BoardError::Refused(format!("{text}; check the credentials"))
        }
        ConnectErrorKind::ServerParse | ConnectErrorKind::Tls => BoardError::Refused(text),
        _ => BoardError::Disconnected(text),
    }
}

/// Whether nobody between here and the server can read: by TLS, or on this machine.
fn is_confidential(url: &async_nats::ServerAddr) -> bool {
    let host = url.host().trim_matches(['[', ']']);
    let is_local = host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback());
    url.tls_required() || is_local || host == "localhost"
}
