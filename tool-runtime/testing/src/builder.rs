//! Builds and connects a test client.

use super::client::TestClient;
use super::connection::{Connection, ProtocolVersion};
use super::json_rpc::JsonRpc;
use super::question::{Handler, Question, QuestionHandler, Reply};
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::pool::ToolPool;
use tool_runtime_core::tool::peer::LogLevel;
use tool_runtime_core::vocabulary::{BoxFuture, Principal};
use tool_runtime_server::McpServer;
use tool_runtime_server::seam::Caller;

/// Buffer between client and server in bytes, as large as that of a pipe on Linux.
const BUFFER: usize = 64 * 1024;

/// Builds and connects a [`TestClient`].
#[must_use = "nothing happens before `connect`"]
pub struct TestClientBuilder {
    server: McpServer,
    protocol: ProtocolVersion,
    name: String,
    version: String,
    capabilities: Value,
    log_level: Option<LogLevel>,
    answer: Option<Handler>,
    limit: Duration,
    max_rounds: usize,
    follows_tasks: bool,
    caller: Caller,
}

impl TestClient {
    /// Connects a client of the stateless version 2026-07-28 to a pool.
    ///
    /// # Panics
    /// As [`TestClientBuilder::connect`].
    pub async fn stateless(pool: &ToolPool) -> Self {
        Self::builder(pool).protocol_version(ProtocolVersion::V2026_07_28).connect().await
    }

    /// Connects a client of the stateful version 2025-11-25 to a pool.
    ///
    /// # Panics
    /// As [`TestClientBuilder::connect`].
    pub async fn stateful(pool: &ToolPool) -> Self {
        Self::builder(pool).protocol_version(ProtocolVersion::V2025_11_25).connect().await
    }

    /// Starts a client of a pool.
    pub fn builder(pool: &ToolPool) -> TestClientBuilder {
        Self::for_server(McpServer::new(pool.clone(), "test-server", "1.0.0"))
    }

    /// Starts a client of a server. Each client has its own session.
    pub fn for_server(server: McpServer) -> TestClientBuilder {
        TestClientBuilder::new(server)
    }
}

impl TestClientBuilder {
    pub(super) fn new(server: McpServer) -> Self {
        Self {
            server,
            protocol: ProtocolVersion::V2026_07_28,
            name: "test-client".to_owned(),
            version: "1.0.0".to_owned(),
            capabilities: json!({
                "elicitation": { "form": {}, "url": {} },
                "sampling": {},
                "roots": {},
            }),
            log_level: Some(LogLevel::Info),
            answer: None,
            limit: Duration::from_secs(10),
            max_rounds: 10,
            follows_tasks: false,
            caller: Caller::default(),
        }
    }

    /// Sets the protocol version. Default: [`ProtocolVersion::V2026_07_28`].
    pub fn protocol_version(mut self, version: ProtocolVersion) -> Self {
        self.protocol = version;
        self
    }

