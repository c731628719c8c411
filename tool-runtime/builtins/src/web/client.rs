//! Requests: addresses, redirects, errors.

use super::params::WebParams;
use crate::addresses::{AddressRules, NoSuchHost, NotPublic};
use crate::tls;
use reqwest::header::{ACCEPT, ACCEPT_LANGUAGE, HeaderMap, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Response, StatusCode, Url};
use std::borrow::Cow;
use std::error::Error;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tool_runtime::ToolError;

/// Characters of an address, also of one that a redirect names.
const MAX_URL: usize = 8192;
/// Characters of a header in an error.
const MAX_HEADER: usize = 100;
/// Time limit of a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_REDIRECTS: usize = 10;

/// Fetches pages from allowed addresses.
pub(super) struct Fetcher {
    client: Client,
    rules: AddressRules,
    follow_other_hosts: bool,
    timeout: Duration,
    /// Pages that may be in memory.
    pages: Arc<Semaphore>,
}

/// The end of a request.
pub(super) enum Fetched {
    /// The response of a server.
    Page(Response),
    /// A redirect that is not followed.
    OtherHost { status: StatusCode, from: Url, to: Url },
}

impl Fetcher {
    /// # Errors
    /// A setting is invalid.
    pub(super) fn new(params: &WebParams) -> Result<Self, String> {
        let rules = AddressRules::parse(&params.allowed_hosts)?;
        let timeout = Duration::from_secs(params.timeout_seconds);
        let mut builder = builder(&params.user_agent)?.timeout(timeout);
        let mut reached = params.allowed_hosts.clone();
        match params.use_proxy {
            // The environment may have no proxy for a scheme or a host, which is then reached directly.
            true => reached.extend(proxies(|name| std::env::var(name).ok())),
            false => builder = builder.no_proxy(),
        }
        let builder = builder.dns_resolver(Arc::new(AddressRules::parse(&reached)?));
        let client = builder.build().map_err(|error| error.without_url().to_string())?;
        if !(1..=Semaphore::MAX_PERMITS).contains(&params.pages_at_once) {
            return Err("`pages_at_once` must be at least 1".to_owned());
        }
        let pages = Arc::new(Semaphore::new(params.pages_at_once));
        Ok(Self { client, rules, follow_other_hosts: params.follow_other_hosts, timeout, pages })
    }

    /// Waits until fewer pages than allowed are in memory.
    pub(super) async fn permit(&self) -> Result<OwnedSemaphorePermit, ToolError> {
        Arc::clone(&self.pages).acquire_owned().await.map_err(ToolError::internal)
    }

    /// Limits the time of a request with its redirects and its response.
    pub(super) async fn within<T>(
        &self,
        url: &Url,
        work: impl Future<Output = Result<T, ToolError>>,
    ) -> Result<T, ToolError> {
        tokio::time::timeout(self.timeout, work).await.unwrap_or_else(|_| Err(timed_out(url)))
    }

    /// Requests a page and follows its redirects.
    pub(super) async fn get(
        &self,
        mut url: Url,
        headers: &HeaderMap,
    ) -> Result<Fetched, ToolError> {
        let mut headers = Cow::Borrowed(headers);
        for _ in 0..=MAX_REDIRECTS {
            check_url(&url)?;
            self.rules
                .check_literal(&url)
                .map_err(|refused| ToolError::user(refused.to_string()))?;
            let request = self.client.get(url.clone()).headers(headers.clone().into_owned());
            let response = request.send().await.map_err(|error| failure(&url, error))?;
            let Some(target) = redirect(&response, &url)? else {
                return Ok(Fetched::Page(response));
            };
            let is_same_host = is_same_host(&url, &target);
            if !self.follow_other_hosts && !is_same_host {
                let status = response.status();
                return Ok(Fetched::OtherHost { status, from: url, to: target });
            }
            if !is_same_host || (url.scheme(), target.scheme()) == ("https", "http") {
                headers = Cow::Owned(without_credentials(&headers));
            }
            url = target;
        }
        let text = format!(
            "more than {MAX_REDIRECTS} redirects, the last to `{url}`; use another address"
        );
        Err(ToolError::user(text))
    }
}

/// The names of the proxies of an environment, which may have private addresses.
fn proxies(variable: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let names =
        ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
    let host = |proxy: String| {
        // The scheme may be left out.
        let proxy = if proxy.contains("://") { proxy } else { format!("http://{proxy}") };
        Url::parse(&proxy).ok()?.host_str().map(str::to_owned)
    };
    let is_name = |host: &String| host.parse::<IpAddr>().is_err() && !host.starts_with('[');
    names.into_iter().filter_map(variable).filter_map(host).filter(is_name).collect()
}

