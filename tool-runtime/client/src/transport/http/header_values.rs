//! Header values of an entry, and the secrets in them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use tool_runtime_config::McpAuth;
use tool_runtime_config::seam::OWN_HEADERS;

/// Shorter values are words, and all over any text.
const SHORTEST_SECRET: usize = 6;

/// Whether it is a way of its own, and no header that is fixed.
pub(super) fn is_spoken(auth: &McpAuth) -> bool {
    cfg!(feature = "oauth") && matches!(auth, McpAuth::OAuth(_))
}

pub(super) fn authorization(
    auth: &McpAuth,
    secrets: &mut Vec<String>,
) -> Result<(HeaderName, HeaderValue), &'static str> {
    match auth {
        McpAuth::Bearer(token) => {
            note(token.expose(), secrets);
            header(AUTHORIZATION.as_str(), &format!("Bearer {}", token.expose()), secrets)
        }
        McpAuth::Basic { user, password } => {
            note(password.expose(), secrets);
            let coded = basic(user.expose(), password.expose());
            note(&coded, secrets);
            header(AUTHORIZATION.as_str(), &format!("Basic {coded}"), secrets)
        }
        McpAuth::ApiKey { header: name, key } => header(name.as_str(), key.expose(), secrets),
        McpAuth::OAuth(_) => Err(
            "is OAuth, which this program is built without; turn on the feature `mcp-client-oauth` of `tool-runtime`",
        ),
        _ => Err("is of a kind that this version does not support"),
    }
}

pub(super) fn header(
    name: &str,
    value: &str,
    secrets: &mut Vec<String>,
) -> Result<(HeaderName, HeaderValue), &'static str> {
    note(value, secrets);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| "is not a name of a header")?;
    if OWN_HEADERS.contains(&name.as_str()) {
        return Err("is set by the transport itself; remove it");
    }
    let value = HeaderValue::from_str(value);
    let mut value = value.map_err(|_| "holds what no header carries; write visible ASCII")?;
    value.set_sensitive(true);
    Ok((name, value))
}

/// How user and password are sent.
pub(super) fn basic(user: &str, password: &str) -> String {
    BASE64_STANDARD.encode(format!("{user}:{password}"))
}

/// Remembers what must not be printed.
pub(super) fn note(secret: &str, secrets: &mut Vec<String>) {
    if secret.len() >= SHORTEST_SECRET {
        secrets.push(secret.to_owned());
    }
}

/// What must not be printed of an address.
pub(super) fn secrets_of(url: &str) -> Vec<String> {
    let mut secrets = Vec::new();
    if let Ok(url) = Url::parse(url) {
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        let (plain_user, plain_password) = (decoded(user), decoded(password));
        note(&basic(&plain_user, &plain_password), &mut secrets);
        [user, password, &plain_user, &plain_password, url.query().unwrap_or_default()]
            .into_iter()
            .for_each(|secret| note(secret, &mut secrets));
        url.query_pairs().for_each(|(_, value)| note(&value, &mut secrets));
    }
    secrets
}

/// A part of an address as it is meant.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        let byte =
            code.filter(|_| *first == b'%').and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// An address without user information, query and fragment.
pub(super) fn without_secrets(url: &Url) -> Url {
    let mut url = url.clone();
    url.set_query(None);
    url.set_fragment(None);
    // Addresses of servers have hosts: they can be without users.
    let _is_without = (url.set_username(""), url.set_password(None));
    url
}
