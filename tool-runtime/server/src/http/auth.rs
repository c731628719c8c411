//! Authenticates requests.

use super::http_rejection::HttpRejection;
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use tool_runtime_core::vocabulary::{BoxFuture, Principal};

/// Authenticates HTTP requests, by the bearer token or any other part of a request.
///
/// Implemented by [`BearerTokens`](crate::BearerTokens); implement it for tokens of another kind. It is
/// called for every request except health checks, and has
/// [limited time](crate::HttpOptions::auth_timeout).
///
/// ```
/// use axum::http::request::Parts;
/// use tool_runtime::{BoxFuture, Principal};
/// use tool_runtime::http::{AuthRejection, Authenticate, HttpOptions};
///
/// /// Trusts the header of a proxy.
/// struct Proxied;
///
/// impl Authenticate for Proxied {
///     fn authenticate<'a>(
///         &'a self,
///         _: Option<&'a str>,
///         request: &'a Parts,
///     ) -> BoxFuture<'a, Result<Principal, AuthRejection>> {
///         Box::pin(async {
///             let user = request.headers.get("x-user").and_then(|user| user.to_str().ok());
///             user.map(Principal::new).ok_or(AuthRejection::Unknown)
///         })
///     }
/// }
///
/// let options = HttpOptions::default().auth(Proxied);
/// ```
pub trait Authenticate: Send + Sync + 'static {
    /// The caller. `token` is the token of the header `Authorization: Bearer`, if there is one.
    ///
    /// # Errors
    /// The reason why the request is rejected.
    fn authenticate<'a>(
        &'a self,
        token: Option<&'a str>,
        request: &'a Parts,
    ) -> BoxFuture<'a, Result<Principal, AuthRejection>>;
}

/// The reason why a request is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthRejection {
    /// The caller is unknown: 401.
    Unknown,
    /// The token is not valid: 401. The reason is logged and not sent.
    Invalid(String),
    /// The caller lacks these scopes: 403.
    InsufficientScope(Vec<String>),
    /// Authentication does not work at the moment: 503. The reason is logged and not sent.
    Unavailable(String),
}

/// The token of `Authorization: Bearer`, if there is one such header.
pub fn bearer(request: &Parts) -> Option<&str> {
    let mut headers = request.headers.get_all(header::AUTHORIZATION).iter();
    let (header, None) = (headers.next()?, headers.next()) else { return None };
    let (scheme, token) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The response to a rejected request.
pub(super) fn rejection(
    reason: &AuthRejection,
    has_token: bool,
    metadata: Option<&str>,
) -> HttpRejection {
    let unknown = if has_token { "the token is unknown" } else { "it has no bearer token" };
    let logged = match reason {
        AuthRejection::Unknown => unknown.to_owned(),
        AuthRejection::Invalid(reason) => format!("the token is invalid: {reason}"),
        AuthRejection::InsufficientScope(scopes) => {
            format!("the caller lacks the scopes `{}`", scopes.join("`, `"))
        }
        AuthRejection::Unavailable(reason) => reason.clone(),
    };
    let (status, error, text) = match reason {
        AuthRejection::Unknown if !has_token => (
            StatusCode::UNAUTHORIZED,
            None,
            "authenticate with the header `Authorization: Bearer TOKEN`",
        ),
        AuthRejection::Unknown | AuthRejection::Invalid(_) => (
            StatusCode::UNAUTHORIZED,
            Some(r#"error="invalid_token""#.to_owned()),
            "the bearer token is invalid; send a configured one",
        ),
        AuthRejection::InsufficientScope(scopes) if !has_token => (
            StatusCode::UNAUTHORIZED,
            Some(format!(r#"scope="{}""#, scopes.join(" "))),
            "authenticate with the header `Authorization: Bearer TOKEN`; the challenge names the scopes",
        ),
        AuthRejection::InsufficientScope(scopes) => (
            StatusCode::FORBIDDEN,
            Some(format!(r#"error="insufficient_scope", scope="{}""#, scopes.join(" "))),
            "the bearer token does not allow this; the challenge names the scopes that would",
        ),
        AuthRejection::Unavailable(reason) => {
            tracing::warn!(reason, "authentication is unavailable");
            return HttpRejection::busy("authentication is unavailable; try again later");
        }
    };
    let challenge = challenge(error, metadata);
    let rejection = HttpRejection::new(status, text).because(logged.into());
    rejection.with(header::WWW_AUTHENTICATE, challenge)
}

fn challenge(error: Option<String>, metadata: Option<&str>) -> HeaderValue {
    let metadata = metadata.map(|url| format!(r#"resource_metadata="{url}""#));
    let parts = [Some(r#"realm="mcp""#.to_owned()), error, metadata];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    // Scopes may hold characters that a header cannot.
    HeaderValue::try_from(format!("Bearer {}", parts.join(", ")))
        .unwrap_or_else(|_| HeaderValue::from_static("Bearer"))
}
