//! `WebSearch`, with servers that answer as the engines do.

use super::server::{Server, ok, response};
use super::{SearchParams, WebParams, call, error, pool, value};
use crate::web::{Brave, SearchBackend, Searxng, Tavily};
use serde_json::{Value, json};
use std::sync::Arc;
use tool_runtime::prelude::*;

const KEY: &str = "k3y-that-must-not-be-printed";

fn searching(backend: impl SearchBackend) -> ToolPool {
    let search = Some(SearchParams::Custom(Arc::new(backend)));
    pool(WebParams { search, ..WebParams::default() })
}

fn hit(number: usize) -> Value {
    let (title, url) = (format!("Title {number}"), format!("https://site{number}.example/"));
    json!({ "title": title, "url": url, "snippet": format!("Text {number}") })
}

#[tokio::test]
async fn searxng_is_asked_for_json() {
    let server = Server::new(|_| {
        let result = |number: usize| {
            json!({
                "url": format!("https://site{number}.example/"), "title": format!("Title {number}"),
                "content": format!("Text {number}"), "engine": "x", "engines": ["x"], "positions": [1], "score": 1.0,
                "category": "general", "template": "default.html", "parsed_url": ["https", "site", "/", "", "", ""],
            })
        };
        let body = json!({
            "query": "q", "number_of_results": 0, "results": [result(1), result(2), result(3)], "answers": [],
            "corrections": [], "infoboxes": [], "suggestions": [], "unresponsive_engines": [["y", "timeout"]],
        });
        ok("application/json", body.to_string())
    })
    .await;
    let pool = searching(Searxng::new(&server.url("/searx")).unwrap());
    let arguments = json!({ "query": "rust & tools", "num_results": 2, "blocked_domains": ["https://bad.example/"] });
    let found = value(&pool, "WebSearch", arguments).await;
    assert_eq!(found, json!({ "query": "rust & tools", "results": [hit(1), hit(2)] }));
    let request = &server.requests()[0];
    assert!(
        request.starts_with(
            "GET /searx/search?q=rust+%26+tools+-site%3Abad.example&format=json HTTP/1.1"
        ),
        "{request}"
    );
}

#[tokio::test]
async fn brave_gets_its_key_in_a_header() {
    let server = Server::new(|_| {
        let body = json!({
            "type": "search", "query": { "original": "q" },
            "web": { "type": "search", "results": [{
                "title": "Title &amp; <strong>more</strong>", "url": "https://site1.example/",
                "description": "It&#x27;s <strong>bold</strong>", "age": "2 days ago", "family_friendly": true,
            }] },
        });
        ok("application/json", body.to_string())
    })
    .await;
    let pool = searching(Brave::at(&server.url(""), KEY.into()).unwrap());
    let found =
        value(&pool, "WebSearch", json!({ "query": "q", "allowed_domains": ["site1.example"] }))
            .await;
    let expected =
        json!({ "title": "Title & more", "url": "https://site1.example/", "snippet": "It's bold" });
    assert_eq!(found["results"], json!([expected]));
    let request = &server.requests()[0];
    assert!(
        request.starts_with("GET /res/v1/web/search?q=q+site%3Asite1.example&count=5&"),
        "{request}"
    );
    assert!(request.contains(&format!("x-subscription-token: {KEY}")), "{request}");
}

#[tokio::test]
async fn an_answer_of_brave_without_pages_is_no_result() {
    let server = Server::new(|_| ok("application/json", "{\"type\":\"search\"}")).await;
    let pool = searching(Brave::at(&server.url(""), KEY.into()).unwrap());
    let result = call(&pool, "WebSearch", json!({ "query": "q" })).await;
    let text = result.observation().to_text();
    assert!(!result.observation().is_error() && text.contains("[no results for \"q\""), "{text}");
}

