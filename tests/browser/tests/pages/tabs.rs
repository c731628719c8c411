//! Tabs: popups, list, switch, close.

use crate::server::Server;
use crate::support::{Desk, html};
use serde_json::json;

async fn site() -> Server {
    Server::new(|path| match path {
        "/" => html("<title>Main</title><a href=/popup target=_blank rel=opener>Popup</a> <a href=/link>Link</a>
             <button onclick=\"window.open('/opened')\">Open</button>",
        ),
        "/popup" => html("<title>Popup</title><button onclick='window.close()'>Close me</button><script>alert('at once')</script>"),
        path => html(&format!("<title>{path}</title>")),
    })
    .await
}

#[tokio::test]
async fn popups_become_tabs() {
    let site = site().await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let page = desk.click("Popup").await;
    assert_eq!(page["title"], "Main");
    let notices = page["notices"].to_string();
    assert!(notices.contains("opened tab 2"), "{notices}");
    let page = desk.value("browser_switch_tab", json!({"tab_id": "2"})).await;
    assert_eq!(page["title"], "Popup");
    let tabs = desk.value("browser_list_tabs", json!({})).await;
    let tabs = tabs["tabs"].as_array().unwrap();
    assert_eq!(
        (tabs.len(), &tabs[0]["active"], &tabs[1]["active"]),
        (2, &json!(false), &json!(true))
    );
    assert_eq!(tabs[1]["url"], site.url("/popup"));
    // A page that closes its own tab.
    let page = desk.click("Close me").await;
    assert_eq!(page["tab_id"], "1");
    desk.close().await;
}

#[tokio::test]
async fn a_tab_beyond_the_limit_is_an_error_at_once() {
    let site = site().await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let more = json!({"url": site.url("/more"), "new_tab": true});
    for _ in 1..20 {
        desk.value("browser_navigate", more.clone()).await;
    }
    for _ in 0..4 {
        let error = desk.error("browser_navigate", more.clone()).await;
        assert!(error.contains("close one by browser_close_tab"), "{error}");
    }
    desk.value("browser_close_tab", json!({"tab_id": "2"})).await;
    desk.value("browser_navigate", more).await;
    desk.close().await;
}

#[tokio::test]
async fn tabs_are_opened_listed_and_closed() {
    let site = site().await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let link = desk.index("Link").await;
    let page = desk.value("browser_click", json!({"index": link, "new_tab": true})).await;
    assert_eq!((&page["title"], &page["tab_id"]), (&json!("/link"), &json!("2")));
    let page =
        desk.value("browser_navigate", json!({"url": site.url("/third"), "new_tab": true})).await;
    assert_eq!(page["tab_id"], "3");
    let tabs = desk.value("browser_close_tab", json!({"tab_id": "3"})).await;
    assert_eq!(tabs["tabs"].as_array().unwrap().len(), 2);
    let error = desk.error("browser_switch_tab", json!({"tab_id": "3"})).await;
    assert!(error.contains("the tabs are `1`, `2`"), "{error}");
    for tab in ["1", "2"] {
        desk.value("browser_close_tab", json!({"tab_id": tab})).await;
    }
    let tabs = desk.value("browser_list_tabs", json!({})).await;
    assert_eq!(
        (tabs["tabs"].as_array().unwrap().len(), &tabs["tabs"][0]["url"]),
        (1, &json!("about:blank"))
    );
    let error = desk.error("browser_click", json!({"index": link, "new_tab": true})).await;
    assert!(error.contains("browser_get_state"), "{error}");
    desk.close().await;
}

#[tokio::test]
async fn sessions_have_browsers_of_their_own() {
    let site = site().await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let session = desk.pool.session();
    let call =
        session.pool().call(tool_runtime::ToolCall::json("browser_list_tabs", json!({}))).await;
    let tabs = call.observation().structured().unwrap();
    assert_eq!(tabs["tabs"][0]["url"], "about:blank");
    desk.close().await;
}
