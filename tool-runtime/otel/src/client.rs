//! Requests to a collector. The threads of the SDK have no runtime of tokio, so requests run in that of the program.

use crate::environment::Endpoint;
use async_trait::async_trait;
use http::{Request, Response};
use opentelemetry_http::{Bytes, HttpClient, HttpError};
use reqwest::redirect::Policy;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Handle;
use tool_runtime_mcp::http_client;

#[derive(Debug)]
pub(crate) struct Client {
    client: reqwest::Client,
    runtime: Handle,
    /// Where requests go, for the log.
    url: String,
    /// Whether the last request failed: the log has each change, not each request.
    is_failing: AtomicBool,
}

impl Client {
    /// A client in the present runtime.
    ///
    /// # Errors
    /// This machine trusts no certificate.
    pub(crate) fn new(endpoint: &Endpoint) -> Result<Self, String> {
        // A collector of another name must not read the headers.
        let builder = http_client::builder(endpoint.url.starts_with("https://"))?;
        let client = builder.redirect(Policy::none()).timeout(endpoint.timeout).build();
        let client = client.map_err(|error| error.to_string())?;
        Ok(Self {
            client,
            runtime: Handle::current(),
            url: endpoint.redacted(),
            is_failing: AtomicBool::new(false),
        })
    }

    /// Logs that the collector does not take what is sent, or does so again.
    fn note(&self, problem: Option<&str>) {
        let was_failing = self.is_failing.swap(problem.is_some(), Ordering::Relaxed);
        match problem {
            Some(problem) if !was_failing => {
                tracing::warn!("the collector at {} takes nothing: {problem}", self.url);
            }
            None if was_failing => tracing::info!("the collector at {} answers again", self.url),
            _ => {}
        }
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (client, request) = (self.client.clone(), reqwest::Request::try_from(request)?);
        let sent = self.runtime.spawn(async move {
            let response = client.execute(request).await?;
            let (status, headers) = (response.status(), response.headers().clone());
            Ok::<_, reqwest::Error>((status, headers, response.bytes().await?))
        });
        let (status, headers, body) = match sent.await? {
            Ok(answer) => answer,
            Err(error) => {
                let problem = http_client::reason(error);
                self.note(Some(&problem));
                return Err(problem.into());
            }
        };
        let problem = (!status.is_success()).then(|| format!("it answered {status}"));
        self.note(problem.as_deref());
        let mut response = Response::new(body);
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Ok(response)
    }
}
