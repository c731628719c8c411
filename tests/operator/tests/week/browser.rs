//! A person with a browser.

use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::timeout;
use tool_runtime::prelude::*;
use tool_runtime_builtins::browser::BrowserParams;
use tool_runtime_builtins::{Builtins, Workspace};

const LIMIT: Duration = Duration::from_secs(60);

/// A person at the page of the inbox.
pub(crate) struct Person {
    pool: ToolPool,
    _folder: TempDir,
}

impl Person {
    /// Opens the page, and enters a token.
    pub(crate) async fn enter(url: &str, token: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let workspace = Workspace::builder().root(folder.path()).build().unwrap();
        let params = BrowserParams {
            allowed_hosts: vec!["127.0.0.1".to_owned()],
            ..BrowserParams::default()
        };
        let pool =
            ToolPool::builder().install(Builtins::new(workspace).browser(params)).build().unwrap();
        let person = Self { pool, _folder: folder };
        person.call("browser_navigate", json!({ "url": url })).await;
        let field = person.element("Token of a person with the scope to approve").await.unwrap();
        person.call("browser_type", json!({ "index": field, "text": token })).await;
        person.click("Show the questions").await;
        person
    }

    /// Waits for a question, and approves it.
    pub(crate) async fn approve(self, question: &str) {
        let shown = async {
            loop {
                let content = self.call("browser_get_content", json!({})).await;
                if content["content"].as_str().unwrap_or_default().contains(question) {
                    return;
                }
            }
        };
        timeout(LIMIT, shown).await.unwrap();
        self.click("Approve").await;
        self.pool.close().await;
    }

    async fn click(&self, text: &str) {
        let index = self.element(text).await.unwrap();
        self.call("browser_click", json!({ "index": index })).await;
    }

    /// The index of the element with a text.
    async fn element(&self, text: &str) -> Option<u64> {
        let state = self.call("browser_get_state", json!({})).await;
        let elements = state["elements"].as_array()?;
        elements.iter().find(|element| element["text"] == text)?["index"].as_u64()
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = timeout(LIMIT, self.pool.call(ToolCall::json(tool, arguments))).await.unwrap();
        let observation = result.observation();
        assert!(!observation.is_error(), "{tool}: {}", observation.to_text());
        observation.structured().cloned().unwrap_or_default()
    }
}
