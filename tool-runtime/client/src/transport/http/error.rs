//! Errors of the transport, without secrets.

use super::challenge;
use super::headers::Headers;
use crate::failure::{Unauthorized, Unsent, chain_text, sources};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::error::Error;
use std::io;

/// Limit on the characters of a server's text in an error.
const MAX_LINE: usize = 300;

pub(super) type HttpError = StreamableHttpError<reqwest::Error>;

/// The reason why a message was not delivered or has no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransportError {
    /// The server requires authorization.
    #[error("{0}")]
    Unauthorized(#[source] Unauthorized),
    /// The server has not processed the message.
    #[error("{0}")]
    Unsent(#[source] Unsent),
    /// Whether the server processed the message is unknown.
    #[error("{0}")]
    Lost(String),
}

impl TransportError {
    pub(super) fn new(error: HttpError, headers: &Headers) -> Self {
        use StreamableHttpError as E;
        let redactor = headers.redactor();
        let line = |text: &str| redactor.line(text, MAX_LINE);
        match error {
            E::AuthRequired(error) => {
                let challenge = error.www_authenticate_header;
                Self::unauthorized(401, &challenge::challenge_text(&redactor.text(&challenge)))
            }
            E::InsufficientScope(error) => {
                let challenge = error.www_authenticate_header;
                Self::unauthorized(403, &challenge::challenge_text(&redactor.text(&challenge)))
            }
            E::SessionExpired => {
                Self::Unsent(Unsent::new("the session has expired or does not exist (HTTP 404)"))
            }
            E::Client(error) => Self::of_client(error),
            E::UnexpectedServerResponse(text) => Self::of_response(&line(&text)),
            E::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Self::Unauthorized(Unauthorized(line(&error.to_string())))
            }
            E::Io(error) => Self::Lost(line(&error.to_string())),
            other => Self::Lost(line(&chain_text(&other))),
        }
    }

    fn of_client(error: reqwest::Error) -> Self {
        let error = error.without_url();
        if error.is_connect() {
            Self::Unsent(Unsent::new(unreachable(&error)))
        } else {
            Self::Lost(chain_text(&error))
        }
    }

    fn of_response(text: &str) -> Self {
        match status(text) {
            Some(code @ (401 | 403)) => Self::unauthorized(code, ""),
            Some(300..=399) => Self::Lost(format!(
                "{}, which is not followed; set the URL of the entry to the target of the redirect",
                text.trim_end_matches(':')
            )),
            _ => Self::Lost(text.trim_end_matches(':').to_owned()),
        }
    }

    fn unauthorized(status: u16, details: &str) -> Self {
        let separator = if details.is_empty() { "" } else { ", " };
        let help = "check `auth` and `headers` of the entry";
        let text = format!("HTTP {status}{separator}{details}; {help}");
        Self::Unauthorized(Unauthorized(text))
    }
}

/// The reason why a server cannot be reached, and the remedy.
fn unreachable(error: &reqwest::Error) -> String {
    // The first two errors of the chain only report that connecting failed.
    let why = sources(error).nth(2).map_or_else(|| chain_text(error), chain_text);
    let io = sources(error).find_map(|source| source.downcast_ref::<io::Error>());
    let tls = sources(error).find_map(tls_error);
    let help = match (io.map(io::Error::kind), tls) {
        (_, Some(rustls::Error::InvalidCertificate(_))) => {
            "its certificate is not trusted for that host on this system"
        }
        (_, Some(rustls::Error::InvalidMessage(_))) => {
            "the server does not use TLS on this port; for plain HTTP write `http://`"
        }
        (Some(io::ErrorKind::ConnectionRefused), _) => {
            "start the server, or correct the address of its entry"
        }
        _ => "correct the address of its entry, or check the network",
    };
    format!("{why}; {help}")
}

/// The TLS error that I/O errors wrap.
fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let wrapped = || tls_error(error.downcast_ref::<io::Error>()?.get_ref()?);
    error.downcast_ref().or_else(wrapped)
}

/// The HTTP status of an unexpected response: the text begins with it.
pub(super) fn status(text: &str) -> Option<u16> {
    text.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::unreachable;
    use crate::transport::http::agent;
    use reqwest::Url;

    #[tokio::test]
    async fn a_refused_connection_has_a_remedy() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        drop(listener);
        let client = agent::client(&url).unwrap();
        let error = client.get(url).send().await.unwrap_err();
        let text = unreachable(&error);
        assert!(
            text.ends_with("; start the server, or correct the address of its entry"),
            "{text}"
        );
        assert!(!text.contains("error sending request"), "{text}");
    }
}
