//! Failures of requests, from the sources of transport errors.

use rmcp::model::ErrorData;
use rmcp::service::ServiceError;
use std::error::Error;
use std::io;
use std::time::Duration;

/// The reason why a request has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection had ended, or the server rejected the request, for this reason: it was not processed.
    Unsent(Option<String>),
    /// The connection ended after the request was sent: the server may have processed it.
    Lost(String),
    /// The server requires authorization.
    Unauthorized(String),
    /// The server answered with an error of the protocol.
    Rejected(ErrorData),
    /// The server sent nothing for this time.
    Silent(Duration),
    /// The server exceeded the time limit, even if it sent something.
    Late,
}

impl Failure {
    pub(super) fn from_error(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Rejected(error),
            ServiceError::TransportSend(error) if is_unauthorized(&error) => {
                Self::Unauthorized(chain_text(error.error.as_ref()))
            }
            ServiceError::TransportSend(error) if is_unsent(&error) => {
                Self::Unsent(Some(chain_text(error.error.as_ref())))
            }
            ServiceError::TransportSend(error) => Self::Lost(chain_text(error.error.as_ref())),
            other => Self::Lost(other.to_string()),
        }
    }
}

/// The strings of an error and its sources, without repetitions.
pub(super) fn chain_text(error: &(dyn Error + 'static)) -> String {
    sources(error).skip(1).map(ToString::to_string).fold(error.to_string(), |text, cause| {
        if text.contains(&cause) { text } else { format!("{text}: {cause}") }
    })
}

/// A message that no server has processed: a source of transport errors. The connection has ended.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub(super) struct Unsent {
    text: String,
    #[source]
    cause: Option<io::Error>,
}

impl Unsent {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), cause: None }
    }
}

impl From<io::Error> for Unsent {
    fn from(cause: io::Error) -> Self {
        Self { text: cause.to_string(), cause: Some(cause) }
    }
}

/// A server requires authorization: a source of transport errors.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Unauthorized(pub(super) String);

/// Whether a server requires authorization.
pub(super) fn is_unauthorized(error: &(dyn Error + 'static)) -> bool {
    sources(error).any(|source| source.is::<Unauthorized>())
}

/// Whether no server has processed the message.
pub(super) fn is_unsent(error: &(dyn Error + 'static)) -> bool {
    sources(error).any(|source| source.is::<Unsent>())
}

/// Whether the other end has closed the connection.
pub(super) fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    let mut causes = sources(error).filter_map(|source| source.downcast_ref::<io::Error>());
    causes.any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}

/// An error and its sources.
pub(super) fn sources<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn Error + 'static)| (*error).source())
        .take(16)
}
