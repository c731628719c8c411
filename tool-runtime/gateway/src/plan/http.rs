//! The options of the server, and who may send requests.

use super::Problems;
use crate::authentication::Ways;
use crate::config::{Config, Http, Jwt, Limits};
use std::path::PathBuf;
use std::sync::Arc;
use tool_runtime::http::{
    BearerTokens, HttpOptions, JwtError, JwtVerifier, ProtectedResource, Tls, TokensError,
};
use tool_runtime_server::seam::{check_address, is_local_address};

/// Shorter tokens may be guessed.
const MIN_TOKEN: usize = 12;

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
    let tokens = match tokens(http) {
        Ok(tokens) => tokens,
        Err(mistakes) => {
            mistakes.iter().for_each(|(key, mistake)| problems.add(key, mistake));
            None
        }
    };
    if tokens.as_ref().is_some_and(|tokens| tokens.principals().next().is_none()) {
        warnings.push("`http.tokens_file` has no token, so nobody is let in by one".to_owned());
    }
    let jwt = http.jwt.as_ref().map(verifier);
    let jwt = jwt.and_then(|jwt| problems.accept("http.jwt", jwt));
    Ways { tokens: tokens.map(Arc::new), jwt: jwt.map(Arc::new) }
}

/// The tokens of the configuration and of its file. `None`: it has neither.
///
/// # Errors
/// Mistakes, each with its key.
pub(crate) fn tokens(
    http: &Http,
) -> Result<Option<BearerTokens>, Vec<(&'static str, TokensError)>> {
    const FILE: &str = "http.tokens_file";
    let lines = http.tokens.as_deref().map(BearerTokens::parse).transpose();
    let file = http.tokens_file.as_ref().map(|file| match BearerTokens::from_file(file) {
        // All lines may be removed, so that nobody is let in.
        Err(TokensError::Empty) => Ok(BearerTokens::none()),
        read => read,
    });
    match (lines, file.transpose()) {
        (Ok(Some(lines)), Ok(Some(file))) => {
            lines.and(file).map(Some).map_err(|it| vec![(FILE, it)])
        }
        (Ok(lines), Ok(file)) => Ok(lines.or(file)),
        (lines, file) => {
            let mistakes = [("http.tokens", lines.err()), (FILE, file.err())];
            Err(mistakes.into_iter().filter_map(|(key, mistake)| Some((key, mistake?))).collect())
        }
    }
}

/// The lines of tokens of the configuration and of its file. `None`: the file cannot be read.
pub(crate) fn token_lines(http: &Http) -> Option<String> {
    let file = http.tokens_file.as_ref().map(std::fs::read_to_string).transpose().ok()?;
    Some([http.tokens.clone(), file].into_iter().flatten().collect::<Vec<_>>().join("\n"))
}

/// The texts of tokens, to be masked, with their name.
pub(crate) fn token_secrets(config: &Config) -> Vec<(String, String)> {
    let lines = config.http.as_ref().and_then(token_lines).unwrap_or_default();
    let tokens = BearerTokens::secrets_in(&lines);
    tokens.map(|token| ("TOKEN".to_owned(), token.to_owned())).collect()
}

/// A warning about tokens that may be guessed.
pub(super) fn guessable(config: &Config) -> Option<String> {
    let tokens = token_secrets(config);
    let count = tokens.iter().filter(|(_, token)| token.len() < MIN_TOKEN).count();
    (count > 0).then(|| {
        format!("tokens shorter than {MIN_TOKEN} characters, which may be guessed: {count}; `openssl rand -hex 16` makes one")
    })
}

/// The files by which a reader could become a caller, or the server.
pub(super) fn token_files(http: &Http) -> impl Iterator<Item = &PathBuf> {
    http.tokens_file.iter().chain(http.tls.iter().map(|tls| &tls.key))
}

fn verifier(jwt: &Jwt) -> Result<JwtVerifier, JwtError> {
    let builder =
        JwtVerifier::builder(&jwt.issuer).audience(&jwt.audience).required_scopes(&jwt.scopes);
    match &jwt.jwks_url {
        Some(url) => builder.jwks_url(url).build(),
        None => builder.build(),
    }
}
