//! Cookies and local storage.

use crate::server::{Server, response};
use crate::support::{Desk, params};
use serde_json::json;
use tool_runtime_builtins::browser::BrowserParams;

async fn site() -> Server {
    Server::new(|_| {
        response(
            "200 OK",
            &["content-type: text/html", "set-cookie: session=from-server; HttpOnly; SameSite=Lax"],
            "<script>localStorage.own = 'page'; document.title = localStorage.stored ?? 'none'</script>",
        )
    })
    .await
}

#[tokio::test]
async fn storage_goes_from_one_browser_to_another() {
    let site = site().await;
    let show = || Desk::with(BrowserParams { show_stored_values: true, ..params() });
    let first = show();
    assert_eq!(first.open(&site.url("/")).await["title"], "none");
    let mut state = first.value("browser_get_storage", json!({})).await["storage_state"].clone();
    let cookie = &state["cookies"][0];
    assert_eq!((&cookie["name"], &cookie["value"]), (&json!("session"), &json!("from-server")));
    assert_eq!((&cookie["httpOnly"], &cookie["sameSite"]), (&json!(true), &json!("Lax")));
    let origin = &mut state["origins"][0];
    assert_eq!(origin["origin"], site.url(""));
    assert_eq!(origin["localStorage"], json!([{"name": "own", "value": "page"}]));
    first.close().await;

    origin["localStorage"] = json!([{"name": "stored", "value": "kept"}]);
    let second = show();
    let requests = site.requests().len();
    second.text("browser_set_storage", json!({"storage_state": state})).await;
    assert_eq!(site.requests().len(), requests);
    assert_eq!(
        second.value("browser_list_tabs", json!({})).await["tabs"].as_array().unwrap().len(),
        1
    );
    assert_eq!(second.open(&site.url("/")).await["title"], "kept");
    let last = site.requests().pop().unwrap();
    assert!(last.contains("session=from-server"), "{last}");
    // Others stay.
    let more = json!({"cookies": [{"name": "more", "value": "1", "domain": "127.0.0.1"}]});
    second.text("browser_set_storage", json!({"storage_state": more})).await;
    let all = second.value("browser_get_storage", json!({})).await;
    assert_eq!(all["storage_state"]["cookies"].as_array().unwrap().len(), 2);
    assert_eq!(all["storage_state"]["origins"][0]["localStorage"].as_array().unwrap().len(), 2);
    second.close().await;
}

#[tokio::test]
async fn values_are_hidden_unless_the_operator_shows_them() {
    let site = site().await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let result = desk.call("browser_get_storage", json!({})).await;
    let text = result.observation().to_text();
    assert!(text.contains("\"session\"") && text.contains("the operator hides values"), "{text}");
    let state = result.observation().structured().unwrap();
    assert!(!text.contains("from-server") && !state.to_string().contains("from-server"), "{text}");
    let error =
        desk.error("browser_set_storage", json!({"storage_state": state["storage_state"]})).await;
    assert!(error.contains("is not a value"), "{error}");
    let wrong = json!({"origins": [{"origin": "file:///etc", "localStorage": []}]});
    let error = desk.error("browser_set_storage", json!({"storage_state": wrong})).await;
    assert!(error.contains("is not an origin"), "{error}");
    desk.close().await;
}
