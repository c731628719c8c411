//! The same calls with rmcp's own macros.
//!
//! `#[tool_handler]` splices an expression that makes the router into each of its methods, by
//! default `Self::tool_router()`: the router is built anew for each call. [`Server`] does
//! exactly that for the number of tools that it was told. What rmcp can do at best is
//! [`Router`]: a router that was built before, called directly.

use crate::case::Case;
use crate::tools::{self, Filter};
use rmcp::handler::server::tool::{ToolCallContext, ToolRouter};
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolRequestParams, NumberOrString};
use rmcp::service::{Peer, RequestContext};
use rmcp::{Json, RoleServer, ServerHandler, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A server of a given number of tools.
#[derive(Clone)]
pub struct Server {
    case: Case,
    size: usize,
    peer: Option<Peer<RoleServer>>,
}

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

/// rmcp wants an object.
#[derive(Serialize, JsonSchema)]
struct Found {
    #[serde(flatten)]
    found: tools::Found,
}
