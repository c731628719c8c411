//! Texts of errors. Free text of an authorization server is left out: it may repeat secrets.

use super::traffic_secrets::TrafficSecrets;
use crate::failure::leaf;
use http::StatusCode;
use rmcp::transport::auth::AuthError;
use serde_json::{Value, json};

/// Limit on the name of an error.
const MAX_NAME: usize = 40;

/// What is left of an answer that refuses: the name of the error, or else of the status.
pub(super) fn refusal(status: StatusCode, body: &[u8]) -> Vec<u8> {
    let said = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let error = said.get("error").and_then(Value::as_str).filter(|error| is_name(error));
    let error = error.map_or_else(|| format!("{STATUS}{}", status.as_u16()), str::to_owned);
    json!({ "error": error }).to_string().into_bytes()
}

/// How the name of a status begins.
const STATUS: &str = "http_";

/// Whether it is a name, as RFC 6749 and its like have them.
fn is_name(text: &str) -> bool {
    let is_fine = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_fine)
}

/// Why there is no token.
pub(super) fn words(error: &AuthError, secrets: &TrafficSecrets) -> String {
    use AuthError as E;
    match error {
        E::TokenExchangeFailed(text)
        | E::TokenRefreshFailed(text)
        | E::TokenRefreshRejected(text) => asked("for a token", text),
        E::ClientCredentialsError(text) if text.starts_with("Token exchange") => {
            asked("for a token", text)
        }
        E::RegistrationFailed(text) if is_answer(text) => asked("to register this program", text),
        other => secrets.line(&leaf(other)),
    }
}

/// Whether a text of rmcp's may hold what a server answered.
fn is_answer(text: &str) -> bool {
    ["HTTP ", "analyze response error"].iter().any(|part| text.contains(part))
}

/// What became of asking.
fn asked(what: &str, text: &str) -> String {
    match name(text) {
        Some(name) if name.starts_with(STATUS) => {
            let status = &name[STATUS.len()..];
            format!("the authorization server was asked {what} and answered with HTTP {status}")
        }
        Some(name) => format!("the authorization server was asked {what} and says `{name}`"),
        None if text.contains("Request failed") || text.contains("request error") => {
            format!("the authorization server cannot be asked {what}")
        }
        None => {
            format!("the authorization server was asked {what}; its answer is none of OAuth")
        }
    }
}

/// The name of the error in a text of rmcp's, as [`refusal`] has left it.
fn name(text: &str) -> Option<&str> {
    let said = text.rsplit_once(r#"{"error":""#).map(|(_, said)| said.trim_end_matches(r#""}"#));
    let said = said.or_else(|| {
        let (_, said) = text.rsplit_once("Server returned error response: ")?;
        Some(said)
    })?;
    let status = said.strip_prefix(STATUS);
    let is_status = status.is_some_and(|status| status.parse::<u16>().is_ok());
    (is_status || is_name(said)).then_some(said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_runtime_config::McpOAuth;

    fn left(body: &str) -> String {
        String::from_utf8(refusal(StatusCode::BAD_REQUEST, body.as_bytes())).unwrap()
    }

    #[test]
    fn nothing_but_a_name_is_left_of_a_refusal() {
        let said = r#"{"error":"invalid_client","error_description":"8fQm2x","error_uri":"x"}"#;
        assert_eq!(left(said), r#"{"error":"invalid_client"}"#);
        for other in [r#"{"error":"the secret 8fQm2x"}"#, "garbage 8fQm2x", r#"{"error":7}"#, ""] {
            assert_eq!(left(other), r#"{"error":"http_400"}"#, "{other}");
        }
    }

    #[test]
    fn only_names_are_repeated() {
        let secrets = TrafficSecrets::new(&McpOAuth::default());
        let send_request =
            |text: &str| words(&AuthError::TokenExchangeFailed(text.to_owned()), &secrets);
        for (text, expected) in [
            ("Server returned error response: invalid_client", "says `invalid_client`"),
            ("Server returned error response: http_503", "answered with HTTP 503"),
            ("Server returned error response: invalid_client: 8fQm2x", "none of OAuth"),
            ("invalid type: string \"8fQm2x\", expected u64", "none of OAuth"),
            ("Request failed", "cannot be asked for a token"),
        ] {
            let said = send_request(text);
            assert!(said.contains(expected) && !said.contains("8fQm2x"), "{said}");
        }
        let text = r#"Dynamic registration failed: Registration failed: HTTP 400 Bad Request: {"error":"invalid_redirect_uri"}"#;
        let said = words(&AuthError::RegistrationFailed(text.to_owned()), &secrets);
        assert!(
            said.contains("to register this program and says `invalid_redirect_uri`"),
            "{said}"
        );
    }
}
