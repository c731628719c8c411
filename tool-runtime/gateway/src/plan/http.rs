//! The options of the server.

use super::Problems;
use crate::config::{Http, Jwt, Limits};
use tool_runtime::http::{
    Authenticate, BearerTokens, HttpOptions, JwtError, JwtVerifier, ProtectedResource, Tls,
    TokensError,
};
use tool_runtime_core::seam::is_loopback;

/// The mistake of an address that everyone reaches.
const OPEN: &str = "other machines can reach this address without authentication; add `tokens_file` or `jwt`, or `insecure_no_auth = true` if every client that reaches it may call every tool";

/// The options, without authentication.
pub(super) fn options(
    http: &Http,
    problems: &mut Problems<'_>,
) -> Option<(HttpOptions, Option<Tls>)> {
    let mut options = HttpOptions::default().sessions(http.sessions);
    options = http.hosts.iter().fold(options, HttpOptions::allow_host);
    options = http.origins.iter().fold(options, HttpOptions::allow_origin);
    for problem in options.problems() {
        problems.add("http", problem);
    }
    if http.insecure_no_auth {
        options = options.insecure_no_auth();
    }
    let Limits { connections, requests, requests_per_principal, body } = http.limits;
    let limited = [
        (
            "connections",
            connections,
            HttpOptions::max_connections as fn(HttpOptions, usize) -> HttpOptions,
        ),
        ("requests", requests, HttpOptions::max_requests),
        ("requests_per_principal", requests_per_principal, HttpOptions::max_requests_per_principal),
        ("body", body, HttpOptions::max_body),
    ];
    for (name, limit, set) in limited {
        match limit {
            Some(0) => problems.add(&format!("http.limits.{name}"), "must be at least 1"),
            Some(limit) => options = set(options, limit),
            None => {}
        }
    }
    let tls = http.tls.as_ref().map(|tls| Tls::from_files(&tls.certificate, &tls.key));
    let tls = tls.and_then(|tls| problems.accept("http.tls", tls));
    if let Some(tls) = &tls {
        options = options.tls(tls.clone());
    }
    if let Some(jwt) = &http.jwt {
        let resource = ProtectedResource::new(&jwt.audience).authorization_server(&jwt.issuer);
        options = options.protected_resource(resource);
    }
    match authentication(http) {
        Ok(ways) if ways.is_empty() && !http.insecure_no_auth && !is_local(&http.listen) => {
            problems.add("http.listen", OPEN);
            None
        }
        Ok(_) => Some((options, tls)),
        Err((key, text)) => {
            problems.add(key, text);
            None
        }
    }
}

/// Who may send requests. Empty: everyone.
///
/// # Errors
/// A key with a mistake, and the mistake.
pub(crate) fn authentication(
    http: &Http,
) -> Result<Vec<Box<dyn Authenticate>>, (&'static str, String)> {
    let wrong = |key| move |error: TokensError| (key, error.to_string());
    let lines = http.tokens.as_deref().map(BearerTokens::parse).transpose();
    let lines = lines.map_err(wrong("http.tokens"))?;
    let file = http.tokens_file.as_ref().map(BearerTokens::from_file).transpose();
    let file = file.map_err(wrong("http.tokens_file"))?;
    let tokens = match (lines, file) {
        (Some(lines), Some(file)) => Some(lines.and(file).map_err(wrong("http.tokens_file"))?),
        (lines, file) => lines.or(file),
    };
    let jwt = http.jwt.as_ref().map(verifier).transpose();
    let jwt = jwt.map_err(|error| ("http.jwt", error.to_string()))?;
    let tokens = tokens.map(|tokens| Box::new(tokens) as Box<dyn Authenticate>);
    Ok(tokens.into_iter().chain(jwt.map(|jwt| Box::new(jwt) as _)).collect())
}

fn verifier(jwt: &Jwt) -> Result<JwtVerifier, JwtError> {
    let builder =
        JwtVerifier::builder(&jwt.issuer).audience(&jwt.audience).required_scopes(&jwt.scopes);
    match &jwt.jwks_url {
        Some(url) => builder.jwks_url(url).build(),
        None => builder.build(),
    }
}

/// Whether only this machine reaches an address.
fn is_local(address: &str) -> bool {
    let host = address.rsplit_once(':').map_or("", |(host, _)| host);
    host.is_empty() || is_loopback(host.trim_matches(['[', ']']))
}