/// A client without redirects and retries.
///
/// # Errors
/// TLS is not available.
pub(super) fn builder(user_agent: &str) -> Result<ClientBuilder, String> {
    let builder = Client::builder()
        .tls_backend_preconfigured(tls::config().map_err(|error| error.to_string())?)
        .user_agent(user_agent)
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(Policy::none());
    Ok(builder)
}

/// Checks what is visible in a URL besides its host.
fn check_url(url: &Url) -> Result<(), ToolError> {
    if !matches!(url.scheme(), "http" | "https") {
        let scheme = url.scheme();
        let text =
            format!("`{scheme}` is not a scheme that can be fetched; only `http` and `https` are");
        return Err(ToolError::user(text));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let text = "a URL must not contain a user or a password; remove the part before `@`";
        return Err(ToolError::user(text));
    }
    Ok(())
}

/// The target of a redirect.
fn redirect(response: &Response, url: &Url) -> Result<Option<Url>, ToolError> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = response.headers().get(LOCATION) else { return Ok(None) };
    let target = std::str::from_utf8(location.as_bytes()).ok().and_then(|to| url.join(to).ok());
    let target = target.filter(|target| target.as_str().len() <= MAX_URL);
    let invalid = || {
        let text = "redirects to an address that is not valid, or longer than";
        ToolError::user(format!("`{url}` {text} {MAX_URL} characters"))
    };
    target.map(Some).ok_or_else(invalid)
}

/// Whether a redirect stays on a host: with or without `www.`, by `http` or `https`, on another port only of the scheme.
fn is_same_host(from: &Url, to: &Url) -> bool {
    let name = |url: &Url| {
        let host = url.host_str().unwrap_or_default();
        host.strip_prefix("www.").unwrap_or(host).to_owned()
    };
    name(from) == name(to) && from.port() == to.port()
}

/// The headers that another host may get.
fn without_credentials(headers: &HeaderMap) -> HeaderMap {
    let kept = [ACCEPT, ACCEPT_LANGUAGE];
    let kept = kept.iter().filter_map(|name| Some((name.clone(), headers.get(name)?.clone())));
    kept.collect()
}

/// The error of a request without a response.
pub(super) fn failure(url: &Url, error: reqwest::Error) -> ToolError {
    let mut source: Option<&(dyn Error + 'static)> = Some(&error);
    let mut last = String::new();
    while let Some(cause) = source {
        if cause.is::<NotPublic>() || cause.is::<NoSuchHost>() {
            return ToolError::user(cause.to_string());
        }
        last = cause.to_string();
        source = cause.source();
    }
    let host = url.host_str().unwrap_or_default();
    if error.is_timeout() {
        return timed_out(url);
    }
    if error.is_connect() {
        let text =
            format!("`{host}` cannot be reached: {last}; check the address, or use another source");
        return ToolError::transient(text);
    }
    ToolError::transient(format!(
        "`{host}` ended the answer: {last}; try again, or use another source"
    ))
}

fn timed_out(url: &Url) -> ToolError {
    let host = url.host_str().unwrap_or_default();
    ToolError::transient(format!(
        "`{host}` did not answer in time; try again, or use another source"
    ))
}

/// The error of a status that is not a success. `body` is the beginning of the text that the server sent.
pub(super) fn status_error(
    url: &Url,
    status: StatusCode,
    headers: &HeaderMap,
    body: &str,
) -> ToolError {
    let advice = match status.as_u16() {
        401 | 403 | 407 => "the page needs a login, or refuses programs; use another source",
        404 | 410 => "there is no such page; check the address, or search for it",
        405 | 406 => "the address is not a page; use another one",
        429 => "too many requests; wait before the next one",
        451 => "the page is blocked for legal reasons; use another source",
        500.. => "the server has a problem; try again later, or use another source",
        _ => "check the address",
    };
    let wait = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let wait = wait.map(|wait| wait.chars().take(MAX_HEADER).collect::<String>());
    let wait = wait.map_or(String::new(), |wait| format!(" (retry after: {wait})"));
    let body = body.trim();
    let body = if body.is_empty() { String::new() } else { format!("\n{body}") };
    let text = format!("`{url}` answered {status}: {advice}{wait}{body}");
    match status.as_u16() {
        408 | 425 | 429 | 500 | 502..=504 => ToolError::transient(text),
        _ => ToolError::user(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_read_with_and_without_a_scheme() {
        let variable = |name: &str| match name {
            "HTTP_PROXY" => Some("http://user:pw@proxy.corp:3128/".to_owned()),
            "https_proxy" => Some("squid:3128".to_owned()),
            "all_proxy" => Some("socks5h://10.0.0.1:1080".to_owned()),
            _ => None,
        };
        assert_eq!(proxies(variable), ["proxy.corp", "squid"]);
    }
}
