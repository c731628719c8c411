//! Builds and connects a test client.

use super::client::TestClient;
use super::link::{Era, Link};
use super::question::{Desk, Handler, Question, Reply};
use super::wire::Wire;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use std::time::Duration;
use tool_runtime_core::{BoxFuture, LogLevel, Principal, ToolPool};
use tool_runtime_server::McpServer;
use tool_runtime_server::seam::Caller;

/// How many bytes wait on the way before whoever writes them does: what a pipe of Linux holds.
const PIPE: usize = 64 * 1024;

/// A [`TestClient`] that is not connected yet.
#[must_use = "nothing happens before `connect`"]
pub struct TestClientBuilder {
    server: McpServer,
    era: Era,
    name: String,
    version: String,
    capabilities: Value,
    log_level: Option<LogLevel>,
    answer: Option<Handler>,
    limit: Duration,
    most_rounds: usize,
    follows_tasks: bool,
    caller: Caller,
}

impl TestClient {
    /// A client of 2026-07-28 of a pool.
    ///
    /// # Panics
    /// As [`TestClientBuilder::connect`].
    pub async fn modern(pool: &ToolPool) -> Self {
        Self::builder(pool).era(Era::Modern).connect().await
    }

    /// A client of 2025-11-25 of a pool.
    ///
    /// # Panics
    /// As [`TestClientBuilder::connect`].
    pub async fn legacy(pool: &ToolPool) -> Self {
        Self::builder(pool).era(Era::Legacy).connect().await
    }

    /// A client of a pool, with settings of its own.
    pub fn builder(pool: &ToolPool) -> TestClientBuilder {
        Self::of(McpServer::new(pool.clone(), "test-server", "1.0.0"))
    }

    /// A client of a server with settings of its own. Each client has a session for itself.
    pub fn of(server: McpServer) -> TestClientBuilder {
        TestClientBuilder::new(server)
    }
}

impl TestClientBuilder {
    pub(super) fn new(server: McpServer) -> Self {
        Self {
            server,
            era: Era::Modern,
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
            most_rounds: 10,
            follows_tasks: false,
            caller: Caller::default(),
        }
    }

    /// Sets how it talks. Default: [`Era::Modern`].
    pub fn era(mut self, era: Era) -> Self {
        self.era = era;
        self
    }

    /// Sets what it calls itself. Default: `test-client`, `1.0.0`.
    pub fn named(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        (self.name, self.version) = (name.into(), version.into());
        self
    }

    /// Sets what it says that it can do: MCP's client capabilities. Default: showing forms and
    /// pages, sampling, and roots.
    ///
    /// ```
    /// # use tool_runtime::{ToolPool, testing::TestClient};
    /// # let pool = ToolPool::builder().build()?;
    /// let asks_nobody = TestClient::builder(&pool).capabilities(serde_json::json!({}));
    /// # drop(asks_nobody);
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn capabilities(mut self, capabilities: impl Into<Value>) -> Self {
        self.capabilities = capabilities.into();
        self
    }

    /// Sets from which level on it wants to hear logs; `None` for not asking for them, which
    /// leaves it to servers of [`Era::Legacy`] what they send. Default: [`LogLevel::Info`].
    pub fn log_level(mut self, level: impl Into<Option<LogLevel>>) -> Self {
        self.log_level = level.into();
        self
    }

    /// Answers what the server asks, whatever the era. Default: the user declines, the model is not
    /// lent, there are no roots.
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
    /// # Ok::<(), tool_runtime::PoolError>(())
    /// ```
    pub fn answer<F, Fut>(mut self, answer: F) -> Self
    where
        F: Fn(Question) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Reply> + Send + 'static,
    {
        self.answer = Some(Box::new(move |question| Box::pin(answer(question))));
        self
    }

