//! The text of pages, pictures, large pages.

use crate::server::Server;
use crate::support::{Desk, html, page};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use tool_runtime::ContentBlock;

#[tokio::test]
async fn a_page_is_read_as_markdown_after_its_scripts() {
    let html = "<title>News</title><h1>Top <a href=/x>story</a></h1><ul><li>one<li>two</ul>
        <p id=made></p><script>made.textContent = 'made by a script'</script>";
    let site = page(html).await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let text = desk.content().await;
    assert!(text.contains("# Top story") && text.contains("made by a script"), "{text}");
    assert!(!text.contains("made.textContent") && !text.contains("/x"), "{text}");
    let linked = desk.value("browser_get_content", json!({"extract_links": true})).await;
    let linked = linked["content"].as_str().unwrap();
    assert!(linked.contains(&format!("[story]({})", site.url("/x"))), "{linked}");
    desk.close().await;
}

#[tokio::test]
async fn a_long_page_is_read_in_parts() {
    let body: String = (0..3000).map(|n| format!("<p>Paragraph {n} of the page.</p>")).collect();
    let site = page(&body).await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let (mut start, mut joined) = (0, String::new());
    loop {
        let result = desk.call("browser_get_content", json!({"start_from_char": start})).await;
        let part = result.observation().structured().unwrap();
        joined.push_str(part["content"].as_str().unwrap());
        let Some(next) = part["next_start"].as_u64() else { break };
        assert_eq!(part["truncated"], true);
        let text = result.observation().to_text();
        assert!(
            text.contains(&format!("`start_from_char` {next}")),
            "{}",
            &text[text.len() - 200..]
        );
        start = next;
    }
    for n in [0, 1, 1500, 2999] {
        assert_eq!(joined.matches(&format!("Paragraph {n} of")).count(), 1);
    }
    let error = desk.error("browser_get_content", json!({"start_from_char": 10_000_000})).await;
    assert!(error.contains("after the end"), "{error}");
    desk.close().await;
}

#[tokio::test]
async fn a_screenshot_is_a_picture_of_the_page() {
    let site = page("<body style='background:rgb(10,200,30)'>green").await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let result = desk.call("browser_get_state", json!({"include_screenshot": true})).await;
    let blocks = result.observation().content();
    let image = blocks.iter().find_map(|block| match block {
        ContentBlock::Image(media) => Some((&media.data, &media.mime_type)),
        _ => None,
    });
    let (data, mime_type) = image.expect("there is no image");
    assert_eq!(mime_type, "image/png");
    let picture = image::load_from_memory(&STANDARD.decode(data).unwrap()).unwrap().to_rgb8();
    assert!(picture.width() > 600 && picture.width() <= 1568);
    assert_eq!(picture.get_pixel(picture.width() / 2, picture.height() / 2).0, [10, 200, 30]);
    let without = desk.call("browser_get_state", json!({})).await;
    assert_eq!(without.observation().content().len(), 1);
    desk.close().await;
}

#[tokio::test]
async fn thousands_of_elements_are_cut_with_a_notice() {
    let links: String = (0..2000).map(|n| format!("<p><a href=/{n}>Link {n}</a>")).collect();
    let site = Server::new(move |path| match path {
        "/" => html(&links),
        path => html(&format!("<title>{path}</title>")),
    })
    .await;
    let desk = Desk::new();
    desk.open(&site.url("/")).await;
    let state = desk.value("browser_get_state", json!({})).await;
    assert_eq!((&state["total"], &state["truncated"]), (&json!(2000), &json!(true)));
    assert!(state["elements"].as_array().unwrap().len() <= 250);
    let text = desk.text("browser_get_state", json!({})).await;
    assert!(text.contains("of 2000 elements"), "{text}");
    for _ in 0..20 {
        desk.value("browser_scroll", json!({})).await;
    }
    let state = desk.value("browser_get_state", json!({})).await;
    let first = &state["elements"][0];
    assert_ne!(first["text"], "Link 0");
    let page = desk.value("browser_click", json!({"index": 0})).await;
    assert_eq!(Some(page["url"].as_str().unwrap()), first["href"].as_str());
    desk.close().await;
}

#[tokio::test]
async fn long_addresses_titles_and_tags_are_cut() {
    let html = "<body><a id=far>Far</a><script>
        document.title = 't'.repeat(50000);
        far.href = '/' + 'h'.repeat(50000);
        document.body.append(Object.assign(document.createElement('x-' + 'e'.repeat(50000)),
            { innerText: 'Long', tabIndex: 0 }));
        location.hash = 'x'.repeat(50000);
        </script>";
    let site = page(html).await;
    let desk = Desk::new();
    let url = desk.open(&site.url("/")).await["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with(&site.url("/#x")) && url.ends_with("x…"), "{url}");
    for tool in ["browser_get_state", "browser_list_tabs", "browser_get_content"] {
        let text = desk.text(tool, json!({})).await;
        assert!(text.len() < 6000, "{tool}: {}", text.len());
    }
    let far = desk.index("Far").await;
    let error = desk.error("browser_click", json!({"index": far, "new_tab": true})).await;
    assert!(error.contains("more than 8192 characters"), "{error}");
    desk.close().await;
}
