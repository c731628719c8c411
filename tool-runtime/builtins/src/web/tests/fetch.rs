//! `WebFetch`: kinds of pages, parts, limits, errors.

use super::server::{Server, ok, response};
use super::{WebParams, call, error, params, pool, value};
use crate::test_time::skip_time;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::AsyncReadExt as _;
use tokio::io::AsyncWriteExt as _;
use tokio::net::{TcpListener, TcpStream};
use tool_runtime::ContentBlock;
use tool_runtime::peer::{Peer, Progress};
use tool_runtime::prelude::*;

/// The limit of a call that reaches it. Less than [`super::LIMIT`], which is skipped with it.
const TIMEOUT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn html_json_and_text_are_returned_in_their_forms() {
    let server = Server::new(|path| match path {
        "/html" => ok(
            "text/html; charset=iso-8859-1",
            b"<title>Caf\xe9</title><script>no()</script><style>no{}</style><p>Hello <a href=/x>you</a> &lt;3</p>",
        ),
        "/json" => ok("application/json", "{\"a\": [1, 2]}"),
        "/api" => ok("application/vnd.api+json", "{}"),
        "/text" => ok("text/plain", "a < b\n"),
        "/none" => response("200 OK", &[], "<!DOCTYPE html><p>sniffed"),
        "/hidden" => ok("text/plain", "a\u{202e}b\u{1b}[2J\u{e0041} \u{5d0}\u{200f}\r\n"),
        "/octets" => ok("application/octet-stream", "some text"),
        _ => ok("text/html", ""),
    })
    .await;
    let pool = pool(params());
    let html = value(&pool, "WebFetch", json!({ "url": server.url("/html") })).await;
    let text = format!("Hello [you]({}) \\<3", server.url("/x"));
    assert_eq!(
        html,
        json!({
            "url": server.url("/html"), "status": 200, "content_type": "text/html; charset=iso-8859-1",
            "title": "Café", "text": text, "offset": 0, "total": text.chars().count(), "truncated": false,
        })
    );
    for (path, format, expected) in [
        ("/html", "text", "Hello you <3"),
        ("/json", "markdown", "{\"a\": [1, 2]}"),
        ("/api", "markdown", "{}"),
        ("/text", "markdown", "a < b\n"),
        ("/none", "markdown", "sniffed"),
        ("/hidden", "markdown", "a\\u{202e}b\\u{1b}[2J\\u{e0041} \u{5d0}\u{200f}\r\n"),
        ("/octets", "raw", "some text"),
        ("/empty", "markdown", ""),
    ] {
        let arguments = json!({ "url": server.url(path), "format": format });
        assert_eq!(value(&pool, "WebFetch", arguments).await["text"], expected, "{path}");
    }
    let raw =
        value(&pool, "WebFetch", json!({ "url": server.url("/html"), "format": "raw" })).await;
    assert!(raw["text"].as_str().unwrap().starts_with("<title>Café</title><script>"));
    let empty = call(&pool, "WebFetch", json!({ "url": server.url("/empty") })).await;
    assert!(empty.observation().to_text().contains("[the page has no text]"));
}

#[tokio::test]
async fn parts_follow_each_other_and_the_notice_says_how() {
    let server = Server::new(|_| ok("text/plain; charset=utf-8", "äöü".repeat(1000))).await;
    let pool = pool(params());
    let (mut text, mut offset) = (String::new(), 0);
    for (index, (begin, end)) in [(0, 1300), (1300, 2600), (2600, 3000)].into_iter().enumerate() {
        let arguments = json!({ "url": server.url("/"), "max_length": 1300, "offset": offset });
        let result = call(&pool, "WebFetch", arguments).await;
        let (output, part) =
            (result.observation().to_text(), result.observation().structured().unwrap());
        assert!(output.contains(&format!("[characters {begin} to {end} of 3000")), "{output}");
        assert_eq!(output.contains(&format!("; the rest: `offset` {end}]")), index < 2, "{output}");
        text.push_str(part["text"].as_str().unwrap());
        assert_eq!((&part["truncated"], &part["total"]), (&json!(true), &json!(3000)));
        offset = part["next_offset"].as_u64().unwrap_or(0);
    }
    assert!(text == "äöü".repeat(1000) && offset == 0);
    let after = json!({ "url": server.url("/"), "offset": 3000 });
    assert!(error(&pool, "WebFetch", after).await.contains("the page has 3000 characters"));
}

