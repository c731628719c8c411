//! Options of a connection.

use super::keys::with_credentials;
use crate::board::BoardError;
use crate::names::CallerName;
use async_nats::ConnectOptions;
use std::path::PathBuf;
use std::time::Duration;

/// Options of [`NatsBoard::connect`](super::NatsBoard::connect).
#[derive(Clone, Debug, Default)]
pub struct NatsOptions {
    pub(super) namespace: Option<String>,
    pub(super) name: Option<CallerName>,
    credentials: Option<PathBuf>,
    pub(super) lease: Option<Duration>,
}

impl NatsOptions {
    /// Sets the namespace, which separates installations that share a server: 1 to 32 of the characters `a-z`, `0-9` and
    /// `-`. Default: the path of the address, or else `tools`.
    #[must_use]
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Sets the name of this caller or runner, which has to be the one that its credentials allow. Default: the user in the
    /// address, or else the name of the program.
    #[must_use]
    pub fn name(mut self, name: CallerName) -> Self {
        self.name = Some(name);
        self
    }

    /// Sets the file with the credentials of this caller or runner: a JWT with its seed, or the seed of an NKEY. Default: none.
    #[must_use]
    pub fn credentials(mut self, file: impl Into<PathBuf>) -> Self {
        self.credentials = Some(file.into());
        self
    }

    /// Sets the time after which claims lapse.
    #[cfg(all(test, feature = "__nats-tests"))]
    #[must_use]
    pub(crate) fn lease(mut self, lease: Duration) -> Self {
        self.lease = Some(lease);
        self
    }

    /// Options of the client.
    ///
    /// # Errors
    /// The file of credentials cannot be used.
    pub(super) fn connect_options(&self) -> Result<ConnectOptions, BoardError> {
        match &self.credentials {
            Some(file) => with_credentials(file).map_err(BoardError::Refused),
            None => Ok(ConnectOptions::new()),
        }
    }
}
