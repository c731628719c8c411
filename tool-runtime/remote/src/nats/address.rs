//! Addresses of servers.

use crate::names::{CallerName, NameError};
use async_nats::ServerAddr;
use std::net::IpAddr;

/// An address: the server, the namespace there, and who connects.
#[derive(Debug)]
pub(super) struct Address {
    pub(super) server: ServerAddr,
    pub(super) namespace: Option<String>,
    pub(super) name: Option<CallerName>,
    /// A user of the server, with the password.
    pub(super) user: Option<(String, String)>,
}

impl Address {
    /// Reads `nats://NAME@HOST:PORT/NAMESPACE`. With a password, the name is that of a user of the server, too.
    ///
    /// # Errors
    /// It is no such address.
    pub(super) fn read(text: &str) -> Result<Self, String> {
        let (scheme, rest) = text.split_once("://").unwrap_or(("nats", text));
        let (user, rest) =
            rest.rsplit_once('@').map_or((None, rest), |(user, it)| (Some(user), it));
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let address = format!("`{scheme}://{host}`");
        if !matches!(scheme, "nats" | "tls") || path.contains('/') {
            return Err(format!(
                "{address} is not the address of a NATS server; write `nats://HOST:PORT` or `tls://HOST:PORT`"
            ));
        }
        let name = user.map(|user| user.split(':').next().unwrap_or(user).parse());
        let name = name.transpose().map_err(|error: NameError| error.to_string())?;
        let owned = |(user, password): (&str, &str)| (user.to_owned(), password.to_owned());
        let user = user.and_then(|user| user.split_once(':')).map(owned);
        let server = format!("{scheme}://{host}").parse::<ServerAddr>();
        let server = server
            .map_err(|error| format!("{address} is not the address of a NATS server: {error}"))?;
        let namespace = Some(path).filter(|path| !path.is_empty()).map(str::to_owned);
        Ok(Self { server, namespace, name, user })
    }
    /// `HOST:PORT`.
    pub(super) fn host_and_port(&self) -> String {
        format!("{}:{}", self.server.host(), self.server.port())
    }

    /// Whether nobody between here and the server can read: by TLS, or on this machine.
    pub(super) fn is_confidential(&self) -> bool {
        let host = self.server.host().trim_matches(['[', ']']);
        let is_local = host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        self.server.tls_required() || is_local || host == "localhost"
    }
}