#[tokio::test]
async fn images_are_shown_and_other_kinds_are_errors() {
    let mut png = Vec::new();
    let image = image::DynamicImage::new_rgb8(4, 2);
    image.write_to(&mut std::io::Cursor::new(&mut png), image::ImageFormat::Png).unwrap();
    let served = png.clone();
    let server = Server::new(move |path| match path {
        "/image" => ok("image/png", &served),
        "/broken" => ok("image/png", "not an image"),
        "/binary" => ok("application/octet-stream", b"\0\x01"),
        _ => ok("application/pdf", "%PDF-1.7"),
    })
    .await;
    let pool = pool(params());
    let result = call(&pool, "WebFetch", json!({ "url": server.url("/image") })).await;
    let blocks = result.observation().content();
    assert_eq!(blocks[0].as_text(), Some("image/png, 4 x 2 pixels"));
    assert!(matches!(&blocks[1], ContentBlock::Image(_)), "{blocks:?}");
    for (path, expected) in
        [("/pdf", "application/pdf"), ("/binary", "neither text"), ("/broken", "cannot be shown")]
    {
        let text = error(&pool, "WebFetch", json!({ "url": server.url(path) })).await;
        assert!(text.contains(expected), "{text}");
    }
}

#[tokio::test]
async fn statuses_are_errors_that_say_what_to_do() {
    let server = Server::new(|path| match path {
        "/404" => response("404 Not Found", &["content-type: text/html"], "<p>No <b>such</b> page"),
        "/500" => response("500 Internal Server Error", &[], ""),
        "/429" => response("429 Too Many Requests", &["retry-after: 17"], "slow down"),
        "/503" => {
            let wait = format!("retry-after: {}", "9".repeat(50_000));
            response("503 Service Unavailable", &[&wait], "")
        }
        _ => response("403 Forbidden", &["content-type: image/png"], "x"),
    })
    .await;
    let pool = pool(params());
    for (path, class, parts) in [
        ("/404", ErrorClass::Tool, ["404 Not Found", "check the address", "No such page"]),
        ("/500", ErrorClass::Transient, ["500 Internal", "try again later", ""]),
        ("/429", ErrorClass::Transient, ["429 Too Many", "retry after: 17", "slow down"]),
        ("/503", ErrorClass::Transient, ["503 Service", "retry after: 999", ""]),
        ("/403", ErrorClass::Tool, ["403 Forbidden", "needs a login", ""]),
    ] {
        let result = call(&pool, "WebFetch", json!({ "url": server.url(path) })).await;
        let text = result.observation().to_text();
        assert!(parts.iter().all(|part| text.contains(part)), "{path}: {text}");
        assert!(text.len() < 1000, "{path}: {}", text.len());
        assert_eq!(result.error().unwrap().class(), class, "{path}");
    }
}

#[tokio::test]
async fn urls_that_cannot_be_fetched_are_errors() {
    let pool = pool(WebParams::default());
    // No name has such a label, so that no server is asked for it.
    let no_host = format!("{}.invalid", "x".repeat(64));
    for (url, expected) in [
        ("example.com/page", "write it whole"),
        ("http://", "not a valid URL"),
        ("http://exa mple.com/", "not a valid URL"),
        ("ftp://example.com/", "`ftp` is not a scheme"),
        ("file:///etc/passwd", "`file` is not a scheme"),
        ("gopher://127.0.0.1:6379/_x", "`gopher` is not a scheme"),
        ("data:text/html,x", "`data` is not a scheme"),
        ("http://user:password@example.com/", "a user or a password"),
        ("http://user@example.com/", "a user or a password"),
        ("http://127.0.0.1:1/", "has the address 127.0.0.1, which is not public"),
        ("http://0x7f.1/", "which is not public"),
        ("http://localhost:1/", "which is not public"),
        ("http://LOCALHOST:1/", "which is not public"),
        ("http://[::ffff:127.0.0.1]/", "which is not public"),
        ("http://169.254.169.254/latest/meta-data/", "which is not public"),
        (&format!("http://{no_host}/"), &format!("there is no host `{no_host}`")),
    ] {
        let text = error(&pool, "WebFetch", json!({ "url": url })).await;
        assert!(text.contains(expected), "{url}: {text}");
        assert!(!text.contains("password@"), "{text}");
    }
}

#[tokio::test]
async fn a_refused_address_gets_no_connection() {
    let server = Server::new(|_| ok("text/plain", "secret")).await;
    let pool = pool(WebParams::default());
    for host in ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"] {
        error(
            &pool,
            "WebFetch",
            json!({ "url": format!("http://{host}:{}/", server.address.port()) }),
        )
        .await;
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

/// A server that sends without end and says how many bytes it could send.
#[tokio::test]
async fn a_download_ends_at_the_limit() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut sent = 0;
        assert!(stream.read(&mut [0; 4096]).await.unwrap() > 0);
        let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n";
        stream.write_all(head).await.unwrap();
        while stream.write_all(&[b'x'; 65536]).await.is_ok() {
            sent += 65536;
        }
        sent
    });
    let pool = pool(WebParams { max_bytes: 100_000, ..params() });
    let arguments = json!({ "url": format!("http://127.0.0.1:{port}/"), "max_length": 10 });
    let result = call(&pool, "WebFetch", arguments).await;
    let text = result.observation().to_text();
    assert!(text.contains("its end is missing"), "{text}");
    assert_eq!(result.observation().structured().unwrap()["total"], 100_000);
    let sent: usize = server.await.unwrap();
    assert!(sent < 50_000_000, "{sent} bytes were sent");
}

