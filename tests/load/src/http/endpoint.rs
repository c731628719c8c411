//! The address of a server, and the headers of every request to it.

use super::connection::Connection;
use crate::protocol_version::ProtocolVersion;
use std::fmt::Write as _;
use std::io;
use std::net::SocketAddr;

/// A loopback URL, and the session there.
pub(super) struct Endpoint {
    pub(super) address: SocketAddr,
    path: String,
    session: Option<String>,
}

impl Endpoint {
    /// Parses `http://ADDRESS:PORT/PATH`.
    ///
    /// # Errors
    /// The URL is malformed, or names another machine: this tool must only load local servers.
    pub(super) fn parse(url: &str) -> io::Result<Self> {
        let parts = url.strip_prefix("http://").and_then(|rest| rest.split_once('/'));
        let local = parts.and_then(|(host, path)| {
            let address: SocketAddr = host.parse().ok()?;
            address.ip().is_loopback().then(|| (address, format!("/{path}")))
        });
        let Some((address, path)) = local else {
            let message = format!("`{url}` is no http://127.0.0.1:PORT/PATH");
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        };
        Ok(Self { address, path, session: None })
    }

    /// Opens a session if the version has sessions and the server keeps them.
    pub(super) fn open_session(&mut self, version: ProtocolVersion) -> io::Result<()> {
        let Some(handshake) = version.initialize() else {
            return Ok(());
        };
        let mut connection = Connection::open(self)?;
        let response =
            connection.post(&self.head(version, "initialize", None), &handshake.to_string())?;
        if response.status != 200 {
            return Err(io::Error::other(format!("the handshake failed: {}", response.body)));
        }
        self.session = response.session;
        let head = self.head(version, "notifications/initialized", None);
        connection.post(&head, &ProtocolVersion::initialized().to_string()).map(drop)
    }

    /// The head of a request without its length.
    pub(super) fn head(
        &self,
        version: ProtocolVersion,
        method: &str,
        name: Option<&str>,
    ) -> String {
        let mut head = format!(
            "POST {} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n",
            self.path, self.address
        );
        let mut header = |name: &str, value: &str| {
            write!(head, "{name}: {value}\r\n").expect("a string takes everything");
        };
        if method != "initialize" {
            header("MCP-Protocol-Version", version.as_str());
        }
        if version == ProtocolVersion::V2026_07_28 {
            header("Mcp-Method", method);
            name.into_iter().for_each(|name| header("Mcp-Name", name));
        }
        if let Some(session) = &self.session {
            header("Mcp-Session-Id", session);
        }
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_addresses_are_accepted() {
        assert!(Endpoint::parse("http://127.0.0.1:80/mcp").is_ok());
        assert!(Endpoint::parse("http://[::1]:80/").is_ok());
        for url in ["http://192.0.2.1:80/mcp", "https://127.0.0.1:80/mcp", "http://127.0.0.1:80"] {
            assert!(Endpoint::parse(url).is_err(), "{url}");
        }
    }
}
