//! Asks for metadata and tokens.

use super::reach::{Reach, refused};
use crate::mcp::client::transport::http::agent;
use reqwest::redirect::Policy;
use reqwest::{Client, Request, Response, Url};
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest,
};
use std::sync::Arc;
use std::time::Duration;

/// How long a request may take.
const LIMIT: Duration = Duration::from_secs(30);
const MOST_BYTES: usize = 1 << 20;
const MOST_REDIRECTS: usize = 5;

/// Asks for metadata and tokens.
pub(super) struct Asker {
    reach: Reach,
    following: Client,
    stopping: Client,
}

impl Asker {
    /// # Errors
    /// This machine trusts no certificate.
    pub(super) async fn new(server: &Url) -> Result<Self, String> {
        let reach = Reach::of(server).await;
        let client = |policy| {
            let builder = agent::builder(true).or_else(|problem| match reach.is_open {
                true => agent::builder(false),
                false => Err(problem),
            });
            let builder = builder?.timeout(LIMIT).redirect(policy);
            let builder = builder.dns_resolver(Arc::new(reach.clone()));
            builder.build().map_err(|error| error.without_url().to_string())
        };
        let known = reach.clone();
        let policy = Policy::custom(move |attempt| {
            let is_fine = attempt.previous().len() <= MOST_REDIRECTS;
            if is_fine && known.allows_url(attempt.url()) {
                attempt.follow()
            } else {
                attempt.stop()
            }
        });
        let (following, stopping) = (client(policy)?, client(Policy::none())?);
        Ok(Self { reach, following, stopping })
    }

    async fn ask(&self, asked: OAuthHttpRequest) -> Result<Answer, OAuthHttpClientError> {
        let request = Request::try_from(asked.request)?;
        if !self.reach.allows_url(request.url()) {
            return Err(refused(request.url().host_str().unwrap_or_default()));
        }
        let client = match asked.redirect_policy {
            OAuthHttpRedirectPolicy::Stop => &self.stopping,
            _ => &self.following,
        };
        let response = client.execute(request).await.map_err(reqwest::Error::without_url)?;
        read(response).await
    }
}

type Answer = http::Response<Vec<u8>>;

async fn read(mut response: Response) -> Result<Answer, OAuthHttpClientError> {
    let mut answer = http::Response::new(Vec::new());
    *answer.status_mut() = response.status();
    *answer.headers_mut() = response.headers().clone();
    while let Some(chunk) = response.chunk().await.map_err(reqwest::Error::without_url)? {
        answer.body_mut().extend_from_slice(&chunk);
        if answer.body().len() > MOST_BYTES {
            return Err(format!("an answer is longer than {MOST_BYTES} bytes").into());
        }
    }
    Ok(answer)
}

impl OAuthHttpClient for Asker {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.ask(request))
    }
}
