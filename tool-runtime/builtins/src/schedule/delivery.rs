//! One delivery: a signed POST, repeated while the target is not available.

use super::signature::sign;
use super::target::CheckedTarget;
use crate::tls;
use jiff::fmt::rfc2822;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use reqwest::{Client, Response, StatusCode, redirect};
use std::time::Duration;
use tool_runtime::__seam::excerpt_of;
use tool_runtime::{BoxFuture, ToolError};

/// Characters of a response that the model sees.
const MAX_RESPONSE: usize = 4000;
/// Bytes of a response that are read.
const MAX_READ: usize = 64 * 1024;
/// The pause after the first attempt; each later one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

type Sleep = dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync;

/// The services that deliveries need.
pub(super) struct WebhookClient {
    client: Client,
    sleep: Box<Sleep>,
}

/// The text of a delivery, and its id, which is the same in all attempts.
pub(super) struct Delivery<'a> {
    pub(super) id: &'a str,
    pub(super) body: &'a str,
}

/// The response of a target.
#[derive(Debug)]
pub(super) struct Delivered {
    pub(super) status: u16,
    pub(super) response: String,
    pub(super) attempts: u32,
}

/// The reason why an attempt did not succeed.
enum Failure {
    /// Another attempt may succeed, not before the time that the target names.
    Passing(String, Option<Duration>),
    Final(String),
}

impl WebhookClient {
    /// Connections go to the target itself: proxies of the environment are not used, redirects are not followed.
    ///
    /// # Errors
    /// TLS is not available.
    pub(super) fn new() -> Result<Self, String> {
        let client = Client::builder()
            .tls_backend_preconfigured(tls::config().map_err(|error| error.to_string())?)
            .user_agent(concat!("tool-runtime/", env!("CARGO_PKG_VERSION")))
            .redirect(redirect::Policy::none())
            .no_proxy()
            .build();
        let client = client.map_err(|error| error.to_string())?;
        Ok(Self { client, sleep: Box::new(|pause| Box::pin(tokio::time::sleep(pause))) })
    }

    #[cfg(test)]
    pub(super) fn sleeping(mut self, sleep: impl Fn(Duration) + Send + Sync + 'static) -> Self {
        self.sleep = Box::new(move |pause| {
            sleep(pause);
            Box::pin(std::future::ready(()))
        });
        self
    }

    /// # Errors
    /// The target rejected the delivery, or was not available in all attempts.
    pub(super) async fn deliver(
        &self,
        target: &CheckedTarget,
        delivery: &Delivery<'_>,
        now: &(dyn Fn() -> Timestamp + Sync),
    ) -> Result<Delivered, ToolError> {
        let (mut attempt, mut pause) = (1, FIRST_PAUSE.min(target.max_wait));
        loop {
            let (reason, asked) = match self.attempt(target, delivery, now()).await {
                Ok((status, response)) => {
                    return Ok(Delivered { status: status.as_u16(), response, attempts: attempt });
                }
                Err(Failure::Final(reason)) => {
                    return Err(ToolError::user(format!("`{}` {reason}", target.name)));
                }
                Err(Failure::Passing(reason, asked)) => (reason, asked),
            };
            let wait = asked.unwrap_or(pause);
            let failed = |why: &str| {
                ToolError::transient(format!(
                    "`{}` {reason}; given up after {attempt} attempts{why}",
                    target.name
                ))
            };
            if attempt == target.attempts {
                return Err(failed(""));
            }
            if wait > target.max_wait {
                return Err(failed(&format!(", since it asks to wait for {wait:?}")));
            }
            (self.sleep)(wait).await;
            (attempt, pause) = (attempt + 1, pause.saturating_mul(2).min(target.max_wait));
        }
    }

    async fn attempt(
        &self,
        target: &CheckedTarget,
        delivery: &Delivery<'_>,
        now: Timestamp,
    ) -> Result<(StatusCode, String), Failure> {
        let Delivery { id, body } = *delivery;
        let request = self
            .client
            .post(target.url.clone())
            .timeout(target.timeout)
            .header(CONTENT_TYPE, "application/json")
            .header("idempotency-key", id)
            .header("webhook-id", id)
            .header("webhook-timestamp", now.as_second())
            .header("webhook-signature", sign(&target.key, id, now.as_second(), body))
            .body(body.to_owned());
        let mut response = request.send().await.map_err(|error| unavailable(&error))?;
        let status = response.status();
        let asked = retry_after(response.headers(), now);
        let text = text(&mut response).await;
        if status.is_success() {
            return Ok((status, text));
        }
        if status.is_redirection() {
            let reason = format!(
                "answered {status}: redirects are not followed; the operator sets the final address"
            );
            return Err(Failure::Final(reason));
        }
        let reason = if text.is_empty() {
            format!("answered {status}")
        } else {
            format!("answered {status}: {text}")
        };
        match status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS {
            true => Err(Failure::Passing(reason, asked)),
            false => Err(Failure::Final(reason)),
        }
    }
}

/// A target that cannot be connected to, or does not answer in time. The target may have received the request: it knows
/// the next one by its id.
fn unavailable(error: &reqwest::Error) -> Failure {
    let reason = match error {
        error if error.is_timeout() => "did not answer in time",
        error if error.is_connect() => "cannot be connected to",
        _ => "ended the connection",
    };
    Failure::Passing(reason.to_owned(), None)
}

/// `Retry-After`, in seconds or as a date.
fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = rfc2822::DateTimeParser::new().parse_timestamp(text).ok()?;
    Some(date.duration_since(now).max(SignedDuration::ZERO).unsigned_abs())
}

/// The beginning of a response.
async fn text(response: &mut Response) -> String {
    let mut bytes = Vec::new();
    // The status says whether the target took it, also if its text ends early.
    while bytes.len() < MAX_READ
        && let Ok(Some(chunk)) = response.chunk().await
    {
        bytes.extend_from_slice(&chunk[..chunk.len().min(MAX_READ - bytes.len())]);
    }
    excerpt_of(String::from_utf8_lossy(&bytes).trim(), MAX_RESPONSE).into_owned()
}