#[tokio::test]
async fn tavily_gets_a_body_with_domains() {
    let server = Server::new(|_| {
        let result = json!({
            "title": "Title 1", "url": "https://site1.example/", "content": "Text 1", "score": 0.9, "raw_content": null,
        });
        let body = json!({ "query": "q", "answer": null, "images": [], "results": [result], "response_time": 1.2 });
        ok("application/json", body.to_string())
    })
    .await;
    let pool = searching(Tavily::at(&server.url(""), KEY.into()).unwrap());
    let arguments =
        json!({ "query": "q", "num_results": 3, "allowed_domains": ["*.site1.example"] });
    assert_eq!(value(&pool, "WebSearch", arguments).await["results"], json!([hit(1)]));
    let request = &server.requests()[0];
    assert!(request.starts_with("POST /search HTTP/1.1"), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {KEY}")), "{request}");
    let body: Value = serde_json::from_str(request.split("\r\n\r\n").nth(1).unwrap()).unwrap();
    let expected = json!({ "query": "q", "max_results": 3, "include_domains": ["site1.example"], "exclude_domains": [] });
    assert_eq!(body, expected);
}

#[tokio::test]
async fn results_are_unwrapped_filtered_and_not_repeated() {
    let server = Server::new(|_| {
        let links = [
            "https://duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F1",
            "https://a.example/1",
            "http://127.0.0.1/preferences",
            "https://sub.a.example/2",
            "https://bad.a.example/3",
            "https://b.example/4",
            "javascript:alert(1)",
        ];
        let results: Vec<Value> =
            links.iter().map(|url| json!({ "url": url, "title": null, "content": null })).collect();
        ok("application/json", json!({ "results": results }).to_string())
    })
    .await;
    let pool = searching(Searxng::new(&server.url("")).unwrap());
    let arguments = json!({ "query": "q", "allowed_domains": ["a.example"], "blocked_domains": ["bad.a.example"] });
    let result = call(&pool, "WebSearch", arguments).await;
    let expected = "1. https://a.example/1\n   https://a.example/1\n\n2. https://sub.a.example/2\n   https://sub.a.example/2";
    assert_eq!(result.observation().to_text(), expected);
}

/// Engines collect pages of many origins: a title may be missing or a number, an address `null`.
#[tokio::test]
async fn an_odd_entry_does_not_lose_the_others() {
    let server = Server::new(|_| {
        let entries = json!([
            { "url": null, "title": "No address" },
            "not an object",
            { "url": "https://site1.example/", "title": "Title 1", "content": "Text 1", "description": "Text 1" },
            { "url": "https://site2.example/", "title": ["odd"] },
            { "url": "https://site3.example/", "title": null },
        ]);
        let body = json!({ "results": entries, "web": { "results": entries }, "unresponsive_engines": [["x"]] });
        ok("application/json", body.to_string())
    })
    .await;
    for pool in engines(&server.url("")) {
        let found = value(&pool, "WebSearch", json!({ "query": "q" })).await;
        let urls: Vec<&Value> =
            found["results"].as_array().unwrap().iter().map(|hit| &hit["url"]).collect();
        assert_eq!(urls, ["https://site1.example/", "https://site3.example/"]);
    }
    let server = Server::new(|_| {
        let body = json!({ "results": [{}, 1], "web": { "results": [{}, 1] } });
        ok("application/json", body.to_string())
    })
    .await;
    for pool in engines(&server.url("")) {
        let text = error(&pool, "WebSearch", json!({ "query": "q" })).await;
        assert!(text.contains("cannot be read"), "{text}");
    }
}

fn engines(url: &str) -> [ToolPool; 3] {
    [
        searching(Searxng::new(url).unwrap()),
        searching(Brave::at(url, KEY.into()).unwrap()),
        searching(Tavily::at(url, KEY.into()).unwrap()),
    ]
}

#[tokio::test]
async fn errors_of_engines_say_what_to_do_and_never_have_the_key() {
    let server = Server::new(|path| {
        let headers = ["retry-after: 3", "content-type: application/json"];
        match path.split('/').nth(1).unwrap() {
            "401" => response("401 Unauthorized", &headers, "{\"detail\":{\"error\":\"Unauthorized: missing or invalid API key.\"}}"),
            "429" => response("429 Too Many Requests", &headers, "{\"error\":{\"code\":\"RATE_LIMITED\",\"detail\":\"Request rate limit exceeded\"}}"),
            "422" => response("422 Unprocessable Entity", &headers, "{\"error\":{\"detail\":\"Unable to validate request parameter(s)\"}}"),
            "503" => response("503 Service Unavailable", &headers, "<html>"),
            _ => ok("text/html", "<html>"),
        }
    })
    .await;
    let closed = "http://127.0.0.1:1";
    let cases = [
        (server.url("/401"), ErrorClass::Tool, ["(401)", "set a valid key", "missing or invalid"]),
        (
            server.url("/429"),
            ErrorClass::Transient,
            ["(429)", "retry after 3 seconds", "limit exceeded"],
        ),
        (server.url("/422"), ErrorClass::Tool, ["(422)", "change the words", "validate request"]),
        (server.url("/503"), ErrorClass::Transient, ["(503)", "try again later", ""]),
        (server.url("/html"), ErrorClass::Tool, ["cannot be read", "use another source", ""]),
        (closed.to_owned(), ErrorClass::Transient, ["cannot be reached", "try again later", ""]),
    ];
    for (url, class, parts) in cases {
        let backends = [
            searching(Brave::at(&url, KEY.into()).unwrap()),
            searching(Tavily::at(&url, KEY.into()).unwrap()),
        ];
        for pool in backends {
            let result = call(&pool, "WebSearch", json!({ "query": "q" })).await;
            let text = format!("{} {:?}", result.observation().to_text(), result.error());
            assert!(parts.iter().all(|part| text.contains(part)), "{url}: {text}");
            assert!(!text.contains(KEY), "{text}");
            assert_eq!(result.error().unwrap().class(), class, "{url}");
        }
    }
}

#[tokio::test]
async fn searxng_without_json_or_without_engines_says_so() {
    let server = Server::new(|path| match path {
        path if path.starts_with("/403") => response("403 Forbidden", &[], "<html>"),
        _ => ok(
            "application/json",
            "{\"results\": [], \"unresponsive_engines\": [[\"x\", \"timeout\"]]}",
        ),
    })
    .await;
    let pool = searching(Searxng::new(&server.url("/403")).unwrap());
    let text = error(&pool, "WebSearch", json!({ "query": "q" })).await;
    assert!(text.contains("add `json` to `search.formats`"), "{text}");
    let pool = searching(Searxng::new(&server.url("/down")).unwrap());
    let text = error(&pool, "WebSearch", json!({ "query": "q" })).await;
    assert!(text.contains("x (timeout)"), "{text}");
}

#[tokio::test]
async fn counts_and_domains_that_are_none_are_rejected() {
    let pool = searching(Searxng::new("http://127.0.0.1:1").unwrap());
    for arguments in [
        json!({ "query": "q", "num_results": -1 }),
        json!({ "query": "q", "num_results": 0 }),
        json!({ "query": "q", "num_results": 21 }),
        json!({ "query": "" }),
        json!({ "query": "q", "allowed_domains": ["two words"] }),
    ] {
        let text = error(&pool, "WebSearch", arguments).await;
        assert!(!text.contains("reached"), "{text}");
    }
}

#[test]
fn keys_are_not_printed() {
    let search = SearchParams::Custom(Arc::new(Brave::new(KEY.into()).unwrap()));
    assert_eq!(format!("{search:?}"), "Custom(Brave)");
    assert!(Brave::new("a\nb".into()).is_err_and(|error| !error.contains("a\n")));
}
