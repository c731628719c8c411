//! Why a request has no answer, from the sources of transport errors.

use rmcp::model::ErrorData;
use rmcp::service::ServiceError;
use std::error::Error;
use std::fmt;
use std::time::Duration;

/// Why a request has no answer.
#[derive(Debug)]
pub(super) enum Failure {
    /// The connection had ended before, or the server has not taken it, for this reason: it has not
    /// worked at it.
    Unsent(Option<String>),
    /// The connection ended while the request was out: the server may have done it or not.
    Lost(String),
    /// The server wants to know who asks.
    Unauthorized(String),
    /// The server answered with an error of the protocol.
    Refused(ErrorData),
    /// The server said nothing for so long.
    Silent(Duration),
    /// The server took too long, whatever it said.
    Late,
}

impl Failure {
    pub(super) fn of(error: ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) => Self::Refused(error),
            ServiceError::TransportSend(error) if is_unauthorized(&error) => {
                Self::Unauthorized(leaf(error.error.as_ref()))
            }
            ServiceError::TransportSend(error) if is_unsent(&error) => {
                Self::Unsent(Some(leaf(error.error.as_ref())))
            }
            ServiceError::TransportSend(error) => Self::Lost(leaf(error.error.as_ref())),
            other => Self::Lost(other.to_string()),
        }
    }
}

/// What went wrong at the bottom of it, with what each layer adds.
pub(super) fn leaf(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    for _ in 0..16 {
        let Some(cause) = next else { break };
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

/// A message that no server has worked at: at the bottom of errors of transports. The connection
/// is of no use any more.
#[derive(Debug)]
pub(super) struct Unsent(pub(super) String);

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Unsent {}

/// A server wants to know who asks: at the bottom of errors of transports.
#[derive(Debug)]
pub(super) struct Unauthorized(pub(super) String);

impl fmt::Display for Unauthorized {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Unauthorized {}

/// Whether a server wants to know who asks.
pub(super) fn is_unauthorized(error: &(dyn Error + 'static)) -> bool {
    is_caused_by::<Unauthorized>(error)
}

/// Whether no server has worked at the message.
pub(super) fn is_unsent(error: &(dyn Error + 'static)) -> bool {
    is_caused_by::<Unsent>(error)
}

fn is_caused_by<E: Error + 'static>(error: &(dyn Error + 'static)) -> bool {
    let mut next = Some(error);
    for _ in 0..16 {
        let Some(error) = next else { return false };
        if error.is::<E>() {
            return true;
        }
        next = error.source();
    }
    false
}
