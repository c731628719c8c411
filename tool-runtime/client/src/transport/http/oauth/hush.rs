//! Secrets in traffic with an authorization server, which must not be printed.

use crate::transport::http::header_values::{basic, note};
use crate::transport::http::shown::shown;
use reqwest::Url;
use reqwest::header::AUTHORIZATION;
use serde_json::Value;
use std::collections::VecDeque;
use std::sync::Mutex;
use tool_runtime_config::McpOAuth;
use tool_runtime_core::seam::lock;

/// Secrets of requests that are remembered: those of a few requests.
const MAX_REMEMBERED: usize = 64;

/// What a request or an answer must not be heard saying.
const SECRETS: &[&str] = &[
    "access_token",
    "client_secret",
    "code",
    "code_verifier",
    "id_token",
    "refresh_token",
    "registration_access_token",
];

/// What must not be printed of one server's tokens.
pub(super) struct Hush {
    /// Of the configuration.
    fixed: Vec<String>,
    /// What has passed last.
    passed: Mutex<VecDeque<String>>,
}

impl Hush {
    pub(super) fn new(config: &McpOAuth) -> Self {
        let mut fixed = Vec::new();
        if let Some(secret) = &config.client_secret {
            let id = config.client_id.as_ref().map_or("", |id| id.expose());
            note(secret.expose(), &mut fixed);
            note(&basic(id, secret.expose()), &mut fixed);
        }
        Self { fixed, passed: Mutex::default() }
    }

    /// Hears what is sent.
    pub(super) fn sent(&self, request: &http::Request<Vec<u8>>) {
        let mut heard = Vec::new();
        let authorization = request.headers().get(AUTHORIZATION.as_str());
        let authorization = authorization.and_then(|value| value.to_str().ok()).unwrap_or_default();
        authorization.split(' ').skip(1).for_each(|secret| note(secret, &mut heard));
        let body = String::from_utf8_lossy(request.body());
        for pair in body.split('&') {
            let Some((name, written)) = pair.split_once('=') else { continue };
            if SECRETS.contains(&name) {
                note(written, &mut heard);
                decoded(pair).iter().for_each(|secret| note(secret, &mut heard));
            }
        }
        self.hear(heard);
    }

    /// Hears what is answered.
    pub(super) fn answered(&self, answer: &Value) {
        let mut heard = Vec::new();
        let said = SECRETS.iter().filter_map(|name| answer.get(name)?.as_str());
        said.for_each(|secret| note(secret, &mut heard));
        self.hear(heard);
    }

    /// Hears a secret that came in another way.
    pub(super) fn told(&self, secret: &str) {
        let mut heard = Vec::new();
        note(secret, &mut heard);
        self.hear(heard);
    }

    fn hear(&self, heard: Vec<String>) {
        let mut passed = lock(&self.passed);
        for secret in heard {
            passed.retain(|known| *known != secret);
            passed.push_back(secret);
        }
        let excess = passed.len().saturating_sub(MAX_REMEMBERED);
        passed.drain(..excess);
    }

    /// What was said, as it may be shown.
    pub(super) fn shown(&self, text: &str) -> String {
        let passed = lock(&self.passed);
        let mut all: Vec<&String> = self.fixed.iter().chain(passed.iter()).collect();
        // One may be a part of another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        shown(&all.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), "..")))
    }
}

/// The value of a pair of a form.
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
    fn what_passes_is_not_shown() {
        let mut config = McpOAuth::default();
        (config.client_id, config.client_secret) = (Some("tools".into()), Some("8fQm2x+/".into()));
        let hush = Hush::new(&config);
        let body = "grant_type=authorization_code&code=code%2Dvalue&code_verifier=verifier-value";
        let request = http::Request::post("https://login.example/token")
            .header("authorization", "Basic b3RoZXI6cGFpcg==")
            .body(body.as_bytes().to_vec());
        hush.sent(&request.unwrap());
        hush.answered(&json!({ "access_token": "access-value", "refresh_token": "refresh-value" }));
        let said = "8fQm2x+/ b3RoZXI6cGFpcg== code%2Dvalue code-value verifier-value access-value refresh-value authorization_code";
        assert_eq!(hush.shown(said), ".. .. .. .. .. .. .. authorization_code");
    }

    #[test]
    fn what_has_passed_is_forgotten_at_last() {
        let hush = Hush::new(&McpOAuth::default());
        for number in 0..1000 {
            hush.told(&format!("secret-{number:04}"));
        }
        assert_eq!(hush.shown("secret-0999 secret-0000"), ".. secret-0000");
    }
}
