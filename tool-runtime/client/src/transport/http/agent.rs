//! The HTTP client with its connection pool.

use reqwest::redirect::{Attempt, Policy};
use reqwest::{Client, Url};
use std::time::Duration;
use tool_runtime_mcp::http_client::{builder, is_this_machine};

/// Idle time before a TCP keepalive: event streams may be silent for any time.
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(10);
const KEEPALIVE_RETRIES: u32 = 3;
/// Limit on redirects.
const MAX_REDIRECTS: usize = 5;

/// A client with a connection pool. Requests to this machine use no proxy; others use that of the
/// environment.
///
/// # Errors
/// This machine trusts no certificate.
pub(super) fn client(url: &Url) -> Result<Client, String> {
    let mut builder = builder(url.scheme() == "https")?
        .tcp_keepalive(KEEPALIVE)
        .tcp_keepalive_interval(KEEPALIVE_INTERVAL)
        .tcp_keepalive_retries(KEEPALIVE_RETRIES)
        .redirect(Policy::custom(|attempt| {
            if is_same_server(&attempt) { attempt.follow() } else { attempt.stop() }
        }));
    if is_this_machine(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| error.without_url().to_string())
}

/// Whether a redirect keeps the method, the body and the origin.
fn is_same_server(attempt: &Attempt<'_>) -> bool {
    let keeps_message = matches!(attempt.status().as_u16(), 307 | 308);
    let first = attempt.previous().first();
    let keeps_origin = first.is_some_and(|first| first.origin() == attempt.url().origin());
    keeps_message && keeps_origin && attempt.previous().len() <= MAX_REDIRECTS
}
