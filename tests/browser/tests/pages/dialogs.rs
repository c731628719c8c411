//! Dialogs and downloads do not stop a call.

use crate::server::{Server, response};
use crate::support::{Desk, html, params};
use serde_json::json;
use tool_runtime_builtins::Sandbox;
use tool_runtime_builtins::browser::BrowserParams;

#[tokio::test]
async fn dialogs_are_answered_and_reported() {
    let site = Server::new(|path| match path {
        "/" => html(
            "<title>Start</title><script>alert('hello')</script>
             <button onclick=\"document.title = 'confirmed: ' + confirm('sure?')\">Ask</button>
             <button onclick=\"document.title = 'name: ' + prompt('name?')\">Name</button>
             <input aria-label=Field><a href=/next>Next</a>
             <script>addEventListener('beforeunload', (event) => event.preventDefault())</script>",
        ),
        path => html(&format!("<title>{path}</title>")),
    })
    .await;
    let desk = Desk::new();
    let page = desk.open(&site.url("/")).await;
    assert!(page["notices"].to_string().contains("(alert), which was closed: hello"), "{page}");
    let page = desk.click("Ask").await;
    assert_eq!(page["title"], "confirmed: false");
    assert!(page["notices"].to_string().contains("sure?"), "{page}");
    assert_eq!(desk.click("Name").await["title"], "name: null");
    let field = desk.index("Field").await;
    desk.value("browser_type", json!({"index": field, "text": "x"})).await;
    assert_eq!(desk.click("Next").await["title"], "/next");
    desk.close().await;
}

async fn with_file() -> Server {
    Server::new(|path| match path {
        "/file" => response(
            "200 OK",
            &[
                "content-type: application/octet-stream",
                "content-disposition: attachment; filename=report.bin",
            ],
            "contents",
        ),
        _ => html("<a href=/file>File</a>"),
    })
    .await
}

#[tokio::test]
async fn downloads_are_denied() {
    let site = with_file().await;
    let desk = Desk::new();
    let error = desk.error("browser_navigate", json!({"url": site.url("/file")})).await;
    assert!(error.contains("`report.bin`"), "{error}");
    desk.open(&site.url("/")).await;
    let page = desk.click("File").await;
    assert!(page["notices"].to_string().contains("`report.bin`"), "{page}");
    assert_eq!(std::fs::read_dir(desk.directory.path()).unwrap().count(), 0);
    desk.close().await;
}

#[tokio::test]
async fn downloads_go_to_the_directory_of_the_operator_and_replace_no_file() {
    for sandbox in [Sandbox::Off, Sandbox::Landlock, Sandbox::Bubblewrap] {
        downloads_go_to_the_directory_of_the_operator(sandbox).await;
    }
}

async fn downloads_go_to_the_directory_of_the_operator(sandbox: Sandbox) {
    let site = with_file().await;
    let params = || BrowserParams { downloads: Some("files".into()), ..params() };
    let desk = Desk::confined(sandbox, params());
    let files = desk.directory.path().join("files");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("report (1).bin"), "of the user").unwrap();
    desk.open(&site.url("/")).await;
    for name in ["report.bin", "report (2).bin"] {
        let mut notices = desk.click("File").await["notices"].to_string();
        while !notices.contains("the download is complete") {
            notices = desk.value("browser_list_tabs", json!({})).await["notices"].to_string();
        }
        assert!(notices.contains(&format!("files/{name}")), "{notices}");
        assert_eq!(std::fs::read_to_string(files.join(name)).unwrap(), "contents");
    }
    assert_eq!(std::fs::read_to_string(files.join("report (1).bin")).unwrap(), "of the user");
    assert_eq!(std::fs::read_dir(&files).unwrap().count(), 3);
    desk.close().await;
}

#[test]
fn downloads_outside_of_the_roots_are_refused() {
    let outside = BrowserParams { downloads: Some("/somewhere".into()), ..params() };
    let workspace = tool_runtime_builtins::Workspace::builder()
        .root(env!("CARGO_MANIFEST_DIR"))
        .build()
        .unwrap();
    let builtins = tool_runtime_builtins::Builtins::new(workspace).browser(outside);
    let pool = tool_runtime::ToolPool::builder().install(builtins).allow_empty().build().unwrap();
    assert!(pool.report().to_string().contains("cannot have downloads"), "{}", pool.report());
}
