//! Redirects of `WebFetch`.

use super::server::{Server, ok, response};
use super::{WebParams, call, error, params, pool, value};
use serde_json::json;

/// A server whose path is the target of a redirect, if it begins with `/to/`.
async fn redirecting() -> Server {
    Server::new(|path| match path.strip_prefix("/to/") {
        Some(target) => response("302 Found", &[&format!("location: {target}")], ""),
        None => ok("text/plain", format!("at {path}")),
    })
    .await
}

fn following() -> WebParams {
    WebParams { follow_other_hosts: true, ..params() }
}

#[tokio::test]
async fn redirects_of_a_host_are_followed() {
    let server = redirecting().await;
    let pool = pool(params());
    let page = value(&pool, "WebFetch", json!({ "url": server.url("/to//to//end?a=1") })).await;
    assert_eq!(
        (&page["text"], &page["url"]),
        (&json!("at /end?a=1"), &json!(server.url("/end?a=1")))
    );
}

#[tokio::test]
async fn another_host_gets_no_credentials() {
    let (server, other) = (redirecting().await, Server::new(|_| ok("text/plain", "end")).await);
    let allowed_headers = vec!["authorization".to_owned(), "accept-language".to_owned()];
    let pool = pool(WebParams { allowed_headers, ..following() });
    let url = server.url(&format!("/to/{}", other.url("/end")));
    let headers = json!({ "Authorization": "Bearer t0k3n", "Accept-Language": "de" });
    value(&pool, "WebFetch", json!({ "url": url, "headers": headers })).await;
    let sent = |server: &Server| server.requests().join("\n").to_lowercase();
    assert!(sent(&server).contains("t0k3n"));
    let sent = sent(&other);
    assert!(!sent.contains("t0k3n") && sent.contains("accept-language: de"), "{sent}");
}

#[tokio::test]
async fn a_redirect_to_another_host_is_reported() {
    let server = redirecting().await;
    let pool = pool(params());
    let target = "https://other.example/page";
    let result =
        call(&pool, "WebFetch", json!({ "url": server.url(&format!("/to/{target}")) })).await;
    let text = result.observation().to_text();
    assert!(text.contains("redirects to another host: https://other.example/page"), "{text}");
    let value = result.observation().structured().unwrap();
    assert_eq!((&value["redirect"], &value["status"]), (&json!(target), &json!(302)));
}

#[tokio::test]
async fn a_redirect_to_a_refused_address_is_an_error() {
    let server = redirecting().await;
    let other = Server::new(|_| ok("text/plain", "secret")).await;
    let pool = pool(following());
    let port = other.address.port();
    for host in ["127.0.0.2", "0x7f000002", "[::1]", "0.0.0.0", "169.254.169.254"] {
        let target = format!("http://{host}:{port}/");
        let text =
            error(&pool, "WebFetch", json!({ "url": server.url(&format!("/to/{target}")) })).await;
        assert!(text.contains("which is not public"), "{host}: {text}");
    }
    for (target, expected) in [
        ("file:///etc/passwd", "`file` is not a scheme"),
        ("http://user:pw@127.0.0.1/", "a user or a password"),
    ] {
        let text =
            error(&pool, "WebFetch", json!({ "url": server.url(&format!("/to/{target}")) })).await;
        assert!(text.contains(expected), "{text}");
    }
    assert_eq!(other.requests(), Vec::<String>::new());
    // The same port is reached where the address is allowed.
    let page =
        value(&pool, "WebFetch", json!({ "url": server.url(&format!("/to/{}", other.url("/"))) }))
            .await;
    assert_eq!(page["text"], "secret");
}

#[tokio::test]
async fn a_redirect_to_a_long_address_is_an_error() {
    let target = format!("https://other.example/{}", "x".repeat(100_000));
    let location = format!("location: {target}");
    let server = Server::new(move |_| response("302 Found", &[&location], "")).await;
    let text = error(&pool(params()), "WebFetch", json!({ "url": server.url("/") })).await;
    assert!(text.contains("longer than 8192 characters") && text.len() < 300, "{text}");
}

#[tokio::test]
async fn endless_redirects_are_an_error() {
    let server =
        Server::new(|_| response("301 Moved Permanently", &["location: /again"], "")).await;
    let text = error(&pool(params()), "WebFetch", json!({ "url": server.url("/") })).await;
    assert!(text.contains("more than 10 redirects"), "{text}");
    assert_eq!(server.requests().len(), 11);
}
