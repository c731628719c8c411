//! Requests to a hub, and what their failures mean.

use super::HttpBoardOptions;
use crate::board::BoardError;
use crate::protocol::{Failure, MAX_JSON, PREFIX};
use bytes::{Bytes, BytesMut};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode, Url};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;
use tokio::sync::watch;
use tool_runtime_mcp::http_client::{builder, is_this_machine};

/// The time for a connection, and for a whole request.
const CONNECT: Duration = Duration::from_secs(5);
pub(super) const REQUEST: Duration = Duration::from_secs(10);

/// More than two of the pauses after which a hub sends a comment.
const SILENCE: Duration = Duration::from_secs(12);

/// Less than a hub keeps an idle connection, so that no request meets its end.
const IDLE: Duration = Duration::from_secs(30);

/// The most bytes of an error.
const MAX_FAILURE: usize = 64 * 1024;

/// The way to a hub.
pub(super) struct Connection {
    client: Client,
    /// Without a slash at its end.
    base: String,
    pub(super) is_confidential: bool,
    /// The time without any byte after which a stream counts as lost.
    pub(super) silence: Duration,
    /// The reasons of interrupted streams, by their topics.
    outages: watch::Sender<BTreeMap<String, BoardError>>,
}

impl Connection {
    /// # Errors
    /// The address or the token is not valid, or this machine trusts no certificate.
    pub(super) fn new(address: &str, options: &HttpBoardOptions) -> Result<Self, BoardError> {
        let url = parse(address).map_err(BoardError::Refused)?;
        let client = client(&url, options.token.as_deref()).map_err(BoardError::Refused)?;
        let is_confidential = url.scheme() == "https" || is_this_machine(&url);
        let base = url.as_str().trim_end_matches('/').to_owned();
        let silence = options.silence.unwrap_or(SILENCE);
        let outages = watch::Sender::default();
        Ok(Self { client, base, is_confidential, silence, outages })
    }

    pub(super) fn address(&self) -> &str {
        &self.base
    }

    /// Notes that the stream of a topic is interrupted, or not any more.
    pub(super) fn note_outage(&self, topic: &str, error: Option<BoardError>) {
        self.outages.send_if_modified(|outages| match error {
            Some(error) => outages.insert(topic.to_owned(), error.clone()) != Some(error),
            None => outages.remove(topic).is_some(),
        });
    }

    /// Waits until the hub is out of reach for another reason, or reachable again.
    pub(super) async fn next_outage(&self, known: Option<&BoardError>) -> Option<BoardError> {
        let mut outages = self.outages.subscribe();
        let changed = outages.wait_for(|outages| outages.values().next() != known).await;
        changed.ok().and_then(|outages| outages.values().next().cloned())
    }