#[tokio::test]
async fn the_limit_counts_decompressed_bytes() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..1000 {
        encoder.write_all(&[b'x'; 100_000]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 200_000);
    let headers = ["content-type: text/plain", "content-encoding: gzip"];
    let server = Server::new(move |_| response("200 OK", &headers, &bomb)).await;
    let pool = pool(WebParams { max_bytes: 300_000, ..params() });
    let page = value(&pool, "WebFetch", json!({ "url": server.url("/"), "max_length": 1 })).await;
    assert_eq!((&page["total"], &page["truncated"]), (&json!(300_000), &json!(true)));
}

/// Servers send `x-gzip`, upper case and character sets as `content-encoding`.
#[tokio::test]
async fn other_names_of_gzip_are_decompressed_and_other_compressions_are_errors() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all("text of the page".repeat(1000).as_bytes()).unwrap();
    let packed = encoder.finish().unwrap();
    let server = Server::new(move |path| {
        let name = path.trim_start_matches("/plain/").trim_start_matches('/');
        let headers = ["content-type: text/plain", &format!("content-encoding: {name}")];
        match path.starts_with("/plain/") {
            true => response("200 OK", &headers, "text of the page"),
            false => response("200 OK", &headers, &packed),
        }
    })
    .await;
    let pool = pool(WebParams { max_bytes: 10_000, ..params() });
    for path in ["/x-gzip", "/X-Gzip", "/GZIP", "/gzip"] {
        let page = value(&pool, "WebFetch", json!({ "url": server.url(path) })).await;
        assert!(page["text"].as_str().unwrap().starts_with("text of the page"), "{path}");
        assert_eq!((&page["total"], &page["truncated"]), (&json!(10_000), &json!(true)), "{path}");
    }
    for path in ["/plain/UTF-8", "/plain/identity", "/plain/none"] {
        let page = value(&pool, "WebFetch", json!({ "url": server.url(path) })).await;
        assert_eq!(page["text"], "text of the page", "{path}");
    }
    for (path, expected) in [
        ("/zstd", "is compressed by `zstd`"),
        ("/compress", "is compressed by `compress`"),
        ("/br,gzip", "is compressed by `br, gzip`"),
        ("/plain/x-gzip", "not compressed as its header `content-encoding` says"),
    ] {
        let text = error(&pool, "WebFetch", json!({ "url": server.url(path) })).await;
        assert!(text.contains(expected), "{path}: {text}");
    }
}

/// The first page never ends. The time of the second one begins after it.
#[tokio::test]
async fn only_so_many_pages_are_fetched_at_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let timeout_seconds = TIMEOUT.as_secs();
    let pool = pool(WebParams { pages_at_once: 1, timeout_seconds, ..params() });
    let first = error(&pool, "WebFetch", json!({ "url": format!("{url}/first") }));
    let second = value(&pool, "WebFetch", json!({ "url": format!("{url}/second") }));
    let server = async {
        let _first = asked(&listener, "GET /first").await;
        skip_time(TIMEOUT).await;
        let mut stream = asked(&listener, "GET /second").await;
        stream.write_all(&ok("text/plain", "second page")).await.unwrap();
    };
    let (first, second, ()) = tokio::join!(first, second, server);
    assert!(first.contains("did not answer in time"), "{first}");
    assert_eq!(second["text"], "second page");
    let none = super::pool(WebParams { pages_at_once: 0, ..params() }).report().to_string();
    assert!(none.contains("`pages_at_once` must be at least 1"), "{none}");
}

#[tokio::test]
async fn a_silent_server_is_an_error_in_time_and_a_cancelled_call_closes_the_connection() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let pool = pool(WebParams { timeout_seconds: TIMEOUT.as_secs(), ..params() });
    let expire = async {
        let stream = asked(&listener, "GET /").await;
        skip_time(TIMEOUT).await;
        stream
    };
    let call = error(&pool, "WebFetch", json!({ "url": url }));
    let (text, _stream) = tokio::join!(call, expire);
    assert!(text.contains("did not answer in time"), "{text}");

    let arguments = json!({ "url": url });
    let running =
        tokio::spawn(async move { pool.call(ToolCall::json("WebFetch", arguments)).await });
    let mut stream = asked(&listener, "GET /").await;
    running.abort();
    let mut rest = Vec::new();
    let end = tokio::time::timeout(super::LIMIT, stream.read_to_end(&mut rest)).await;
    end.expect("the connection stays open").ok();
}

