//! A pool with a browser of its own.

use crate::server::{Server, ok, response};
use serde_json::{Value, json};
use std::time::Duration;
use tempfile::TempDir;
use tool_runtime::prelude::*;
use tool_runtime_builtins::browser::BrowserParams;
use tool_runtime_builtins::{Builtins, Sandbox, SandboxParams, Workspace};

/// More than any call takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

pub(crate) struct Desk {
    pub(crate) pool: ToolPool,
    pub(crate) directory: TempDir,
}

/// Settings for servers at 127.0.0.1.
pub(crate) fn params() -> BrowserParams {
    BrowserParams { allowed_hosts: vec!["127.0.0.1".to_owned()], ..BrowserParams::default() }
}

/// A server of one page.
pub(crate) async fn page(body: &str) -> Server {
    let body = body.to_owned();
    Server::new(move |_| html(&body)).await
}

/// A server at an address to which the browser may not connect.
pub(crate) async fn private_server() -> Server {
    Server::at("127.0.0.2", |_| response("200 OK", &["access-control-allow-origin: *"], "a secret"))
        .await
}

/// A successful response with an HTML body.
pub(crate) fn html(body: &str) -> Vec<u8> {
    ok("text/html; charset=utf-8", body)
}

impl Desk {
    pub(crate) fn new() -> Self {
        Self::with(params())
    }

    pub(crate) fn with(params: BrowserParams) -> Self {
        Self::confined(Sandbox::Off, params)
    }

    pub(crate) fn confined(sandbox: Sandbox, params: BrowserParams) -> Self {
        let directory = TempDir::new().unwrap();
        let workspace = Workspace::builder().root(directory.path());
        let workspace = workspace.sandbox(SandboxParams::new(sandbox)).build().unwrap();
        let builtins = Builtins::new(workspace).browser(params);
        let pool = ToolPool::builder().install(builtins).allow_empty().check_outputs();
        let pool = pool.build().unwrap();
        assert!(!pool.tools().is_empty(), "{}", pool.report());
        Self { pool, directory }
    }

    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> ToolResult {
        let call = self.pool.call(ToolCall::json(tool, arguments));
        tokio::time::timeout(LIMIT, call).await.expect("the call hangs")
    }

    /// The structured result of a call that succeeds.
    pub(crate) async fn value(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        let observation = result.observation();
        assert!(!observation.is_error(), "{tool}: {}", observation.to_text());
        observation.structured().unwrap().clone()
    }

    /// The text of a call that succeeds.
    pub(crate) async fn text(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        let text = result.observation().to_text();
        assert!(!result.observation().is_error(), "{tool}: {text}");
        text
    }

    /// The text of a call that fails.
    pub(crate) async fn error(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments).await;
        let text = result.observation().to_text();
        assert!(result.observation().is_error(), "{tool}: {text}");
        text
    }

    pub(crate) async fn open(&self, url: &str) -> Value {
        self.value("browser_navigate", json!({"url": url})).await
    }

    /// The index of the element with a string.
    pub(crate) async fn index(&self, text: &str) -> u64 {
        let state = self.value("browser_get_state", json!({})).await;
        let elements = state["elements"].as_array().unwrap();
        let found = elements.iter().find(|element| element["text"] == text);
        let found = found.unwrap_or_else(|| panic!("`{text}` is not in {state:#}"));
        found["index"].as_u64().unwrap()
    }

    pub(crate) async fn click(&self, text: &str) -> Value {
        let index = self.index(text).await;
        self.value("browser_click", json!({"index": index})).await
    }

    pub(crate) async fn content(&self) -> String {
        let content = self.value("browser_get_content", json!({})).await;
        content["content"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn close(self) {
        self.pool.close().await;
    }
}