    pub(super) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}{PREFIX}/{path}", self.base))
    }

    /// Sends a request.
    ///
    /// # Errors
    /// There is no answer.
    pub(super) async fn send(
        &self,
        request: RequestBuilder,
        limit: Duration,
    ) -> Result<Response, BoardError> {
        request.timeout(limit).send().await.map_err(|error| self.disconnected(error))
    }

    /// Sends a request with JSON.
    ///
    /// # Errors
    /// The JSON is longer than a hub takes, or there is no answer.
    pub(super) async fn send_json(
        &self,
        request: RequestBuilder,
        body: &impl Serialize,
        limit: Duration,
    ) -> Result<Response, BoardError> {
        let body = serde_json::to_vec(body).expect("messages have keys of text");
        self.send_message(request, body.into(), limit).await
    }

    /// Sends a request with JSON that is written already.
    ///
    /// # Errors
    /// Those of [`Self::send_json`].
    pub(super) async fn send_message(
        &self,
        request: RequestBuilder,
        body: Bytes,
        limit: Duration,
    ) -> Result<Response, BoardError> {
        if body.len() > MAX_JSON {
            let text = format!(
                "{} bytes are more than the {MAX_JSON} of a message, a job or a record; send large values as blobs",
                body.len()
            );
            return Err(BoardError::Refused(text));
        }
        self.send(request.header(CONTENT_TYPE, "application/json").body(body), limit).await
    }

    /// The answer, if it is a success.
    ///
    /// # Errors
    /// The error of the answer, or its loss.
    pub(super) async fn success(&self, response: Response) -> Result<Response, BoardError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let body = self.bytes(response, MAX_FAILURE).await?;
        Err(self.failure(status, &body))
    }

    /// The JSON of a successful answer.
    ///
    /// # Errors
    /// The error of the answer, its loss, or JSON of another kind.
    pub(super) async fn json<T: DeserializeOwned>(
        &self,
        response: Response,
        limit: usize,
    ) -> Result<T, BoardError> {
        let response = self.success(response).await?;
        self.parse(&self.bytes(response, limit).await?)
    }

    /// Reads JSON.
    ///
    /// # Errors
    /// It is not of this kind.
    pub(super) fn parse<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, BoardError> {
        serde_json::from_slice(body).map_err(|error| {
            let address = &self.base;
            BoardError::Damaged(format!(
                "the answer of the hub at {address} cannot be read: {error}"
            ))
        })
    }

    /// The body of an answer.
    ///
    /// # Errors
    /// It is incomplete or too long.
    pub(super) async fn bytes(
        &self,
        mut response: Response,
        limit: usize,
    ) -> Result<Bytes, BoardError> {
        let mut bytes = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.disconnected(error))? {
            if bytes.len() + chunk.len() > limit {
                let text = format!("the hub at {} answers more than {limit} bytes", self.base);
                return Err(BoardError::Damaged(text));
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes.freeze())
    }

    /// The error that an answer without success means.
    fn failure(&self, status: StatusCode, body: &[u8]) -> BoardError {
        let said = serde_json::from_slice(body).map(|Failure { error }| error);
        let said = said.unwrap_or_else(|_| format!("it answers {status}; check the address"));
        let text = format!("the hub at {}: {said}", self.base);
        match status {
            StatusCode::TOO_MANY_REQUESTS => BoardError::Full(text),
            StatusCode::GONE => BoardError::Lapsed,
            StatusCode::REQUEST_TIMEOUT => BoardError::Disconnected(text),
            _ if status.is_server_error() => BoardError::Disconnected(text),
            _ => BoardError::Refused(text),
        }
    }

    pub(super) fn disconnected(&self, error: reqwest::Error) -> BoardError {
        let reason = match error.is_timeout() {
            true => "it does not answer in time".to_owned(),
            false => cause(&error.without_url()),
        };
        let remedy = "start it, or correct the address";
        BoardError::Disconnected(format!(
            "cannot reach the hub at {}: {reason}; {remedy}",
            self.base
        ))
    }
}

/// The last cause of an error: the others say that a request could not be sent.
pub(super) fn cause(error: &dyn Error) -> String {
    let mut last = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// # Errors
/// The text is not the address of a hub; the error does not repeat credentials.
fn parse(address: &str) -> Result<Url, String> {
    let remedy = "write `http://127.0.0.1:7750` or `https://HOST`";
    let url = Url::parse(address)
        .map_err(|error| format!("the address of the hub is not a URL: {error}; {remedy}"))?;
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(
            "the address of the hub has a user, a password or parameters; give the token apart from it"
                .to_owned(),
        );
    }
    let is_valid = matches!(url.scheme(), "http" | "https") && url.fragment().is_none();
    if is_valid { Ok(url) } else { Err(format!("`{url}` is not the address of a hub; {remedy}")) }
}

fn client(url: &Url, token: Option<&str>) -> Result<Client, String> {
    let mut headers = HeaderMap::new();
    if let Some(token) = token {
        let invalid = |_| "the token has characters that a header cannot have".to_owned();
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(invalid)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    let mut builder = builder(url.scheme() == "https")?
        .connect_timeout(CONNECT)
        .default_headers(headers)
        .pool_idle_timeout(IDLE)
        .redirect(Policy::none());
    if is_this_machine(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| error.without_url().to_string())
}

/// The most bytes of an answer with one piece of JSON, with some room around what was sent.
pub(super) const MAX_ANSWER: usize = 2 * MAX_JSON;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_that_is_none_is_refused_without_its_credentials() {
        for address in
            ["", "127.0.0.1:7750", "ftp://h", "http://ada:8fQm2x@h", "http://h?token=8fQm2x"]
        {
            let error = parse(address).expect_err(address);
            assert!(!error.contains("8fQm2x"), "{error}");
        }
        assert!(parse("http://127.0.0.1:7750").is_ok() && parse("https://h/hub/").is_ok());
    }
}
