//! Lists of which a page fails.

use super::support::{call, connected, error, is, pool, result, scripted, tool};
use crate::time_limit::in_time;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::mpsc;

/// The page of a request, if it is one for tools: the first names the next by `cursor`, and another one fails.
fn pages(message: &Value, cursor: &str) -> Option<String> {
    if !is(message, "tools/list") {
        return None;
    }
    Some(match message["params"]["cursor"].as_str() {
        None => result(message, &json!({ "tools": [tool("first")], "nextCursor": cursor })),
        Some(_) => error(message, &json!({ "code": -32602, "message": "the backend is down" })),
    })
}

#[tokio::test]
async fn a_failing_second_page_keeps_the_first_and_is_reported() {
    let (pool, manager) = connected(|message| pages(message, "2")).await;
    assert_eq!(call(&pool, "s.first").await.observation().to_text(), "done");
    let problems = manager.server("s").unwrap().problems;
    let problem =
        "a further page of its list failed: the backend is down; the first 1 tools are taken";
    assert_eq!(problems, [problem]);
}

#[tokio::test]
async fn a_refused_empty_cursor_ends_the_list() {
    let (pool, manager) = connected(|message| pages(message, "")).await;
    assert!(pool.get("s.first").is_some());
    assert_eq!(manager.server("s").unwrap().problems, [""; 0]);
}

#[tokio::test]
async fn a_page_that_is_no_list_keeps_the_first() {
    let (pool, manager) = connected(|message| {
        let page = if message["params"]["cursor"].is_null() {
            json!({ "tools": [tool("first")], "nextCursor": "2" })
        } else {
            json!("none")
        };
        is(message, "tools/list").then(|| result(message, &page))
    })
    .await;
    assert!(pool.get("s.first").is_some());
    let problems = manager.server("s").unwrap().problems;
    assert!(problems[0].contains("its answer to `tools/list` is the string"), "{problems:?}");
}

#[tokio::test]
async fn a_changed_list_with_a_failing_page_does_not_remove_tools() {
    const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
    let (pool, lists) = (pool(), Arc::new(AtomicUsize::new(0)));
    let (seen, mut third_list) = mpsc::unbounded_channel();
    let (current, count) = (pool.clone(), Arc::clone(&lists));
    let manager = scripted(move |message| {
        if is(message, "tools/call") {
            return Some(format!("{CHANGED}\n{}", super::support::usual(message)?));
        }
        if !is(message, "tools/list") {
            return None;
        }
        let is_first_page = message["params"]["cursor"].is_null();
        let list = count.fetch_add(usize::from(is_first_page), Ordering::Relaxed);
        match (list, is_first_page) {
            (0 | 1, true) => pages(message, "2"),
            (1, false) => Some(result(message, &json!({ "tools": [tool("second")] }))),
            (2, false) => Some(format!("{}\n{CHANGED}", pages(message, "2")?)),
            _ => {
                seen.send(current.get("s.second").is_some()).unwrap();
                pages(message, "2")
            }
        }
    });
    let _manager = manager.connect(&pool).await.unwrap();
    assert!(call(&pool, "s.second").await.error().is_none());
    assert!(in_time("a third list", third_list.recv()).await.unwrap(), "it was removed");
}

#[tokio::test]
async fn resources_keep_the_first_page_and_the_readable_entries() {
    let (_pool, manager) = connected(|message| {
        if !is(message, "resources/list") {
            return None;
        }
        let named = json!({ "uri": "a:b", "name": "b", "title": null });
        let page = json!({ "resources": [named, { "uri": 5 }], "nextCursor": "2" });
        Some(match message["params"]["cursor"].as_str() {
            None => result(message, &page),
            Some(_) => error(message, &json!({ "code": 1, "message": "down" })),
        })
    })
    .await;
    let resources = manager.resources("s").await.unwrap();
    assert_eq!(resources.iter().map(|one| &*one.uri).collect::<Vec<_>>(), ["a:b"]);
    let problems = manager.server("s").unwrap().problems;
    let says = |words: &str| problems.iter().any(|problem| problem.contains(words));
    assert!(says("its resources: a further page of `resources/list` failed: down"), "{problems:?}");
    assert!(says("an entry is left out, which is an object with the member `uri`"), "{problems:?}");
}
