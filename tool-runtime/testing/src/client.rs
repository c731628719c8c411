//! The client of a test.

use super::call::TestCall;
use super::exchange::Exchange;
use super::filter::Filter;
use super::link::{Era, Link};
use super::message::Notification;
use super::question::Question;
use super::wire::Sent;
use futures_util::future::{Either, select};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tool_runtime_core::seam::lock;
use tool_runtime_core::{ProtocolError, ToolDefinition};

/// An MCP client in the same process as the server, for tests.
///
/// It speaks real MCP to the code that serves stdio, see [`testing`](self::super). Requests can be
/// under way together. A server that hangs, ends, answers twice or says what is not JSON-RPC makes
/// the test panic. Dropped, it hangs up, and the server ends by itself.
///
/// ```
/// use serde_json::json;
/// use tool_runtime::prelude::*;
/// use tool_runtime::testing::TestClient;
///
/// /// Add two integers.
/// #[tool(read_only)]
/// async fn add(
///     /// First addend.
///     a: i64,
///     /// Second addend.
///     b: i64,
/// ) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let pool = ToolPool::builder().tool::<AddAction>().build()?;
/// let client = TestClient::modern(&pool).await;
/// assert_eq!(client.list_tools().await[0].name, "add");
/// assert_eq!(client.call("add", json!({ "a": 2, "b": 40 })).await?.to_text(), "42");
/// assert!(client.call("add", json!({ "a": "two" })).await?.is_error());
/// assert_eq!(client.call("sub", json!({})).await.unwrap_err().code(), -32602);
/// client.close().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct TestClient {
    link: Arc<Link>,
    server: JoinHandle<io::Result<()>>,
    greeting: Value,
    /// Requests that stay open for what the server has to tell.
    subscriptions: Mutex<Vec<Sent>>,
}

impl TestClient {
    pub(super) fn new(
        link: Arc<Link>,
        server: JoinHandle<io::Result<()>>,
        greeting: Value,
    ) -> Self {
        Self { link, server, greeting, subscriptions: Mutex::default() }
    }

    /// What the server said of itself: the result of `server/discover` or `initialize`.
    pub fn greeting(&self) -> &Value {
        &self.greeting
    }

    /// All tools, from as many pages as there are.
    ///
    /// # Panics
    /// The server refuses, or gives what is not a tool.
    pub async fn list_tools(&self) -> Vec<ToolDefinition> {
        let pages = self.pages("tools/list").await;
        let pages = pages.unwrap_or_else(|error| panic!("the tools are not listed: {error}"));
        let tools = pages.into_iter().flat_map(|mut page| match page["tools"].take() {
            Value::Array(tools) => tools,
            other => panic!("no list of tools: {other}"),
        });
        tools.map(|tool| serde_json::from_value(tool).expect("a tool as MCP has it")).collect()
    }

    /// The results of a method that lists, `tools/list` say, page by page.
    ///
    /// # Errors
    /// The server refuses.
    ///
    /// # Panics
    /// The pages go round in a circle, or as with [`Self::request`].
    pub async fn pages(&self, method: &str) -> Result<Vec<Value>, ProtocolError> {
        let mut pages: Vec<Value> = Vec::new();
        let mut cursor = Value::Null;
        loop {
            let params = if cursor.is_null() { json!({}) } else { json!({ "cursor": cursor }) };
            let page = self.request(method, params).await?;
            cursor = page["nextCursor"].clone();
            let is_known = pages.iter().any(|page| page["nextCursor"] == cursor);
            pages.push(page);
            if cursor.is_null() {
                return Ok(pages);
            }
            assert!(!is_known, "`{method}` gives the cursor {cursor} twice");
        }
    }

    /// A call of a tool, made when it is awaited. The arguments are sent as they are, be they right
    /// or wrong.
    ///
    /// # Panics
    /// The arguments cannot be written as JSON.
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> TestCall {
        let arguments = serde_json::to_value(arguments).expect("arguments are JSON");
        TestCall::new(Arc::clone(&self.link), name.into(), arguments)
    }

