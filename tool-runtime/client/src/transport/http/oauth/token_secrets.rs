//! Secrets of requests to an authorization server, and the outcome of the last token request.

use crate::transport::http::header_values::basic;
use reqwest::Url;
use reqwest::header::AUTHORIZATION;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Mutex;
use tool_runtime_config::McpOAuth;
use tool_runtime_core::seam::{Redactor, lock};

/// Limit on the remembered secrets, enough for the last few requests.
const MAX_RECENT: usize = 64;

/// Limit on the characters of an authorization server's text that are shown.
const MAX_LINE: usize = 300;

/// Secret parameters of a request or an answer.
const SECRETS: &[&str] = &[
    "access_token",
    "client_secret",
    "code",
    "code_verifier",
    "id_token",
    "refresh_token",
    "registration_access_token",
];

/// The outcome of a request for a token or a registration.
#[derive(Clone, Debug)]
pub(super) enum Outcome {
    Unreachable,
    /// The reason, as text for an error.
    Rejected(String),
    Answered,
}

/// Remembers the secrets of one server's tokens, which stay out of errors and the log.
pub(super) struct TokenSecrets {
    /// Secrets of the configuration.
    fixed: Vec<String>,
    /// Secrets of recent requests and answers.
    recent: Mutex<VecDeque<String>>,
    /// The outcome of the last POST. rmcp's error only has a message.
    outcome: Mutex<Option<Outcome>>,
}

impl TokenSecrets {
    pub(super) fn new(config: &McpOAuth) -> Self {
        let id = config.client_id.as_ref().map_or("", |id| id.expose());
        let secret = config.client_secret.as_ref().map(|secret| secret.expose());
        let fixed = secret.map(|secret| vec![secret.to_owned(), basic(id, secret)]);
        Self {
            fixed: fixed.unwrap_or_default(),
            recent: Mutex::default(),
            outcome: Mutex::default(),
        }
    }

    /// Remembers the secrets of a request.
    pub(super) fn note_request(&self, request: &http::Request<Vec<u8>>) {
        let authorization = request.headers().get(AUTHORIZATION.as_str());
        let authorization = authorization.and_then(|value| value.to_str().ok()).unwrap_or_default();
        authorization.split(' ').skip(1).for_each(|secret| self.note(secret));
        for pair in String::from_utf8_lossy(request.body()).split('&') {
            let Some((name, encoded)) = pair.split_once('=') else { continue };
            if SECRETS.contains(&name) {
                self.note(encoded);
                decoded(pair).iter().for_each(|secret| self.note(secret));
            }
        }
    }

    /// Remembers the secrets of an answer.
    pub(super) fn note_answer(&self, answer: &Value) {
        let secrets = SECRETS.iter().filter_map(|name| answer.get(name)?.as_str());
        secrets.for_each(|secret| self.note(secret));
    }

    /// Remembers one secret.
    pub(super) fn note(&self, secret: &str) {
        let mut recent = lock(&self.recent);
        recent.retain(|known| known != secret);
        recent.push_back(secret.to_owned());
        let excess = recent.len().saturating_sub(MAX_RECENT);
        recent.drain(..excess);
    }

    pub(super) fn set_outcome(&self, outcome: Option<Outcome>) {
        *lock(&self.outcome) = outcome;
    }

    pub(super) fn outcome(&self) -> Option<Outcome> {
        lock(&self.outcome).clone()
    }

    /// Text on one line, without secrets.
    pub(super) fn line(&self, text: &str) -> String {
        let recent = lock(&self.recent);
        Redactor::hiding(self.fixed.iter().chain(recent.iter())).line(text, MAX_LINE)
    }
}

/// The decoded value of a form pair.
fn decoded(pair: &str) -> Option<String> {
    let mut url = Url::parse("http://x/").ok()?;
    url.set_query(Some(pair));
    let (_, value) = url.query_pairs().next()?;
    Some(value.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_in_responses_are_not_shown() {
        let mut config = McpOAuth::default();
        (config.client_id, config.client_secret) = (Some("tools".into()), Some("8fQm2x+/".into()));
        let secrets = TokenSecrets::new(&config);
        let body = "grant_type=authorization_code&code=code%2Dvalue&code_verifier=verifier-value";
        let request = http::Request::post("https://login.example/token")
            .header("authorization", "Basic b3RoZXI6cGFpcg==")
            .body(body.as_bytes().to_vec());
        secrets.note_request(&request.unwrap());
        secrets.note_answer(
            &json!({ "access_token": "access-value", "refresh_token": "refresh-value" }),
        );
        let text = "8fQm2x+/ b3RoZXI6cGFpcg== code%2Dvalue code-value verifier-value access-value refresh-value authorization_code";
        assert_eq!(secrets.line(text), ".. .. .. .. .. .. .. authorization_code");
    }

    #[test]
    fn only_recent_secrets_are_remembered() {
        let secrets = TokenSecrets::new(&McpOAuth::default());
        for number in 0..1000 {
            secrets.note(&format!("secret-{number:04}"));
        }
        assert_eq!(secrets.line("secret-0999 secret-0000"), ".. secret-0000");
    }
}
