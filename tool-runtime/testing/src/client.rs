//! An MCP client for tests.

use super::call::TestCall;
use super::rounds::Rounds;

use super::connection::{Connection, ProtocolVersion};
use super::json_rpc::PendingRequest;
use super::message::Notification;
use super::question::Question;
use futures_util::future::{Either, select};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tool_runtime_core::seam::lock;
use tool_runtime_core::tool::ToolDefinition;
use tool_runtime_core::vocabulary::error::ProtocolError;

/// An MCP client in the same process as the server, for tests.
///
/// The client is connected to the code that serves stdio, see [`testing`](self::super). Requests may run concurrently. The test
/// panics if the server hangs, ends, answers twice or violates JSON-RPC. Dropping the client closes the connection, which
/// ends the server.
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
/// let client = TestClient::stateless(&pool).await;
/// assert_eq!(client.list_tools().await[0].name, "add");
/// assert_eq!(client.call("add", json!({ "a": 2, "b": 40 })).await?.to_text(), "42");
/// assert!(client.call("add", json!({ "a": "two" })).await?.is_error());
/// assert_eq!(client.call("sub", json!({})).await.unwrap_err().code(), -32602);
/// client.close().await;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
pub struct TestClient {
    connection: Arc<Connection>,
    server: JoinHandle<io::Result<()>>,
    handshake: Value,
    /// Open `subscriptions/listen` requests.
    subscriptions: Mutex<Vec<PendingRequest>>,
}

impl TestClient {
    pub(super) fn new(
        connection: Arc<Connection>,
        server: JoinHandle<io::Result<()>>,
        handshake: Value,
    ) -> Self {
        Self { connection, server, handshake, subscriptions: Mutex::default() }
    }

    /// The result of `server/discover` or `initialize`.
    pub fn handshake(&self) -> &Value {
        &self.handshake
    }

    /// All tools, from all pages.
    ///
    /// # Panics
    /// The server answers with an error or an invalid tool.
    pub async fn list_tools(&self) -> Vec<ToolDefinition> {
        let pages = self.pages("tools/list").await;
        let pages = pages.unwrap_or_else(|error| panic!("the tools are not listed: {error}"));
        let tools = pages.into_iter().flat_map(|mut page| match page["tools"].take() {
            Value::Array(tools) => tools,
            other => panic!("not a list of tools: {other}"),
        });
        tools.map(|tool| serde_json::from_value(tool).expect("a valid MCP tool")).collect()
    }

