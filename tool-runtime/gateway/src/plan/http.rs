//! The options of the server.

use super::Problems;
use crate::config::{Http, Jwt, Limits};
use crate::live::Ways;
use std::sync::Arc;
use tool_runtime::http::{
    BearerTokens, HttpOptions, JwtError, JwtVerifier, ProtectedResource, Tls, TokensError,
};
use tool_runtime_server::seam::{check_address, is_local_address};

/// The mistake of an address that everyone reaches.
const OPEN: &str = "other machines can reach this address without authentication; add `tokens_file` or `jwt`, or `insecure_no_auth = true` if every client that reaches it may call every tool";

/// How to serve.
pub(crate) struct HttpPlan {
    /// Without authentication.
    pub(crate) options: HttpOptions,
    pub(crate) ways: Ways,
    pub(crate) tls: Option<Tls>,
}

pub(super) fn plan(
    http: &Http,
    problems: &mut Problems<'_>,
    warnings: &mut Vec<String>,
) -> HttpPlan {
    let mut options = HttpOptions::default().sessions(http.sessions);
    options = http.hosts.iter().fold(options, HttpOptions::allow_host);
    options = http.origins.iter().fold(options, HttpOptions::allow_origin);
    if http.insecure_no_auth {
        options = options.insecure_no_auth();
    }
    options = limited(options, http.limits, problems);
    let tls = http.tls.as_ref().map(|tls| Tls::from_files(&tls.certificate, &tls.key));
    let tls = tls.and_then(|tls| problems.accept("http.tls", tls));
    if let Some(tls) = &tls {
        options = options.tls(tls.clone());
    }
    for problem in options.problems() {
        problems.add("http", problem);
    }
    let known = options.problems().len();
    if let Some(jwt) = &http.jwt {
        let resource = ProtectedResource::new(&jwt.audience).authorization_server(&jwt.issuer);
        options = options.protected_resource(resource);
    }
    for problem in &options.problems()[known..] {
        problems.add("http.jwt.audience", problem);
    }
    if problems.accept("http.listen", check_address(&http.listen)).is_some()
        && !http.has_authentication()
        && !http.insecure_no_auth
        && !is_local_address(&http.listen)
    {
        problems.add("http.listen", OPEN);
    }
    HttpPlan { options, ways: ways(http, problems, warnings), tls }
}

fn limited(options: HttpOptions, limits: Limits, problems: &mut Problems<'_>) -> HttpOptions {
    type Set = fn(HttpOptions, usize) -> HttpOptions;
    let Limits { connections, requests, requests_per_principal, body } = limits;
    let limits: [(&str, Option<usize>, Set); 4] = [
        ("connections", connections, HttpOptions::max_connections),
        ("requests", requests, HttpOptions::max_requests),
        ("requests_per_principal", requests_per_principal, HttpOptions::max_requests_per_principal),
        ("body", body, HttpOptions::max_body),
    ];
    limits.into_iter().fold(options, |options, (name, limit, set)| match limit {
        Some(0) => {
            problems.add(&format!("http.limits.{name}"), "must be at least 1");
            options
        }
        Some(limit) => set(options, limit),
        None => options,
    })
}

/// Who may send requests.
fn ways(http: &Http, problems: &mut Problems<'_>, warnings: &mut Vec<String>) -> Ways {
    let lines = http.tokens.as_deref().map(BearerTokens::parse);
    let lines = lines.and_then(|tokens| problems.accept("http.tokens", tokens));
    let file = http.tokens_file.as_ref().map(|file| match BearerTokens::from_file(file) {
        // All lines may be removed, so that nobody is let in.
        Err(TokensError::Empty) => Ok(BearerTokens::none()),
        read => read,
    });
    let file = file.and_then(|tokens| problems.accept("http.tokens_file", tokens));
    let tokens = match (lines, file) {
        (Some(lines), Some(file)) => problems.accept("http.tokens_file", lines.and(file)),
        (lines, file) => lines.or(file),
    };
    if tokens.as_ref().is_some_and(|tokens| tokens.principals().next().is_none()) {
        warnings.push("`http.tokens_file` has no token, so nobody is let in by one".to_owned());
    }
    let jwt = http.jwt.as_ref().map(verifier);
    let jwt = jwt.and_then(|jwt| problems.accept("http.jwt", jwt));
    Ways { tokens: tokens.map(Arc::new), jwt: jwt.map(Arc::new) }
}

fn verifier(jwt: &Jwt) -> Result<JwtVerifier, JwtError> {
    let builder =
        JwtVerifier::builder(&jwt.issuer).audience(&jwt.audience).required_scopes(&jwt.scopes);
    match &jwt.jwks_url {
        Some(url) => builder.jwks_url(url).build(),
        None => builder.build(),
    }
}
