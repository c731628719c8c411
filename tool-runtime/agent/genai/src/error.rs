//! Requests that failed.

use genai::{Error, webc};
use std::fmt;

/// The number of bytes of an API's response that an error shows.
const MAX_BODY: usize = 2000;

/// A request that failed, as the source of a [`ModelError`](tool_runtime_agent::ModelError).
///
/// genai's own text may hold the whole request; this one has the status and the message of the API.
#[derive(Debug)]
pub struct GenaiError {
    text: String,
    status: Option<u16>,
    source: Option<Error>,
}

impl GenaiError {
    pub(crate) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), status: None, source: None }
    }

    pub(crate) fn from_genai(error: Error) -> Self {
        let (status, text) = describe(&error);
        Self { text, status, source: Some(error) }
    }

    /// The HTTP status of the API's response, if there was one.
    pub fn status(&self) -> Option<u16> {
        self.status
    }
}

/// The status and the text of an error.
fn describe(error: &Error) -> (Option<u16>, String) {
    let of_api = |status: u16, body: &str| {
        (Some(status), format!("the API answered with status {status}: {}", excerpt(body.trim())))
    };
    match error {
        Error::HttpError { status, body, .. } => of_api(status.as_u16(), body),
        Error::WebModelCall { webc_error, .. } | Error::WebAdapterCall { webc_error, .. } => {
            match webc_error {
                webc::Error::ResponseFailedStatus { status, body, .. } => {
                    of_api(status.as_u16(), body)
                }
                other => (None, excerpt(&other.to_string())),
            }
        }
        // The error of a stream is boxed.
        Error::WebStream { error, .. } => match error.downcast_ref::<Error>() {
            Some(inner) => describe(inner),
            None => (None, format!("the stream broke off: {error}")),
        },
        Error::ChatResponse { body, .. } => {
            (None, format!("the API reported: {}", excerpt(&body.to_string())))
        }
        Error::ChatResponseGeneration { cause, .. } => (None, excerpt(cause)),
        other => (None, excerpt(&other.to_string())),
    }
}

fn excerpt(text: &str) -> String {
    match text.char_indices().nth(MAX_BODY) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

impl fmt::Display for GenaiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for GenaiError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|error| error as _)
    }
}