    /// The results of a paginated method such as `tools/list`, page by page.
    ///
    /// # Errors
    /// The error of the server.
    ///
    /// # Panics
    /// A cursor repeats. Otherwise as [`Self::request`].
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
            assert!(!is_known, "`{method}` returns the cursor {cursor} twice");
        }
    }

    /// Prepares a call of a tool. The arguments are sent unchecked.
    ///
    /// # Panics
    /// The arguments cannot be serialized.
    pub fn call(&self, name: impl Into<String>, arguments: impl Serialize) -> TestCall {
        let arguments = serde_json::to_value(arguments).expect("arguments are JSON");
        TestCall::new(Arc::clone(&self.connection), name.into(), arguments)
    }

    /// Sends a request and returns the result unchanged. In 2026-07-28 questions of the server are a result, too
    /// (`input_required`). `params` must be an object; its `_meta` overrides entries of the client.
    ///
    /// # Errors
    /// The error of the server.
    ///
    /// # Panics
    /// `params` is not an object. The server does not answer in time, ends the connection, or violates JSON-RPC.
    pub async fn request(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Value, ProtocolError> {
        self.connection.send(method, &object(params), false).answer(self.connection.limit).await
    }

    /// Sends a request, answers the server's questions with the client's handlers, and returns the final result.
    ///
    /// # Errors
    /// The error of the server.
    ///
    /// # Panics
    /// As [`Self::request`], or after [`max_rounds`](super::TestClientBuilder::max_rounds).
    pub async fn exchange(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<Value, ProtocolError> {
        let (connection, method) = (Arc::clone(&self.connection), method.to_owned());
        Rounds { connection, method, params: object(params), reports: false }.start().end().await
    }

    /// Sends a notification.
    ///
    /// # Panics
    /// `params` is not an object.
    pub fn notify(&self, method: &str, params: impl Serialize) {
        self.connection.rpc.notify(method, &object(params).into());
    }

    /// Subscribes to changes by MCP's `subscriptions/listen`, and returns the filter that the server acknowledged.
    ///
    /// | Key of the filter | Type | Subscribes to |
    /// |---|---|---|
    /// | `toolsListChanged` | boolean | `notifications/tools/list_changed` |
    /// | `promptsListChanged` | boolean | `notifications/prompts/list_changed` |
    /// | `resourcesListChanged` | boolean | `notifications/resources/list_changed` |
    /// | `resourceSubscriptions` | list of URIs | `notifications/resources/updated` of these |
    ///
    /// In [`ProtocolVersion::V2025_11_25`] each URI is a `resources/subscribe`, and servers notify of changed lists without
    /// a subscription.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::testing::TestClient;
    ///
    /// /// A note.
    /// #[resource("notes://{id}")]
    /// async fn note(
    ///     /// The number.
    ///     id: u64,
    /// ) -> String {
    ///     format!("the text of {id}")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().resource::<NoteResource>().build()?;
    /// let client = TestClient::stateful(&pool).await;
    /// client.listen(json!({ "resourceSubscriptions": ["notes://1"] })).await?;
    /// pool.resource_updated("notes://1");
    /// let updated = client.notification("notifications/resources/updated").await;
    /// assert_eq!(updated.params["uri"], "notes://1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// The error of the server.
    ///
    /// # Panics
    /// The filter has other keys or types, or as [`Self::request`].
    pub async fn listen(&self, filter: impl Serialize) -> Result<Value, ProtocolError> {
        let filter = object(filter);
        let Filter { resource_subscriptions: uris, .. } = Filter::deserialize(&filter)
            .unwrap_or_else(|error| panic!("not a filter of `subscriptions/listen`: {error}"));
        if self.connection.version == ProtocolVersion::V2025_11_25 {
            for uri in uris {
                self.request("resources/subscribe", json!({ "uri": uri })).await?;
            }
            return Ok(filter.into());
        }
        let params = object(json!({ "notifications": filter }));
        let mut sent = self.connection.send("subscriptions/listen", &params, false);
        let id = json!(sent.id());
        let agreed = self.connection.rpc.next(|received| {
            received.method == "notifications/subscriptions/acknowledged"
                && received.params["_meta"]["io.modelcontextprotocol/subscriptionId"] == id
        });
        let filter = match select(pin!(sent.answer(self.connection.limit)), pin!(agreed)).await {
            Either::Left((outcome, _)) => return outcome,
            Either::Right((mut agreed, _)) => agreed.params["notifications"].take(),
        };
        lock(&self.subscriptions).push(sent);
        Ok(filter)
    }

    /// All notifications of the server so far.
    pub fn notifications(&self) -> Vec<Notification> {
        self.connection.rpc.notifications(0)
    }

    /// Returns the oldest notification of a method, such as `notifications/tools/list_changed`, that was not returned yet,
    /// or waits for the next one.
    ///
    /// # Panics
    /// The notification does not arrive in time.
    pub async fn notification(&self, method: &str) -> Notification {
        let next = self.connection.rpc.next(|received| received.method == method);
        let received = timeout(self.connection.limit, next).await;
        received
            .unwrap_or_else(|_| panic!("no `{method}` arrived within {:?}", self.connection.limit))
    }

    /// All questions of the server so far.
    pub fn questions(&self) -> Vec<Question> {
        self.connection.questions.asked()
    }

    /// All lines so far, those of the client after `-> `, those of the server after `<- `.
    pub fn transcript(&self) -> Vec<String> {
        self.connection.rpc.transcript()
    }

    /// Closes the connection and waits until the server has ended.
    ///
    /// # Panics
    /// The server does not end in time, fails, or violates JSON-RPC.
    pub async fn close(mut self) {
        let broken = self.connection.rpc.end();
        self.connection.rpc.close();
        let ended = timeout(self.connection.limit, &mut self.server).await;
        let ended = ended.unwrap_or_else(|_| {
            panic!("the server still runs {:?} after its client closed", self.connection.limit)
        });
        ended.expect("the server does not panic").expect("the server ends without an error");
        assert_eq!(broken, None, "the connection ended before the client closed it");
    }
}

impl Drop for TestClient {
    fn drop(&mut self) {
        self.connection.rpc.close();
    }
}

/// The filter of `subscriptions/listen`. Unknown keys are errors: a server would ignore them.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[allow(dead_code, reason = "every key is checked")]
struct Filter {
    tools_list_changed: bool,
    prompts_list_changed: bool,
    resources_list_changed: bool,
    resource_subscriptions: Vec<String>,
}

fn object(params: impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(params).expect("parameters are JSON") {
        Value::Object(params) => params,
        other => panic!("MCP's parameters are an object, not {other}"),
    }
}
