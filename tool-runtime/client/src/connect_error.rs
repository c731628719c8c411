//! Reasons of failed connections, for the operator.

use super::failure::{Failure, chain_text, is_broken_pipe, is_unauthorized, is_unsent};
use super::in_words::in_words;
use super::redactors::Redactors;
use rmcp::model::{InitializeResult, ProtocolVersion};
use rmcp::service::ClientInitializeError;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// The reason why a connection failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ConnectError {
    pub(super) kind: Kind,
    text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The server requires authorization: another attempt without it is useless.
    Unauthorized,
    /// The server did not answer in time.
    Late,
    /// Client and server have no protocol version in common.
    Incompatible,
    /// The server cannot be reached: no such program, no such host.
    Unreachable,
    /// Any other failure.
    Failed,
}

impl ConnectError {
    pub(super) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }

    pub(super) fn timed_out(what: &str, within: Duration) -> Self {
        // Rounds the remaining time.
        let millis = u64::try_from(within.as_millis()).unwrap_or(u64::MAX);
        let within = humantime::format_duration(Duration::from_millis(millis));
        let help = "if it needs longer, give it a `connect_timeout`";
        Self::new(Kind::Late, format!("{what} within {within}; {help}"))
    }

    pub(super) fn of_handshake(error: &ClientInitializeError) -> Self {
        use ClientInitializeError as E;
        match error {
            // A server that exits immediately may exit before or after our first message.
            E::TransportError { error, .. } if is_broken_pipe(error.error.as_ref()) => {
                Self::new(Kind::Failed, "it ended the connection before it answered")
            }
            E::TransportError { error, .. } => Self::of_transport(error.error.as_ref()),
            E::ConnectionClosed(_) => {
                Self::new(Kind::Failed, "it ended the connection before it answered")
            }
            E::JsonRpcError(error) => {
                Self::new(Kind::Failed, format!("it returned an error: {}", error.message))
            }
            E::NoCompatibleProtocolVersion { server_supported, .. } => {
                // The server may accept `initialize`.
                let is_older = |one: &ProtocolVersion| is_known(one) && one.has_initialize();
                if server_supported.is_empty() || server_supported.iter().any(is_older) {
                    return Self::new(Kind::Failed, "it supports only older versions of MCP");
                }
                Self::incompatible(server_supported)
            }
            E::ExpectedInitResult(Some(result)) => {
                let result = serde_json::to_value(result).unwrap_or_default();
                let words = in_words(&result);
                let why = serde_json::from_value::<InitializeResult>(result).err();
                let why = why.map(|why| format!(": {why}")).unwrap_or_default();
                let text = format!("its first answer is {words}, which is not valid MCP{why}");
                Self::new(Kind::Failed, text)
            }
            E::ExpectedInitResponse(_) | E::ExpectedInitResult(_) => {
                Self::new(Kind::Failed, "its first answer is not valid MCP")
            }
            E::LegacyFallbackFailed { fallback, .. } => Self::of_handshake(fallback),
            other => Self::new(Kind::Failed, chain_text(other)),
        }
    }

    /// The error for a server without a common protocol version.
    pub(super) fn incompatible(theirs: &[ProtocolVersion]) -> Self {
        let theirs: Vec<String> =
            theirs.iter().map(|one| printable_version(one.as_str())).collect();
        let text = format!("it supports only unknown versions of MCP: {}", theirs.join(", "));
        Self::new(Kind::Incompatible, text)
    }

    /// Converts the error of a transport.
    pub(super) fn of_transport(error: &(dyn Error + 'static)) -> Self {
        let text = chain_text(error);
        if is_unauthorized(error) {
            Self::new(Kind::Unauthorized, unauthorized(&text))
        } else if is_unsent(error) {
            Self::new(Kind::Unreachable, text)
        } else {
            Self::new(Kind::Failed, text)
        }
    }

    /// Converts a failure of listing tools within a time limit.
    pub(super) fn of_listing(failure: &Failure, within: Duration) -> Self {
        match failure {
            Failure::Unsent(_) => {
                Self::new(Kind::Failed, "it ended the connection before it listed its tools")
            }
            Failure::Lost(why) => {
                Self::new(Kind::Failed, format!("it did not list its tools: {why}"))
            }
            Failure::Unauthorized(why) => Self::new(Kind::Unauthorized, unauthorized(why)),
            Failure::Rejected(error) => {
                Self::new(Kind::Failed, format!("it did not list its tools: {}", error.message))
            }
            Failure::Silent(_) | Failure::Late => {
                Self::timed_out("it did not list its tools", within)
            }
        }
    }

    /// Removes secrets and control characters: the text may quote the server.
    pub(super) fn redacted(mut self, redactors: &Redactors) -> Self {
        self.text = redactors.line(&self.text);
        self
    }

    /// Adds the exit report of the owner of the connection.
    pub(super) fn with_exit_report(mut self, words: Option<String>) -> Self {
        if let Some(words) = words {
            self.text = format!("{}; {words}", self.text);
        }
        self
    }
}

pub(super) fn is_known(version: &ProtocolVersion) -> bool {
    ProtocolVersion::KNOWN_VERSIONS.contains(version)
}

/// The printable beginning of a version, which is text of the server.
fn printable_version(version: &str) -> String {
    version.chars().filter(|c| c.is_ascii_graphic()).take(20).collect()
}

fn unauthorized(why: &str) -> String {
    format!("it requires authorization: {why}")
}

impl fmt::Display for ConnectError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
