//! A server over HTTP that tests can kill, and that records its requests.

use super::super::support::server_state;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::serve::ListenerExt as _;
use rustix::net::{AddressFamily, SocketType, bind, listen, socket, sockopt};
use serde_json::{Value, json};
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
pub(super) use suite::limit::limited as in_time;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex as AsyncMutex, Semaphore};
use tool_runtime::http::HttpOptions;
use tool_runtime::mcp::{McpManager, McpManagerBuilder, McpServer, McpServerConfig, McpState};
use tool_runtime::prelude::*;

/// Time limit for the end of a server.
const HANG_LIMIT: Duration = Duration::from_secs(300);

/// A request as received by the server.
#[derive(Clone, Debug)]
pub(super) struct RecordedRequest {
    pub(super) method: String,
    pub(super) path: String,
    pub(super) headers: axum::http::HeaderMap,
    pub(super) message: Value,
    pub(super) body: String,
}

impl RecordedRequest {
    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    pub(super) fn is_stateless(&self) -> bool {
        self.header("mcp-protocol-version") == "2026-07-28"
    }

    /// The JSON-RPC method.
    pub(super) fn calls(&self, method: &str) -> bool {
        self.message["method"] == method
    }

    /// An answer to the request.
    pub(super) fn result(&self, result: Value) -> Response {
        let body = json!({ "jsonrpc": "2.0", "id": self.message["id"], "result": result });
        ([("content-type", "application/json")], body.to_string()).into_response()
    }

    /// The answer of a 2026-07-28 server with these tools to `server/discover` and `tools/list`.
    pub(super) fn listing(&self, tools: &Value) -> Option<Response> {
        let members = match self.message["method"].as_str()? {
            "server/discover" => json!({
                "supportedVersions": ["2026-07-28"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "remote", "version": "1" },
            }),
            "tools/list" => json!({ "tools": tools }),
            _ => return None,
        };
        let mut result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
        result.as_object_mut()?.extend(members.as_object()?.clone());
        Some(self.result(result))
    }

    pub(super) fn error(&self, status: u16, id: &Value, code: i64, text: &str) -> Response {
        let error = json!({ "code": code, "message": text });
        let body = json!({ "jsonrpc": "2.0", "id": id, "error": error });
        let status = axum::http::StatusCode::from_u16(status).unwrap();
        (status, [("content-type", "application/json")], body.to_string()).into_response()
    }
}

/// Sends the progress of tools to the test, independent of their server.
pub(super) struct Probe {
    hits: AtomicUsize,
    reports: UnboundedSender<&'static str>,
    report: AsyncMutex<UnboundedReceiver<&'static str>>,
    go: Semaphore,
}

struct Running<'a>(&'a Probe);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let _is_received = self.0.reports.send("dropped");
    }
}

impl Probe {
    pub(super) fn new() -> Arc<Self> {
        let (reports, report) = unbounded_channel();
        let (hits, report, go) = (AtomicUsize::new(0), AsyncMutex::new(report), Semaphore::new(0));
        Arc::new(Self { hits, reports, report, go })
    }

    pub(super) fn hits(&self) -> usize {
        self.hits.load(Ordering::Relaxed)
    }

    /// Releases one waiting call.
    pub(super) fn release(&self) {
        self.go.add_permits(1);
    }

    pub(super) async fn report(&self) -> &'static str {
        in_time(async { self.report.lock().await.recv().await }).await.unwrap()
    }
}

/// Count the calls.
#[tool(register = false)]
async fn hit(probe: &Arc<Probe>) -> usize {
    probe.hits.fetch_add(1, Ordering::Relaxed) + 1
}

/// Wait until the test releases the call.
#[tool(register = false)]
async fn wait(probe: &Arc<Probe>) -> &'static str {
    let _running = Running(probe);
    probe.hits.fetch_add(1, Ordering::Relaxed);
    let _is_received = probe.reports.send("started");
    probe.go.acquire().await.expect("never closed").forget();
    "done"
}