/// The environment of the tests names no proxy, or one that does not reach this server.
#[tokio::test]
async fn connections_beside_a_proxy_reach_public_addresses_alone() {
    let server = Server::new(|_| ok("text/plain", "x")).await;
    let pool = pool(WebParams { use_proxy: true, ..WebParams::default() });
    let url = server.url("/").replace("127.0.0.1", "localhost");
    error(&pool, "WebFetch", json!({ "url": url })).await;
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn only_allowed_headers_are_sent() {
    let server = Server::new(|_| ok("text/plain", "x")).await;
    let pool = pool(WebParams {
        allowed_headers: vec!["Accept-Language".to_owned(), "host".to_owned()],
        ..params()
    });
    let with =
        |name: &str, value: &str| json!({ "url": server.url("/"), "headers": { name: value } });
    value(&pool, "WebFetch", with("accept-language", "de")).await;
    let requests = server.requests();
    assert!(requests[0].contains("accept-language: de"), "{requests:?}");
    assert!(requests[0].contains("user-agent: tool-runtime/"), "{requests:?}");
    for (name, value) in [("Cookie", "a=b"), ("Host", "other"), ("accept-language", "a\r\nb: c")] {
        let text = error(&pool, "WebFetch", with(name, value)).await;
        assert!(text.contains(name) && text.contains("not"), "{text}");
    }
    assert_eq!(server.requests().len(), 1);
}

/// Records how much was downloaded.
#[derive(Default)]
struct Recorder(Mutex<Vec<(f64, Option<f64>)>>);

impl Peer for Recorder {
    fn accepts_progress(&self) -> bool {
        true
    }

    fn progress(&self, progress: Progress) {
        self.0.lock().unwrap().push((progress.done, progress.total));
    }
}

#[tokio::test]
async fn a_long_download_reports_progress() {
    let server = Server::new(|_| ok("text/plain", "x".repeat(1_000_000))).await;
    let (pool, recorder) = (pool(params()), Arc::new(Recorder::default()));
    let context = pool.context().with_peer(recorder.clone());
    let call = ToolCall::json("WebFetch", json!({ "url": server.url("/") }));
    pool.call_with(call, &context).await;
    let seen = recorder.0.lock().unwrap().clone();
    assert!(seen.len() >= 2 && seen.windows(2).all(|two| two[0].0 < two[1].0), "{seen:?}");
    assert!(seen.iter().all(|(_, total)| *total == Some(1_000_000.0)), "{seen:?}");
}

/// A slow redirect to a page that never ends. The time that a limit of each request would leave is not waited for.
#[tokio::test]
async fn the_time_limit_is_that_of_the_whole_call() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let server = tokio::spawn(async move {
        let redirect = "HTTP/1.1 302 Found\r\nlocation: /page\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let mut stream = asked(&listener, "GET /slow").await;
        skip_time(TIMEOUT * 9 / 10).await;
        stream.write_all(redirect.as_bytes()).await.unwrap();
        let mut stream = asked(&listener, "GET /page").await;
        let part = "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart";
        stream.write_all(part.as_bytes()).await.unwrap();
        skip_time(TIMEOUT / 5).await;
        // A client that waits on gets the rest.
        let closed = tokio::time::timeout(TIMEOUT / 2, stream.read(&mut [0; 1])).await;
        if closed.is_err() {
            stream.write_all(b" two.").await.unwrap();
        }
    });
    let pool = pool(WebParams { timeout_seconds: TIMEOUT.as_secs(), ..params() });
    let url = format!("http://127.0.0.1:{port}/slow");
    let late = error(&pool, "WebFetch", json!({ "url": url })).await;
    assert!(late.contains("did not answer in time"), "{late}");
    server.await.unwrap();
}

/// The connection of the next request, which begins so.
async fn asked(listener: &TcpListener, beginning: &str) -> TcpStream {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = [0; 4096];
    let length = stream.read(&mut request).await.unwrap();
    assert!(request[..length].starts_with(beginning.as_bytes()), "{beginning}");
    stream
}

/// Claude Code's tool has `prompt`, which a model writes in each call.
#[tokio::test]
async fn a_prompt_is_accepted_and_the_page_is_returned() {
    let server = Server::new(|_| ok("text/plain", "the page")).await;
    let arguments = json!({ "url": server.url("/"), "prompt": "What is the title?" });
    let page = value(&pool(params()), "WebFetch", arguments).await;
    assert_eq!(page["text"], "the page");
}