    /// Sets how long the server may take for one answer before the test panics; what the test takes
    /// to answer a question of [`Era::Legacy`] counts. Default: 10 seconds.
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Sets in how many rounds a call may ask before the test panics. Default: 10.
    pub fn most_rounds(mut self, rounds: usize) -> Self {
        self.most_rounds = rounds;
        self
    }

    /// Declares MCP's tasks extension: a call that goes on as a task is followed to its end, at the
    /// pace that the server asks for, and what the task asks is [answered](Self::answer). Default: no
    /// call becomes a task. Clients of [`Era::Legacy`] know no tasks.
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

    /// Sets who calls, as if they had authenticated over HTTP. Default: nobody in particular.
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

    /// Adds a header that tools see by [`ToolContext::header`](tool_runtime_core::ToolContext::header), as if the
    /// requests came over HTTP. Default: none.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.caller.headers.push((name.into(), value.into()));
        self
    }

    /// Starts the server in a task of its own, and greets it.
    ///
    /// # Panics
    /// Outside a tokio runtime with time, or if the server does not greet back.
    pub async fn connect(self) -> TestClient {
        self.connected().await
    }

    /// Boxed, so that users' crates do not compile it.
    fn connected(mut self) -> BoxFuture<'static, TestClient> {
        Box::pin(async move {
            let (near, far) = tokio::io::duplex(PIPE);
            let server =
                tokio::spawn(self.server.clone().serve_in_memory(far, Some(self.caller.clone())));
            let link = self.link(near);
            let greeting = match link.era {
                Era::Modern => discovered(&link).await,
                Era::Legacy => self.initialized(&link).await,
            };
            TestClient::new(link, server, greeting)
        })
    }

    fn link(&mut self, stream: tokio::io::DuplexStream) -> Arc<Link> {
        let desk = Arc::new(Desk::new(self.answer.take()));
        Arc::new(Link {
            wire: Wire::over(stream, Arc::clone(&desk)),
            desk,
            era: self.era,
            meta: if self.era == Era::Modern { self.meta() } else { Map::new() },
            limit: self.limit,
            most_rounds: self.most_rounds,
            follows_tasks: self.follows_tasks,
        })
    }

    /// What each request of the modern era carries.
    fn meta(&self) -> Map<String, Value> {
        let mut meta = Map::new();
        let mut set =
            |key: &str, value| meta.insert(format!("io.modelcontextprotocol/{key}"), value);
        set("protocolVersion", self.era.version().into());
        set("clientInfo", self.info());
        set("clientCapabilities", self.declared());
        if let Some(level) = self.log_level {
            set("logLevel", json!(level));
        }
        meta
    }

    /// What it says that it can do.
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

    async fn initialized(&self, link: &Link) -> Value {
        let hello = object(json!({
            "protocolVersion": self.era.version(),
            "capabilities": self.declared(),
            "clientInfo": self.info(),
        }));
        let greeting = greeted(link, "initialize", &hello).await;
        assert_eq!(
            greeting["protocolVersion"],
            self.era.version(),
            "the server speaks another version"
        );
        link.wire.notify("notifications/initialized", &json!({}));
        // A level can be set where there is a log.
        if let (Some(level), true) =
            (self.log_level, greeting["capabilities"]["logging"].is_object())
        {
            greeted(link, "logging/setLevel", &object(json!({ "level": level }))).await;
        }
        greeting
    }
}

async fn discovered(link: &Link) -> Value {
    let greeting = greeted(link, "server/discover", &Map::new()).await;
    let versions = greeting["supportedVersions"].as_array();
    let is_spoken = versions.is_some_and(|all| all.contains(&Era::Modern.version().into()));
    assert!(is_spoken, "the server does not speak {}: {greeting}", Era::Modern.version());
    greeting
}

async fn greeted(link: &Link, method: &str, params: &Map<String, Value>) -> Value {
    let answer = link.send(method, params, false).answer(link.limit).await;
    answer.unwrap_or_else(|error| panic!("the server refuses `{method}`: {error}"))
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        other => panic!("MCP's parameters are an object, not {other}"),
    }
}
