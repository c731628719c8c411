//! Fetches the keys of an issuer.

use crate::key::{Key, parse_keys};
use reqwest::redirect::Policy;
use reqwest::{Client, Url};
use serde::Deserialize;
use std::time::Duration;
use tool_runtime_mcp::http_client::{builder, is_this_machine};

/// Limits on the time and the bytes of one request.
const TIMEOUT: Duration = Duration::from_secs(4);
const MAX_BYTES: usize = 1 << 20;

/// The origin of the keys.
#[derive(Debug)]
pub(crate) enum KeySource {
    /// The URL of the keys.
    Url(Url),
    /// The issuer, whose metadata names the URL of the keys.
    Issuer(Url),
    /// Keys that do not change.
    Fixed(Vec<Key>),
}

/// The metadata of an issuer (RFC 8414, OpenID Connect Discovery).
#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: String,
}

impl KeySource {
    /// # Errors
    /// The reason why the keys are not available.
    pub(crate) async fn fetch(&self) -> Result<Vec<Key>, String> {
        let url = match self {
            Self::Fixed(keys) => return Ok(keys.clone()),
            Self::Url(url) => url.clone(),
            Self::Issuer(issuer) => discover(issuer).await?,
        };
        let keys = parse_keys(&get(&url).await?).map_err(|problem| format!("{url}: {problem}"))?;
        if keys.is_empty() {
            return Err(format!("{url} has no key that verifies signatures"));
        }
        Ok(keys)
    }
}

/// The URL of the keys, by the first metadata that exists.
async fn discover(issuer: &Url) -> Result<Url, String> {
    let mut problems = Vec::new();
    for url in metadata_urls(issuer) {
        let metadata = get(&url).await.and_then(|json| {
            serde_json::from_slice::<Metadata>(&json).map_err(|error| format!("{url}: {error}"))
        });
        match metadata {
            Ok(Metadata { issuer: named, jwks_uri }) if is_same(&named, issuer) => {
                return parse_url(&jwks_uri);
            }
            Ok(Metadata { issuer: named, .. }) => {
                problems.push(format!("{url} names another issuer: `{named}`"));
            }
            Err(problem) => problems.push(problem),
        }
    }
    Err(problems.join("; "))
}

fn is_same(named: &str, issuer: &Url) -> bool {
    named.trim_end_matches('/') == issuer.as_str().trim_end_matches('/')
}

/// RFC 8414, section 3: before the path. OpenID Connect: after the path.
fn metadata_urls(issuer: &Url) -> [Url; 2] {
    let path = issuer.path().trim_end_matches('/');
    [
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("{path}/.well-known/openid-configuration"),
    ]
    .map(|path| {
        let mut url = issuer.clone();
        url.set_path(&path);
        url
    })
}

/// # Errors
/// The text is not a URL, or neither `https:` nor on this machine.
pub(crate) fn parse_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text)
        .map_err(|error| format!("`{text}` is not a URL: {error}; write `https://..`"))?;
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_this_machine(&url) => Ok(url),
        _ => Err(format!("`{url}` is not a valid address of keys; write `https://..`")),
    }
}

async fn get(url: &Url) -> Result<Vec<u8>, String> {
    let problem = |error: reqwest::Error| format!("{url}: {}", error.without_url());
    let mut answer = client(url)?.get(url.clone()).send().await.map_err(problem)?;
    if !answer.status().is_success() {
        return Err(format!("{url} answers {}", answer.status()));
    }
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await.map_err(problem)? {
        body.extend_from_slice(&chunk);
        if body.len() > MAX_BYTES {
            return Err(format!("{url} answers more than {MAX_BYTES} bytes"));
        }
    }
    Ok(body)
}

fn client(url: &Url) -> Result<Client, String> {
    let mut builder = builder(url.scheme() == "https")?.timeout(TIMEOUT).redirect(Policy::none());
    if is_this_machine(url) {
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| error.without_url().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_is_at_two_addresses() {
        for (issuer, urls) in [
            (
                "https://a.b",
                [
                    "https://a.b/.well-known/oauth-authorization-server",
                    "https://a.b/.well-known/openid-configuration",
                ],
            ),
            (
                "https://a.b/tenant/1/",
                [
                    "https://a.b/.well-known/oauth-authorization-server/tenant/1",
                    "https://a.b/tenant/1/.well-known/openid-configuration",
                ],
            ),
        ] {
            let issuer = Url::parse(issuer).expect("a URL");
            assert_eq!(metadata_urls(&issuer).map(String::from), urls.map(str::to_owned));
        }
    }

    #[test]
    fn keys_come_by_tls_or_from_this_machine() {
        for (url, is_allowed) in [
            ("https://a.b/keys", true),
            ("http://127.0.0.1:1/keys", true),
            ("http://a.b/keys", false),
            ("file:///keys", false),
        ] {
            assert_eq!(parse_url(url).is_ok(), is_allowed, "{url}");
        }
    }
}
