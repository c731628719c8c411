//! The same calls with rmcp's own macros, all with their defaults.
//!
//! [`handled`] is the path of an MCP client: a `#[tool_handler]` server, which creates its router
//! for each call. [`routed`] is the fastest path of rmcp: a router that was created before,
//! called directly. Both take JSON text and give JSON text, and make the request context that
//! each call needs.

use crate::block_on;
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
    /// The maximum number of hits.
    #[serde(default = "ten")]
    limit: u32,
    /// Only hits with all of these tags.
    tags: Vec<String>,
    /// The text to exclude.
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

// AddServer, SearchServer, SearchTextServer, Hundred, and Whole with as many tools as are linked.
include!(concat!(env!("OUT_DIR"), "/rmcp.rs"));

/// A call by name: arguments in, result out, both JSON text.
pub type Call = Box<dyn Fn(&str, &str) -> String>;

/// Calls a `#[tool_handler]` server of 1, 100 or all tools as rmcp's service loop does, once
/// that has read the request.
pub fn handled(case: Case, size: usize) -> Call {
    match (size, case) {
        (1, Case::Add) => handler(AddServer),
        (1, Case::Search) => handler(SearchServer),
        (1, Case::SearchText) => handler(SearchTextServer),
        (100, _) => handler(Hundred),
        _ => handler(Whole),
    }
}

/// Calls a router of 1, 100 or all tools that was created before.
pub fn routed(case: Case, size: usize) -> Call {
    match (size, case) {
        (1, Case::Add) => router(AddServer, AddServer::tool_router()),
        (1, Case::Search) => router(SearchServer, SearchServer::tool_router()),
        (1, Case::SearchText) => router(SearchTextServer, SearchTextServer::tool_router()),
        (100, _) => router(Hundred, Hundred::tool_router()),
        _ => router(Whole, whole()),
    }
}

/// A router of as many tools as are linked.
pub fn whole() -> ToolRouter<Whole> {
    Whole::tool_router()
}

fn handler<S: ServerHandler>(server: S) -> Call {
    let peer = peer();
    Box::new(move |name, arguments| {
        let request = request(name, arguments);
        written(block_on(server.call_tool(request, context(&peer))))
    })
}

fn router<S: Send + Sync + 'static>(server: S, router: ToolRouter<S>) -> Call {
    let peer = peer();
    Box::new(move |name, arguments| {
        let request = request(name, arguments);
        let call = ToolCallContext::new(&server, request, context(&peer));
        written(block_on(router.call(call)))
    })
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

/// A peer for request contexts, of a server without calls.
fn peer() -> Peer<RoleServer> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.expect("a runtime can be built");
    let _inside = runtime.enter();
    let (ours, _theirs) = tokio::io::duplex(64);
    let running = rmcp::service::serve_directly(AddServer, ours, None);
    running.peer().clone()
}