    /// Sends a request and waits for its answer, the way both are on the wire: questions of a server
    /// of 2026-07-28 are the answer (`input_required`). `params` is an object; what its `_meta` says
    /// stands over what the client says of itself.
    ///
    /// # Errors
    /// What the server answers as an error.
    ///
    /// # Panics
    /// `params` is not an object. The server does not answer in time, ends the connection, or breaks
    /// JSON-RPC.
    pub async fn request(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Value, ProtocolError> {
        self.link.send(method, &object(params), false).answer(self.link.limit).await
    }

    /// The same, but what the server asks meanwhile is answered, in as many rounds as it takes.
    ///
    /// # Errors
    /// What the server answers as an error.
    ///
    /// # Panics
    /// As [`Self::request`], or if the server asks for ever.
    pub async fn exchange(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Value, ProtocolError> {
        let (link, method) = (Arc::clone(&self.link), method.to_owned());
        Exchange { link, method, params: object(params), reports: false }.start().end().await
    }

    /// Sends a notification.
    ///
    /// # Panics
    /// `params` is not an object.
    pub fn notify(&self, method: &str, params: impl Serialize) {
        self.link.wire.notify(method, &object(params).into());
    }

    /// Asks to be told of changes, as MCP's `subscriptions/listen` has it, and gives back what the
    /// server agreed to tell.
    ///
    /// | Key of the filter | Type | Asks for |
    /// |---|---|---|
    /// | `toolsListChanged` | boolean | `notifications/tools/list_changed` |
    /// | `promptsListChanged` | boolean | `notifications/prompts/list_changed` |
    /// | `resourcesListChanged` | boolean | `notifications/resources/list_changed` |
    /// | `resourceSubscriptions` | list of URIs | `notifications/resources/updated` of these |
    ///
    /// What is left out is not asked for. In [`Era::Legacy`] each URI is a `resources/subscribe`; of
    /// lists, servers tell without being asked.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::testing::TestClient;
    ///
    /// /// A note.
    /// #[resource("notes://{id}")]
    /// async fn note(
    ///     /// Which one.
    ///     id: u64,
    /// ) -> String {
    ///     format!("the text of {id}")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().resource::<NoteResource>().build()?;
    /// let client = TestClient::legacy(&pool).await;
    /// client.listen(json!({ "resourceSubscriptions": ["notes://1"] })).await?;
    /// pool.resource_updated("notes://1");
    /// let news = client.notification("notifications/resources/updated").await;
    /// assert_eq!(news.params["uri"], "notes://1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// What the server answers as an error.
    ///
    /// # Panics
    /// The filter has other keys or types than these, or as [`Self::request`].
    pub async fn listen(&self, filter: impl Serialize) -> Result<Value, ProtocolError> {
        let filter = object(filter);
        let Filter { resource_subscriptions: uris, .. } = Filter::read(&filter);
        if self.link.era == Era::Legacy {
            for uri in uris {
                self.request("resources/subscribe", json!({ "uri": uri })).await?;
            }
            return Ok(filter.into());
        }
        let params = object(json!({ "notifications": filter }));
        let mut sent = self.link.send("subscriptions/listen", &params, false);
        let id = json!(sent.id());
        let agreed = self.link.wire.next(|heard| {
            heard.method == "notifications/subscriptions/acknowledged"
                && heard.params["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
        });
        let filter = match select(pin!(sent.answer(self.link.limit)), pin!(agreed)).await {
            Either::Left((outcome, _)) => return outcome,
            Either::Right((mut agreed, _)) => agreed.params["notifications"].take(),
        };
        lock(&self.subscriptions).push(sent);
        Ok(filter)
    }

    /// Everything that the server said without being asked, so far.
    pub fn notifications(&self) -> Vec<Notification> {
        self.link.wire.notifications(0)
    }

    /// Waits for the next notification of a method, `notifications/tools/list_changed` say, or
    /// gives the oldest one that came and was not given yet.
    ///
    /// # Panics
    /// None comes in time.
    pub async fn notification(&self, method: &str) -> Notification {
        let next = self.link.wire.next(|heard| heard.method == method);
        let heard = timeout(self.link.limit, next).await;
        heard.unwrap_or_else(|_| panic!("no `{method}` came within {:?}", self.link.limit))
    }

    /// Everything that the server asked, so far.
    pub fn questions(&self) -> Vec<Question> {
        self.link.desk.asked()
    }

    /// Every line so far as it stood on the wire, after `-> ` what the client said, after `<- ` what
    /// the server did.
    pub fn transcript(&self) -> Vec<String> {
        self.link.wire.transcript()
    }

    /// Hangs up and waits until the server has ended.
    ///
    /// # Panics
    /// The server does not end in time, fails, or has broken JSON-RPC.
    pub async fn close(mut self) {
        let broken = self.link.wire.end();
        self.link.wire.hang_up();
        let ended = timeout(self.link.limit, &mut self.server).await;
        let ended = ended.unwrap_or_else(|_| {
            panic!("the server goes on {:?} after its client is gone", self.link.limit)
        });
        ended.expect("the server does not panic").expect("the server ends well");
        assert_eq!(broken, None, "the connection ended before the client hung up");
    }
}

impl Drop for TestClient {
    fn drop(&mut self) {
        self.link.wire.hang_up();
    }
}

fn object(params: impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(params).expect("parameters are JSON") {
        Value::Object(params) => params,
        other => panic!("MCP's parameters are an object, not {other}"),
    }
}
