//! The same calls with rmcp's own macros.
//!
//! `#[tool_handler]` splices an expression that makes the router into each of its methods, by
//! default `Self::tool_router()`: the router is built anew for each call. [`Server`] does just
//! that, for the number of tools that it was told. The best that rmcp can do is
//! [`Prebuilt`]: a router that was built before, called directly.
//!
//! Both take JSON text and give JSON text, and make the request context that each call needs.

use crate::case::Case;
use crate::tools::{self, Filter};
use rmcp::handler::server::tool::{ToolCallContext, ToolRouter};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, CallToolResponse, NumberOrString};
use rmcp::service::{Peer, RequestContext};
use rmcp::{ErrorData, Json, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Add {
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Search {
    /// The text to look for.
    query: String,
    /// How many hits to give at most.
    #[serde(default = "ten")]
    limit: u32,
    /// Only what has all of these tags.
    tags: Vec<String>,
    /// What to leave out.
    filter: Filter,
}

fn ten() -> u32 {
    10
}

#[derive(Deserialize, JsonSchema)]
struct Filler {
    /// A number.
    value: i64,
}

/// A server whose router is built anew for each call, as `#[tool_handler]` does it.
#[derive(Clone, Copy)]
pub struct Server {
    case: Case,
    size: usize,
}

#[tool_router(router = add_router)]
impl Server {
    /// Add two integers.
    #[tool(annotations(read_only_hint = true, idempotent_hint = true))]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

#[tool_router(router = search_router)]
impl Server {
    /// Search the archive.
    #[tool(annotations(read_only_hint = true))]
    async fn search(&self, Parameters(search): Parameters<Search>) -> Json<tools::Found> {
        let Search { query, limit, tags, filter } = search;
        Json(tools::found(query, limit, tags, filter))
    }
}

#[tool_router(router = search_text_router)]
impl Server {
    /// Search the archive, and tell what was found.
    #[tool(annotations(read_only_hint = true))]
    async fn search_text(&self, Parameters(search): Parameters<Search>) -> String {
        let Search { query, limit, tags, filter } = search;
        tools::told(query, limit, &tags, &filter)
    }
}

include!(concat!(env!("OUT_DIR"), "/rmcp.rs"));

#[tool_handler(router = self.routes())]
impl ServerHandler for Server {}

impl Server {
    /// A server of `size` tools, that of the case among them: 1, 100 or 1000.
    pub fn new(case: Case, size: usize) -> Self {
        Self { case, size }
    }

    /// All its routes.
    ///
    /// # Panics
    /// If it has another number of tools.
    pub fn routes(&self) -> ToolRouter<Self> {
        let measured = || Self::add_router() + Self::search_router() + Self::search_text_router();
        match (self.size, self.case) {
            (1, Case::Add) => Self::add_router(),
            (1, Case::Search) => Self::search_router(),
            (1, Case::SearchText) => Self::search_text_router(),
            (100, _) => measured() + Self::first_fillers(),
            (1000, _) => measured() + Self::first_fillers() + Self::other_fillers(),
            (size, _) => panic!("no router of {size} tools"),
        }
    }

    /// Runs a call as rmcp's service loop does, once it has read the request.
    pub async fn call(&self, peer: &Peer<RoleServer>, name: &str, arguments: &str) -> String {
        let answer = self.call_tool(request(name, arguments), context(peer)).await;
        written(answer)
    }
}

/// A router that was built once, and its server.
pub struct Prebuilt {
    server: Server,
    router: ToolRouter<Server>,
}

impl Prebuilt {
    /// Builds the router.
    pub fn new(case: Case, size: usize) -> Self {
        let server = Server::new(case, size);
        let router = server.routes();
        Self { server, router }
    }

    /// Its router.
    pub fn router(&self) -> &ToolRouter<Server> {
        &self.router
    }

    /// Runs a call.
    pub async fn call(&self, peer: &Peer<RoleServer>, name: &str, arguments: &str) -> String {
        let request = request(name, arguments);
        let call = ToolCallContext::new(&self.server, request, context(peer));
        written(self.router.call(call).await)
    }
}

fn request(name: &str, arguments: &str) -> CallToolRequestParams {
    let arguments = serde_json::from_str(arguments).expect("the arguments are an object");
    CallToolRequestParams::new(name.to_owned()).with_arguments(arguments)
}

fn context(peer: &Peer<RoleServer>) -> RequestContext<RoleServer> {
    RequestContext::new(NumberOrString::Number(1), peer.clone())
}

fn written(answer: Result<CallToolResponse, ErrorData>) -> String {
    let Ok(CallToolResponse::Complete(answer)) = answer else {
        panic!("the call does not succeed: {answer:?}");
    };
    serde_json::to_string(&answer).expect("the result has string keys")
}

/// A peer to make contexts with: a server's that nobody calls.
pub fn peer() -> Peer<RoleServer> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime can be built");
    let _inside = runtime.enter();
    let (ours, _theirs) = tokio::io::duplex(64);
    let running = rmcp::service::serve_directly(Server::new(Case::Add, 1), ours, None);
    running.peer().clone()
}