/// Count to three.
#[tool(register = false, progress)]
async fn count(context: &ToolContext) {
    for step in 1..=3 {
        context.progress(step, 3, format_args!("step {step}"));
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
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

/// Tools that report their progress to a test.
pub(super) fn tools(probe: &Arc<Probe>) -> ToolPool {
    let builder = ToolPool::builder().tool::<HitAction>().tool::<WaitAction>();
    let builder = builder.tool::<CountAction>().tool::<PlaceAction>();
    builder.state(Arc::clone(probe)).build().unwrap()
}

type Intercept = dyn Fn(&RecordedRequest) -> Option<Response> + Send + Sync;

/// An address for one server after the other: no other program gets its port in between.
pub(super) struct Place {
    pub(super) address: SocketAddr,
    /// Holds the port and does not listen: connections are refused while no server runs.
    _bound: OwnedFd,
}

impl Place {
    pub(super) fn new() -> Self {
        let bound = bound_to("127.0.0.1:0".parse().unwrap());
        let address = rustix::net::getsockname(&bound).unwrap();
        Self { address: address.try_into().unwrap(), _bound: bound }
    }

    fn listener(&self) -> TcpListener {
        let socket = bound_to(self.address);
        listen(&socket, 128).unwrap();
        socket.into()
    }
}

/// A socket that shares its port with the others of a place.
fn bound_to(address: SocketAddr) -> OwnedFd {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC).unwrap();
    sockopt::set_socket_reuseaddr(&socket, true).unwrap();
    sockopt::set_socket_reuseport(&socket, true).unwrap();
    bind(&socket, &address).unwrap();
    socket
}

/// A server with its own runtime, which ends with it.
pub(super) struct RemoteServer {
    place: Option<Place>,
    pub(super) address: SocketAddr,
    runtime: Option<Runtime>,
    seen: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl RemoteServer {
    /// Our own server. Requests that the intercept answers do not reach it.
    pub(super) fn start(
        pool: &ToolPool,
        options: HttpOptions,
        intercept: impl Fn(&RecordedRequest) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        Self::start_at(Place::new(), pool, options, intercept)
    }

    pub(super) fn start_at(
        place: Place,
        pool: &ToolPool,
        options: HttpOptions,
        intercept: impl Fn(&RecordedRequest) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        let server = McpServer::new(pool.clone(), "remote", "1.2.3");
        Self::serve(
            place,
            || server.into_router(options).expect("valid options"),
            Arc::new(intercept),
        )
    }

    /// A server whose answers are written by the test; without an answer it sends 404.
    pub(super) fn written(
        intercept: impl Fn(&RecordedRequest) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        Self::serve(Place::new(), Router::new, Arc::new(intercept))
    }

    fn serve(place: Place, app: impl FnOnce() -> Router, intercept: Arc<Intercept>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let entered = runtime.enter();
        let listener = place.listener();
        listener.set_nonblocking(true).unwrap();
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        let listener = listener.tap_io(|io| io.set_nodelay(true).unwrap());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&seen);
        let watch = move |request: Request, next: Next| {
            let (record, intercept) = (Arc::clone(&record), Arc::clone(&intercept));
            async move { watched(request, next, &record, &*intercept).await }
        };
        let app = app().fallback(|| async { axum::http::StatusCode::NOT_FOUND });
        let app = app.layer(from_fn(watch));
        tokio::spawn(async move { axum::serve(listener, app).await });
        drop(entered);
        Self { address: place.address, place: Some(place), runtime: Some(runtime), seen }
    }

    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(super) fn seen(&self) -> Vec<RecordedRequest> {
        self.seen.lock().unwrap().clone()
    }

    /// Number of requests that match.
    pub(super) fn count(&self, is: impl Fn(&RecordedRequest) -> bool) -> usize {
        self.seen.lock().unwrap().iter().filter(|seen| is(seen)).count()
    }

    /// Ends the server like a crash, and returns its place.
    pub(super) fn kill(mut self) -> Place {
        self.end();
        self.place.take().unwrap()
    }

    fn end(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            let ending = std::thread::spawn(move || runtime.shutdown_timeout(HANG_LIMIT));
            ending.join().unwrap();
        }
    }
}

impl Drop for RemoteServer {
    fn drop(&mut self) {
        self.end();
    }
}

async fn watched(
    request: Request,
    next: Next,
    record: &Mutex<Vec<RecordedRequest>>,
    intercept: &Intercept,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = to_bytes(body, 1 << 20).await.unwrap();
    let seen = RecordedRequest {
        method: parts.method.to_string(),
        path: parts.uri.path().to_owned(),
        headers: parts.headers.clone(),
        message: serde_json::from_slice(&body).unwrap_or_default(),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    record.lock().unwrap().push(seen.clone());
    match intercept(&seen) {
        Some(response) => response,
        None => next.run(Request::from_parts(parts, Body::from(body))).await,
    }
}

/// An intercept that passes all requests on.
pub(super) fn pass_through(_: &RecordedRequest) -> Option<Response> {
    None
}

/// An intercept that makes the server reject 2026-07-28.
pub(super) fn stateful(seen: &RecordedRequest) -> Option<Response> {
    let rejected = axum::http::StatusCode::BAD_REQUEST;
    seen.is_stateless().then(|| (rejected, "no such version").into_response())
}

/// A pool, and a manager with one server.
pub(super) async fn connected(remote: &RemoteServer) -> (ToolPool, McpManager) {
    let pool = ToolPool::builder().build().unwrap();
    let manager = in_time(builder(&remote.url()).connect(&pool)).await.unwrap();
    (pool, manager)
}

pub(super) fn builder(url: &str) -> McpManagerBuilder {
    builder_of(McpServerConfig::http(url))
}

/// A manager that does not start without its server.
pub(super) fn required(url: &str) -> McpManagerBuilder {
    builder_of(McpServerConfig::http(url).required(true))
}

/// A manager that retries soon.
pub(super) fn builder_of(config: McpServerConfig) -> McpManagerBuilder {
    let soon = Duration::from_millis(20);
    McpManager::builder().server("remote", config).retry(soon, soon)
}

pub(super) async fn call(pool: &ToolPool, tool: &str, arguments: Value) -> ToolResult {
    in_time(pool.call(ToolCall::new(format!("remote.{tool}"), arguments.to_string()))).await
}

/// Waits until the server is in a state that matches.
pub(super) async fn until(manager: &McpManager, is: impl Fn(&McpState) -> bool) -> McpState {
    server_state(manager, "remote", is).await
}
