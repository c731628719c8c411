//! One request: its client, its parameters, its body.

use super::access::Client;
use super::refusal::Refusal;
use crate::names::{CallerName, NameError, Queue};
use crate::payload::MAX_BLOB;
use crate::protocol::{KEEP, MAX_JSON};
use crate::record::Revision;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderName, StatusCode, header};
use percent_encoding::percent_decode_str;
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tool_runtime_core::vocabulary::Principal;
use tool_runtime_server::seam::bearer;
use tool_runtime_server::{AuthRejection, Authenticate};

/// The time for an authentication.
const AUTHENTICATION: Duration = Duration::from_secs(10);

/// The time for a body, and for a blob.
const BODY: Duration = Duration::from_secs(30);
const BLOB_BODY: Duration = Duration::from_secs(60);

/// The limits on what is read of the body of a refused request, so that its client gets the answer.
const DISCARD: (usize, Duration) = (MAX_JSON, Duration::from_secs(1));

/// The longest time for which records and jobs are kept, and the default.
const MAX_KEEP: Duration = Duration::from_secs(7 * 24 * 3600);
const DEFAULT_KEEP: Duration = Duration::from_secs(24 * 3600);

/// A request whose client is known.
pub(super) struct Request<'a> {
    pub(super) client: Client,
    pub(super) parts: &'a Parts,
    body: &'a mut Body,
}

impl<'a> Request<'a> {
    /// Authenticates the client.
    ///
    /// # Errors
    /// It is not known, its name is not valid, or authentication does not work at the moment.
    pub(super) async fn authenticate(
        tokens: &dyn Authenticate,
        parts: &'a Parts,
        body: &'a mut Body,
    ) -> Result<Self, Refusal> {
        let token = bearer(parts);
        let principal = timeout(AUTHENTICATION, tokens.authenticate(token, parts)).await;
        let too_slow = |_| Err(AuthRejection::Unavailable("no answer in time".to_owned()));
        let principal = principal.unwrap_or_else(too_slow);
        let principal = principal.map_err(|reason| rejected(&reason, token.is_some()))?;
        Ok(Self { client: client(&principal)?, parts, body })
    }

    /// A parameter of the query.
    pub(super) fn query(&self, name: &str) -> Option<String> {
        let pairs = self.parts.uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
        let value = pairs.into_iter().find(|(key, _)| *key == name)?.1;
        Some(percent_decode_str(value).decode_utf8_lossy().into_owned())
    }

    fn header(&self, name: &HeaderName) -> Option<&str> {
        self.parts.headers.get(name)?.to_str().ok()
    }

    /// The revision of `If-Match`, or none for `If-None-Match: *`.
    ///
    /// # Errors
    /// There is neither.
    pub(super) fn expected(&self) -> Result<Revision, Refusal> {
        let given = (self.header(&header::IF_MATCH), self.header(&header::IF_NONE_MATCH));
        let revision = match given {
            (None, Some("*")) => Some(Revision::NONE),
            (Some(tag), None) => read_tag(tag),
            _ => None,
        };
        revision.ok_or_else(|| {
            let text = "say what the record is: `If-Match: \"REVISION\"`, or `If-None-Match: *` if there is none";
            Refusal::new(StatusCode::PRECONDITION_REQUIRED, text)
        })
    }

    /// The time for which a job or a record is kept.
    ///
    /// # Errors
    /// The header is not a number.
    pub(super) fn keep(&self) -> Result<Duration, Refusal> {
        let Some(value) = self.parts.headers.get(KEEP) else { return Ok(DEFAULT_KEEP) };
        let millis = value.to_str().ok().and_then(|text| text.parse().ok());
        let invalid =
            || Refusal::invalid(format!("the header `{KEEP}` is not a number of milliseconds"));
        Ok(millis.map(Duration::from_millis).ok_or_else(invalid)?.min(MAX_KEEP))
    }

    /// The body as JSON of a kind.
    ///
    /// # Errors
    /// It is not, or is too long or too slow.
    pub(super) async fn json<T: DeserializeOwned>(&mut self, what: &str) -> Result<T, Refusal> {
        let bytes = self.bytes(MAX_JSON, BODY).await?;
        let invalid = |error| Refusal::invalid(format!("the body is not {what}: {error}"));
        serde_json::from_slice(&bytes).map_err(invalid)
    }

    /// The body as a blob, with a permit of each of the `readers`. Few are read at once, since they are large.
    ///
    /// # Errors
    /// It is too long or too slow.
    pub(super) async fn blob(&mut self, readers: [&Semaphore; 2]) -> Result<Bytes, Refusal> {
        let permits = async { (readers[0].acquire().await, readers[1].acquire().await) };
        let _permits = timeout(BODY, permits).await.map_err(|_| {
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "too many blobs arrive; try again")
        })?;
        self.bytes(usize::try_from(MAX_BLOB).unwrap_or(usize::MAX), BLOB_BODY).await
    }

    async fn bytes(&mut self, limit: usize, time: Duration) -> Result<Bytes, Refusal> {
        let body = std::mem::take(self.body);
        let Ok(read) = timeout(time, to_bytes(body, limit)).await else {
            let text = format!("the body did not arrive within {time:?}");
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, text));
        };
        read.map_err(|_| {
            let text = format!("the body is incomplete, or longer than the limit of {limit} bytes");
            Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, text)
        })
    }
}

/// Reads the rest of the body of a refused request.
pub(super) async fn discard(body: Body) {
    let (bytes, time) = DISCARD;
    drop(timeout(time, to_bytes(body, bytes)).await);
}

/// A revision as it is written in headers.
pub(super) fn tag(revision: Revision) -> String {
    format!("\"{}\"", revision.0)
}

fn read_tag(tag: &str) -> Option<Revision> {
    let number = tag.strip_prefix('"')?.strip_suffix('"')?;
    number.parse().ok().map(Revision)
}

/// A queue by its name in a path.
pub(super) fn queue(name: &str) -> Result<Queue, Refusal> {
    name.parse().map_err(|error: NameError| Refusal::invalid(error.to_string()))
}

fn client(principal: &Principal) -> Result<Client, Refusal> {
    let name: Result<CallerName, NameError> = principal.id().parse();
    let name = name.map_err(|error| {
        Refusal::forbidden(format!("the token has no usable name: {error}; rename it on the hub"))
    })?;
    Ok(Client { name, scopes: principal.scopes().to_vec() })
}

fn rejected(reason: &AuthRejection, has_token: bool) -> Refusal {
    match reason {
        AuthRejection::InsufficientScope(scopes) => {
            Refusal::forbidden(format!("the token lacks the scopes {}", scopes.join(", ")))
        }
        AuthRejection::Unavailable(reason) => {
            tracing::warn!(reason, "authentication is unavailable");
            let text = "authentication is unavailable; try again later";
            Refusal::new(StatusCode::SERVICE_UNAVAILABLE, text)
        }
        _ if has_token => Refusal::new(
            StatusCode::UNAUTHORIZED,
            "the token is not one of the hub's; send another",
        ),
        _ => {
            let text = "there is no token; send `Authorization: Bearer TOKEN`";
            Refusal::new(StatusCode::UNAUTHORIZED, text)
        }
    }
}
