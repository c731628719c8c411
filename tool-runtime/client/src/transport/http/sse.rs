//! The transport of 2024-11-05: an event stream, and a second address for requests.

use super::client::{Client, http_error};
use super::credentials::HeaderMap;
use super::error::{HttpError, TransportError};
use super::sse_backoff::Events;
use crate::connect_error::{ConnectError, Kind};
use crate::recovery::{self, Incoming, Recovered};
use futures_util::StreamExt as _;
use reqwest::{Response, StatusCode, Url};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::collections::VecDeque;

/// A connection, which lasts as long as its stream.
pub(super) struct Sse {
    events: Events,
    client: Client,
    /// The address for messages.
    endpoint: Url,
    /// Messages of one event that are not returned yet.
    more: VecDeque<Incoming>,
}

impl Sse {
    /// Opens the stream and waits for the address for messages.
    ///
    /// # Errors
    /// The stream is missing, or does not begin with an address of the same origin.
    pub(super) async fn open(client: Client) -> Result<Self, ConnectError> {
        let events = client.events().await;
        let mut events =
            events.map_err(|error| ConnectError::of_transport(&client.transport_error(error)))?;
        while let Some(Ok(event)) = events.next().await {
            if event.event.as_deref() == Some("endpoint") {
                let endpoint = endpoint(&client.url(), event.data.as_deref().unwrap_or_default())?;
                return Ok(Self { events, client, endpoint, more: VecDeque::new() });
            }
        }
        let text = "its event stream ended before the `endpoint` event";
        Err(ConnectError::new(Kind::Failed, text))
    }
}

/// Resolves the address for messages, which must have the origin of the server: requests carry secrets.
fn endpoint(url: &str, event: &str) -> Result<Url, ConnectError> {
    let base = Url::parse(url).ok();
    let endpoint = base.as_ref().and_then(|base| base.join(event.trim()).ok());
    match endpoint {
        Some(endpoint) if base.is_some_and(|base| base.origin() == endpoint.origin()) => {
            Ok(endpoint)
        }
        Some(_) => {
            let text = "its message endpoint is on another origin, which is not allowed";
            Err(ConnectError::new(Kind::Failed, text))
        }
        None => Err(ConnectError::new(Kind::Failed, "its message endpoint is not a valid URL")),
    }
}

impl Transport<RoleClient> for Sse {
    type Error = TransportError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), TransportError>> + Send + 'static {
        let (client, endpoint) = (self.client.clone(), self.endpoint.clone());
        async move {
            let sent = client.renewing(HeaderMap::new(), |headers| {
                let request = client.agent().post(endpoint.clone()).json(&message);
                let request = headers
                    .into_iter()
                    .fold(request, |request, (name, value)| request.header(name, value));
                async { accepted(request.send().await?).await }
            });
            sent.await.map_err(|error| client.transport_error(error))
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.more.pop_front() {
                return Some(message);
            }
            let event = self.events.next().await?.ok()?;
            if !matches!(event.event.as_deref(), None | Some("" | "message")) {
                continue;
            }
            let text = event.data.as_deref().unwrap_or_default();
            match recovery::read(text.as_bytes(), &|_| false) {
                Ok(message) => return Some(message),
                Err(Recovered::Messages(messages)) => self.more.extend(messages),
                Err(_) => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), TransportError> {
        self.events = futures_util::stream::empty().boxed();
        Ok(())
    }
}

/// Checks the response to a message.
async fn accepted(response: Response) -> Result<(), HttpError> {
    match response.status() {
        status if status.is_success() => Ok(()),
        // The stream no longer exists on the server.
        StatusCode::NOT_FOUND => Err(StreamableHttpError::SessionExpired),
        _ => Err(http_error(response).await),
    }
}

#[cfg(test)]
mod tests {
    use super::endpoint;

    #[test]
    fn messages_are_sent_only_to_the_same_origin() {
        let url = "https://example.com/a/sse?key=1vXk9p";
        for (event, expected) in [
            ("/messages?id=1", Some("https://example.com/messages?id=1")),
            ("messages", Some("https://example.com/a/messages")),
            (" https://example.com/m\n", Some("https://example.com/m")),
            ("https://example.com:8443/m", None),
            ("http://example.com/m", None),
            ("//example.org/m", None),
            ("https://[", None),
        ] {
            let endpoint = endpoint(url, event).ok();
            assert_eq!(endpoint.as_ref().map(|url| url.as_str()), expected, "{event}");
        }
    }
}
