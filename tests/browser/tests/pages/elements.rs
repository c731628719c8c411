//! Elements: list, click, type, scroll.

use crate::server::Server;
use crate::support::{Desk, html, page};
use serde_json::json;

const FORM: &str = r#"<!doctype html><title>Order</title>
<h1>Order</h1>
<form method=post action=/sent>
  <label>Name <input name=name value="old"></label>
  <label>Password <input name=password type=password value="pw-secret"></label>
  <label>Size <select name=size><option value=s>Small<option value=l>Large</select></label>
  <textarea name=note aria-label=Note></textarea>
  <label><input type=checkbox name=gift> Gift</label>
  <button>Send order</button> <button disabled>Later</button>
</form>
<a href="/next">Next</a> <span style="display:none"><a href=/hidden>Hidden</a></span>
<div id=host></div>
<script>host.attachShadow({mode:'open'}).innerHTML = '<button onclick="document.title=`Shadow`">In shadow</button>'</script>"#;

async fn site() -> Server {
    Server::new(|path| match path {
        "/" => html(FORM),
        "/sent" => html("<title>Sent</title><p>Thank you"),
        path => html(&format!("<title>{path}</title><p>At {path}")),
    })
    .await
}

#[tokio::test]
async fn a_form_is_filled_in_and_sent() {
    let site = site().await;
    let desk = Desk::new();
    let page = desk.open(&site.url("/")).await;
    assert_eq!((&page["title"], &page["status"]), (&json!("Order"), &json!(200)));
    let state = desk.text("browser_get_state", json!({})).await;
    for expected in [
        "input text \"Name\" value=\"old\"",
        "input password \"Password\" value=\"(hidden)\"",
        "options: Small | Large",
        "textarea \"Note\"",
        "input checkbox \"Gift\" not checked",
        "button \"Send order\"",
        "button \"Later\" disabled",
        &format!("a \"Next\" -> {}", site.url("/next")),
        "button \"In shadow\"",
    ] {
        assert!(state.contains(expected), "{expected} is not in {state}");
    }
    assert!(!state.contains("pw-secret") && !state.contains("Hidden"), "{state}");
    let typed = [("Name", "Ada & Söhne"), ("Size", "Large"), ("Note", "two\nlines")];
    for (field, text) in typed {
        let index = desk.index(field).await;
        let page = desk.value("browser_type", json!({"index": index, "text": text})).await;
        let first = text.lines().next().unwrap();
        assert!(page["notices"][0].as_str().unwrap().contains(first), "{page}");
    }
    desk.click("Gift").await;
    let page = desk.click("Send order").await;
    assert_eq!((&page["url"], &page["title"]), (&json!(site.url("/sent")), &json!("Sent")));
    assert!(desk.content().await.contains("Thank you"));
    let sent = site.requests().into_iter().find(|request| request.starts_with("POST")).unwrap();
    let body = "name=Ada+%26+S%C3%B6hne&password=pw-secret&size=l&note=two%0D%0Alines&gift=on";
    assert!(sent.ends_with(body), "{sent}");
    desk.close().await;
}

#[tokio::test]
async fn a_line_break_presses_enter_and_an_empty_text_clears() {
    let site = Server::new(|path| match path {
        "/" => html("<form action=/find><input name=q aria-label=Query value=old></form>"),
        path => html(&format!("<title>{path}</title>")),
    })
    .await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let index = desk.index("Query").await;
    desk.value("browser_type", json!({"index": index, "text": ""})).await;
    let state = desk.text("browser_get_state", json!({})).await;
    assert!(!state.contains("old"), "{state}");
    let page = desk.value("browser_type", json!({"index": index, "text": "rust\n"})).await;
    assert_eq!(page["url"], site.url("/find?q=rust"));
    desk.close().await;
}

#[tokio::test]
async fn elements_of_another_page_are_errors() {
    let site = site().await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let error = desk.error("browser_click", json!({"index": 0})).await;
    assert!(error.contains("browser_get_state"), "{error}");
    let next = desk.index("Next").await;
    let error = desk.error("browser_click", json!({"index": 99})).await;
    assert!(error.contains("there is no element 99"), "{error}");
    let later = desk.index("Later").await;
    let error = desk.error("browser_click", json!({"index": later})).await;
    assert!(error.contains("is disabled"), "{error}");
    let error = desk.error("browser_type", json!({"index": next, "text": "x"})).await;
    assert!(error.contains("takes no text"), "{error}");
    let size = desk.index("Size").await;
    let error = desk.error("browser_type", json!({"index": size, "text": "Huge"})).await;
    assert!(error.contains("Small | Large"), "{error}");
    desk.open(&site.url("/next")).await;
    let error = desk.error("browser_click", json!({"index": next})).await;
    assert!(error.contains("browser_get_state"), "{error}");
    desk.close().await;
}

#[tokio::test]
async fn an_element_that_was_removed_or_covered_is_an_error() {
    let html = r#"<button onclick="gone.remove()">Remove</button> <button id=gone>Gone</button>
        <button id=below style="position:fixed;top:200px;left:0;width:200px">Below</button>
        <div style="position:fixed;top:150px;left:0;width:400px;height:200px;background:red">A banner</div>"#;
    let site = page(html).await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let gone = desk.index("Gone").await;
    let below = desk.index("Below").await;
    desk.click("Remove").await;
    let error = desk.error("browser_click", json!({"index": gone})).await;
    assert!(error.contains("is not on the page"), "{error}");
    desk.index("Below").await;
    let error = desk.error("browser_click", json!({"index": below - 1})).await;
    assert!(error.contains("is covered by div \"A banner\""), "{error}");
    desk.close().await;
}

#[tokio::test]
async fn pages_scroll_and_the_history_goes_back() {
    let site = Server::new(|path| {
        html(&format!(
            "<title>{path}</title><div style='height:5000px'>tall</div><a href=/end>End</a>"
        ))
    })
    .await;
    let desk = Desk::new();
    desk.open(&site.url("/one")).await;
    let error = desk.error("browser_go_back", json!({})).await;
    assert!(error.contains("no page before"), "{error}");
    let page = desk.value("browser_scroll", json!({})).await;
    let top = page["scroll_top"].as_i64().unwrap();
    assert!(top > 300, "{page}");
    let page = desk.value("browser_scroll", json!({"direction": "up"})).await;
    assert_eq!(page["scroll_top"], 0);
    let page = desk.value("browser_scroll", json!({"direction": "up"})).await;
    assert!(page["notices"][0].as_str().unwrap().contains("does not scroll further up"));
    let page = desk.click("End").await;
    assert_eq!(page["title"], "/end");
    let page = desk.value("browser_go_back", json!({})).await;
    assert_eq!(page["title"], "/one");
    desk.close().await;
}
