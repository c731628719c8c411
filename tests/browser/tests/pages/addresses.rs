//! Pages reach allowed addresses alone.

use crate::server::{Server, response};
use crate::support::{Desk, html, page, params, private_server};
use serde_json::json;
use tool_runtime_builtins::browser::BrowserParams;

#[tokio::test]
async fn private_addresses_are_refused() {
    let private = private_server().await;
    let url = private.url("/");
    let target = url.clone();
    let site = Server::new(move |path| match path {
        "/away" => response("302 Found", &[&format!("location: {target}")], ""),
        path => html(&format!("<title>{path}</title><a href={target}>Away</a>")),
    })
    .await;
    let desk = Desk::new();
    for url in [url.clone(), url.replace("127.0.0.2", "0x7f000002"), url.replace("http:", "https:")]
    {
        let error = desk.error("browser_navigate", json!({"url": url})).await;
        assert!(error.contains("which is not public"), "{url}: {error}");
    }
    for host in ["[::1]", "0.0.0.0", "169.254.169.254"] {
        let error = desk.error("browser_navigate", json!({"url": format!("http://{host}/")})).await;
        assert!(error.contains("which is not public"), "{host}: {error}");
    }
    let error = desk.error("browser_navigate", json!({"url": site.url("/away")})).await;
    assert!(error.contains("127.0.0.2") && error.contains("not public"), "{error}");
    desk.open(&site.url("/")).await;
    let away = desk.index("Away").await;
    let error = desk.error("browser_click", json!({"index": away})).await;
    assert!(error.contains("not public"), "{error}");
    assert_eq!(private.requests(), Vec::<String>::new());
    desk.close().await;
}

#[tokio::test]
async fn parts_of_a_page_at_private_addresses_are_refused() {
    let private = private_server().await;
    let url = private.url("/x");
    let socket = url.replace("http:", "ws:");
    let html = format!(
        "<title>wait</title><img src={url}?img><iframe src={url}?frame></iframe><link rel=preconnect href={url}>
         <script src={url}?script></script><script>
         const failed = (promise) => promise.then(() => 'reached', () => 'failed');
         const socket = new Promise((open, fail) => {{
           const s = new WebSocket('{socket}'); s.onopen = open; s.onerror = fail; }});
         const worker = new Promise((open, fail) => {{
           const w = new Worker(URL.createObjectURL(new Blob([`fetch('{url}?worker').then((r) => r.text()).then(() => postMessage(1), () => postMessage(0))`])));
           w.onmessage = (e) => e.data ? open() : fail(); }});
         Promise.all([failed(fetch('{url}?fetch').then((r) => r.ok || Promise.reject())), failed(socket), failed(worker)])
           .then((results) => document.title = results.join());
         </script>"
    );
    let site = page(&html).await;
    let desk = Desk::new();
    let page = desk.open(&site.url("/")).await;
    let mut title = page["title"].clone();
    let mut notices = page["notices"].to_string();
    while title == "wait" {
        let state = desk.value("browser_get_state", json!({})).await;
        title = state["page"]["title"].clone();
        notices.push_str(&state["page"]["notices"].to_string());
    }
    assert_eq!(title, "failed,failed,failed");
    assert!(notices.contains("not loaded: `127.0.0.2` has the address 127.0.0.2"), "{notices}");
    assert_eq!(private.requests(), Vec::<String>::new());
    desk.close().await;
}

/// A port of the page's own host is closed, as that of a server for live reloads is.
#[tokio::test]
async fn a_page_whose_part_fails_at_its_own_host_is_shown() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let html = format!(
        "<title>Shown</title><script src=http://127.0.0.1:{port}/livereload.js></script><button>Press</button>"
    );
    let site = page(&html).await;
    let desk = Desk::new();
    let page = desk.open(&site.url("/")).await;
    assert_eq!(page["title"], "Shown");
    let error = desk.error("browser_navigate", json!({"url": format!("http://127.0.0.1:{port}/")}));
    assert!(error.await.contains("127.0.0.1"));
    desk.close().await;
}

#[tokio::test]
async fn an_allowed_address_is_reached_by_all_of_these() {
    let other = private_server().await;
    let url = other.url("/x");
    let html = format!(
        "<title>wait</title><script>fetch('{url}').then((r) => r.text()).then((text) => document.title = text)</script>"
    );
    let site = page(&html).await;
    let allowed_hosts = vec!["127.0.0.0/8".to_owned()];
    let desk = Desk::with(BrowserParams { allowed_hosts, ..params() });
    let mut title = desk.open(&site.url("/")).await["title"].clone();
    while title == "wait" {
        title = desk.value("browser_get_state", json!({})).await["page"]["title"].clone();
    }
    assert_eq!(title, "a secret");
    desk.close().await;
}

#[tokio::test]
async fn files_and_pages_of_the_browser_are_refused() {
    let html = "<title>Page</title><a href='file:///etc/passwd'>File</a> <a href='chrome://version'>Version</a>
        <button onclick=\"window.open('file:///etc/passwd')\">Open</button>";
    let site = page(html).await;
    let desk = Desk::new();
    for url in [
        "file:///etc/passwd",
        "chrome://version",
        "view-source:http://127.0.0.1/",
        "javascript:alert(1)",
        "data:text/html,x",
        "ftp://127.0.0.1/",
        "about:version",
    ] {
        let error = desk.error("browser_navigate", json!({"url": url})).await;
        assert!(error.contains("cannot be opened"), "{url}: {error}");
    }
    let error = desk.error("browser_navigate", json!({"url": "http://ada:pw@127.0.0.1/"})).await;
    assert!(error.contains("a user or a password"), "{error}");
    desk.open(&site.url("/")).await;
    for link in ["File", "Version", "Open"] {
        desk.click(link).await;
        let text = desk.text("browser_list_tabs", json!({})).await;
        assert!(!text.contains("file:") && !text.contains("chrome:"), "{text}");
    }
    assert!(!desk.content().await.contains("root:"));
    desk.close().await;
}

#[tokio::test]
async fn pages_that_cannot_be_reached_are_errors() {
    let gone = page("").await;
    let url = gone.url("/");
    drop(gone);
    let desk = Desk::new();
    let error = desk.error("browser_navigate", json!({"url": url})).await;
    assert!(error.contains("cannot be reached"), "{error}");
    let error =
        desk.error("browser_navigate", json!({"url": "http://no-such-host.invalid/"})).await;
    assert!(error.contains("there is no host"), "{error}");
    let missing =
        Server::new(|_| response("404 Not Found", &["content-type: text/html"], "<p>no")).await;
    let text = desk.text("browser_navigate", json!({"url": missing.url("/")})).await;
    assert!(text.contains("HTTP status 404"), "{text}");
    desk.close().await;
}
