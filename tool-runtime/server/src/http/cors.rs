//! Answers CORS preflight requests.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};

/// What a page may read beside the body.
const SHOWN: HeaderValue =
    HeaderValue::from_static("mcp-session-id, www-authenticate, retry-after");

/// What a page may ask with.
const METHODS: HeaderValue = HeaderValue::from_static("GET, POST, DELETE");

/// Seconds for which a browser keeps the answer to a preflight request.
const PREFLIGHT_MAX_AGE: HeaderValue = HeaderValue::from_static("600");

const ASKED: HeaderName = header::ACCESS_CONTROL_REQUEST_HEADERS;

/// Whether a browser only asks what it may send.
pub(super) fn is_preflight(request: &Parts) -> bool {
    request.method == Method::OPTIONS
        && request.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// It may send what it asks for: which headers there are is up to the tools.
pub(super) fn preflight(asked: &HeaderMap) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_MAX_AGE);
    if let Some(asked) = asked.get(ASKED) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, asked.clone());
    }
    response
}

/// The page may read the answer.
pub(super) fn show(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, SHOWN);
    headers.append(header::VARY, HeaderValue::from_static("origin"));
}
