//! Errors of the transport, without secrets.

use super::challenge;
use super::headers::Headers;
use crate::failure::{Unauthorized, Unsent, leaf};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::error::Error;
use std::fmt;
use std::io;

/// Limit on the characters of a server's text in an error.
const MAX_LINE: usize = 300;

pub(super) type HttpError = StreamableHttpError<reqwest::Error>;

/// Why a message did not reach a server, or had no answer.
#[derive(Debug)]
pub(super) enum TransportError {
    /// The server wants to know who asks.
    Unauthorized(Unauthorized),
    /// The server has not worked at the message.
    Unsent(Unsent),
    /// What became of the message is unknown.
    Lost(String),
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unauthorized(error) => error.fmt(f),
            Self::Unsent(error) => error.fmt(f),
            Self::Lost(text) => f.write_str(text),
        }
    }
}

impl Error for TransportError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unauthorized(error) => Some(error),
            Self::Unsent(error) => Some(error),
            Self::Lost(_) => None,
        }
    }
}

impl TransportError {
    pub(super) fn new(error: HttpError, headers: &Headers) -> Self {
        use StreamableHttpError as E;
        let redactor = headers.redactor();
        let line = |text: &str| redactor.line(text, MAX_LINE);
        match error {
            E::AuthRequired(error) => {
                let challenge = error.www_authenticate_header;
                Self::unauthorized(401, &challenge::in_words(&redactor.text(&challenge)))
            }
            E::InsufficientScope(error) => {
                let challenge = error.www_authenticate_header;
                Self::unauthorized(403, &challenge::in_words(&redactor.text(&challenge)))
            }
            E::SessionExpired => Self::Unsent(Unsent(
                "it answered that it does not know the session (HTTP 404)".to_owned(),
            )),
            E::Client(error) => Self::of_client(error),
            E::HttpStatus(error) => Self::Lost(match &error.retry_after {
                Some(after) => {
                    let after = line(after);
                    format!("{error}; it asks to be left alone for {after}")
                }
                None => error.to_string(),
            }),
            E::UnexpectedServerResponse(text) => Self::of_response(&line(&text)),
            E::UnexpectedContentType(kind) => {
                let kind = kind.unwrap_or_else(|| "nothing that it names".to_owned());
                let kind = line(&kind);
                Self::Lost(format!(
                    "it answers with `{kind}`, which is not MCP; is this its address?"
                ))
            }
            E::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                Self::Unauthorized(Unauthorized(line(&error.to_string())))
            }
            E::Io(error) => Self::Lost(line(&error.to_string())),
            other => Self::Lost(line(&leaf(&other))),
        }
    }

    fn of_client(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let text = leaf(&error);
        if error.is_connect() { Self::Unsent(Unsent(unreached(&text))) } else { Self::Lost(text) }
    }

    fn of_response(text: &str) -> Self {
        match status(text) {
            Some(code @ (401 | 403)) => Self::unauthorized(code, ""),
            Some(300..=399) => Self::Lost(format!(
                "{}, which is not followed: it leads to another server or would lose the message; give its entry the address that it leads to",
                text.trim_end_matches(':')
            )),
            _ => Self::Lost(text.trim_end_matches(':').to_owned()),
        }
    }

    fn unauthorized(status: u16, words: &str) -> Self {
        let separator = if words.is_empty() { "" } else { ", " };
        let help = "see to the `auth` or the headers of its entry";
        let text = format!("HTTP {status}{separator}{words}; {help}");
        Self::Unauthorized(Unauthorized(text))
    }
}

/// Why nobody could be reached, and what to do about it.
fn unreached(text: &str) -> String {
    let why = text.rsplit_once("(Connect): ").map_or(text, |(_, why)| why);
    let help = if why.contains("onnection refused") {
        "start the server, or mend the address of its entry"
    } else if why.contains("dns error") {
        "mend the host in the address of its entry, or see to the network"
    } else if why.contains("InvalidContentType") {
        "it does not speak TLS there; if that is meant, write `http://`"
    } else if why.contains("certificate") {
        "its certificate is not one that this system trusts for that host"
    } else {
        "see to the address of its entry, and to the network"
    };
    format!("{why}; {help}")
}

/// The status of an answer that is not an answer of MCP: rmcp puts it before the text.
pub(super) fn status(text: &str) -> Option<u16> {
    text.strip_prefix("HTTP ")?.get(..3)?.parse().ok()
}
