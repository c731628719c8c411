//! The page of the inbox: three files, which load nothing from elsewhere.

use axum::Router;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use axum::routing::get;

/// No script but that of the page, no request but to the server of the page, no frame around it, no form that leaves it.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; \
    base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) fn routes() -> Router {
    let page = || file("text/html; charset=utf-8", include_str!("page/inbox.html"));
    let script = || file("text/javascript; charset=utf-8", include_str!("page/inbox.js"));
    let style = || file("text/css; charset=utf-8", include_str!("page/inbox.css"));
    Router::new()
        .route("/inbox", get(async move || page()))
        .route("/inbox.js", get(async move || script()))
        .route("/inbox.css", get(async move || style()))
}

fn file(kind: &'static str, text: &'static str) -> impl IntoResponse {
    let headers: [(HeaderName, HeaderValue); 5] = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY)),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
        // Another version of the program has other files.
        (header::CACHE_CONTROL, HeaderValue::from_static("no-cache")),
    ];
    (headers, text)
}
