//! Error messages. Free text of an authorization server is left out, since it may repeat secrets.

use super::token_secrets::{Outcome, TokenSecrets};
use crate::failure::chain_text;
use http::StatusCode;
use rmcp::transport::auth::AuthError;
use serde_json::{Value, json};

/// Limit on the name of an error.
const MAX_NAME: usize = 40;

/// The text for a rejection, and its body for rmcp: both contain only the name of the error, or the status.
pub(super) fn rejection(status: StatusCode, body: &[u8]) -> (String, Vec<u8>) {
    let body = serde_json::from_slice::<Value>(body).unwrap_or_default();
    let name = body.get("error").and_then(Value::as_str).filter(|error| is_name(error));
    let text = match name {
        Some(name) => format!("says `{name}`"),
        None => format!("answered with HTTP {}", status.as_u16()),
    };
    (text, json!({ "error": name.unwrap_or("unknown") }).to_string().into_bytes())
}

/// Whether the text is an error code of RFC 6749 or its extensions.
fn is_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    (1..=MAX_NAME).contains(&text.len()) && text.bytes().all(is_allowed)
}

/// The reason why no token was obtained.
pub(super) fn error_text(error: &AuthError, token_secrets: &TokenSecrets) -> String {
    use AuthError as E;
    let purpose = match error {
        E::TokenExchangeFailed(_)
        | E::TokenRefreshFailed(_)
        | E::TokenRefreshRejected(_)
        | E::ClientCredentialsError(_) => "for a token",
        E::RegistrationFailed(_) => "to register this program",
        other => return token_secrets.line(&chain_text(other)),
    };
    match token_secrets.outcome() {
        Some(Outcome::Unreachable) => {
            format!("the authorization server cannot be asked {purpose}")
        }
        Some(Outcome::Rejected(rejection)) => {
            format!("the authorization server was asked {purpose} and {rejection}")
        }
        Some(Outcome::Answered) => {
            format!("the authorization server was asked {purpose}; its answer is not valid OAuth")
        }
        // The request was not sent.
        None => token_secrets.line(&chain_text(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tool_runtime_config::McpOAuth;

    #[test]
    fn only_the_error_code_is_shown() {
        let rejected = |body: &str| rejection(StatusCode::BAD_REQUEST, body.as_bytes()).0;
        let named = r#"{"error":"invalid_client","error_description":"8fQm2x","error_uri":"x"}"#;
        assert_eq!(rejected(named), "says `invalid_client`");
        for other in [r#"{"error":"the secret 8fQm2x"}"#, "garbage 8fQm2x", r#"{"error":7}"#, ""] {
            assert_eq!(rejected(other), "answered with HTTP 400", "{other}");
        }
    }

    #[test]
    fn text_of_an_authorization_server_is_not_repeated() {
        let token_secrets = TokenSecrets::new(&McpOAuth::default());
        let error = AuthError::TokenExchangeFailed("invalid type: string \"8fQm2x\"".to_owned());
        for (outcome, expected) in [
            (Outcome::Unreachable, "cannot be asked for a token"),
            (Outcome::Rejected("says `x`".to_owned()), "asked for a token and says `x`"),
            (Outcome::Answered, "its answer is not valid OAuth"),
        ] {
            token_secrets.set_outcome(Some(outcome));
            let text = error_text(&error, &token_secrets);
            assert!(text.contains(expected) && !text.contains("8fQm2x"), "{text}");
        }
        token_secrets.set_outcome(None);
        let error = AuthError::RegistrationFailed("registration is not supported".to_owned());
        assert!(error_text(&error, &token_secrets).contains("registration is not supported"));
    }
}
