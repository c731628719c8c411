//! Requests metadata and tokens.

use super::address_filter::{AddressFilter, rejected_target};
use super::error_text::rejection;
use super::token_secrets::{Outcome, TokenSecrets};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Method, Request, Url};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest,
};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_mcp::http_client::{self, is_this_machine};

/// Time limit of a request.
const LIMIT: Duration = Duration::from_secs(30);
const MAX_BYTES: usize = 1 << 20;
const MAX_REDIRECTS: usize = 5;

/// Requests metadata and tokens.
pub(super) struct HttpClient {
    filter: AddressFilter,
    token_secrets: Arc<TokenSecrets>,
    /// The client for loopback addresses, without a proxy.
    near: Clients,
    remote: Clients,
}

/// One client follows redirects, one does not.
struct Clients {
    following: Client,
    stopping: Client,
}

impl HttpClient {
    /// # Errors
    /// This machine trusts no certificate.
    pub(super) async fn new(
        server: &Url,
        token_secrets: Arc<TokenSecrets>,
    ) -> Result<Self, String> {
        let filter = AddressFilter::for_server(server).await;
        let near = Clients::new(&filter, ClientBuilder::no_proxy)?;
        let remote = Clients::new(&filter, |builder| builder)?;
        Ok(Self { filter, token_secrets, near, remote })
    }

    async fn ask(&self, asked: OAuthHttpRequest) -> Result<Answer, OAuthHttpClientError> {
        self.token_secrets.note_request(&asked.request);
        let request = Request::try_from(asked.request)?;
        let is_post = request.method() == Method::POST;
        if is_post {
            self.token_secrets.set_outcome(Some(Outcome::Unreachable));
        }
        if !self.filter.allows_url(request.url()) {
            return Err(rejected_target(request.url().host_str().unwrap_or_default()));
        }
        let clients = if is_this_machine(request.url()) { &self.near } else { &self.remote };
        let client = match asked.redirect_policy {
            OAuthHttpRedirectPolicy::Stop => &clients.stopping,
            _ => &clients.following,
        };
        if !is_post {
            return answer(client, request).await;
        }
        let mut answer = answer(client, request).await?;
        self.token_secrets.note_answer(&serde_json::from_slice(answer.body()).unwrap_or_default());
        let outcome = if answer.status().is_success() {
            Outcome::Answered
        } else {
            let (text, body) = rejection(answer.status(), answer.body());
            *answer.body_mut() = body;
            Outcome::Rejected(text)
        };
        self.token_secrets.set_outcome(Some(outcome));
        Ok(answer)
    }
}

impl Clients {
    fn new(
        filter: &AddressFilter,
        with: impl Fn(ClientBuilder) -> ClientBuilder,
    ) -> Result<Self, String> {
        let client = |policy| {
            let builder = http_client::builder(true).or_else(|problem| match filter.is_open {
                true => http_client::builder(false),
                false => Err(problem),
            });
            let builder = with(builder?).timeout(LIMIT).redirect(policy);
            let builder = builder.dns_resolver(Arc::new(filter.clone()));
            builder.build().map_err(|error| error.without_url().to_string())
        };
        let known = filter.clone();
        let policy = Policy::custom(move |attempt| {
            let is_allowed = attempt.previous().len() <= MAX_REDIRECTS;
            if is_allowed && known.allows_url(attempt.url()) {
                attempt.follow()
            } else {
                attempt.stop()
            }
        });
        Ok(Self { following: client(policy)?, stopping: client(Policy::none())? })
    }
}

type Answer = http::Response<Vec<u8>>;

async fn answer(client: &Client, request: Request) -> Result<Answer, OAuthHttpClientError> {
    let mut response = client.execute(request).await.map_err(reqwest::Error::without_url)?;
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