    /// Sets the name and version of the client. Default: `test-client`, `1.0.0`.
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Sets the client capabilities, as MCP defines them. Default: elicitation by forms and pages, sampling, and roots.
    ///
    /// ```
    /// # use tool_runtime::{ToolPool, testing::TestClient};
    /// # let pool = ToolPool::builder().build()?;
    /// let without_elicitation = TestClient::builder(&pool).capabilities(serde_json::json!({}));
    /// # drop(without_elicitation);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn capabilities(mut self, capabilities: impl Into<Value>) -> Self {
        self.capabilities = capabilities.into();
        self
    }

    /// Sets the lowest level of log entries that the client requests. With `None` it requests none; a server of
    /// [`ProtocolVersion::V2025_11_25`] may still send some. Default: [`LogLevel::Info`].
    pub fn log_level(mut self, level: impl Into<Option<LogLevel>>) -> Self {
        self.log_level = level.into();
        self
    }

    /// Sets the handler of requests from the server, in either version. Default: elicitation is declined, sampling is
    /// rejected, and the list of roots is empty.
    ///
    /// ```
    /// use tool_runtime::testing::{Question, Reply, TestClient};
    ///
    /// # let pool = tool_runtime::ToolPool::builder().build()?;
    /// let client = TestClient::builder(&pool).answer(|question: Question| async move {
    ///     match question.method() {
    ///         "sampling/createMessage" => Reply::text("Paris"),
    ///         "roots/list" => Reply::roots(["file:///work"]),
    ///         _ if question.message().contains("name") => Reply::accept(serde_json::json!({ "name": "Ada" })),
    ///         _ => Reply::cancel(),
    ///     }
    /// });
    /// # drop(client);
    /// # Ok::<(), tool_runtime::pool::PoolError>(())
    /// ```
    pub fn answer<F, Fut>(mut self, answer: F) -> Self
    where
        F: Fn(Question) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Reply> + Send + 'static,
    {
        self.answer = Some(Box::new(move |question| Box::pin(answer(question))));
        self
    }

    /// Sets the time after which a missing answer makes the test panic. The time that the test takes to answer a
    /// question of [`ProtocolVersion::V2025_11_25`] counts. Default: 10 seconds.
    pub fn answer_timeout(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sets the number of rounds of questions after which a call makes the test panic. Default: 10.
    pub fn max_rounds(mut self, rounds: usize) -> Self {
        self.max_rounds = rounds;
        self
    }

    /// Declares MCP's tasks extension. A call that continues as a task is polled to its end, at the interval that the
    /// server requests, and its questions are [answered](Self::answer). Default: no call becomes a task. Clients of
    /// [`ProtocolVersion::V2025_11_25`] have no tasks.
    ///
    /// ```
    /// use serde_json::json;
    /// use std::time::Duration;
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::testing::TestClient;
    ///
    /// /// Bake a cake.
    /// #[tool(task = "required")]
    /// async fn bake() -> &'static str {
    ///     tokio::time::sleep(Duration::from_millis(1)).await;
    ///     "baked"
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().tool::<BakeAction>().build()?;
    /// let client = TestClient::builder(&pool).tasks().connect().await;
    /// assert_eq!(client.call("bake", json!({})).await?.to_text(), "baked");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn tasks(mut self) -> Self {
        self.follows_tasks = true;
        self
    }

    /// Sets the authenticated caller, as over HTTP. Default: anonymous.
    ///
    /// ```
    /// use serde_json::json;
    /// use tool_runtime::Principal;
    /// use tool_runtime::prelude::*;
    /// use tool_runtime::testing::TestClient;
    ///
    /// /// Say who is asking, and from where.
    /// #[tool(read_only)]
    /// async fn whoami(caller: &Principal, context: &ToolContext) -> String {
    ///     format!("{} of {}", caller.id(), context.header("x-tenant").unwrap_or_default())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let pool = ToolPool::builder().tool::<WhoamiAction>().build()?;
    /// let ada = TestClient::builder(&pool).principal(Principal::new("ada")).header("X-Tenant", "acme");
    /// let result = ada.connect().await.call("whoami", json!({})).await?;
    /// assert_eq!(result.to_text(), "ada of acme");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    pub fn principal(mut self, principal: Principal) -> Self {
        self.caller.principal = Some(Arc::new(principal));
        self
    }

    /// Adds a header of each request, as over HTTP, for
    /// [`ToolContext::header`](tool_runtime_core::tool::ToolContext::header). Default: none.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.caller.headers.push((name.into(), value.into()));
        self
    }

    /// Starts the server in a task, and performs the handshake.
    ///
    /// # Panics
    /// Outside a tokio runtime with timers, or if the handshake fails.
    pub async fn connect(self) -> TestClient {
        self.connected().await
    }

    /// Boxed, so that it is compiled in this crate.
    fn connected(mut self) -> BoxFuture<'static, TestClient> {
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(BUFFER);
            let server =
                tokio::spawn(self.server.clone().serve_in_memory(far, Some(self.caller.clone())));
            let connection = self.connection(near);
            let handshake = match connection.version {
                ProtocolVersion::V2026_07_28 => discovered(&connection).await,
                ProtocolVersion::V2025_11_25 => self.initialized(&connection).await,
            };
            TestClient::new(connection, server, handshake)
        })
    }

    fn connection(&mut self, stream: tokio::io::DuplexStream) -> Arc<Connection> {
        let questions = Arc::new(QuestionHandler::new(self.answer.take()));
        Arc::new(Connection {
            rpc: JsonRpc::new(stream, Arc::clone(&questions)),
            questions,
            version: self.protocol,
            meta: if self.protocol == ProtocolVersion::V2026_07_28 {
                self.meta()
            } else {
                Map::new()
            },
            limit: self.limit,
            max_rounds: self.max_rounds,
            follows_tasks: self.follows_tasks,
        })
    }

    /// The `_meta` of each request of 2026-07-28.
    fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        let mut set =
            |key: &str, value| meta.insert(format!("io.modelcontextprotocol/{key}"), value);
        set("protocolVersion", self.protocol.as_str().into());
        set("clientInfo", self.info());
        set("clientCapabilities", self.declared());
        if let Some(level) = self.log_level {
            set("logLevel", json!(level));
        }
        meta
    }

    /// The capabilities, with tasks if they are followed.
    fn declared(&self) -> Value {
        let mut capabilities = self.capabilities.clone();
        if self.follows_tasks {
            capabilities["extensions"]["io.modelcontextprotocol/tasks"] = json!({});
        }
        capabilities
    }

    fn info(&self) -> Value {
        json!({ "name": self.name, "version": self.version })
    }

    async fn initialized(&self, connection: &Connection) -> Value {
        let params = object(json!({
            "protocolVersion": self.protocol.as_str(),
            "capabilities": self.declared(),
            "clientInfo": self.info(),
        }));
        let initialized = handshake(connection, "initialize", &params).await;
        assert_eq!(
            initialized["protocolVersion"],
            self.protocol.as_str(),
            "the server supports another version"
        );
        connection.rpc.notify("notifications/initialized", &json!({}));
        // Only a server with logs takes a level.
        if let (Some(level), true) =
            (self.log_level, initialized["capabilities"]["logging"].is_object())
        {
            handshake(connection, "logging/setLevel", &object(json!({ "level": level }))).await;
        }
        initialized
    }
}

async fn discovered(connection: &Connection) -> Value {
    let discovered = handshake(connection, "server/discover", &Map::new()).await;
    let versions = discovered["supportedVersions"].as_array();
    let is_supported =
        versions.is_some_and(|all| all.contains(&ProtocolVersion::V2026_07_28.as_str().into()));
    assert!(
        is_supported,
        "the server does not support {}: {discovered}",
        ProtocolVersion::V2026_07_28.as_str()
    );
    discovered
}

async fn handshake(connection: &Connection, method: &str, params: &Map<String, Value>) -> Value {
    let answer = connection.send(method, params, false).answer(connection.limit).await;
    answer.unwrap_or_else(|error| panic!("the server rejects `{method}`: {error}"))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("MCP's parameters are an object, not {other}"),
    }
}
