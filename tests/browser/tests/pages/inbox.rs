//! The page of the inbox, with questions whose texts attack it.

use crate::support::{Desk, LIMIT};
use serde_json::json;
use std::sync::Arc;
use tokio::net::TcpListener;
use tool_runtime::CancellationToken;
use tool_runtime::approvals::{ApprovalStore as _, Inbox, InboxRoutes, MemoryStore};
use tool_runtime::govern::{CallView, Decision, PolicyEngine};
use tool_runtime::http::{BearerTokens, HttpOptions};
use tool_runtime::mcp::McpServer;
use tool_runtime::prelude::*;

/// Asks about each call.
struct AskAlways;

impl PolicyEngine for AskAlways {
    fn decide(&self, _: &CallView<'_>) -> Decision {
        Decision::ask("May <img src=x onerror=\"document.title='attacked'\"> run?")
            .with_rule("always")
    }
}

/// A text that would change the page, and one with an invisible character and a change of the direction.
const ATTACK: &str = "</pre><script>document.title='attacked'</script><a href=\"javascript:document.title='attacked'\">x</a>";
const HIDDEN: &str = "safe\u{202e}txt.exe\u{200b}";

/// A server with an inbox, and the page of it.
struct Site {
    pool: ToolPool,
    store: MemoryStore,
    url: String,
    stop: CancellationToken,
}

impl Site {
    async fn start() -> Self {
        let store = MemoryStore::new();
        let echo = Tool::builder("echo", "Give the text back.").handler(
            |arguments: serde_json::Map<String, serde_json::Value>| async move {
                serde_json::Value::Object(arguments)
            },
        );
        let pool =
            ToolPool::builder().add(echo).policy(AskAlways).approver(Inbox::new(store.clone()));
        let pool = pool.build().unwrap();
        let people = "grace:8fQm2x1vXk9pTz scopes=approve\nada:Rk7wqL3nVb5sYd";
        let people = BearerTokens::parse(people).unwrap();
        let routes = InboxRoutes::new(Arc::new(store.clone()), people).scope("approve");
        let stop = CancellationToken::new();
        let options = HttpOptions::default().routes(routes.into_router());
        let options = options.shutdown(stop.clone(), LIMIT);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/inbox", listener.local_addr().unwrap());
        let server = McpServer::new(pool.clone(), "site", "1.0.0");
        tokio::spawn(server.serve_http_on(listener, options));
        Self { pool, store, url, stop }
    }

    /// A call that waits for a person.
    fn ask(&self, text: &str) -> tokio::task::JoinHandle<ToolResult> {
        let (pool, call) = (self.pool.clone(), ToolCall::json("echo", json!({ "text": text })));
        tokio::spawn(async move { pool.call(call).await })
    }

    /// Waits for this many questions.
    async fn questions(&self, count: usize) {
        let open = async || {
            let all = self.store.list().await.unwrap();
            all.iter().filter(|stored| stored.is_open()).count()
        };
        while open().await < count {
            tokio::task::yield_now().await;
        }
    }
}

async fn enter(desk: &Desk, token: &str) {
    let field = desk.index("Token of a person with the scope to approve").await;
    desk.value("browser_type", json!({ "index": field, "text": token })).await;
    desk.click("Show the questions").await;
}

/// Waits for a text of the page.
async fn content_with(desk: &Desk, text: &str) -> String {
    let found = async {
        loop {
            let content = desk.content().await;
            if content.contains(text) {
                return content;
            }
        }
    };
    tokio::time::timeout(LIMIT, found).await.unwrap_or_else(|_| panic!("`{text}` does not appear"))
}

/// Clicks until a text appears: right after the page has moved, clicks do not count.
async fn click_until(desk: &Desk, button: &str, text: &str) {
    let clicked = async {
        while !desk.content().await.contains(text) {
            desk.click(button).await;
        }
    };
    tokio::time::timeout(LIMIT, clicked)
        .await
        .unwrap_or_else(|_| panic!("`{text}` does not appear"));
}

#[tokio::test]
async fn a_person_answers_questions_whose_texts_attack_the_page() {
    let site = Site::start().await;
    let (attacking, hiding) = (site.ask(ATTACK), site.ask(HIDDEN));
    site.questions(2).await;
    let desk = Desk::new();
    let page = desk.open(&site.url).await;
    assert_eq!((&page["title"], &page["status"]), (&json!("Inbox"), &json!(200)));
    enter(&desk, "Rk7wqL3nVb5sYd").await;
    content_with(&desk, "403: the token lacks the scope").await;
    enter(&desk, "8fQm2x1vXk9pTz").await;
    let content = content_with(&desk, "2 open").await;
    let state = desk.text("browser_get_state", json!({})).await;
    assert!(!state.contains("Token of a person"), "the field is gone: {state}");
    for text in
        ["onerror=", "document.title", "javascript:", "echo", "always", "u{202e}", "u{200b}"]
    {
        assert!(content.contains(text), "{text} is not in {content}");
    }
    assert!(!content.contains('\u{202e}') && !content.contains('\u{200b}'), "{content}");
    let state = desk.text("browser_get_state", json!({})).await;
    assert!(
        state.contains("\"(2) Inbox\"") && !state.contains("\"x\""),
        "no link was made: {state}"
    );
    // The first question is the oldest. It stays where it is once it is answered.
    click_until(&desk, "Approve", "1 open").await;
    desk.click("Dismiss").await;
    let reason = desk.index("Reason of a denial, which the model reads").await;
    desk.value("browser_type", json!({ "index": reason, "text": "not today" })).await;
    click_until(&desk, "Deny", "No open questions").await;
    let answers = [attacking.await.unwrap(), hiding.await.unwrap()];
    let texts = answers.map(|answer| answer.observation().to_text());
    assert_eq!(texts.iter().filter(|text| text.contains("not today")).count(), 1, "{texts:?}");
    let state = desk.text("browser_get_state", json!({})).await;
    assert!(state.contains("/inbox \"Inbox\""), "{state}");
    desk.close().await;
    site.stop.cancel();
}
