//! Header values of an entry, and the secrets in them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use percent_encoding::percent_decode_str;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use tool_runtime_config::McpAuth;
use tool_runtime_config::seam::{OWN_HEADERS, may_be_secret};

/// Whether the authentication is OAuth instead of a fixed header.
pub(super) fn is_oauth(auth: &McpAuth) -> bool {
    cfg!(feature = "oauth") && matches!(auth, McpAuth::OAuth(_))
}

pub(super) fn authorization(
    auth: &McpAuth,
    secrets: &mut Vec<String>,
) -> Result<(HeaderName, HeaderValue), &'static str> {
    match auth {
        McpAuth::Bearer(token) => {
            secrets.push(token.expose().to_owned());
            let value = format!("Bearer {}", token.expose());
            secrets.push(value.clone());
            header(AUTHORIZATION.as_str(), &value)
        }
        McpAuth::Basic { user, password } => {
            secrets.push(password.expose().to_owned());
            let coded = basic(user.expose(), password.expose());
            let value = format!("Basic {coded}");
            secrets.extend([coded, value.clone()]);
            header(AUTHORIZATION.as_str(), &value)
        }
        McpAuth::ApiKey { header: name, key } => {
            secrets.push(key.expose().to_owned());
            header(name.as_str(), key.expose())
        }
        McpAuth::OAuth(_) => Err(
            "is OAuth, which this program is built without; turn on the feature `mcp-client-oauth` of `tool-runtime`",
        ),
        _ => Err("is of a kind that this version does not support"),
    }
}

pub(super) fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), &'static str> {
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "is not a name of a header")?;
    if OWN_HEADERS.contains(&name.as_str()) {
        return Err("is set by the transport itself; remove it");
    }
    let value = HeaderValue::from_str(value);
    let mut value = value
        .map_err(|_| "contains a character that is not allowed in a header; write visible ASCII")?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// User and password as Basic credentials.
pub(super) fn basic(user: &str, password: &str) -> String {
    BASE64_STANDARD.encode(format!("{user}:{password}"))
}

/// The secrets of an address: user information and query, as written and decoded.
pub(super) fn secrets_of(url: &str) -> Vec<String> {
    let Ok(url) = Url::parse(url) else { return Vec::new() };
    let (user, password) = (url.username(), url.password().unwrap_or_default());
    let query = url.query().unwrap_or_default();
    let [plain_user, plain_password] =
        [user, password].map(|part| percent_decode_str(part).decode_utf8_lossy().into_owned());
    let mut secrets = vec![basic(&plain_user, &plain_password), plain_user, plain_password];
    secrets.extend([user, password, query].map(str::to_owned));
    let values = url.query_pairs().filter(|(name, value)| may_be_secret(name, value));
    secrets.extend(values.map(|(_, value)| value.into_owned()));
    secrets
}

/// An address without user information, query and fragment.
pub(super) fn without_secrets(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Fails only for addresses without a host, which servers have.
    let _is_removed = (url.set_username(""), url.set_password(None));
    url
}
