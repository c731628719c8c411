//! A server for tests, and tools that report their progress to the test.

use super::client::{Answer, Connection, RawRequest};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
pub(super) use suite::limit::limited as in_time;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::McpServer;
use tool_runtime::pool::WithToolsets;
use tool_runtime::prelude::*;
use tool_runtime::{CancellationToken, Principal, ToolPoolBuilder};

/// Time that only a hanging call needs at the end of its server.
const DRAIN: Duration = Duration::from_secs(3600);

/// A server, and the reports of its tools.
pub(super) struct TestServer {
    pub(super) address: SocketAddr,
    pub(super) end: CancellationToken,
    pub(super) ended: JoinHandle<std::io::Result<()>>,
    report: UnboundedReceiver<&'static str>,
    go: Arc<Semaphore>,
}

/// State that the tools share with the test.
pub(super) struct Probe {
    reports: UnboundedSender<&'static str>,
    go: Arc<Semaphore>,
}

struct Running<'a>(&'a Probe);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _is_received = self.0.reports.send("dropped");
    }
}

impl Probe {
    /// Reports the start of a call, and waits until the test releases it.
    pub(super) async fn wait(&self) {
        let _running = Running(self);
        let _is_received = self.reports.send("started");
        self.go.acquire().await.expect("never closed").forget();
    }

    /// Permits to continue, which the test grants.
    pub(super) fn permits(&self) -> Arc<Semaphore> {
        Arc::clone(&self.go)
    }
}

/// Return the id of the caller.
#[tool(register = false, read_only)]
async fn whoami(caller: &Principal) -> String {
    if caller.is_anonymous() { "anonymous".into() } else { caller.id().into() }
}

/// Wait until the test releases the call.
#[tool(register = false)]
async fn wait(probe: &Probe) -> &'static str {
    probe.wait().await;
    "done"
}

/// Return the text unchanged.
#[tool(register = false, read_only)]
async fn echo(
    /// The text.
    text: String,
) -> String {
    text
}

/// Return the region.
#[tool(register = false, input_schema = json!({
    "type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}
}))]
async fn place(
    /// The region.
    region: String,
) -> String {
    region
}

impl TestServer {
    pub(super) async fn start(options: HttpOptions) -> Self {
        Self::start_for(options, DRAIN).await
    }

    /// A server that gives running calls this time at its end.
    pub(super) async fn start_for(options: HttpOptions, drain: Duration) -> Self {
        Self::serve(options, drain, |pool| pool).await
    }

    /// A server with more tools.
    pub(super) async fn start_with<B: Into<ToolPoolBuilder<WithToolsets>>>(
        options: HttpOptions,
        tools: impl FnOnce(ToolPoolBuilder) -> B,
    ) -> Self {
        Self::serve(options, DRAIN, tools).await
    }

    async fn serve<B: Into<ToolPoolBuilder<WithToolsets>>>(
        options: HttpOptions,
        drain: Duration,
        tools: impl FnOnce(ToolPoolBuilder) -> B,
    ) -> Self {
        let (reports, report) = unbounded_channel();
        let go = Arc::new(Semaphore::new(0));
        let pool = tools(ToolPool::builder())
            .into()
            .tool::<WhoamiAction>()
            .tool::<WaitAction>()
            .tool::<EchoAction>()
            .tool::<PlaceAction>()
            .state(Probe { reports, go: Arc::clone(&go) })
            .build()
            .await
            .expect("a pool");
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let end = CancellationToken::new();
        let options = options.shutdown(end.clone(), drain);
        let server = McpServer::new(pool, "suite", "1").serve_http_on(listener, options);
        Self { address, end, ended: tokio::spawn(server), report, go }
    }

    pub(super) async fn open(&self) -> Connection {
        Connection::open(self.address).await
    }

    /// Sends a request on a new connection.
    pub(super) async fn request(&self, request: &RawRequest) -> Answer {
        in_time(async { self.open().await.request(request).await }).await
    }

    /// An initialized session of the client that these headers name.
    pub(super) async fn session(&self, headers: &[(&str, &str)]) -> String {
        let with_headers = |request: RawRequest| {
            headers.iter().fold(request, |request, (name, value)| request.with(name, value))
        };
        let answer = self.request(&with_headers(RawRequest::initialize())).await;
        let id = answer.head.header("mcp-session-id").to_owned();
        assert!(!id.is_empty(), "{answer:?}");
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(
            self.request(&with_headers(RawRequest::within(&id, &ready))).await.status(),
            202
        );
        id
    }

    /// A session of a client with these capabilities.
    pub(super) async fn session_with_capabilities(&self, capabilities: &Value) -> String {
        let initialize = RawRequest::initialize().with_params(|params| {
            params["capabilities"] = capabilities.clone();
        });
        let answer = self.request(&initialize).await;
        let id = answer.head.header("mcp-session-id").to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert_eq!(self.request(&RawRequest::within(&id, &ready)).await.status(), 202);
        id
    }

    /// The next report of a tool.
    pub(super) async fn report(&mut self) -> &'static str {
        in_time(self.report.recv()).await.expect("the server runs")
    }

    /// Checks that no further reports exist.
    pub(super) fn is_quiet(&mut self) -> bool {
        self.report.try_recv().is_err()
    }

    /// Releases one call of `wait`.
    pub(super) fn release(&self) {
        self.go.add_permits(1);
    }
}
