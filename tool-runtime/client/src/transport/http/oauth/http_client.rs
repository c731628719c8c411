//! Requests metadata and tokens.

use super::address_filter::{AddressFilter, refused};
use super::error_text::refusal;
use super::traffic_secrets::TrafficSecrets;
use crate::transport::http::agent;
use crate::transport::http::agent::is_this_machine;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Request, Response, Url};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest,
};
use std::sync::Arc;
use std::time::Duration;

/// How long a request may take.
const LIMIT: Duration = Duration::from_secs(30);
const MAX_BYTES: usize = 1 << 20;
const MAX_REDIRECTS: usize = 5;

/// Asks for metadata and tokens.
pub(super) struct HttpClient {
    reach: AddressFilter,
    secrets: Arc<TrafficSecrets>,
    /// What is of this machine is asked directly, everything else as the environment says.
    near: Clients,
    far: Clients,
}

/// They differ in what they do when they are sent on.
struct Clients {
    following: Client,
    stopping: Client,
}

impl HttpClient {
    /// # Errors
    /// This machine trusts no certificate.
    pub(super) async fn new(server: &Url, secrets: Arc<TrafficSecrets>) -> Result<Self, String> {
        let reach = AddressFilter::of(server).await;
        let near = Clients::new(&reach, ClientBuilder::no_proxy)?;
        let far = Clients::new(&reach, |builder| builder)?;
        Ok(Self { reach, secrets, near, far })
    }

    async fn ask(&self, asked: OAuthHttpRequest) -> Result<Answer, OAuthHttpClientError> {
        self.secrets.note_request(&asked.request);
        let request = Request::try_from(asked.request)?;
        if !self.reach.allows_url(request.url()) {
            return Err(refused(request.url().host_str().unwrap_or_default()));
        }
        let clients = if is_this_machine(request.url()) { &self.near } else { &self.far };
        let client = match asked.redirect_policy {
            OAuthHttpRedirectPolicy::Stop => &clients.stopping,
            _ => &clients.following,
        };
        let is_told = request.method() == Method::POST;
        let response = client.execute(request).await.map_err(reqwest::Error::without_url)?;
        let mut answer = read(response).await?;
        if is_told {
            let said = serde_json::from_slice(answer.body()).unwrap_or_default();
            self.secrets.note_answer(&said);
            if !answer.status().is_success() {
                *answer.body_mut() = refusal(answer.status(), answer.body());
            }
        }
        Ok(answer)
    }
}

impl Clients {
    fn new(
        reach: &AddressFilter,
        with: impl Fn(ClientBuilder) -> ClientBuilder,
    ) -> Result<Self, String> {
        let client = |policy| {
            let builder = agent::builder(true).or_else(|problem| match reach.is_open {
                true => agent::builder(false),
                false => Err(problem),
            });
            let builder = with(builder?).timeout(LIMIT).redirect(policy);
            let builder = builder.dns_resolver(Arc::new(reach.clone()));
            builder.build().map_err(|error| error.without_url().to_string())
        };
        let known = reach.clone();
        let policy = Policy::custom(move |attempt| {
            let is_fine = attempt.previous().len() <= MAX_REDIRECTS;
            if is_fine && known.allows_url(attempt.url()) {
                attempt.follow()
            } else {
                attempt.stop()
            }
        });
        Ok(Self { following: client(policy)?, stopping: client(Policy::none())? })
    }
}

type Answer = http::Response<Vec<u8>>;

async fn read(mut response: Response) -> Result<Answer, OAuthHttpClientError> {
    let mut answer = http::Response::new(Vec::new());
    *answer.status_mut() = response.status();
    *answer.headers_mut() = response.headers().clone();
    while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        answer.body_mut().extend_from_slice(&chunk);
        if answer.body().len() > MAX_BYTES {
            return Err(format!("an answer is longer than {MAX_BYTES} bytes").into());
        }
    }
    Ok(answer)
}

impl OAuthHttpClient for HttpClient {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.ask(request))
    }
}
